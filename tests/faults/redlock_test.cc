// redis-redlock and redis-multilock with servers away: what a majority survives, what it does not, and the
// hole RedLock is known for.
#include <gtest/gtest.h>
#include <json/writer.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/guards.h"

namespace turnstile::test {
namespace {

const std::vector<std::string> kNodes{"redis-node-1", "redis-node-2", "redis-node-3", "redis-node-4",
                                      "redis-node-5"};

// Gone, and every instance has noticed.
void takeDown(const std::string& node) {
  killService(node);
  for (int instance = 1; instance <= 3; ++instance)
    ASSERT_TRUE(eventually([&] { return !sees(instance, node); })) << node;
}

void bringUp(const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) startService(node);
  for (const std::string& node : nodes) ASSERT_TRUE(eventually([&] { return sees(0, node); })) << node;
}

void forgetEverything(const std::string& node) {  // while it is down
  std::filesystem::remove_all(runDir() + "/data/" + node);
}

class Quorum : public testing::Test {
 protected:
  std::string sale(const std::string& strategy, const std::string& more = {}) const {
    return "strategy=" + strategy + "&event=" + event_ + more;
  }
  std::string redlock(const std::string& more = {}) const { return sale("redis-redlock", more); }
  bool lockedOn(const std::string& node) const {
    return redis(node, {"EXISTS", "redlock:" + event_}) == "1";
  }
  int sold() const { return audit(event_)["sold"].asInt(); }

  const BroughtBack again_{kNodes};
  const std::string event_ = freshEvent(100);
};

TEST_F(Quorum, RedlockHoldsTheSameValueOnEveryNodeAndFreesThemAll) {
  auto holder = sellLater(redlock("&hold=600"), 1);
  ASSERT_TRUE(eventually([&] {
    return std::all_of(kNodes.begin(), kNodes.end(), [&](const auto& node) { return lockedOn(node); });
  }));
  const auto value = redis(kNodes[0], {"GET", "redlock:" + event_});
  for (const std::string& node : kNodes) EXPECT_EQ(redis(node, {"GET", "redlock:" + event_}), value);
  EXPECT_EQ(holder.get().outcome(), "sold");
  for (const std::string& node : kNodes) EXPECT_FALSE(lockedOn(node)) << node;
}

TEST_F(Quorum, RedlockSellsWithTwoOfFiveDown) {
  takeDown(kNodes[1]);
  takeDown(kNodes[4]);
  const Json::Value counts = buyConcurrently(redlock(), 9, 5);
  EXPECT_EQ(counts["sold"].asInt(), 45) << counts;
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

TEST_F(Quorum, RedlockIsBusyWithThreeOfFiveDownAndLeavesNoLockOnTheTwo) {
  for (const int i : {0, 2, 3}) takeDown(kNodes[i]);
  const Answer answer = sell(redlock("&wait=500"), 1);
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.outcome(), "busy");
  EXPECT_EQ(sold(), 0);
  for (const int i : {1, 4}) EXPECT_FALSE(lockedOn(kNodes[i])) << kNodes[i];
}

TEST_F(Quorum, RedlockReleasesANodeThatWasTooSlowToAnswer) {
  Frozen slow(kNodes[2]);
  EXPECT_EQ(sell(redlock("&ttl=60000"), 1).outcome(), "sold");
  slow.thaw();  // now it carries out what it was sent: the acquire, and then the release
  EXPECT_TRUE(eventually([&] { return !lockedOn(kNodes[2]); }));
  EXPECT_EQ(sell(redlock("&ttl=60000"), 2).outcome(), "sold");
}

TEST_F(Quorum, RedlockNoticesBeforeItWritesThatItsValidityIsOver) {
  const double lost = metric("turnstile_lock_lost_total", "redis-redlock");
  auto slow = sellLater(redlock("&ttl=500&hold=1200"), 1);
  ASSERT_TRUE(eventually([&] { return lockedOn(kNodes[0]); }));
  EXPECT_EQ(sell(redlock(), 2).outcome(), "sold");
  EXPECT_EQ(slow.get().outcome(), "busy");
  EXPECT_EQ(sold(), 1);
  EXPECT_EQ(metric("turnstile_lock_lost_total", "redis-redlock") - lost, 1);
}

// Nodes 4 and 5 are down when the first client takes 1, 2 and 3.
class Redlock : public Quorum {
 protected:
  std::future<Answer> takeThreeNodes(const std::string& more) {
    takeDown(kNodes[3]);
    takeDown(kNodes[4]);
    auto holder = sellLater(redlock(more), 1);
    EXPECT_TRUE(eventually([&] { return lockedOn(kNodes[0]) && lockedOn(kNodes[1]) && lockedOn(kNodes[2]); }));
    return holder;
  }
};

TEST_F(Redlock, LetsASecondClientInWhenANodeRestartsEmptyWithinTheTtl) {
  auto holder = takeThreeNodes("&ttl=60000&hold=15000");
  takeDown(kNodes[2]);
  forgetEverything(kNodes[2]);
  bringUp({kNodes[2], kNodes[3], kNodes[4]});
  EXPECT_EQ(sell(redlock(), 2).outcome(), "sold") << "the known hole is not there";
  EXPECT_EQ(holder.get().outcome(), "sold");
  const Json::Value found = audit(event_);
  EXPECT_EQ(found["double_sold"].asInt(), 1) << found;
  EXPECT_EQ(found["verdict"].asString(), "oversold");
}

TEST_F(Redlock, IsSafeWhenTheNodeStaysAwayForLongerThanTheTtl) {
  auto holder = takeThreeNodes("&ttl=12000&hold=13000");
  takeDown(kNodes[2]);
  forgetEverything(kNodes[2]);
  bringUp({kNodes[3], kNodes[4]});
  ASSERT_TRUE(lockedOn(kNodes[0])) << "the lock expired too early for this test";
  EXPECT_EQ(sell(redlock("&wait=300"), 2).outcome(), "busy") << "nodes 4 and 5 are no majority";
  ASSERT_TRUE(eventually([&] { return !lockedOn(kNodes[0]); }, milliseconds{20'000}));
  bringUp({kNodes[2]});
  EXPECT_EQ(sell(redlock(), 2).outcome(), "sold");
  EXPECT_EQ(holder.get().outcome(), "busy") << "its validity was over before it wrote";
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
  EXPECT_EQ(sold(), 1);
}

TEST_F(Quorum, MultilockIsBusyWithOneNodeDownAndSellsWhenItIsBack) {
  EXPECT_EQ(sell(sale("redis-multilock"), 1).outcome(), "sold");
  takeDown(kNodes[3]);
  EXPECT_EQ(sell(sale("redis-multilock", "&wait=500"), 1).outcome(), "busy");
  EXPECT_EQ(sold(), 1);
  for (const int i : {0, 1, 2, 4}) EXPECT_FALSE(lockedOn(kNodes[i])) << kNodes[i];
  bringUp({kNodes[3]});
  EXPECT_EQ(sell(sale("redis-multilock"), 1).outcome(), "sold");
}

TEST_F(Quorum, MultilockAndRedlockExcludeEachOther) {
  auto holder = sellLater(sale("redis-multilock", "&hold=1200"), 1);
  ASSERT_TRUE(eventually([&] { return lockedOn(kNodes[0]); }));
  EXPECT_EQ(sell(redlock("&wait=200"), 2).outcome(), "busy");
  EXPECT_EQ(holder.get().outcome(), "sold");
}

}  // namespace
}  // namespace turnstile::test
