// The lower rungs of the Redis ladder, each with the flaw it is known for: one test a sentence of
// the story, the same steps that docs/strategies.md gives to try by hand. Pause points and states
// of Redis decide when the next step is taken, never the clock alone; the holds only have to be
// longer than a busy machine is slow.
#include <gtest/gtest.h>
#include <json/writer.h>

#include "tests/faults/ladder.h"

namespace turnstile::test {
namespace {

TEST(RedisSetnx, IsStuckAfterAnExceptionUntilSomeoneDeletesTheKey) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx");
  EXPECT_EQ(sell(use + "&fault=after-acquire:throw", 1).status, 500);
  for (const int instance : {1, 2, 3})
    EXPECT_EQ(sell(use + "&wait=200", instance).outcome(), "busy");
  EXPECT_EQ(lifeOf(event), -1) << "the key has no life, so it will not go by itself";
  redis("redis-main", {"DEL", lockOf(event)});
  EXPECT_EQ(sell(use, 2).outcome(), "sold");
  EXPECT_EQ(audit(event)["sold"].asInt(), 1);
}

TEST(RedisSetnxFinally, SurvivesAnException) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-finally");
  EXPECT_EQ(sell(use + "&fault=after-acquire:throw", 1).status, 500);
  EXPECT_FALSE(locked(event));
  EXPECT_EQ(sell(use + "&wait=0", 2).outcome(), "sold");
}

TEST(RedisSetnxFinally, IsStuckAfterACrash) {
  const PutBack putBack(3);
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-finally");
  ASSERT_TRUE(dies(use + "&fault=after-acquire:crash", 3));
  for (const int instance : {1, 2}) EXPECT_EQ(sell(use + "&wait=200", instance).outcome(), "busy");
  EXPECT_EQ(lifeOf(event), -1) << "the key has no life, so it will not go by itself";
}

TEST(RedisSetnxFinallyUnguarded, LetsASecondInBecauseALoserDeletesTheWinnersLock) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-finally-unguarded");
  const long reads = timesRun("lindex");
  auto winner = sellLater(use + "&fault=before-write:pause-1500", 1);
  ASSERT_TRUE(eventually([&] { return timesRun("lindex") > reads; }));
  ASSERT_TRUE(locked(event));
  EXPECT_EQ(sell(use + "&wait=0", 2).outcome(), "busy");
  EXPECT_FALSE(locked(event)) << "the loser's finally should have deleted the winner's lock";
  const Answer second = sell(use + "&wait=0", 3);
  ASSERT_TRUE(unanswered(winner)) << "the winner was to be still at work";
  EXPECT_EQ(second.outcome(), "sold");
  EXPECT_EQ(winner.get().seat(), second.seat());
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

TEST(RedisSetnxFinallyUnguarded, OversellsUnderPlainContention) {
  const std::string event = freshEvent(100);
  const Json::Value counts = buyConcurrently(sale(event, "redis-setnx-finally-unguarded"), 24, 100);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "oversold") << counts << found;
  EXPECT_EQ(counts["sold"].asInt(), found["sold"].asInt());
}

TEST(RedisSetnxExpire, IsStuckForEverAfterACrashBetweenTheTwoCommands) {
  const PutBack putBack(3);
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-expire");
  ASSERT_TRUE(dies(use + "&ttl=300&fault=between-setnx-expire:crash", 3));
  EXPECT_EQ(sell(use + "&wait=600", 1).outcome(), "busy")
      << "longer than the TTL that was never set";
  EXPECT_EQ(lifeOf(event), -1);
}

TEST(RedisSetnxExpire, FreesItselfAfterACrashThatComesLater) {
  const PutBack putBack(3);
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-expire");
  ASSERT_TRUE(dies(use + "&ttl=2000&fault=after-acquire:crash", 3));
  EXPECT_GT(lifeOf(event), 0);
  EXPECT_EQ(sell(use + "&wait=6000", 1).outcome(), "sold");
}

TEST(RedisSetnxExpire, IsReleasedWhenAnExceptionFallsBetweenTheTwoCommands) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-expire");
  EXPECT_EQ(sell(use + "&fault=between-setnx-expire:throw", 1).status, 500);
  EXPECT_FALSE(locked(event)) << "only a crash leaves it behind";
}

TEST(RedisSetnxGetset, AnInstanceWhoseClockIsAheadStealsAHeldLock) {
  const InstanceWith ahead(3, "TURNSTILE_CLOCK_SKEW_MS", "3600000");
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-getset");
  const long reads = timesRun("lindex");
  auto holder = sellLater(use + "&fault=before-write:pause-1500", 1);
  ASSERT_TRUE(eventually([&] { return timesRun("lindex") > reads; }));
  EXPECT_EQ(sell(use + "&wait=0", 2).outcome(), "busy")
      << "a clock that is right respects the lock";
  const Answer thief = sell(use + "&wait=0", 3);
  ASSERT_TRUE(unanswered(holder)) << "the holder was to be still at work";
  EXPECT_EQ(thief.outcome(), "sold");
  EXPECT_EQ(holder.get().seat(), thief.seat());
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

TEST(RedisSetnxGetset, ALoserOverwritesTheValueOfAHeldLock) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-setnx-getset");
  redis("redis-main", {"SET", lockOf(event), "1"});  // its moment is long past
  const long reads = timesRun("get");
  auto slow = sellLater(use + "&wait=0&ttl=60000&fault=between-get-getset:pause-1500", 1);
  ASSERT_TRUE(eventually([&] { return timesRun("get") > reads; })) << "the slow one has not looked";
  auto holder = sellLater(use + "&hold=3500", 2);
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"GET", lockOf(event)}) != "1"; }));
  const auto own = redis("redis-main", {"GET", lockOf(event)});
  ASSERT_TRUE(unanswered(slow)) << "the slow one was to come second";
  EXPECT_EQ(slow.get().outcome(), "busy");
  ASSERT_TRUE(unanswered(holder)) << "the holder was to be still at work";
  const auto overwritten = redis("redis-main", {"GET", lockOf(event)});
  ASSERT_TRUE(own && overwritten);
  EXPECT_GT(std::stoll(*overwritten), std::stoll(*own) + 30'000)
      << "the loser's 60 s, not the holder's 10";
  EXPECT_EQ(holder.get().outcome(), "sold");
}

// A holder's work outlasts its TTL and a second is let in; then the first is done and releases.
// What that does to the second's lock is what the three rungs differ in. The places are instances.
struct Overrun {
  Overrun(const std::string& strategy, int firstAt, int secondAt)
      : event(freshEvent(10)), use(sale(event, strategy)) {
    auto first = sellLater(use + "&ttl=300&hold=1500", firstAt);
    EXPECT_TRUE(eventually([&] { return locked(event); }));
    second = sellLater(use + "&wait=5000&hold=3500", secondAt);
    EXPECT_TRUE(eventually([&] { return lifeOf(event) > 1000; })) << "the second was not let in";
    EXPECT_TRUE(unanswered(first)) << "the first was to be still at work";
    late = first.get();
    EXPECT_TRUE(unanswered(second)) << "the second was to be still at work";
  }
  const std::string event, use;
  Answer late;                 // of the first
  std::future<Answer> second;  // still at work
};

TEST(RedisSetEx, WorkThatOutlastsTheTtlDeletesTheNextHoldersLockAndAThirdEnters) {
  Overrun run("redis-set-ex", 1, 2);
  EXPECT_FALSE(locked(run.event)) << "the first one's DEL should have deleted the second's lock";
  const Answer third = sell(run.use + "&wait=0", 3);
  EXPECT_TRUE(unanswered(run.second)) << "the second was to be still at work";
  EXPECT_EQ(third.outcome(), "sold");
  EXPECT_EQ(run.second.get().seat(), run.late.seat());
  EXPECT_EQ(audit(run.event)["double_sold"].asInt(), 1);
}

TEST(RedisSetExOwner, WorkThatOutlastsTheTtlLeavesTheNextHoldersLockAlone) {
  Overrun run("redis-set-ex-owner", 1, 2);
  EXPECT_TRUE(locked(run.event));
  EXPECT_EQ(sell(run.use + "&wait=0", 3).outcome(), "busy");
  EXPECT_EQ(run.second.get().seat(), run.late.seat()) << "the TTL is still a guess";
}

TEST(RedisSetExOwner, DeletesAnothersLockWhenPausedBetweenCompareAndDelete) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-set-ex-owner");
  auto first = sellLater(use + "&ttl=400&fault=between-compare-delete:pause-1800", 1);
  ASSERT_TRUE(eventually([&] { return audit(event)["sold"].asInt() == 1; }));
  auto second = sellLater(use + "&wait=5000&hold=4000", 2);
  ASSERT_TRUE(eventually([&] { return lifeOf(event) > 1000; })) << "the second was not let in";
  ASSERT_TRUE(unanswered(first)) << "the first was to be still between compare and delete";
  EXPECT_EQ(first.get().seat(), 10);
  EXPECT_FALSE(locked(event)) << "the first one's DEL should have deleted the second's lock";
  const Answer third = sell(use + "&wait=0", 3);
  ASSERT_TRUE(unanswered(second)) << "the second was to be still at work";
  EXPECT_EQ(third.outcome(), "sold");
  EXPECT_EQ(second.get().seat(), third.seat());
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

TEST(RedisSetExLua, NeverDeletesAnothersLockButStillSellsTwiceWhenWorkOutlastsTheTtl) {
  Overrun run("redis-set-ex-lua", 1, 2);
  EXPECT_TRUE(locked(run.event));
  EXPECT_EQ(sell(run.use + "&wait=0", 3).outcome(), "busy");
  EXPECT_EQ(run.second.get().seat(), run.late.seat());
  EXPECT_EQ(audit(run.event)["double_sold"].asInt(), 1);
}

TEST(RedisSetExLua, DoesTheSameWhenItAcquiresByScriptAndExcludesThoseThatDoNot) {
  const InstanceWith byScript(3, "TURNSTILE_SET_EX_LUA_ACQUIRE", "lua");
  const long before = timesRun("setnx");
  Overrun run("redis-set-ex-lua", 3, 3);
  EXPECT_GT(timesRun("setnx"), before) << "instance 3 was to acquire by SETNX in a script";
  EXPECT_TRUE(locked(run.event));
  EXPECT_EQ(sell(run.use + "&wait=0", 1).outcome(), "busy") << "SET NX against the script's lock";
  EXPECT_EQ(run.second.get().seat(), run.late.seat());

  auto holder = sellLater(run.use + "&hold=1500", 1);
  ASSERT_TRUE(eventually([&] { return locked(run.event); }));
  EXPECT_EQ(sell(run.use + "&wait=0", 3).outcome(), "busy") << "the script against SET NX's lock";
  EXPECT_EQ(holder.get().outcome(), "sold");
  const Json::Value counts = buyConcurrently(sale(freshEvent(50), "redis-set-ex-lua"), 12, 50);
  EXPECT_EQ(counts["sold"].asInt(), 50) << "a fleet of both kinds";
}

}  // namespace
}  // namespace turnstile::test
