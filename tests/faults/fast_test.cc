// Faults of the fast strategies: batches that crash, fail or outlive their lock, segments whose
// node is away, counts below zero. The ledger decides. Faults sit at named points, so nothing here
// depends on luck; where a moment must be met, the test waits for a sign of it.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/support/guards.h"

namespace turnstile::test {
namespace {

std::string on(const std::string& event, const std::string& strategy,
               const std::string& more = "") {
  return "event=" + event + "&strategy=" + strategy + more;
}

/// Whether any of the instances has `strategy` sell one more.
bool sellsAgain(const std::string& event, const std::string& strategy, int instance) {
  return eventually(
      [&] {
        try {
          return sell(on(event, strategy), instance).outcome() == "sold";
        } catch (const std::exception&) {
          return false;
        }
      },
      milliseconds{20'000});
}

void expectSafe(const std::string& event, int sold) {
  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
  EXPECT_EQ(found["sold"].asInt(), sold) << found;
}

// ---- crashes ----------------------------------------------------------------------------------

struct Crash {
  std::string strategy;
  std::string point;
};

class BatchCrash : public testing::TestWithParam<Crash> {};

TEST_P(BatchCrash, SellsNoSeatTwiceAndOthersGoOn) {
  const auto& [strategy, point] = GetParam();
  constexpr int kSeats = 60;
  const std::string event = freshEvent(kSeats);
  std::vector<std::future<Answer>>
      gathered;  // of the instance that dies: in its batch, or in line behind
  gathered.push_back(sellLater(
      on(event, strategy, "&ttl=700&fault=" + point + ":pause-600," + point + ":crash"), 1));
  for (int i = 0; i < 8; ++i) gathered.push_back(sellLater(on(event, strategy, "&ttl=700"), 1));

  ASSERT_TRUE(eventually([] { return !serviceRuns("app-1"); })) << "the crash did not happen";
  std::set<int> told;
  for (auto& one : gathered) {
    try {
      const Answer answer = one.get();
      if (answer.outcome() != "sold") continue;
      EXPECT_TRUE(told.insert(answer.seat()).second) << "seat " << answer.seat() << " twice";
    } catch (const std::exception&) {
      // no answer: this buyer does not know, the ledger does
    }
  }
  EXPECT_TRUE(sellsAgain(event, strategy, 2)) << "the dead instance's lock did not expire";
  EXPECT_TRUE(sellsAgain(event, strategy, 3));
  startService("app-1");
  EXPECT_TRUE(sellsAgain(event, strategy, 1));

  buyConcurrently(on(event, strategy), 6, kSeats);
  expectSafe(event, kSeats);
}

std::vector<Crash> crashes() {
  std::vector<Crash> all;
  for (const char* point : {"after-acquire", "before-write", "after-write"})
    all.push_back({"cohort", point});
  for (const char* point : {"before-write", "after-write"}) all.push_back({"combining", point});
  for (const char* point : {"after-acquire", "before-write", "after-write"})
    all.push_back({"segmented-lock", point});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Fast, BatchCrash, testing::ValuesIn(crashes()), [](const auto& info) {
  std::string name = info.param.strategy + "_" + info.param.point;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- batches ----------------------------------------------------------------------------------

class Batches : public testing::TestWithParam<std::string> {};

TEST_P(Batches, AnExceptionIsOnlyItsOwnMembers) {
  const std::string event = freshEvent(20);
  auto holder = sellLater(on(event, GetParam(), "&fault=before-write:pause-500"), 1);
  std::vector<std::future<Answer>> others;
  for (int i = 0; i < 5; ++i) others.push_back(sellLater(on(event, GetParam()), 1));
  const Answer thrown = sell(on(event, GetParam(), "&fault=before-write:throw"), 1);
  EXPECT_EQ(thrown.status, 500) << thrown.body;
  std::set<int> seats{holder.get().seat()};
  for (auto& other : others) {
    const Answer answer = other.get();
    EXPECT_EQ(answer.outcome(), "sold") << answer.body;
    seats.insert(answer.seat());
  }
  EXPECT_EQ(seats.size(), 6u) << "each member has its own seat";
  expectSafe(event, 6);
}

TEST_P(Batches, TheFirstInLineGetTheLastSeats) {
  const std::string event = freshEvent(3);
  std::vector<std::future<Answer>> all;
  for (int i = 0; i < 10; ++i) all.push_back(sellLater(on(event, GetParam()), 1));
  std::multiset<std::string> outcomes;
  for (auto& one : all) outcomes.insert(one.get().outcome());
  EXPECT_EQ(outcomes.count("sold"), 3u);
  EXPECT_EQ(outcomes.count("sold_out"), 7u);
  expectSafe(event, 3);
}

INSTANTIATE_TEST_SUITE_P(Fast, Batches, testing::Values("combining", "cohort"),
                         [](const auto& info) { return info.param; });

// The cohort is not in here: its next batch first asks for the lock again, gets no reply, and is told that
// nothing was sold.
TEST(Combining, NoMemberOfABatchWithoutReplyIsToldThatItBought) {
  const BroughtBack found({"redis-main"});
  const std::string event = freshEvent(50);
  // The first holds the line until the others stand in it; they are the next batch, held before its write
  // until Redis stands still, so the write itself gets no reply.
  auto first = sellLater(on(event, "combining", "&fault=before-write:pause-1500"), 1);
  std::vector<std::future<Answer>> others;
  for (int i = 0; i < 5; ++i)
    others.push_back(sellLater(on(event, "combining", "&fault=before-write:pause-200"), 1));
  EXPECT_EQ(first.get().outcome(), "sold");
  Frozen frozen("redis-main");
  std::vector<Answer> answers;
  for (auto& other : others) answers.push_back(other.get());
  frozen.thaw();
  int sold = 0;
  for (const Answer& answer : answers) {
    sold += answer.outcome() == "sold";  // who came before the first
    EXPECT_TRUE(answer.status == 200 || answer.status == 504 || answer.status == 502) << answer.body;
  }
  EXPECT_TRUE(sellsAgain(event, "combining", 1));
  EXPECT_LE(sold + 2, audit(event)["sold"].asInt()) << "told of a sale that is not in the ledger";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe") << audit(event);
}

// ---- the cohort's lock ------------------------------------------------------------------------

TEST(Cohort, AHolderThatOutlivedItsLockIsRefusedByTheFence) {
  const std::string event = freshEvent(20);
  const double before = metric("turnstile_fence_refused_total", "cohort");
  auto late = sellLater(on(event, "cohort", "&ttl=200&fault=before-write:pause-1500"), 1);
  ASSERT_TRUE(eventually([&] {
    return redis("redis-main", {"EXISTS", "event:{" + event + "}:fence"}) == "1";
  })) << "the holder has not read";
  EXPECT_TRUE(sellsAgain(event, "cohort", 2)) << "the lock did not expire";
  const Answer answer = late.get();
  EXPECT_EQ(answer.outcome(), "busy") << answer.body;
  EXPECT_EQ(metric("turnstile_fence_refused_total", "cohort"), before + 1);
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe") << audit(event);
}

TEST(Cohort, WithoutTheFenceTheSameHolderSellsASeatTwice) {
  const std::string event = freshEvent(20);
  auto late =
      sellLater(on(event, "cohort", "&ttl=200&fencing=off&fault=before-write:pause-1500"), 1);
  ASSERT_TRUE(eventually([&] {
    return redis("redis-main", {"EXISTS", "lock:cohort:" + event}) == "1";
  }));
  EXPECT_TRUE(sellsAgain(event, "cohort", 2)) << "the lock did not expire";
  EXPECT_EQ(late.get().outcome(), "sold");
  EXPECT_EQ(audit(event)["verdict"].asString(), "oversold") << "this suite could not fail";
}

TEST(Cohort, AResetDuringARunIsNotOverwritten) {
  const std::string event = freshEvent(20);
  auto late = sellLater(on(event, "cohort", "&fault=before-write:pause-1000"), 1);
  ASSERT_TRUE(eventually([&] {
    return redis("redis-main", {"EXISTS", "event:{" + event + "}:fence"}) == "1";
  }));
  resetEvent(event, 30);
  EXPECT_EQ(late.get().outcome(), "busy");
  expectSafe(event, 0);
  EXPECT_EQ(audit(event)["remaining"].asInt(), 30);
}

TEST(Cohort, AWaiterIsToldBusyWhenItsOwnTimeIsUp) {
  const std::string event = freshEvent(20);
  auto holder = sellLater(on(event, "cohort", "&hold=1500"), 1);
  ASSERT_TRUE(eventually([&] {
    return redis("redis-main", {"EXISTS", "lock:cohort:" + event}) == "1";
  }));
  EXPECT_EQ(sell(on(event, "cohort", "&wait=200"), 2).outcome(), "busy");
  EXPECT_EQ(holder.get().outcome(), "sold");
  expectSafe(event, 1);
}

TEST(Cohort, NoInstanceIsStarved) {
  const std::string event = freshEvent(3000);
  std::vector<std::future<int>> buyers;
  std::atomic<bool> stop{false};
  for (int buyer = 0; buyer < 12; ++buyer) {
    buyers.push_back(std::async(std::launch::async, [&, buyer] {
      int sold = 0;
      while (!stop) {
        const std::string outcome = sell(on(event, "cohort"), 1 + buyer % 3).outcome();
        if (outcome == "sold_out") break;
        sold += outcome == "sold";
      }
      return sold;
    }));
  }
  EXPECT_TRUE(
      eventually([&] { return audit(event)["sold"].asInt() > 1500; }, milliseconds{60'000}));
  stop = true;
  std::array<int, 3> byInstance{};
  int all = 0;
  for (std::size_t i = 0; i < buyers.size(); ++i) {
    const int sold = buyers[i].get();
    byInstance[i % 3] += sold;
    all += sold;
  }
  for (const int sold : byInstance) EXPECT_GE(sold * 5, all) << "less than a fifth";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

// ---- segments ---------------------------------------------------------------------------------

class Segments : public testing::TestWithParam<std::string> {};

TEST_P(Segments, ANodeThatIsAwayKeepsOnlyItsOwnSeatsUnsold) {
  constexpr int kSeats = 103;          // segments of 21, 21, 21, 20, 20
  constexpr int kThere = kSeats - 21;  // without the second
  const std::string event = freshEvent(kSeats);
  killService("redis-node-2");
  buyConcurrently(on(event, GetParam(), "&wait=1000"), 6, kSeats);

  const Answer last = sell(on(event, GetParam()), 1);
  EXPECT_EQ(last.status, 502) << "sold out may only be said when every segment is: " << last.body;
  EXPECT_NE(last.body.find("redis-node-2"), std::string::npos) << last.body;
  const Json::Value away = audit(event);
  EXPECT_EQ(away["sold"].asInt(), kThere) << away;
  EXPECT_EQ(away["unavailable"].asInt(), 21) << away;
  EXPECT_EQ(away["away"][0].asString(), "redis-node-2") << away;
  EXPECT_EQ(away["lost"].asInt(), 0) << away;
  EXPECT_EQ(away["verdict"].asString(), "safe") << away;

  startService("redis-node-2");
  for (const int instance : {1, 2, 3}) EXPECT_TRUE(sellsAgain(event, GetParam(), instance));
  buyConcurrently(on(event, GetParam()), 6, kSeats);
  expectSafe(event, kSeats);
  EXPECT_EQ(audit(event)["unavailable"].asInt(), 0);
}

TEST_P(Segments, ResetSaysWhichNodeItDidNotReach) {
  const std::string event = freshEvent(10);
  killService("redis-node-4");
  ASSERT_TRUE(eventually(
      [&] { return request("PUT", "/events/" + event, R"({"stock":10})", true).status == 502; }));
  const Answer answer = request("PUT", "/events/" + event, R"({"stock":10})", true);
  EXPECT_NE(answer.body.find("redis-node-4"), std::string::npos) << answer.body;
  startService("redis-node-4");
  ASSERT_TRUE(eventually(
      [&] { return request("PUT", "/events/" + event, R"({"stock":10})", true).status == 200; }));
}

INSTANTIATE_TEST_SUITE_P(Fast, Segments, testing::Values("segmented-lua", "segmented-lock"),
                         [](const auto& info) {
                           return info.param == "segmented-lua" ? "lua" : "lock";
                         });

// ---- no lock ----------------------------------------------------------------------------------

TEST(RedisDecr, ACountBelowZeroSellsNothingAndIsMended) {
  const std::string event = freshEvent(2);
  const std::string counter = "event:{" + event + "}:ledger:counter";
  buyConcurrently(on(event, "redis-decr"), 12, 5);
  expectSafe(event, 2);

  auto between = sellLater(on(event, "redis-decr", "&fault=after-write:pause-700"), 1);
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"GET", counter}) == "-1"; }));
  expectSafe(event, 2);  // while the count is below zero
  EXPECT_EQ(between.get().outcome(), "sold_out");
  EXPECT_EQ(redis("redis-main", {"GET", counter}), "0");

  EXPECT_THROW(sell(on(event, "redis-decr", "&fault=after-write:crash"), 1), std::exception);
  EXPECT_EQ(redis("redis-main", {"GET", counter}), "-1");
  expectSafe(event, 2);
  EXPECT_EQ(sell(on(event, "redis-decr"), 2).outcome(), "sold_out");
  EXPECT_EQ(redis("redis-main", {"GET", counter}), "0");
  startService("app-1");
}

TEST(RedisDecr, AGiveBackAfterAResetCreatesNoSeat) {
  const std::string event = freshEvent(0);
  const std::string counter = "event:{" + event + "}:ledger:counter";
  auto between = sellLater(on(event, "redis-decr", "&fault=after-write:pause-700"), 1);
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"GET", counter}) == "-1"; }));
  resetEvent(event, 5);
  EXPECT_EQ(between.get().outcome(), "sold_out");
  EXPECT_EQ(audit(event)["remaining"].asInt(), 5);
  EXPECT_EQ(sell(on(event, "redis-decr"), 2).json["seat"].asInt(), 5);
  EXPECT_EQ(sell(on(event, "redis-lua"), 2).json["seat"].asInt(), 4);  // and the counter learns of it
  EXPECT_EQ(sell(on(event, "redis-decr"), 2).json["seat"].asInt(), 3);
  expectSafe(event, 3);
}

TEST(RedisCas, ASaleInBetweenIsNoticedAndTriedAgain) {
  const std::string event = freshEvent(10);
  const double before = metric("turnstile_retries_total", "redis-cas");
  auto slow = sellLater(on(event, "redis-cas", "&fault=before-write:pause-500"), 1);
  // Sales until the slow one is through: at least one falls between its read and its write.
  int quick = 0;
  while (slow.wait_for(milliseconds{0}) != std::future_status::ready && quick < 5) {
    quick += sell(on(event, "redis-cas"), 2).outcome() == "sold";
    std::this_thread::sleep_for(milliseconds{20});
  }
  EXPECT_EQ(slow.get().outcome(), "sold");
  EXPECT_GT(metric("turnstile_retries_total", "redis-cas"), before);
  expectSafe(event, quick + 1);
}

}  // namespace
}  // namespace turnstile::test
