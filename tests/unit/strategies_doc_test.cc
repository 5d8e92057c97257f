// The committed page on the strategies is the one the catalogue makes.
#include "loadtest/strategies_doc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "locks/registry.h"

namespace turnstile::harness {
namespace {

TEST(StrategiesDoc, IsCommittedAsTheCatalogueMakesIt) {
  const char* root = std::getenv("TURNSTILE_ROOT");
  ASSERT_NE(root, nullptr) << "TURNSTILE_ROOT is not set: run the tests by ./turnstile test";
  std::ifstream in(std::string(root) + "/docs/strategies.md");
  ASSERT_TRUE(in) << "docs/strategies.md is missing";
  const std::string committed{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(committed, strategiesDoc())
      << "build/turnstile-harness strategies-doc > docs/strategies.md, and commit it";
}

TEST(StrategiesDoc, HasASectionWithTheReasonOfEveryPromise) {
  const std::string doc = strategiesDoc();
  for (const StrategySpec& spec : catalogue()) {
    const auto section = doc.find("\n### " + spec.name + "\n");
    ASSERT_NE(section, std::string::npos) << spec.name;
    for (const Promise& promise : spec.promises)
      EXPECT_NE(doc.find(promise.reason, section), std::string::npos)
          << spec.name << " " << promise.condition;
  }
}

}  // namespace
}  // namespace turnstile::harness
