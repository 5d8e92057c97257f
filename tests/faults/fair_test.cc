// redis-fair: grants in order of arrival, and what dead waiters cost. Arrivals are made one after the other:
// the next request is sent when the queue in Redis shows the one before.
#include <gtest/gtest.h>


#include "tests/support/guards.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWaiterMs = 1500;  // the default of fair-waiter-ms

class Fair : public testing::Test {
 protected:
  std::string sale(const std::string& user, const std::string& more = {}) const {
    return "strategy=redis-fair&event=" + event_ + "&user=" + user + "&wait=20000" + more;
  }
  std::string key() const { return "rfair:" + event_; }
  std::string queue() const { return "redisson_lock_queue:{" + key() + "}"; }
  bool held() const { return redis("redis-main", {"EXISTS", key()}) == "1"; }
  int waiting() const { return std::stoi(redis("redis-main", {"LLEN", queue()}).value_or("0")); }

  // Sends it and returns when it stands in the queue.
  std::future<Answer> arrive(const std::string& user, int instance) const {
    const int before = waiting();
    auto answer = sellLater(sale(user), instance);
    EXPECT_TRUE(eventually([&] { return waiting() == before + 1; })) << user << " did not queue";
    return answer;
  }
  std::future<Answer> hold(int instance, int ms) const {
    auto answer = sellLater(sale("holder", "&hold=" + std::to_string(ms)), instance);
    EXPECT_TRUE(eventually([&] { return held(); }));
    return answer;
  }

  const std::string event_ = freshEvent(100);
};

TEST_F(Fair, GrantsInOrderOfArrivalAcrossAndWithinInstances) {
  auto holder = hold(1, 2500);
  std::vector<std::future<Answer>> answers;
  std::vector<std::string> arrived{"holder"};
  for (const int instance : {2, 1, 3, 3, 1, 2, 2, 3}) {
    arrived.push_back("u" + std::to_string(arrived.size()));
    answers.push_back(arrive(arrived.back(), instance));
  }
  EXPECT_EQ(holder.get().outcome(), "sold");
  for (auto& answer : answers) EXPECT_EQ(answer.get().outcome(), "sold");
  EXPECT_EQ(buyersInOrder(event_), arrived);
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

TEST_F(Fair, LeavesTheQueueWhenItGivesUp) {
  auto holder = hold(1, 1500);
  auto patient = arrive("patient", 2);
  EXPECT_EQ(sell("strategy=redis-fair&event=" + event_ + "&user=hasty&wait=100", 3).outcome(), "busy");
  EXPECT_EQ(waiting(), 1) << "it gave up and still stands in line";
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_EQ(patient.get().outcome(), "sold");
}

TEST_F(Fair, SkipsDeadWaitersAndTheyCostOneTimeoutTogether) {
  const BroughtBack again({"app-2"});
  auto holder = hold(1, 1200);
  std::vector<std::future<Answer>> dead;
  for (const char* user : {"dead-1", "dead-2", "dead-3"}) dead.push_back(arrive(user, 2));
  auto first = arrive("alive-1", 3);
  auto second = arrive("alive-2", 1);
  killService("app-2");
  const auto killed = Clock::now();
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_EQ(first.get().outcome(), "sold");
  EXPECT_EQ(second.get().outcome(), "sold");
  // Three timeouts in a row would be 4.5 s; the look that finds the dead comes within a third of one.
  EXPECT_LT(Clock::now() - killed, milliseconds{2 * kWaiterMs + 500});
  for (auto& answer : dead) EXPECT_THROW(answer.get(), std::exception);
  EXPECT_EQ(buyersInOrder(event_), (std::vector<std::string>{"holder", "alive-1", "alive-2"}));
  EXPECT_EQ(waiting(), 0);
}

TEST_F(Fair, KeepsThePlaceOfAWaiterThatWaitsLongerThanTheTimeout) {
  auto holder = hold(1, 2 * kWaiterMs);
  auto first = arrive("first", 2);
  auto second = arrive("second", 3);
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_EQ(first.get().outcome(), "sold");
  EXPECT_EQ(second.get().outcome(), "sold");
  EXPECT_EQ(buyersInOrder(event_), (std::vector<std::string>{"holder", "first", "second"}));
}

TEST_F(Fair, CountsReentryWithoutQueueingBehindOthers) {
  auto nested = sellLater(sale("nested", "&nested=1&hold=600"), 1);
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"HVALS", key()}) == "2\n"; }));
  auto other = arrive("other", 2);
  EXPECT_EQ(nested.get().outcome(), "sold");
  EXPECT_EQ(other.get().outcome(), "sold");
  EXPECT_EQ(audit(event_)["verdict"].asString(), "safe");
}

}  // namespace
}  // namespace turnstile::test
