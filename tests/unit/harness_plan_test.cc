#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loadtest/plan.h"

namespace turnstile::harness {
namespace {

std::vector<std::string> named(int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back("s" + std::to_string(i));
  return names;
}

TEST(HarnessPlan, RunsEveryStrategyOnceARound) {
  const auto order = planRound(named(30), 7, 1);
  std::multiset<std::string> seen(order.begin(), order.end());
  for (const auto& name : named(30)) EXPECT_EQ(seen.count(name), 1u) << name;
}

TEST(HarnessPlan, MeasuresTheCeilingBeforeEachStrategy) {
  for (const int strategies : {1, 4, 30}) {
    const auto order = planRound(named(strategies), 7, 1);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(2 * strategies));
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i] == kPing, i % 2 == 0) << i;
  }
}

TEST(HarnessPlan, ShufflesEachRoundAnewButTheSameSeedAlike) {
  EXPECT_EQ(planRound(named(20), 7, 1), planRound(named(20), 7, 1));
  EXPECT_NE(planRound(named(20), 7, 1), planRound(named(20), 7, 2));
  EXPECT_NE(planRound(named(20), 7, 1), planRound(named(20), 8, 1));
}

TEST(HarnessPlan, GivesEachStrategyEveryPlaceInTheLongRun) {
  std::set<std::ptrdiff_t> places;
  for (int round = 1; round <= 200; ++round) {
    const auto order = planRound(named(4), 1, round);
    places.insert(std::find(order.begin(), order.end(), "s0") - order.begin());
  }
  EXPECT_EQ(places.size(), 4u);
}

TEST(HarnessPlan, OfNothingIsNothing) { EXPECT_TRUE(planRound({}, 1, 1).empty()); }

}  // namespace
}  // namespace turnstile::harness
