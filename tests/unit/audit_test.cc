#include "app/audit.h"

#include <gtest/gtest.h>

namespace turnstile {
namespace {

Tally tally(std::int64_t size, std::int64_t remaining, std::vector<int> seats) {
  Tally one;
  one.exists = true;
  one.size = size;
  one.remaining = remaining;
  one.seats = std::move(seats);
  return one;
}

Audit judgeOne(Tally one) { return judge("e", {{"redis", std::move(one)}}); }

TEST(Audit, IsSafeWhenWhatIsGoneWasSoldAndNoSeatTwice) {
  const Audit audit = judgeOne(tally(5, 3, {5, 4}));
  EXPECT_EQ(audit.verdict, Verdict::safe);
  EXPECT_EQ(audit.sold, 2);
  EXPECT_EQ(audit.distinctSeats, 2);
}

TEST(Audit, CallsASeatSoldTwiceOversoldAndNamesIt) {
  const Audit audit = judgeOne(tally(5, 3, {5, 5, 4, 5}));
  EXPECT_EQ(audit.verdict, Verdict::oversold);
  EXPECT_EQ(audit.doubleSold, 2);
  EXPECT_EQ(audit.doubleSeats, std::vector<int>{5});
}

TEST(Audit, CountsTicketsBeyondTheStock) {
  const Audit audit = judgeOne(tally(2, 0, {2, 1, 1}));
  EXPECT_EQ(audit.oversold, 1);
  EXPECT_EQ(audit.verdict, Verdict::oversold);
}

TEST(Audit, CallsStockThatVanishedWithoutASaleLost) {
  const Audit audit = judgeOne(tally(5, 2, {5}));
  EXPECT_EQ(audit.lost, 2);
  EXPECT_EQ(audit.verdict, Verdict::lost);
}

TEST(Audit, CallsANegativeStockOversold) {
  EXPECT_EQ(judgeOne(tally(1, -1, {1})).verdict, Verdict::oversold);
}

TEST(Audit, CallsMoreSalesThanDeductionsOversold) {
  EXPECT_EQ(judgeOne(tally(5, 5, {5})).verdict, Verdict::oversold);
}

TEST(Audit, SeesThatOneEventSoldThroughTwoStoresSoldASeatTwice) {
  const Audit audit = judge("e", {{"redis", tally(5, 4, {5})}, {"mysql", tally(5, 4, {5})}});
  EXPECT_EQ(audit.doubleSold, 1);
  EXPECT_EQ(audit.verdict, Verdict::oversold);
}

TEST(Audit, IgnoresAStoreThatNeverHeardOfTheEvent) {
  const Audit audit = judge("e", {{"redis", tally(5, 4, {5})}, {"mysql", Tally{}}});
  EXPECT_EQ(audit.verdict, Verdict::safe);
  EXPECT_EQ(audit.stores.size(), 1U);
}

TEST(Audit, KnowsNothingWhenAStoreCouldNotBeAsked) {
  EXPECT_EQ(judge("e", {{"redis", tally(5, 4, {5})}}, {"mysql"}).verdict, Verdict::unknown);
}

}  // namespace
}  // namespace turnstile
