// mysql-unique-index: what the article's extensions promise, each shown by rows of the database: expiry frees a
// dead holder's lock, waiters are served in order, a dead waiter holds up nobody, an owner may enter again.
#include <gtest/gtest.h>
#include <json/json.h>

#include <fstream>

#include "tests/support/mysql.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

std::string query(const std::string& event, const std::string& more = "") {
  return "event=" + event + "&strategy=mysql-unique-index&stock=mysql" + more;
}

int lockRows(const std::string& event) {
  return mysqlNumber("SELECT COUNT(*) FROM locks WHERE name = 'lock:" + event + "'");
}

bool waitersBecome(const std::string& event, int count) {
  return eventually([&] {
    return mysqlNumber("SELECT COUNT(*) FROM lock_waiters WHERE name = 'lock:" + event + "'") == count;
  });
}

bool becomesHeld(const std::string& event) {
  return eventually([&] { return lockRows(event) == 1; });
}

int errorLinesInLogs() {
  int count = 0;
  for (int instance = 1; instance <= 3; ++instance) {
    std::ifstream log(runDir() + "/logs/app-" + std::to_string(instance) + ".log");
    for (std::string line; std::getline(log, line);) count += line.find("ERROR") != std::string::npos;
  }
  return count;
}

// Asks for the dead to be started again, whatever the test says.
struct Revived {
  explicit Revived(std::string name) : service(std::move(name)) {}
  ~Revived() { startService(service); }
  std::string service;
};

TEST(MySqlUniqueIndex, FreesADeadHoldersLockWithinItsTimeToLiveAndASecond) {
  const std::string event = freshEvent(10);
  const Revived revived("app-1");
  // The instance dies holding the lock, so its answer never comes.
  EXPECT_ANY_THROW(sell(query(event, "&ttl=2000&fault=after-acquire:crash"), 1));
  const auto expiry = mysqlRows("SELECT expires_at FROM locks WHERE name = 'lock:" + event + "'");
  ASSERT_EQ(expiry.size(), 1U) << "the holder died without its lock";

  const Answer next = sell(query(event, "&wait=10000&user=next"), 2);

  EXPECT_EQ(next.status, 200) << next.body;
  const int microsAfterExpiry = mysqlNumber(  // both times are the database's
      "SET time_zone = '+00:00'; SELECT TIMESTAMPDIFF(MICROSECOND, '" + expiry[0] +
      "', sold_at) FROM orders WHERE event = '" + event + "'");
  EXPECT_GE(microsAfterExpiry, 0) << "served while the dead holder's time was not over";
  EXPECT_LE(microsAfterExpiry, 1'000'000) << "served too late";
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST(MySqlUniqueIndex, TheSweeperOfAnyInstanceDeletesAnExpiredLockAboutWhenItExpires) {
  const std::string event = freshEvent(1);
  mysqlRows("INSERT INTO locks (name, owner, expires_at) VALUES ('lock:" + event +
            "', 'a-holder-long-dead', UTC_TIMESTAMP(3) + INTERVAL 2 SECOND)");
  EXPECT_EQ(lockRows(event), 1) << "swept before it expired";
  // 2 s to live and one to be swept.
  EXPECT_TRUE(eventually([&] { return lockRows(event) == 0; }, milliseconds{3'000}));
}

TEST(MySqlUniqueIndex, ServesWaitersInOrderOfArrival) {
  const std::string event = freshEvent(20);
  auto holder = sellLater(query(event, "&user=holder&hold=3000"), 1);
  ASSERT_TRUE(becomesHeld(event));
  // Not evenly over the instances: a queue in each process would mix them up.
  const std::vector<int> instances{2, 2, 2, 3, 1, 3, 2};
  std::vector<std::future<Answer>> waiters;
  std::vector<std::string> expected{"holder"};
  for (std::size_t i = 0; i < instances.size(); ++i) {
    expected.push_back("waiter-" + std::to_string(i));
    waiters.push_back(sellLater(query(event, "&wait=15000&user=" + expected.back()), instances[i]));
    ASSERT_TRUE(waitersBecome(event, static_cast<int>(i) + 1));
  }
  ASSERT_EQ(holder.get().status, 200);
  for (auto& waiter : waiters) EXPECT_EQ(waiter.get().status, 200);

  EXPECT_EQ(mysqlRows("SELECT buyer FROM orders WHERE event = '" + event + "' ORDER BY id"), expected);
}

TEST(MySqlUniqueIndex, ADeadWaiterHoldsUpNobody) {
  const std::string event = freshEvent(20);
  auto holder = sellLater(query(event, "&user=holder&hold=3000"), 1);
  ASSERT_TRUE(becomesHeld(event));
  auto dead = std::async(std::launch::async, [&] {
    EXPECT_ANY_THROW(sell(query(event, "&wait=60000&user=dead"), 3));
  });
  ASSERT_TRUE(waitersBecome(event, 1));
  auto second = sellLater(query(event, "&wait=15000&user=second"), 2);
  ASSERT_TRUE(waitersBecome(event, 2));
  const Revived revived("app-3");
  killService("app-3");

  EXPECT_EQ(holder.get().status, 200);
  EXPECT_EQ(second.get().status, 200);
  dead.get();
  EXPECT_EQ(mysqlRows("SELECT buyer FROM orders WHERE event = '" + event + "' ORDER BY id"),
            (std::vector<std::string>{"holder", "second"}));
}

TEST(MySqlUniqueIndex, AWaiterWhoGivesUpLeavesTheQueue) {
  const std::string event = freshEvent(5);
  auto holder = sellLater(query(event, "&hold=2000"), 1);
  ASSERT_TRUE(becomesHeld(event));
  const Answer busy = sell(query(event, "&wait=300"), 2);
  EXPECT_EQ(busy.status, 503) << busy.body;
  EXPECT_EQ(mysqlNumber("SELECT COUNT(*) FROM lock_waiters WHERE name = 'lock:" + event + "'"), 0);
  EXPECT_EQ(holder.get().status, 200);
}

TEST(MySqlUniqueIndex, ItsOwnerEntersAgainAndLeavesNothingBehind) {
  const std::string event = freshEvent(5);
  auto nested = sellLater(query(event, "&nested=1&hold=800"), 1);
  EXPECT_TRUE(eventually([&] {
    const auto rows = mysqlRows("SELECT holds FROM locks WHERE name = 'lock:" + event + "'");
    return rows == std::vector<std::string>{"2"};
  }));
  const Answer answer = nested.get();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(lockRows(event), 0);
}

TEST(MySqlUniqueIndex, ALateWriteIsRefusedByTheFence) {
  const std::string event = freshEvent(5);
  auto late = sellLater(query(event, "&ttl=300&fault=before-write:pause-4000"), 1);
  ASSERT_TRUE(becomesHeld(event));
  EXPECT_EQ(sell(query(event, "&wait=10000"), 2).status, 200);
  EXPECT_EQ(late.get().status, 503);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
  EXPECT_EQ(found["sold"].asInt(), 1) << found;
}

TEST(MySqlUniqueIndex, WithoutTheFenceALateWriteSellsASeatTwice) {
  const std::string event = freshEvent(5);
  auto late = sellLater(query(event, "&fencing=off&ttl=300&fault=before-write:pause-4000"), 1);
  ASSERT_TRUE(becomesHeld(event));
  EXPECT_EQ(sell(query(event, "&fencing=off&wait=10000"), 2).status, 200);
  EXPECT_EQ(late.get().status, 200);
  EXPECT_EQ(audit(event)["double_sold"].asInt(), 1);
}

TEST(MySqlUniqueIndex, AStormOfContendersWritesNoErrorToTheLogs) {
  const std::string event = freshEvent(60);
  const int before = errorLinesInLogs();
  const double refusedBefore = metric("turnstile_lock_refused_total", "mysql-unique-index");
  buyConcurrently(query(event), 60, 2);
  EXPECT_GT(metric("turnstile_lock_refused_total", "mysql-unique-index"), refusedBefore)
      << "nobody was refused: no storm";
  EXPECT_EQ(errorLinesInLogs(), before);
}

}  // namespace
}  // namespace turnstile::test
