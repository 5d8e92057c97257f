// The MySQL family: many more buyers than seats, and the server killed, frozen, or out of connections. What
// buyers were told is held against the ledger tables themselves.
#include <gtest/gtest.h>
#include <json/json.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "loadtest/child_process.h"
#include "tests/support/guards.h"
#include "tests/support/mysql.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSeats = 200;

std::string serverProgram() {
  const char* build = std::getenv("TURNSTILE_BUILD_DIR");
  if (!build) throw std::runtime_error("TURNSTILE_BUILD_DIR is not set: run the tests by ./turnstile test");
  return std::string(build) + "/turnstile-server";
}

bool answers(int instance) {
  try {
    return request("GET", "/ping", {}, false, instance).status == 200;
  } catch (const std::exception&) {
    return false;
  }
}

class MySqlStrategy : public testing::TestWithParam<std::string> {
 protected:
  std::string query(const std::string& event) const {
    return "event=" + event + "&strategy=" + GetParam() +
           (GetParam() == "mysql-unique-index" ? "&stock=mysql" : "");
  }
  std::multiset<int> ledger(const std::string& event) const {
    const std::string table = GetParam() == "mysql-segmented" ? "segment_orders" : "orders";
    std::multiset<int> seats;
    for (const auto& row : mysqlRows("SELECT seat FROM " + table + " WHERE event = '" + event + "'"))
      seats.insert(std::stoi(row));
    return seats;
  }
};

// 100 buyers, five tries each; whoever was told busy leaves seats over, which the second call sells.
TEST_P(MySqlStrategy, SellsEverySeatOnceToFiveHundredBuyers) {
  const std::string event = freshEvent(kSeats);
  Json::Value first = buyConcurrently(query(event), 100, 5);
  const Json::Value rest = buyConcurrently(query(event), 10, kSeats);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "safe") << first << rest << found;
  EXPECT_EQ(found["sold"].asInt(), kSeats) << first << rest << found;
  EXPECT_EQ(found["lost"].asInt(), 0) << found;
  EXPECT_EQ(first["sold"].asInt() + rest["sold"].asInt(), kSeats);
  EXPECT_EQ(first["error"].asInt() + rest["error"].asInt(), 0) << first << rest;
}

TEST_P(MySqlStrategy, SellsFewerSeatsThanSegments) {
  const std::string event = freshEvent(3);
  buyConcurrently(query(event), 10, 5);
  EXPECT_EQ(ledger(event), (std::multiset<int>{1, 2, 3}));
}

// Buyers who do not stop until told to, and what they were told.
class Crowd {
 public:
  Crowd(std::string query, int buyers) : query_(std::move(query)) {
    for (int i = 0; i < buyers; ++i) threads_.emplace_back([this, i] { buy(1 + i % 3); });
  }
  ~Crowd() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }
  int sold() const { return sold_; }
  int answers() const { return answers_; }
  // After stop():
  const std::vector<int>& seats() const { return seats_; }
  const std::map<int, int>& byStatus() const { return byStatus_; }
  milliseconds slowest() const { return slowest_; }
  const std::set<std::string>& badGateways() const { return badGateways_; }

 private:
  void buy(int instance) {
    while (!stopped_) {
      const auto start = Clock::now();
      Answer answer;
      try {
        answer = request("POST", "/lock?" + query_, {}, true, instance, milliseconds{30'000});
      } catch (const std::exception&) {
        // status 0: no answer
      }
      const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
      const std::lock_guard guard(mutex_);
      ++answers_;
      ++byStatus_[answer.status];
      slowest_ = std::max(slowest_, took);
      if (answer.status == 502) badGateways_.insert(answer.json["error"].asString().substr(0, 5));
      if (answer.status == 200) seats_.push_back(answer.seat()), ++sold_;
    }
  }

  const std::string query_;
  std::mutex mutex_;
  std::atomic<bool> stopped_{false};
  std::atomic<int> sold_{0}, answers_{0};
  std::vector<int> seats_;
  std::map<int, int> byStatus_;
  std::set<std::string> badGateways_;
  milliseconds slowest_{0};
  std::vector<std::thread> threads_;
};

constexpr milliseconds kDeadline{10'000};  // request-deadline-ms of the stack
constexpr milliseconds kSlack{3'000};      // a machine with other work

void expectAnsweredInTime(const Crowd& crowd) {
  EXPECT_LE(crowd.slowest().count(), (kDeadline + kSlack).count());
  EXPECT_FALSE(crowd.byStatus().contains(0)) << "a buyer got no answer";
  EXPECT_FALSE(crowd.byStatus().contains(500)) << "a fault was not understood";
}

void expectToldIsWritten(const Crowd& crowd, const std::multiset<int>& ledger) {
  EXPECT_EQ(std::set<int>(ledger.begin(), ledger.end()).size(), ledger.size()) << "a seat sold twice";
  for (const int seat : crowd.seats())
    EXPECT_TRUE(ledger.contains(seat)) << "seat " << seat << " was sold and is in no ledger";
}

TEST_P(MySqlStrategy, SurvivesTheServerKilledUnderLoad) {
  const BroughtBack found({"mariadb"});
  const std::string event = freshEvent(50'000), other = freshEvent(100);
  Crowd crowd(query(event), 12);
  ASSERT_TRUE(eventually([&] { return crowd.sold() > 20; }));
  killService("mariadb");
  const int answersBefore = crowd.answers();
  EXPECT_TRUE(eventually([&] { return crowd.answers() > answersBefore + 50; })) << "buyers hang";
  EXPECT_EQ(sell("event=" + other + "&strategy=redis-lua").status, 200) << "Redis does not need MySQL";
  const Answer down = sell(query(event));
  EXPECT_EQ(down.status, 502) << down.body;
  EXPECT_EQ(down.json["error"].asString().substr(0, 5), "mysql");
  startService("mariadb");
  const int soldBefore = crowd.sold();
  EXPECT_TRUE(eventually([&] { return crowd.sold() > soldBefore + 20; }, milliseconds{20'000}))
      << "sales do not resume";
  crowd.stop();

  expectAnsweredInTime(crowd);
  EXPECT_EQ(crowd.badGateways(), std::set<std::string>{"mysql"});
  expectToldIsWritten(crowd, ledger(event));
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST_P(MySqlStrategy, SurvivesTheServerFrozenUnderLoad) {
  const BroughtBack found({"mariadb"});
  const std::string event = freshEvent(50'000), other = freshEvent(100);
  Crowd crowd(query(event), 12);
  ASSERT_TRUE(eventually([&] { return crowd.sold() > 20; }));
  signalService("mariadb", SIGSTOP);
  // Known to be away, it is not asked again and again: 100 answers need not wait for 100 deadlines.
  const int answersBefore = crowd.answers();
  EXPECT_TRUE(eventually([&] { return crowd.answers() > answersBefore + 100; })) << "buyers hang";
  EXPECT_EQ(sell("event=" + other + "&strategy=redis-lua").status, 200);
  signalService("mariadb", SIGCONT);
  const int soldBefore = crowd.sold();
  EXPECT_TRUE(eventually([&] { return crowd.sold() > soldBefore + 20; }, milliseconds{20'000}))
      << "sales do not resume";
  crowd.stop();

  expectAnsweredInTime(crowd);
  expectToldIsWritten(crowd, ledger(event));
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

INSTANTIATE_TEST_SUITE_P(Family, MySqlStrategy,
                         testing::Values("mysql-unique-index", "mysql-for-update", "mysql-optimistic",
                                         "mysql-conditional", "mysql-segmented"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(MySqlForUpdate, MoreWaitersThanConnectionsAreBusyInTimeAndOthersKeepSelling) {
  constexpr int kWaiters = 30;  // of an instance with 8 connections for this strategy
  const std::string hot = freshEvent(100), other = freshEvent(100);
  const std::string forUpdate = "event=" + hot + "&strategy=mysql-for-update";
  const double granted = metric("turnstile_lock_granted_total", "mysql-for-update");
  auto holder = sellLater(forUpdate + "&fault=after-acquire:pause-8000", 1);
  ASSERT_TRUE(eventually(
      [&] { return metric("turnstile_lock_granted_total", "mysql-for-update") > granted; }));
  std::vector<std::future<Answer>> waiters;
  const auto start = Clock::now();
  for (int i = 0; i < kWaiters; ++i) waiters.push_back(sellLater(forUpdate + "&wait=1500", 1));

  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(sell("event=" + other + "&strategy=redis-lua", 1).status, 200);
    EXPECT_EQ(sell("event=" + other + "&strategy=mysql-conditional", 1).status, 200);
  }
  for (auto& waiter : waiters) EXPECT_EQ(waiter.get().status, 503);

  // All of it while the holder still held the row: 1.5 s to wait, 1 s for InnoDB to give up, and slack.
  EXPECT_EQ(holder.wait_for(milliseconds{0}), std::future_status::timeout)
      << "answered only after the row was free, after "
      << std::chrono::duration_cast<milliseconds>(Clock::now() - start).count() << " ms";
  EXPECT_EQ(holder.get().status, 200);
  EXPECT_EQ(audit(hot)["sold"].asInt(), 1);
}

TEST(MySqlForUpdate, ADeadHoldersRowIsFreeAtOnce) {
  const std::string event = freshEvent(5);
  const std::string query = "event=" + event + "&strategy=mysql-for-update";
  EXPECT_ANY_THROW(sell(query + "&fault=after-write:crash", 1));
  EXPECT_EQ(sell(query, 2).status, 200);
  startService("app-1");
  const Json::Value found = audit(event);
  EXPECT_EQ(found["sold"].asInt(), 1) << "an uncommitted sale stood\n" << found;
  EXPECT_EQ(found["verdict"].asString(), "safe");
}

TEST(MySqlOptimistic, CountsWhatItDidForNothing) {
  const std::string event = freshEvent(50'000);
  const std::string query = "event=" + event + "&strategy=mysql-optimistic";
  const double before = metric("turnstile_retries_total", "mysql-optimistic");
  auto slow = sellLater(query + "&wait=8000&fault=before-write:pause-2000", 1);
  // Others sell while it stands between its read and its write, and stop before its second try.
  while (slow.wait_for(milliseconds{0}) == std::future_status::timeout &&
         metric("turnstile_retries_total", "mysql-optimistic") == before)
    EXPECT_EQ(sell(query, 2).status, 200);
  const Answer answer = slow.get();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_GT(metric("turnstile_retries_total", "mysql-optimistic"), before);
  EXPECT_EQ(audit(event)["verdict"].asString(), "safe");
}

TEST(MySqlOptimistic, IsBusyWhenItsTimeIsOver) {
  const std::string event = freshEvent(50'000);
  const std::string query = "event=" + event + "&strategy=mysql-optimistic";
  Crowd crowd(query, 4);
  // Each try takes longer than its limit, and others are always faster.
  const Answer answer = sell(query + "&wait=200&fault=before-write:pause-600", 1);
  crowd.stop();
  EXPECT_EQ(answer.status, 503) << answer.body;
}

// An exception in the business code, after the seat was taken and before the commit.
TEST(MySqlTransactions, AnExceptionGivesTheSeatBack) {
  for (const std::string strategy : {"mysql-conditional", "mysql-for-update", "mysql-optimistic"}) {
    const std::string event = freshEvent(1);
    const std::string query = "event=" + event + "&strategy=" + strategy;
    EXPECT_EQ(sell(query + "&fault=after-write:throw").status, 500) << strategy;
    const Json::Value found = audit(event);
    EXPECT_EQ(found["sold"].asInt(), 0) << strategy << found;
    EXPECT_EQ(found["remaining"].asInt(), 1) << strategy << found;
    EXPECT_EQ(sell(query).status, 200) << strategy;
  }
}

// The stack's MariaDB has no TLS. An instance told to use it must not fall back to clear text.
TEST(MySqlTls, IsNeverReplacedByClearText) {
  const std::string port = std::to_string(portOf("app-16"));
  harness::ChildProcess server({"env", "TURNSTILE_ADMIN_TOKEN=none", serverProgram(), "--port", port,
                                "--redis-main", "127.0.0.1:" + std::to_string(portOf("redis-main")),
                                "--mysql-port", std::to_string(portOf("mariadb")), "--mysql-tls",
                                runDir() + "/stack.json"});
  ASSERT_TRUE(eventually([] { return answers(16); })) << server.output();
  const Answer answer = request("POST", "/lock?event=any&strategy=mysql-conditional", {}, false, 16);
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_TRUE(eventually([&] {
    server.pump(milliseconds{50});
    return server.output().find("SSL is required") != std::string::npos;
  })) << server.output();
}

TEST(MySqlTls, AnUnreadableAuthorityEndsTheStartWithAClearMessage) {
  const auto done =
      harness::runToEnd({serverProgram(), "--mysql-tls", "/no/such/file.pem"}, milliseconds{10'000});
  EXPECT_NE(done.exitCode, 0);
  EXPECT_NE(done.output.find("mysql-tls: cannot read the CA file /no/such/file.pem"), std::string::npos)
      << done.output;
}

}  // namespace
}  // namespace turnstile::test
