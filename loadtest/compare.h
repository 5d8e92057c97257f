// `turnstile-harness compare`: the strategies side by side, measured and audited; table,
// results.json, report.md, report.html.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "loadtest/compare_options.h"

namespace turnstile::harness {

// Exit code: 0 every verdict is the promised one, 1 one is not, 2 could not tell (also:
// interrupted). Throws std::invalid_argument when it was called wrongly, std::runtime_error when it
// could not be done.
int compare(CompareOptions options, const std::vector<std::string>& command);

// Adds the subcommand; when it is chosen, `exitCode` gets what compare() returns.
void addCompare(CLI::App& app, const std::vector<std::string>& command, int& exitCode);

}  // namespace turnstile::harness
