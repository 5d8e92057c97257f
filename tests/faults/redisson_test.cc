// redis-redisson, one line of its contract a test. The watchdog is set to 600 ms, so that "three
// times its life" is two seconds and not a minute and a half.
#include <gtest/gtest.h>
#include <json/writer.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "tests/support/guards.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWatchdogMs = 600;
const std::string kForeigner = "8743c9c0-0795-4907-87fd-6c719a6b4586:1";  // a thread of some JVM
const std::string kLongLease = "&ttl=30000";  // no wait in here may end by a TTL

class Redisson : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    settings_ = std::make_unique<InstancesWith>(
        std::vector<std::string>{"TURNSTILE_WATCHDOG_MS=" + std::to_string(kWatchdogMs)});
  }
  static void TearDownTestSuite() { settings_.reset(); }

  std::string sale(const std::string& more = {}) const {
    return "strategy=redis-redisson&event=" + event_ + more;
  }
  std::string key() const { return "rlock:" + event_; }
  std::string channel() const { return "redisson_lock__channel:{rlock:" + event_ + "}"; }
  std::optional<std::string> main(const std::vector<std::string>& words) const {
    return redis("redis-main", words);
  }
  bool held() const { return main({"EXISTS", key()}) == "1"; }
  bool awaited() const { return main({"PUBSUB", "NUMSUB", channel()}) != channel() + "\n0\n"; }

  // What Redisson's scripts come to, by hand.
  bool foreignerLocks() const {
    return !main(
        {"EVAL",
         "if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[2]) == 0 "
         "then return redis.call('pttl', KEYS[1]) end "
         "redis.call('hincrby', KEYS[1], ARGV[2], 1) "
         "redis.call('pexpire', KEYS[1], ARGV[1]) return nil",
         "1", key(), "30000", kForeigner});
  }
  void foreignerUnlocks() const {
    main({"EVAL", "redis.call('del', KEYS[1]) return redis.call('publish', KEYS[2], '0')", "2",
          key(), channel()});
  }

  const std::string event_ = freshEvent(100);

 private:
  static std::unique_ptr<InstancesWith> settings_;
};
std::unique_ptr<InstancesWith> Redisson::settings_;

TEST_F(Redisson, KeepsItsLockInRedissonsFormat) {
  auto holder = sellLater(sale("&hold=400"), 1);
  ASSERT_TRUE(eventually([&] { return held(); }));
  EXPECT_EQ(main({"TYPE", key()}), "hash");
  const std::string field = main({"HKEYS", key()}).value_or("");
  EXPECT_TRUE(
      std::regex_match(field, std::regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+\n")))
      << field;
  EXPECT_EQ(main({"HVALS", key()}), "1\n");
  EXPECT_LE(std::stoi(*main({"PTTL", key()})), kWatchdogMs);
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_FALSE(held());
  const std::string latch =
      main({"KEYS", "redisson_unlock_latch:{rlock:" + event_ + "}:*"}).value_or("");
  EXPECT_TRUE(std::regex_match(latch, std::regex("redisson_unlock_latch:\\{.*\\}:[0-9a-f]{32}\n")))
      << latch;
}

TEST_F(Redisson, WaitsForAForeignHolderAndHearsItsRelease) {
  ASSERT_TRUE(foreignerLocks());
  auto waiter = sellLater(sale(), 1);
  ASSERT_TRUE(eventually([&] { return awaited(); }));
  EXPECT_EQ(audit(event_)["sold"].asInt(), 0);
  const auto freed = Clock::now();
  foreignerUnlocks();
  EXPECT_EQ(waiter.get().outcome(), "sold");
  EXPECT_LT(Clock::now() - freed, milliseconds{1000}) << "woken by the clock, not by the message";
}

TEST_F(Redisson, KeepsAForeignClientOutWhileItHolds) {
  auto holder = sellLater(sale("&hold=600"), 1);
  ASSERT_TRUE(eventually([&] { return held(); }));
  EXPECT_FALSE(foreignerLocks());
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_TRUE(foreignerLocks());
  foreignerUnlocks();
}

TEST_F(Redisson, CountsReentryUpAndDown) {
  auto nested = sellLater(sale("&nested=1&hold=500&fault=unlock-reply:pause-500"), 1);
  EXPECT_TRUE(eventually([&] { return main({"HVALS", key()}) == "2\n"; })) << "not taken twice";
  EXPECT_TRUE(eventually([&] { return main({"HVALS", key()}) == "1\n"; })) << "not given back once";
  EXPECT_EQ(nested.get().outcome(), "sold");
  EXPECT_FALSE(held());
}

TEST_F(Redisson, DoesNotQueueAReentryBehindTheWaiters) {
  const Json::Value counts = buyConcurrently(sale("&nested=1"), 12, 4);
  EXPECT_EQ(counts["sold"].asInt(), 48) << counts;
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

TEST_F(Redisson, FreesExactlyOnceWhenTheUnlocksReplyIsLostAndItIsRepeated) {
  ASSERT_EQ(sell(sale("&nested=1"), 1).outcome(), "sold");  // the server knows the scripts now
  const auto count = [](const char* command) { return calls("redis-main", command); };
  const long counted = count("hincrby"), told = count("publish"), scripts = count("evalsha");
  EXPECT_EQ(sell(sale("&nested=1&fault=unlock-reply:drop"), 1).outcome(), "sold");
  EXPECT_EQ(count("evalsha") - scripts, 2 + 1 + 4)
      << "two acquires, the write, each unlock sent twice";
  EXPECT_EQ(count("hincrby") - counted, 4) << "up twice and down twice";
  EXPECT_EQ(count("publish") - told, 1);
  EXPECT_FALSE(held());
}

TEST_F(Redisson, WakesAWaiterWithin50MillisecondsOfARelease) {
  std::vector<Clock::duration> delays;
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(foreignerLocks());
    const long refused = calls("redis-main", "pttl");
    auto waiter = sellLater(sale(kLongLease), 2);
    ASSERT_TRUE(eventually([&] { return awaited() && calls("redis-main", "pttl") > refused; }));
    const auto freed = Clock::now();
    foreignerUnlocks();
    ASSERT_EQ(waiter.get().outcome(), "sold");
    delays.push_back(Clock::now() - freed);
  }
  std::sort(delays.begin(), delays.end());
  EXPECT_LT(delays[delays.size() / 2], milliseconds{50}) << "the median of seven";
}

TEST_F(Redisson, DoesNotMissAReleaseThatWasPublishedBeforeItSubscribed) {
  ASSERT_TRUE(foreignerLocks());
  const long refused = calls("redis-main", "pttl");
  auto waiter = sellLater(sale(kLongLease + "&wait=10000&fault=before-wait:pause-700"), 1);
  ASSERT_TRUE(eventually([&] { return calls("redis-main", "pttl") > refused; }));
  ASSERT_FALSE(awaited()) << "already subscribed: this test shows nothing";
  const auto freed = Clock::now();
  foreignerUnlocks();
  EXPECT_EQ(waiter.get().outcome(), "sold");
  EXPECT_LT(Clock::now() - freed, milliseconds{1700})
      << "it waited for a message that had been sent";
}

TEST_F(Redisson, OutlivesALostSubscription) {
  ASSERT_TRUE(foreignerLocks());
  auto waiter = sellLater(sale(kLongLease + "&wait=10000"), 1);
  ASSERT_TRUE(eventually([&] { return awaited(); }));
  main({"CLIENT", "KILL", "TYPE", "pubsub"});
  foreignerUnlocks();  // nobody hears it
  const auto freed = Clock::now();
  EXPECT_EQ(waiter.get().outcome(), "sold");
  EXPECT_LT(Clock::now() - freed, milliseconds{5000});
}

TEST_F(Redisson, IsSafeWhenTheWorkTakesThreeTimesTheWatchdogsLife) {
  auto slow = sellLater(sale("&hold=" + std::to_string(3 * kWatchdogMs)), 1);
  ASSERT_TRUE(eventually([&] { return held(); }));
  EXPECT_EQ(sell(sale("&wait=10000"), 2).outcome(), "sold");
  EXPECT_EQ(slow.get().outcome(), "sold");
  const Json::Value found = audit(event_);
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
  EXPECT_EQ(found["sold"].asInt(), 2);
}

TEST_F(Redisson, RenewsNothingWhenALeaseTimeWasGiven) {
  auto slow = sellLater(sale("&ttl=400&hold=1500"), 1);
  ASSERT_TRUE(eventually([&] { return held(); }));
  EXPECT_EQ(sell(sale("&wait=5000"), 2).outcome(), "sold");
  EXPECT_EQ(slow.get().outcome(), "sold");
  EXPECT_EQ(audit(event_)["double_sold"].asInt(), 1);
}

TEST_F(Redisson, SellsTwiceWhenTheHolderIsFrozenPastTheLocksLife) {
  const long reads = calls("redis-main", "lindex");
  auto holder = sellLater(sale("&hold=500"), 1);
  ASSERT_TRUE(eventually([&] { return calls("redis-main", "lindex") > reads; }))
      << "it never read the stock";
  Frozen frozen("app-1");
  ASSERT_TRUE(eventually([&] { return !held(); })) << "the lock of a frozen process did not expire";
  EXPECT_EQ(sell(sale(), 2).outcome(), "sold");
  frozen.thaw();
  EXPECT_EQ(holder.get().outcome(), "sold");
  const Json::Value found = audit(event_);
  EXPECT_EQ(found["double_sold"].asInt(), 1) << found;
  EXPECT_EQ(found["verdict"].asString(), "oversold");
}

TEST_F(Redisson, FreesItselfAfterACrash) {
  const BroughtBack again({"app-3"});
  EXPECT_THROW(sell(sale("&fault=after-acquire:crash"), 3), std::exception);
  EXPECT_EQ(sell(sale("&wait=10000"), 1).outcome(), "sold");
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

TEST_F(Redisson, NeedsAtMostFiveRoundTripsASaleUnderContention) {
  resetEvent(event_, 2000);
  const long scripts = calls("redis-main", "evalsha");
  const Json::Value counts = buyConcurrently(sale(), 30, 60);
  const int sold = counts["sold"].asInt();
  ASSERT_GT(sold, 1000) << counts;
  // Attempts, write and unlock are scripts, and the count comes along with the grant.
  const double trips = static_cast<double>(calls("redis-main", "evalsha") - scripts) / sold;
  EXPECT_GE(trips, 3.0);
  EXPECT_LE(trips, 5.0);
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

}  // namespace
}  // namespace turnstile::test
