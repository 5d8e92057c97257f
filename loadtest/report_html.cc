#include "loadtest/report_html.h"

#include <json/reader.h>
#include <json/writer.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;

std::string readAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string chartLibrary() {
  const char* given = std::getenv("TURNSTILE_CHART_JS");
  const fs::path path = given && *given ? given : "/usr/share/javascript/chart.js/chart.min.js";
  if (!fs::exists(path)) {
    throw std::runtime_error(
        "Chart.js is not installed (" + path.string() +
        " is missing), so report.html cannot be drawn: install the Debian package libjs-chart.js, "
        "or name the file in TURNSTILE_CHART_JS");
  }
  return readAll(path);
}

std::string sections(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".js") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const auto& file : files) text += readAll(file) + "\n";
  return text;
}

// Every mark stands in the page exactly once.
void fill(std::string& page, const std::string& mark, const std::string& text) {
  const auto at = page.find(mark);
  if (at == std::string::npos) throw std::runtime_error("loadtest/report/page.html has no " + mark);
  page.replace(at, mark.size(), text);
}

Json::Value besides(const fs::path& file) {
  Json::Value json;
  std::string problem;
  std::ifstream stream(file);
  if (!stream || !Json::parseFromStream(Json::CharReaderBuilder(), stream, &json, &problem))
    return Json::nullValue;
  return json;
}

void replaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string scriptSafe(const Json::Value& json) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  builder["precision"] = 6;
  std::string text = Json::writeString(builder, json);  // ASCII: everything else comes escaped
  replaceAll(text, "<", "\\u003c");
  return text;
}

HtmlReport::HtmlReport(const fs::path& root) {
  const fs::path parts = root / "loadtest" / "report";
  const std::string dataMark = "/*data*/";
  std::string page = readAll(parts / "page.html");
  fill(page, "/*style*/", readAll(parts / "style.css"));
  const auto at = page.find(dataMark);
  if (at == std::string::npos)
    throw std::runtime_error("loadtest/report/page.html has no " + dataMark);
  head_ = page.substr(0, at);
  tail_ = page.substr(at + dataMark.size());
  fill(tail_, "/*chart.js*/", chartLibrary());
  fill(tail_, "/*report*/", readAll(parts / "report.js") + "\n" + sections(parts / "sections"));
}

std::string HtmlReport::page(const Json::Value& results, const fs::path& directory) const {
  Json::Value data;
  data["results"] = results;
  data["matrix"] = besides(directory / "matrix.json");
  data["cache"] = besides(directory / "cache.json");
  return head_ + scriptSafe(data) + tail_;
}

}  // namespace turnstile::harness
