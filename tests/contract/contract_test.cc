// The contract of every strategy in the catalogue, on every stock it sells from: more buyers than seats on
// several instances, and the ledger shows what the catalogue promises. A new strategy is covered without a
// new line here. `none` is in the catalogue and must oversell, so this suite is known to be able to fail.
#include <gtest/gtest.h>
#include <json/json.h>

#include "locks/registry.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

struct Case {
  std::string strategy;
  std::string stock;  // empty: the strategy's own
};

std::vector<Case> everyCase() {
  std::vector<Case> cases;
  for (const StrategySpec& spec : catalogue()) {
    for (const StockKind stock : spec.stocks)
      cases.push_back({spec.name, std::string(toString(stock))});
    if (spec.stocks.empty()) cases.push_back({spec.name, ""});
  }
  return cases;
}

std::string nameOf(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.strategy + (info.param.stock.empty() ? "" : "_on_" + info.param.stock);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Contract : public testing::TestWithParam<Case> {};

constexpr int kSeats = 200;
constexpr int kBuyers = 30;

TEST_P(Contract, ShowsThePromisedVerdictWhenBuyersOutnumberSeats) {
  const auto& [strategy, stock] = GetParam();
  const Promise* promise = findStrategy(strategy)->promise("contention");
  ASSERT_NE(promise, nullptr) << strategy << " promises nothing under contention";
  const std::string event = freshEvent(kSeats);
  const std::string query =
      "event=" + event + "&strategy=" + strategy + (stock.empty() ? "" : "&stock=" + stock);

  const Json::Value counts = buyConcurrently(query, kBuyers, kSeats);
  const Json::Value found = audit(event);

  EXPECT_EQ(found["verdict"].asString(), toString(promise->verdict))
      << promise->reason << "\n" << counts << found;
  // A buyer who got an error may have bought; one who was told "sold" has.
  EXPECT_LE(counts["sold"].asInt(), found["sold"].asInt())
      << "buyers were told of sales the ledger does not know\n" << counts << found;
  if (promise->verdict == Verdict::safe) {
    EXPECT_EQ(counts["error"].asInt(), 0) << counts;
    EXPECT_GE(counts["sold"].asInt() + counts["unknown"].asInt(), found["sold"].asInt()) << counts << found;
    EXPECT_EQ(found["sold"].asInt(), kSeats) << "seats were left over\n" << counts << found;
    EXPECT_EQ(found["lost"].asInt(), 0) << found;
  }
}

TEST_P(Contract, SaysSoldOutWhenThereIsNoSeat) {
  const auto& [strategy, stock] = GetParam();
  const std::string event = freshEvent(0);
  const Answer answer =
      sell("event=" + event + "&strategy=" + strategy + (stock.empty() ? "" : "&stock=" + stock));
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(answer.outcome(), "sold_out");
  EXPECT_EQ(audit(event)["sold"].asInt(), 0);
}

TEST_P(Contract, AnswersNotFoundForAnEventThatWasNeverCreated) {
  const auto& [strategy, stock] = GetParam();
  // A name of its own: redis-setnx leaves its lock behind, as it does on every exception.
  const std::string event = "none-" + freshEvent(0);
  const Answer answer = sell("event=" + event + "&strategy=" + strategy +
                             (stock.empty() ? "" : "&stock=" + stock));
  EXPECT_EQ(answer.status, 404) << answer.body;
  EXPECT_NE(answer.json["error"].asString().find("PUT /events/" + event), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Contract, testing::ValuesIn(everyCase()), nameOf);

}  // namespace
}  // namespace turnstile::test
