// report.html: one file that needs no network. The page's parts live in loadtest/report/ (a shell,
// a style, and one script a section); Chart.js comes from the Debian package libjs-chart.js and is
// put inside at generation.
//
// A new section is one more file in loadtest/report/sections/. Other runs' results are offered to
// the sections when their files lie beside results.json: matrix.json as data.matrix, cache.json as
// data.cache.
#pragma once

#include <json/value.h>

#include <filesystem>
#include <string>

namespace turnstile::harness {

class HtmlReport {
 public:
  // Reads the parts once. Throws std::runtime_error naming the package when Chart.js is not
  // installed.
  explicit HtmlReport(const std::filesystem::path& root);

  std::string page(const Json::Value& results, const std::filesystem::path& directory) const;

 private:
  std::string head_, tail_;  // the page before and after its data
};

// JSON that may stand inside <script>: no "</script>" and no line separator can end it early.
std::string scriptSafe(const Json::Value& json);

}  // namespace turnstile::harness
