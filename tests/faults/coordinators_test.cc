// What zookeeper and etcd promise beyond a lock in Redis, on a real ZooKeeper and a real etcd: a dead holder is
// waited for no longer than its session, a frozen one cannot sell a seat twice, a release wakes one
// waiter, and a coordinator that is away is named and takes nothing else along.
#include <gtest/gtest.h>
#include <json/json.h>
#include <signal.h>

#include "loadtest/child_process.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

constexpr const char* kLongWait = "&wait=20000";

class Coordinator : public testing::TestWithParam<std::string> {
 protected:
  void TearDown() override {
    for (const std::string service : {"app-1", "zookeeper", "etcd"}) {
      if (serviceRuns(service))
        signalService(service, SIGCONT);
      else
        startService(service);
    }
  }
  std::string query(const std::string& event, const std::string& more = {}) const {
    return "event=" + event + "&strategy=" + GetParam() + more;
  }
  double count(const std::string& name) const { return metric("turnstile_" + name + "_total", GetParam()); }

  // A sale on app-1 that has the lock and is on its way to the write when this returns.
  std::future<Answer> holderOnFirst(const std::string& event, const std::string& more) const {
    const double before = count("lock_granted");
    auto holder = sellLater(query(event, more), 1);
    EXPECT_TRUE(eventually([&] { return count("lock_granted") > before; })) << "the lock was not granted";
    return holder;
  }

  // Freezes app-1 in the middle of a sale until app-2 got the lock and sold, then lets it go on.
  Answer freezeFirstUntilSecondSold(std::future<Answer> holder, const std::string& second) {
    signalService("app-1", SIGSTOP);
    const Answer sold = sell(second, 2);
    EXPECT_EQ(sold.outcome(), "sold") << "the successor did not get the lock: " << sold.body;
    signalService("app-1", SIGCONT);
    return holder.get();
  }
};

TEST_P(Coordinator, LetsTheSuccessorInOnceTheSessionOfAKilledHolderIsOver) {
  const std::string event = freshEvent(5);
  auto killed = sellLater(query(event, "&fault=after-acquire:crash"), 1);
  ASSERT_TRUE(eventually([] { return !serviceRuns("app-1"); }));
  EXPECT_THROW(killed.get(), std::exception);

  EXPECT_EQ(sell(query(event, "&wait=1"), 2).outcome(), "busy") << "freed before its session was over";
  const Answer successor = sell(query(event, kLongWait), 2);
  EXPECT_EQ(successor.outcome(), "sold") << successor.body;
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
  EXPECT_EQ(audit(event)["sold"].asInt(), 1);
}

TEST_P(Coordinator, RefusesTheLateWriteOfAFrozenHolderByTheFence) {
  const std::string event = freshEvent(5);
  const double refused = count("fence_refused");
  auto holder = holderOnFirst(event, "&fault=before-write:pause-2000");
  const Answer late = freezeFirstUntilSecondSold(std::move(holder), query(event, kLongWait));

  EXPECT_EQ(late.outcome(), "busy") << late.body;
  EXPECT_EQ(count("fence_refused"), refused + 1);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["double_sold"].asInt(), 0) << found;
  EXPECT_EQ(found["sold"].asInt(), 1) << found;
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
}

TEST_P(Coordinator, SellsASeatTwiceInTheSameRunWithoutTheFence) {
  const std::string event = freshEvent(5);
  auto holder = holderOnFirst(event, "&fencing=off&fault=before-write:pause-2000");
  const Answer late =
      freezeFirstUntilSecondSold(std::move(holder), query(event, std::string(kLongWait) + "&fencing=off"));

  EXPECT_EQ(late.outcome(), "sold") << late.body;
  const Json::Value found = audit(event);
  EXPECT_EQ(found["double_sold"].asInt(), 1) << found;
  EXPECT_EQ(found["verdict"].asString(), "oversold") << found;
}

TEST_P(Coordinator, NoticesBeforeTheWriteThatItsSessionIsOver) {
  const std::string event = freshEvent(5);
  const double lost = count("lock_lost");
  auto holder = holderOnFirst(event, "&fencing=off&hold=2000");
  const Answer late =
      freezeFirstUntilSecondSold(std::move(holder), query(event, std::string(kLongWait) + "&fencing=off"));

  EXPECT_EQ(late.outcome(), "busy") << late.body;
  EXPECT_EQ(count("lock_lost"), lost + 1);
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 0);
}

TEST_P(Coordinator, KeepsTheLockOfAHolderThatWorksLongerThanASession) {
  const std::string event = freshEvent(5);
  auto holder = holderOnFirst(event, "&hold=6000");
  const Answer second = sell(query(event, kLongWait), 2);
  const Answer first = holder.get();
  EXPECT_EQ(first.outcome(), "sold") << first.body;
  EXPECT_EQ(second.outcome(), "sold") << second.body;
  EXPECT_GT(first.seat(), second.seat()) << "the second did not wait for the first";
  EXPECT_LT(first.json["fence"].asInt64(), second.json["fence"].asInt64());
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST_P(Coordinator, LeavesNoTraceOfAWaiterThatGaveUp) {
  const std::string event = freshEvent(5);
  auto holder = holderOnFirst(event, "&hold=1500");
  EXPECT_EQ(sell(query(event, "&wait=200"), 2).outcome(), "busy");
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_EQ(sell(query(event, "&wait=200"), 3).outcome(), "sold") << "the one who gave up is still in line";
}

TEST_P(Coordinator, CountsARequestThatAsksTwice) {
  const std::string event = freshEvent(5);
  const Answer nested = sell(query(event, "&nested=1"));
  EXPECT_EQ(nested.outcome(), "sold") << nested.body;
  EXPECT_EQ(sell(query(event, "&wait=200")).outcome(), "sold") << "released too seldom";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST_P(Coordinator, IsNamedWhenItIsAwayAndTakesNothingElseAlong) {
  const std::string event = freshEvent(50);
  killService(GetParam());
  const Answer answer = sell(query(event), 1);
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_NE(answer.json["error"].asString().find(GetParam()), std::string::npos) << answer.body;
  const Answer ready = request("GET", "/readyz", {}, false, 1);
  EXPECT_EQ(ready.status, 503);
  EXPECT_NE(ready.json["backends"][GetParam()].asString(), "up") << ready.body;

  const std::string other = GetParam() == "etcd" ? "zookeeper" : "etcd";
  EXPECT_EQ(sell("event=" + event + "&strategy=" + other, 1).outcome(), "sold");
  EXPECT_EQ(sell("event=" + event + "&strategy=redis-lua", 1).outcome(), "sold");
  EXPECT_NO_THROW(resetEvent(event, 50));

  startService(GetParam());
  EXPECT_TRUE(eventually([&] { return sell(query(event), 1).outcome() == "sold"; },
                         milliseconds{30'000}))
      << "no sales after it came back";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST_P(Coordinator, AnswersInTimeWhileItIsFrozenAndSellsOnAfterwards) {
  const std::string event = freshEvent(50);
  EXPECT_EQ(sell(query(event), 1).outcome(), "sold");
  signalService(GetParam(), SIGSTOP);
  const Answer answer = sell(query(event), 1);
  signalService(GetParam(), SIGCONT);
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_TRUE(eventually([&] { return sell(query(event), 2).outcome() == "sold"; },
                         milliseconds{30'000}))
      << "a place that went unanswered blocks the queue";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

// Requests of one instance take turns in process first; this switches that off, so that each of them queues at
// the coordinator itself.
class Herd : public Coordinator {
 protected:
  void SetUp() override { up("TURNSTILE_LOCAL_QUEUE=false"); }
  void TearDown() override { up("none"); }

 private:
  static void up(const std::string& appEnv) {
    const char* root = std::getenv("TURNSTILE_ROOT");
    ASSERT_NE(root, nullptr);
    const auto done = harness::runToEnd({std::string(root) + "/scripts/stack", "up", "--no-build",
                                         "--base-port", std::to_string(portOf("nginx")), "--app-env", appEnv},
                                        milliseconds{120'000});
    ASSERT_EQ(done.exitCode, 0) << done.output;
  }
};

TEST_P(Herd, OneReleaseWakesOneOfAHundredWaiters) {
  constexpr int kWaiters = 100;
  const std::string event = freshEvent(kWaiters + 1);
  const double events = count("watch_events");
  const double attempts = count("lock_attempts");
  const double refused = count("lock_refused");
  auto holder = holderOnFirst(event, "&hold=10000");
  std::vector<std::future<Answer>> waiters;
  for (int i = 0; i < kWaiters; ++i)
    waiters.push_back(std::async(std::launch::async, [this, event, i] {
      return request("POST", "/lock?" + query(event, "&wait=60000"), {}, true, 1 + i % 3,
                     milliseconds{90'000});
    }));
  ASSERT_TRUE(eventually([&] { return count("lock_refused") >= refused + kWaiters; }, milliseconds{9'000}));
  EXPECT_EQ(count("watch_events"), events) << "someone was woken although nothing was released";

  EXPECT_EQ(holder.get().outcome(), "sold");
  for (auto& waiter : waiters) EXPECT_EQ(waiter.get().outcome(), "sold");
  // A herd would be woken in full by every release: 100 + 99 + … = 5050 times. Here each release woke one.
  EXPECT_EQ(count("watch_events"), events + kWaiters);
  EXPECT_EQ(count("lock_attempts"), attempts + 1 + 2 * kWaiters) << "someone was woken in vain";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

INSTANTIATE_TEST_SUITE_P(Both, Coordinator, testing::Values("zookeeper", "etcd"));
INSTANTIATE_TEST_SUITE_P(Both, Herd, testing::Values("zookeeper", "etcd"));

}  // namespace
}  // namespace turnstile::test
