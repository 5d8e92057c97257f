#include "loadtest/report_command.h"

#include <json/reader.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "loadtest/output_dir.h"
#include "loadtest/report_html.h"
#include "loadtest/stack.h"

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;

// A directory may hold a fault matrix alone; a results.json that is there must be readable.
Json::Value resultsIn(const fs::path& directory) {
  const fs::path path = directory / "results.json";
  if (!fs::exists(path)) return Json::nullValue;
  Json::Value json;
  std::string problem;
  std::ifstream file(path);
  if (!Json::parseFromStream(Json::CharReaderBuilder(), file, &json, &problem)) {
    throw std::runtime_error(path.string() + " is not JSON: " + problem);
  }
  return json;
}

}  // namespace

void drawReport(const fs::path& directory) {
  const auto exists = [&](const char* name) { return fs::exists(directory / name); };
  if (!exists("results.json") && !exists("matrix.json") && !exists("cache.json")) {
    throw std::runtime_error(directory.string() +
                             " holds no results.json, matrix.json or cache.json");
  }
  const HtmlReport html(checkoutRoot());
  const OutputDir out({}, directory);
  out.write("report.html", html.page(resultsIn(directory), directory));
}

void addReport(CLI::App& app) {
  auto directory = std::make_shared<std::string>();
  CLI::App* sub =
      app.add_subcommand("report", "Draw report.html anew from the JSON files in a directory");
  sub->add_option("directory", *directory, "Where results.json lies")
      ->required()
      ->check(CLI::ExistingDirectory);
  sub->callback([directory] {
    drawReport(*directory);
    std::printf("%s\n", (fs::path(*directory) / "report.html").c_str());
  });
}

}  // namespace turnstile::harness
