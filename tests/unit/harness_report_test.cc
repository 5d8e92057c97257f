#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "loadtest/output_dir.h"
#include "loadtest/report_html.h"
#include "loadtest/report_markdown.h"

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;

fs::path checkout() {
  if (const char* root = std::getenv("TURNSTILE_ROOT")) return root;
  return fs::absolute(fs::path(__FILE__)).parent_path().parent_path().parent_path();
}

class HarnessReport : public testing::Test {
 protected:
  HarnessReport() {
    char name[] = "/tmp/turnstile-report-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~HarnessReport() override { fs::remove_all(directory_); }
  void put(const fs::path& name, const std::string& text) const {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
  }

  fs::path directory_;
};

TEST_F(HarnessReport, DataCannotEndTheScriptThatHoldsIt) {
  Json::Value json;
  json["reason"] = "</script><script>alert(1)</script><!-- \u2028";
  const std::string text = scriptSafe(json);
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
  EXPECT_EQ(text.find("\u2028"), std::string::npos) << text;
}

TEST_F(HarnessReport, WithoutChartJsSaysWhichPackageToInstall) {
  ::setenv("TURNSTILE_CHART_JS", "/nonexistent/chart.js", 1);
  try {
    HtmlReport report(checkout());
    ADD_FAILURE() << "a report without its charts is no report";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("libjs-chart.js"), std::string::npos) << e.what();
  }
  ::unsetenv("TURNSTILE_CHART_JS");
}

TEST_F(HarnessReport, IsOneFileThatNeedsNoNetworkAndTakesInWhatLiesBeside) {
  put("chart.js", "/* the library */");
  put("matrix.json", R"({"cells":"from the matrix"})");
  ::setenv("TURNSTILE_CHART_JS", (directory_ / "chart.js").c_str(), 1);
  Json::Value results;
  results["runs"] = "from the results";
  const std::string page = HtmlReport(checkout()).page(results, directory_);
  ::unsetenv("TURNSTILE_CHART_JS");
  for (const char* part :
       {"/* the library */", "from the matrix", "from the results", "Report.start()"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  for (const char* outside : {"src=\"", "http://", "https://", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST_F(HarnessReport, MarkdownSaysTheConclusionFirst) {
  Results results;
  results.startedAt = "2026-01-31T12:00:00Z";
  results.plannedRuns = 9;
  results.environment["cpu"] = "some";
  EXPECT_NE(markdownReport(results).find("Incomplete: 0 of 9 runs."), std::string::npos);
}

TEST_F(HarnessReport, FilesAreReplacedWholeAndLatestFollows) {
  const OutputDir first(directory_, "");
  first.write("results.json", "1");
  first.write("results.json", "2");
  const OutputDir second(directory_, "");
  second.write("results.json", "3");
  EXPECT_NE(first.path(), second.path()) << "two comparisons within a second";
  std::string text;
  std::ifstream(directory_ / "out" / "latest" / "results.json") >> text;
  EXPECT_EQ(text, "3");
  EXPECT_EQ(std::distance(fs::directory_iterator(first.path()), fs::directory_iterator()), 1)
      << "no half-written file is left";
}

TEST_F(HarnessReport, AnOutputDirectoryAskedForIsUsedAsItIs) {
  const OutputDir out(directory_, directory_ / "docs" / "here");
  out.write("report.md", "x");
  EXPECT_TRUE(fs::exists(directory_ / "docs" / "here" / "report.md"));
  EXPECT_FALSE(fs::exists(directory_ / "out"));
}

}  // namespace
}  // namespace turnstile::harness
