#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "loadtest/format.h"
#include "loadtest/table.h"

namespace turnstile::harness {
namespace {

Row sampleRow() {
  Row row;
  row.strategy = "redis-setnx-finally-unguarded";
  row.salesPerSecond = spreadOf({35'000, 36'120, 37'000});
  row.ofCeiling = spreadOf({0.73, 0.74, 0.75});
  row.p50 = spreadOf({1.23});
  row.p99 = spreadOf({1234.5});
  row.ofFastest = 1;
  row.busyShare = 0.123;
  row.sold = 1'234'567;
  row.doubleSold = 54'321;
  row.verdict = Verdict::oversold;
  row.promised = "oversold";
  row.promise = Promise::kept;
  return row;
}

std::size_t columnsOf(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

TEST(HarnessTable, FitsATerminalOf120Columns) {
  Row broken = sampleRow();
  broken.promise = Promise::broken;
  std::istringstream lines(asText(verdictTable({sampleRow(), broken}, false), false));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columnsOf(line), 120u) << line;
}

TEST(HarnessTable, MarksABrokenPromiseInWordsNotOnlyInColour) {
  Row row = sampleRow();
  EXPECT_EQ(asText(verdictTable({row}, false), false).find("✗"), std::string::npos);
  row.promised = "safe";
  row.promise = Promise::broken;
  EXPECT_NE(asText(verdictTable({row}, false), false).find("safe ✗"), std::string::npos);
}

TEST(HarnessTable, ShowsNoFiguresForAStrategyThatGaveNone) {
  Row row;
  row.strategy = "dead";
  const Table table = verdictTable({row}, false);
  EXPECT_EQ(table.rows[0][2], "-");
  EXPECT_EQ(table.rows[0][12], "unknown");
}

TEST(HarnessTable, LocksAreListedOnlyWhereThereAreAny) {
  Row with = sampleRow(), without = sampleRow();
  with.lock.locks = true;
  with.lock.soldPerInstance = {1, 1, 2};
  const Table table = lockTable({with, without});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].back(), "25/25/50%");
}

TEST(HarnessFormat, FiguresAreReadable) {
  EXPECT_EQ(thousands(1'234'567.4), "1,234,567");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(-1000), "-1,000");
  EXPECT_EQ(thousands(-100), "-100");
  EXPECT_EQ(millis(0.724), "0.72");
  EXPECT_EQ(millis(12.44), "12.4");
  EXPECT_EQ(millis(1204), "1,204");
  EXPECT_EQ(percent(0), "0");
  EXPECT_EQ(percent(0.001), "<1%");
  EXPECT_EQ(percent(0.5), "50%");
  EXPECT_EQ(plusMinus(spreadOf({90, 100, 110})), "±20%");
  EXPECT_EQ(plusMinus(spreadOf({100})), "-");
}

}  // namespace
}  // namespace turnstile::harness
