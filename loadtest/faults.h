// `turnstile-harness faults`: every promise of the catalogue put to the test, fault by fault, on a
// stack of its own; matrix, matrix.json, matrix.md, report.html.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace turnstile::harness {

struct FaultOptions {
  std::vector<std::string> strategies, faults;  // empty: all
  bool list = false;                            // say what would be staged, and end
  int basePort = 18480;
  std::filesystem::path out;  // empty: out/<time> in the checkout, with the link out/latest
};

// Exit code: 0 every verdict is the promised one, 1 one is not, 2 could not tell (also:
// interrupted). Throws as compare() does.
int faults(const FaultOptions& options, const std::vector<std::string>& command);

void addFaults(CLI::App& app, const std::vector<std::string>& command, int& exitCode);

}  // namespace turnstile::harness
