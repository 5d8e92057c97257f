#include <gtest/gtest.h>

#include "loadtest/plan.h"
#include "loadtest/summary.h"

namespace turnstile::harness {
namespace {

Run ranAs(const std::string& strategy, double salesPerSecond, Verdict verdict, int round = 1,
          Point point = {64, 3}) {
  Run run;
  run.point = point;
  run.round = round;
  run.strategy = strategy;
  run.client.seconds = 1;
  run.client.sold = run.client.requests = static_cast<long>(salesPerSecond);
  run.ceiling = 1000;
  run.judgement = {verdict, verdict == Verdict::safe ? "" : "because", 0};
  return run;
}

std::vector<Described> promising(const std::string& strategyVerdict) {
  return {{"none", "control", "", {}, {{"contention", "oversold", ""}}},
          {"lock",
           "redis",
           "",
           {},
           {{"contention", strategyVerdict, "it locks"}, {"one-instance", "safe", ""}}}};
}

const Row& rowOf(const Summary& summary, const std::string& strategy) {
  for (const Row& row : summary.rows) {
    if (row.strategy == strategy) return row;
  }
  throw std::runtime_error("no row for " + strategy);
}

TEST(HarnessSummary, ExitsZeroWhenEveryVerdictIsThePromisedOne) {
  const auto summary =
      summarize({ranAs(kPing, 1000, Verdict::safe), ranAs("none", 300, Verdict::oversold),
                 ranAs("lock", 100, Verdict::safe)},
                promising("safe"), true);
  EXPECT_EQ(summary.exitCode, 0);
  EXPECT_TRUE(summary.findings.empty());
  EXPECT_EQ(rowOf(summary, "lock").promisedReason, "it locks");
}

TEST(HarnessSummary, ExitsOneAndNamesTheStrategyThatBrokeItsPromise) {
  const auto summary =
      summarize({ranAs("none", 300, Verdict::oversold), ranAs("lock", 100, Verdict::safe, 1),
                 ranAs("lock", 100, Verdict::oversold, 2), ranAs("lock", 100, Verdict::safe, 3)},
                promising("safe"), true);
  EXPECT_EQ(summary.exitCode, 1) << "one bad round of three is enough";
  ASSERT_EQ(summary.findings.size(), 1u);
  EXPECT_EQ(summary.findings[0].rfind("lock is oversold, promised safe", 0), 0u)
      << summary.findings[0];
}

TEST(HarnessSummary, ExitsTwoWhenTheControlDidNotOversell) {
  const auto summary =
      summarize({ranAs("none", 300, Verdict::safe), ranAs("lock", 100, Verdict::safe)},
                promising("safe"), true);
  EXPECT_EQ(summary.exitCode, 2);
  EXPECT_EQ(rowOf(summary, "none").verdict, Verdict::unknown);
  EXPECT_NE(rowOf(summary, "none").reason.find("load too weak"), std::string::npos);
}

TEST(HarnessSummary, UnderAWeakLoadNothingIsBlamedForNotOverselling) {
  const auto summary =
      summarize({ranAs("none", 300, Verdict::safe), ranAs("lock", 100, Verdict::safe)},
                promising("oversold"), true);
  EXPECT_EQ(rowOf(summary, "lock").promise, Promise::untold);
  EXPECT_EQ(summary.exitCode, 2);
}

TEST(HarnessSummary, UnderAStrongLoadAPromisedOversellThatStaysAwayIsBroken) {
  const auto summary =
      summarize({ranAs("none", 300, Verdict::oversold), ranAs("lock", 100, Verdict::safe)},
                promising("oversold"), true);
  EXPECT_EQ(summary.exitCode, 1);
}

TEST(HarnessSummary, AnUnknownRunIsNotABrokenPromise) {
  const auto summary =
      summarize({ranAs("none", 300, Verdict::oversold), ranAs("lock", 100, Verdict::unknown)},
                promising("safe"), true);
  EXPECT_EQ(summary.exitCode, 2);
  EXPECT_EQ(rowOf(summary, "lock").promise, Promise::untold);
}

TEST(HarnessSummary, AnUnfinishedComparisonNeverExitsZero) {
  const std::vector<harness::Run> runs{ranAs("none", 300, Verdict::oversold),
                                       ranAs("lock", 100, Verdict::safe)};
  EXPECT_EQ(summarize(runs, promising("safe"), false).exitCode, 2);
  EXPECT_EQ(summarize({}, promising("safe"), true).exitCode, 2);
}

TEST(HarnessSummary, OneInstanceHasAPromiseOfItsOwn) {
  const Point alone{64, 1};
  const auto summary = summarize({ranAs("none", 300, Verdict::oversold, 1, alone),
                                  ranAs("lock", 100, Verdict::safe, 1, alone)},
                                 promising("oversold"), true);
  EXPECT_EQ(rowOf(summary, "lock").promised, "safe");
  EXPECT_EQ(rowOf(summary, "none").promised, "oversold") << "falls back to contention";
}

TEST(HarnessSummary, TheFastestIsTheFastestThatIsSafe) {
  const auto summary =
      summarize({ranAs("none", 400, Verdict::oversold), ranAs("lock", 100, Verdict::safe)},
                promising("safe"), true);
  EXPECT_DOUBLE_EQ(rowOf(summary, "lock").ofFastest, 1);
  EXPECT_EQ(summary.rows.front().strategy, "none") << "the rows are still in order of speed";
}

TEST(HarnessSummary, RowsWithinTheNoiseSaySo) {
  const auto close =
      summarize({ranAs("none", 100, Verdict::oversold, 1), ranAs("none", 120, Verdict::oversold, 2),
                 ranAs("lock", 90, Verdict::safe, 1), ranAs("lock", 110, Verdict::safe, 2)},
                promising("safe"), true);
  EXPECT_TRUE(close.rows[1].tiedWithAbove);
  const auto apart =
      summarize({ranAs("none", 200, Verdict::oversold, 1), ranAs("none", 220, Verdict::oversold, 2),
                 ranAs("lock", 90, Verdict::safe, 1), ranAs("lock", 110, Verdict::safe, 2)},
                promising("safe"), true);
  EXPECT_FALSE(apart.rows[1].tiedWithAbove);
}

TEST(HarnessSummary, ARunThatGaveNoFiguresDoesNotSpoilTheMedian) {
  harness::Run failed = ranAs("lock", 0, Verdict::unknown, 2);
  const auto summary = summarize(
      {ranAs("none", 300, Verdict::oversold), ranAs("lock", 100, Verdict::safe, 1), failed},
      promising("safe"), true);
  EXPECT_DOUBLE_EQ(rowOf(summary, "lock").salesPerSecond.median, 100);
  EXPECT_EQ(rowOf(summary, "lock").verdict, Verdict::unknown);
}

TEST(HarnessSummary, ScanPointsAreJudgedApart) {
  const auto summary = summarize({ranAs("none", 300, Verdict::oversold, 1, {16, 3}),
                                  ranAs("lock", 100, Verdict::safe, 1, {16, 3}),
                                  ranAs("none", 300, Verdict::oversold, 1, {64, 3}),
                                  ranAs("lock", 100, Verdict::oversold, 1, {64, 3})},
                                 promising("safe"), true);
  EXPECT_EQ(summary.rows.size(), 4u);
  ASSERT_EQ(summary.findings.size(), 1u);
  EXPECT_NE(summary.findings[0].find("64 connections"), std::string::npos);
}

TEST(HarnessSummary, AStockThatRanOutIsAWarning) {
  harness::Run run = ranAs("lock", 100, Verdict::safe);
  run.client.soldOut = 5;
  const auto summary =
      summarize({ranAs("none", 300, Verdict::oversold), run}, promising("safe"), true);
  EXPECT_EQ(rowOf(summary, "lock").warnings.size(), 1u);
}

}  // namespace
}  // namespace turnstile::harness
