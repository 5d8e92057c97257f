#include <gtest/gtest.h>

#include <limits>

#include "loadtest/prometheus.h"

namespace turnstile::harness {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

std::string reading(int attempts, int granted, int sold, int quick, int all) {
  const auto line = [](const std::string& name, int value) {
    return name + " " + std::to_string(value) + "\n";
  };
  return "# HELP turnstile_sales_total sales\n# TYPE turnstile_sales_total counter\n" +
         line("turnstile_sales_total{strategy=\"redis-x\",outcome=\"sold\"}", sold) +
         line("turnstile_sales_total{strategy=\"other\",outcome=\"sold\"}", 999) +
         line("turnstile_lock_attempts_total{strategy=\"redis-x\"}", attempts) +
         line("turnstile_lock_granted_total{strategy=\"redis-x\"}", granted) +
         line("turnstile_lock_wait_seconds_bucket{strategy=\"redis-x\",le=\"0.001\"}", quick) +
         line("turnstile_lock_wait_seconds_bucket{strategy=\"redis-x\",le=\"0.002\"}", all) +
         line("turnstile_lock_wait_seconds_bucket{strategy=\"redis-x\",le=\"+Inf\"}", all);
}

TEST(HarnessMetrics, AreReadWhateverTheOrderOfLabels) {
  const Metrics a = parseMetrics("m{a=\"1\",b=\"2\"} 5\n"),
                b = parseMetrics("m{b=\"2\",a=\"1\"} 5\n");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.at(metricKey("m", {{"b", "2"}, {"a", "1"}})), 5);
}

TEST(HarnessMetrics, CommentsAndGarbageAreLeftOut) {
  EXPECT_EQ(parseMetrics("# TYPE m counter\n\nbare 3\nm{broken 4\nnothing\n").size(), 1u);
}

TEST(HarnessLockFigures, AreWhatGrewDuringTheRunOverAllInstances) {
  const std::vector<Metrics> before{parseMetrics(reading(10, 10, 10, 10, 10)), parseMetrics("")};
  const std::vector<Metrics> after{parseMetrics(reading(310, 110, 90, 60, 110)),
                                   parseMetrics(reading(50, 20, 20, 10, 20))};
  const LockFigures figures = lockFigures("redis-x", before, after);
  EXPECT_TRUE(figures.locks);
  EXPECT_EQ(figures.attempts, 350);
  EXPECT_EQ(figures.granted, 120);
  EXPECT_EQ(figures.soldPerInstance, (std::vector<double>{80, 20}));
  EXPECT_NEAR(figures.waitP50Ms, 1.0, 0.01);  // 60 of 120 within 1 ms
  EXPECT_NEAR(figures.waitP99Ms, 1.98, 0.01);
}

TEST(HarnessLockFigures, ARestartedInstanceDoesNotCountBackwards) {
  const std::vector<Metrics> before{parseMetrics(reading(500, 500, 500, 500, 500))};
  const std::vector<Metrics> after{parseMetrics(reading(7, 7, 7, 7, 7))};
  EXPECT_EQ(lockFigures("redis-x", before, after).granted, 7);
}

TEST(HarnessLockFigures, OfAStrategyWithoutALockSayNothing) {
  const std::vector<Metrics> none{parseMetrics("")};
  EXPECT_FALSE(lockFigures("redis-lua", none, none).locks);
}

TEST(HarnessQuantile, InterpolatesInsideABucketAndStopsAtTheLastBound) {
  EXPECT_DOUBLE_EQ(quantileOf({{1, 50}, {2, 100}, {kInfinity, 100}}, 0.75), 1.5);
  EXPECT_DOUBLE_EQ(quantileOf({{1, 10}, {kInfinity, 100}}, 0.99), 1);
  EXPECT_DOUBLE_EQ(quantileOf({}, 0.5), 0);
}

TEST(HarnessFairness, IsOneWhenEvenAndFallsToOneOverNWhenOneTakesAll) {
  LockFigures figures;
  figures.soldPerInstance = {10, 10, 10};
  EXPECT_DOUBLE_EQ(figures.fairness(), 1);
  figures.soldPerInstance = {30, 0, 0};
  EXPECT_NEAR(figures.fairness(), 1.0 / 3, 1e-9);
}

}  // namespace
}  // namespace turnstile::harness
