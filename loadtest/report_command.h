// `turnstile-harness report DIR`: draws report.html anew from the JSON files in DIR (results.json,
// and matrix.json or cache.json where they exist). Other subcommands call drawReport() after
// writing their file.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>

namespace turnstile::harness {

void drawReport(const std::filesystem::path& directory);  // throws std::runtime_error

void addReport(CLI::App& app);

}  // namespace turnstile::harness
