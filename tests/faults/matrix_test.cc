// `faults` as a user runs it: on a stack of its own, which is gone afterwards.
#include <gtest/gtest.h>
#include <json/json.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "loadtest/child_process.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

namespace fs = std::filesystem;

class Matrix : public testing::Test {
 protected:
  harness::Finished faults(std::vector<std::string> words) const {
    const fs::path build = std::getenv("TURNSTILE_BUILD_DIR");
    std::vector<std::string> argv{"env", "-u", "TURNSTILE_RUN_DIR",
                                  (build / "turnstile-harness").string(), "faults"};
    argv.insert(argv.end(), words.begin(), words.end());
    return harness::runToEnd(argv, milliseconds{300'000});
  }
  std::map<std::string, std::string> seen() const {
    Json::Value json;
    std::ifstream(out_ / "matrix.json") >> json;
    std::map<std::string, std::string> verdicts;
    for (const Json::Value& cell : json["cells"])
      verdicts[cell["fault"].asString() + " " + cell["strategy"].asString()] =
          cell["verdict"].asString();
    return verdicts;
  }
  ~Matrix() override { fs::remove_all(out_); }

  const std::string ownPort_ = std::to_string(portOf("nginx") + 400);
  const fs::path out_ = fs::path(runDir()) / "matrix";
};

TEST_F(Matrix, ShowsAFlawWhereItIsPromisedAndOnlyThere) {
  const auto done = faults({"--strategies", "redis-setnx-finally,redis-lua", "--faults",
                            "contention,crash", "--base-port", ownPort_, "--out", out_.string()});
  EXPECT_EQ(done.exitCode, 0) << done.output;
  const std::map<std::string, std::string> expected{{"contention none", "oversold"},
                                                    {"contention redis-setnx-finally", "safe"},
                                                    {"contention redis-lua", "safe"},
                                                    {"crash redis-setnx-finally", "stuck"},
                                                    {"crash redis-lua", "safe"}};
  EXPECT_EQ(seen(), expected);
  EXPECT_TRUE(fs::exists(out_ / "report.html"));
  EXPECT_THROW(bench().request("GET", "/ping", {}, false, 400), std::exception)
      << "its stack still runs";
}

TEST_F(Matrix, WantsAStackOfItsOwn) {
  const auto done = faults({"--base-port", std::to_string(portOf("nginx"))});
  EXPECT_EQ(done.exitCode, 64) << done.output;
  EXPECT_NE(done.output.find("choose another --base-port"), std::string::npos) << done.output;
  EXPECT_EQ(bench().request("GET", "/ping").status, 200) << "the stack it found was touched";
}

}  // namespace
}  // namespace turnstile::test
