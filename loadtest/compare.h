// `turnstile-harness compare`: the strategies side by side, measured and audited; table,
// results.json, report.md, report.html.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "loadtest/compare_options.h"

namespace turnstile::harness {

inline constexpr int kUsageError = 64;  // as in the scripts: called wrongly, nothing was run

// Exit code: 0 every verdict is the promised one, 1 one is not, 2 could not tell (also:
// interrupted, stack not up).
int compare(CompareOptions options, const std::vector<std::string>& command);

// Adds the subcommand; when it is chosen, `exitCode` gets what compare() returns.
void addCompare(CLI::App& app, const std::vector<std::string>& command, int& exitCode);

}  // namespace turnstile::harness
