#include <gtest/gtest.h>

#include "loadtest/statistics.h"

namespace turnstile::harness {
namespace {

TEST(HarnessMedian, IsTheMiddleOfAnOddNumberAndTheMeanOfTheMiddleTwoOfAnEven) {
  EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(HarnessMedian, IsNotMovedByOneOutlier) { EXPECT_DOUBLE_EQ(median({100, 101, 9000}), 101); }

TEST(HarnessSpread, SpansTheRoundsAndIsHalfTheRangeOverTheMedian) {
  const Spread spread = spreadOf({90, 100, 120});
  EXPECT_DOUBLE_EQ(spread.median, 100);
  EXPECT_DOUBLE_EQ(spread.min, 90);
  EXPECT_DOUBLE_EQ(spread.max, 120);
  EXPECT_EQ(spread.rounds, 3);
  EXPECT_DOUBLE_EQ(spread.relative(), 0.30);
}

TEST(HarnessNoise, WhatIsWithinBothRangesIsNotDifferent) {
  EXPECT_TRUE(withinNoise(spreadOf({90, 100, 110}), spreadOf({108, 115, 120})));
  EXPECT_FALSE(withinNoise(spreadOf({95, 100, 105}), spreadOf({118, 125, 130})));
  EXPECT_FALSE(withinNoise(spreadOf({118, 125, 130}), spreadOf({95, 100, 105})))
      << "the order must not matter";
}

TEST(HarnessNoise, OneRoundBorrowsAnAssumedSpread) {
  EXPECT_TRUE(withinNoise(spreadOf({100}), spreadOf({110})));
  EXPECT_FALSE(withinNoise(spreadOf({100}), spreadOf({150})));
}

}  // namespace
}  // namespace turnstile::harness
