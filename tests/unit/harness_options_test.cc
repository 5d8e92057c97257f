#include <gtest/gtest.h>

#include "loadtest/compare_options.h"

namespace turnstile::harness {
namespace {

template <class Call>
std::string complaintOf(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(HarnessScan, ReadsKeyAndValues) {
  const Scan scan = parseScan("connections=16,64,256,1024");
  EXPECT_EQ(scan.key, "connections");
  EXPECT_EQ(scan.values, (std::vector<int>{16, 64, 256, 1024}));
}

TEST(HarnessScan, SaysWhatIsAllowedWhenItIsNot) {
  for (const char* wrong :
       {"speed=1,2", "connections", "", "=1", "connections=", "connections=1,,2", "connections=0",
        "connections=64x", "connections=99999999999", "instances=17", "instances=-1"}) {
    EXPECT_NE(complaintOf([&] { parseScan(wrong); }), "") << wrong;
  }
  EXPECT_NE(complaintOf([] { parseScan("instances=17"); }).find("1 to 16"), std::string::npos);
}

TEST(HarnessOptions, AScanMakesOnePointAValueAndKeepsTheRest) {
  CompareOptions options;
  options.connections = 32;
  EXPECT_EQ(options.points(3), (std::vector<Point>{{32, 3}}));
  options.scan = parseScan("instances=1,2");
  EXPECT_EQ(options.points(3), (std::vector<Point>{{32, 1}, {32, 2}}));
  options.scan = parseScan("connections=8,16");
  EXPECT_EQ(options.points(3), (std::vector<Point>{{8, 3}, {16, 3}}));
}

TEST(HarnessOptions, TheStockOutlastsTheRunUnlessItIsToBeSoldOut) {
  CompareOptions options;
  options.duration = 30;
  EXPECT_GE(options.seats(), 30 * 100'000);
  options.sellOut = true;
  EXPECT_EQ(options.seats(), 2000);
  options.stock = 5;
  EXPECT_EQ(options.seats(), 5);
}

TEST(HarnessOptions, AnUnknownStrategyIsNamedWithTheKnownOnes) {
  const std::string complaint = complaintOf([] {
    checkStrategies({"redis-lau"}, {"none", "redis-lua"});
  });
  EXPECT_NE(complaint.find("redis-lau"), std::string::npos);
  EXPECT_NE(complaint.find("redis-lua"), std::string::npos);
  EXPECT_EQ(complaintOf([] { checkStrategies({"none"}, {"none", "redis-lua"}); }), "");
}

TEST(HarnessOptions, AListKeepsOrderAndDropsRepeats) {
  EXPECT_EQ(parseList("b, a,b"), (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace turnstile::harness
