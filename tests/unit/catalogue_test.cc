// The catalogue holds together: what the service, the docs and the harness read from it must make sense.
#include <gtest/gtest.h>

#include <set>

#include "locks/registry.h"

namespace turnstile {
namespace {

TEST(Catalogue, NamesEachStrategyOnceInKebabCase) {
  std::set<std::string> names;
  for (const StrategySpec& spec : catalogue()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name << " twice";
    EXPECT_EQ(spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
    EXPECT_EQ(findStrategy(spec.name), &spec);
  }
  EXPECT_EQ(findStrategy("no-such"), nullptr);
}

TEST(Catalogue, GivesEveryStrategyASummaryAFamilyAndAPromiseUnderContention) {
  for (const StrategySpec& spec : catalogue()) {
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    EXPECT_FALSE(spec.family.empty()) << spec.name;
    EXPECT_NE(spec.promise("contention"), nullptr) << spec.name;
    EXPECT_TRUE(spec.make) << spec.name;
    for (const Promise& promise : spec.promises)
      EXPECT_FALSE(promise.reason.empty()) << spec.name << " " << promise.condition;
  }
}

TEST(Catalogue, PromisesNoConditionTwice) {
  for (const StrategySpec& spec : catalogue()) {
    std::set<std::string_view> conditions;
    for (const Promise& promise : spec.promises)
      EXPECT_TRUE(conditions.insert(promise.condition).second) << spec.name << " " << promise.condition;
  }
}

TEST(Catalogue, HasAControlThatMustOversell) {
  EXPECT_EQ(findStrategy("none")->promise("contention")->verdict, Verdict::oversold);
}

}  // namespace
}  // namespace turnstile
