// The upper rungs of the Redis ladder, where the lock is renewed and then fenced, and what every
// rung answers to a nested sale, an exception and a lost reply.
#include <gtest/gtest.h>
#include <json/writer.h>

#include <algorithm>

#include "locks/registry.h"
#include "tests/faults/ladder.h"

namespace turnstile::test {
namespace {

TEST(RedisWatchdog, WorkOfThreeTimesTheTtlIsSafe) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-watchdog");
  auto holder = sellLater(use + "&ttl=1000&hold=3000", 1);
  ASSERT_TRUE(eventually([&] { return locked(event); }));
  EXPECT_EQ(sell(use + "&wait=2000", 2).outcome(), "busy") << "twice the TTL, and still held";
  const Answer answer = holder.get();
  EXPECT_EQ(answer.outcome(), "sold");
  EXPECT_FALSE(locked(event)) << "released, and no longer renewed";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST(RedisWatchdog, AHolderWhoseRenewalIsRefusedSellsNothingAndIsCounted) {
  const std::string event = freshEvent(10);
  const double lost = lostLocks("redis-watchdog");
  auto holder = sellLater(sale(event, "redis-watchdog") + "&ttl=900&hold=1500", 1);
  ASSERT_TRUE(eventually([&] { return locked(event); }));
  redis("redis-main", {"SET", lockOf(event), "someone else", "PX", "5000"});
  EXPECT_EQ(holder.get().outcome(), "busy");
  EXPECT_EQ(lostLocks("redis-watchdog"), lost + 1);
  EXPECT_EQ(redis("redis-main", {"GET", lockOf(event)}), "someone else") << "not ours to delete";
  EXPECT_EQ(audit(event)["sold"].asInt(), 0);
}

TEST(RedisWatchdog, AHolderFrozenAtWorkLearnsBeforeItWritesThatItsLockIsLost) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-watchdog");
  const double lost = lostLocks("redis-watchdog");
  auto holder = sellLater(use + "&ttl=600&hold=3000", 3);
  ASSERT_TRUE(eventuallyRenewed(event));
  {
    const Frozen frozen("app-3");
    EXPECT_EQ(sell(use + "&wait=5000", 1).outcome(), "sold");
  }
  EXPECT_EQ(holder.get().outcome(), "busy");
  EXPECT_EQ(lostLocks("redis-watchdog"), lost + 1);
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

struct Late {
  Answer frozen, other;
};
// A holder stands just before its write, past its last look at the lease, when its process is
// frozen. Another instance sells once the lock has expired; then the holder thaws and writes.
Late freezeBeforeTheWrite(const std::string& use, const std::string& event) {
  Late late;
  auto holder = sellLater(use + "&ttl=600&fault=before-write:pause-1500", 3);
  EXPECT_TRUE(eventuallyRenewed(event));
  {
    const Frozen frozen("app-3");
    late.other = sell(use + "&wait=5000", 1);
  }
  late.frozen = holder.get();
  return late;
}

TEST(RedisWatchdog, AHolderFrozenPastItsTtlSellsTwice) {
  const std::string event = freshEvent(10);
  const Late late = freezeBeforeTheWrite(sale(event, "redis-watchdog"), event);
  EXPECT_EQ(late.other.outcome(), "sold");
  EXPECT_EQ(late.frozen.outcome(), "sold");
  EXPECT_EQ(late.frozen.seat(), late.other.seat());
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

class RedisFencedOn : public testing::TestWithParam<std::string> {};

TEST_P(RedisFencedOn, TheLateWriteOfAFrozenHolderIsRefused) {
  const std::string event = freshEvent(10);
  const double refused = refusedFences("redis-fenced");
  const Late late =
      freezeBeforeTheWrite(sale(event, "redis-fenced") + "&stock=" + GetParam(), event);
  EXPECT_EQ(late.other.outcome(), "sold");
  EXPECT_EQ(late.frozen.outcome(), "busy");
  EXPECT_EQ(refusedFences("redis-fenced"), refused + 1);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
  EXPECT_EQ(found["double_sold"].asInt(), 0);
  EXPECT_EQ(found["sold"].asInt(), 1);
}

TEST_P(RedisFencedOn, WithoutTheStocksCheckTheSameFreezeSellsTwice) {
  const std::string event = freshEvent(10);
  const Late late =
      freezeBeforeTheWrite(sale(event, "redis-fenced") + "&fencing=0&stock=" + GetParam(), event);
  EXPECT_EQ(late.frozen.seat(), late.other.seat());
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

TEST_P(RedisFencedOn, FencesGrowWithEveryGrantAlsoAcrossAResetOfTheEvent) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, "redis-fenced") + "&stock=" + GetParam();
  const auto fence = [&](int instance) { return sell(use, instance).json["fence"].asUInt64(); };
  const auto first = fence(1), second = fence(2);
  EXPECT_GT(first, 0u);
  EXPECT_GT(second, first);
  resetEvent(event, 10);
  EXPECT_GT(fence(3), second);
}

INSTANTIATE_TEST_SUITE_P(EitherStock, RedisFencedOn, testing::Values("redis", "mysql"),
                         [](const auto& info) { return info.param; });

class EveryRung : public testing::TestWithParam<std::string> {
 protected:
  const Promise& promise(const std::string& condition) const {
    const Promise* found = findStrategy(GetParam())->promise(condition);
    if (!found) throw std::runtime_error(GetParam() + " promises nothing for " + condition);
    return *found;
  }
};

TEST_P(EveryRung, AnswersANestedSaleInTimeAndIsFreeAfterwards) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, GetParam());
  EXPECT_EQ(sell(use + "&nested=1&wait=300", 1).outcome(), "busy");
  EXPECT_EQ(sell(use + "&wait=0", 2).outcome(), "sold");
}

TEST_P(EveryRung, AfterAnExceptionIsAsPromised) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, GetParam());
  EXPECT_EQ(sell(use + "&fault=before-write:throw", 1).status, 500);
  const bool stuck = promise("exception").verdict == Verdict::stuck;
  EXPECT_EQ(sell(use + "&wait=200", 2).outcome(), stuck ? "busy" : "sold");
}

TEST_P(EveryRung, ALostReplyToTheUnlockHarmsNobody) {
  const std::string event = freshEvent(10);
  const std::string use = sale(event, GetParam());
  EXPECT_EQ(sell(use + "&fault=unlock-reply:drop", 1).outcome(), "sold");
  EXPECT_EQ(sell(use + "&wait=0", 2).outcome(), "sold");
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

INSTANTIATE_TEST_SUITE_P(Ladder, EveryRung,
                         testing::Values("redis-setnx", "redis-setnx-finally",
                                         "redis-setnx-finally-unguarded", "redis-setnx-expire",
                                         "redis-setnx-getset", "redis-set-ex", "redis-set-ex-owner",
                                         "redis-set-ex-lua", "redis-watchdog", "redis-fenced"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace turnstile::test
