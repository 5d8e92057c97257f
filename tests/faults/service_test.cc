// The service when its surroundings fail: an instance killed, Redis gone or silent, a stop in mid-sale. Under
// load from several buyers; the audit has the last word.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/support/guards.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Buys through nginx until stopped; remembers every status and the slowest answer.
class Load {
 public:
  Load(std::string query, int buyers) {
    for (int i = 0; i < buyers; ++i)
      threads_.emplace_back([this, query] {
        while (!stop_) buyOnce(query);
      });
  }
  ~Load() { stop(); }

  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  int count(int status) {
    const std::lock_guard guard(mutex_);
    return statuses_[status];
  }
  milliseconds slowest() {
    const std::lock_guard guard(mutex_);
    return slowest_;
  }
  std::map<int, int> statuses() {
    const std::lock_guard guard(mutex_);
    return statuses_;
  }

 private:
  void buyOnce(const std::string& query) {
    const auto start = Clock::now();
    int status = 0;  // 0: no HTTP answer
    try {
      status = request("POST", "/lock?" + query).status;
    } catch (const std::exception&) {
      status = 0;
    }
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    const std::lock_guard guard(mutex_);
    ++statuses_[status];
    slowest_ = std::max(slowest_, took);
  }

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::map<int, int> statuses_;
  milliseconds slowest_{0};
  std::vector<std::thread> threads_;
};

constexpr int kPlenty = 1'000'000;
constexpr milliseconds kDeadline{10'000};  // request-deadline-ms of the stack

TEST(AnInstanceKilledUnderLoad, DoesNotStopTheSaleNorSpoilTheAudit) {
  const std::string event = freshEvent(kPlenty);
  Load load("strategy=redis-lua&event=" + event, 8);
  ASSERT_TRUE(eventually([&] { return load.count(200) > 50; }));
  killService("app-2");
  const int before = load.count(200);
  EXPECT_TRUE(eventually([&] { return load.count(200) > before + 200; })) << "the sale stopped";
  startService("app-2");
  load.stop();

  const Json::Value found = audit(event);
  EXPECT_EQ(found["verdict"].asString(), "safe") << found;
  // A killed instance may have sold without answering; never the other way round.
  EXPECT_GE(found["sold"].asInt(), load.count(200)) << found;
}

TEST(RedisKilledUnderLoad, AnswersInTimeAndSalesResumeByThemselves) {
  const BroughtBack found({"redis-main"});
  const std::string event = freshEvent(kPlenty);
  Load load("strategy=redis-lua&event=" + event, 8);
  ASSERT_TRUE(eventually([&] { return load.count(200) > 50; }));
  killService("redis-main");
  EXPECT_TRUE(eventually([&] { return load.count(502) > 0; })) << "no buyer was told";
  const Answer refused = request("POST", "/lock?strategy=redis-lua&event=" + event);
  EXPECT_EQ(refused.status, 502) << refused.body;
  EXPECT_NE(refused.json["error"].asString().find("redis-main"), std::string::npos) << refused.body;

  startService("redis-main");
  const int before = load.count(200);
  EXPECT_TRUE(eventually([&] { return load.count(200) > before + 50; })) << "sales did not resume";
  load.stop();

  EXPECT_LT(load.slowest(), kDeadline);
  for (const auto& [status, count] : load.statuses())
    EXPECT_TRUE(status == 200 || status == 502 || status == 504) << status << " × " << count;
  const Json::Value ledger = audit(event);
  EXPECT_EQ(ledger["verdict"].asString(), "safe") << ledger;
  EXPECT_GE(ledger["sold"].asInt(), load.count(200)) << ledger;
}

TEST(RedisSilentInMidSale, MakesTheSaleUnknownNotFailed) {
  const BroughtBack found({"redis-main"});
  const std::string event = freshEvent(5);
  sell("strategy=none&event=" + event, 1);  // Redis knows the script: one message sells
  auto sale = sellLater("strategy=none&fault=before-write:pause-700&event=" + event, 1);
  std::this_thread::sleep_for(milliseconds{350});  // it has read, and will write in another 350 ms
  Frozen frozen("redis-main");
  const Answer answer = sale.get();
  frozen.thaw();
  EXPECT_EQ(answer.status, 504) << answer.body;
  EXPECT_EQ(answer.outcome(), "unknown");
  // Unknown is the honest word: this time Redis executes it when it wakes.
  EXPECT_TRUE(eventually([&] { return audit(event)["sold"].asInt() == 2; }));
}

TEST(AStopInMidSale, LetsTheSaleFinish) {
  const std::string event = freshEvent(5);
  auto sale = sellLater("strategy=redis-set-ex-lua&hold=800&event=" + event, 3);
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"EXISTS", "lock:" + event}) == "1"; }));
  signalService("app-3", SIGTERM);
  const Answer answer = sale.get();
  EXPECT_EQ(answer.outcome(), "sold") << answer.body;
  EXPECT_TRUE(eventually([] { return !serviceRuns("app-3"); })) << "the instance did not stop";
  startService("app-3");
  EXPECT_EQ(redis("redis-main", {"EXISTS", "lock:" + event}), "0") << "the lock was left behind";
  EXPECT_EQ(audit(event)["sold"].asInt(), 1);
}

TEST(AStopUnderLoad, CostsNoBuyerAnything) {
  const std::string event = freshEvent(kPlenty);
  Load load("strategy=redis-lua&event=" + event, 8);
  ASSERT_TRUE(eventually([&] {
    const auto latest = redis("redis-main", {"LRANGE", "event:{" + event + "}:ledger", "-20", "-1"});
    return latest.value_or("").find("app-2") != std::string::npos;
  })) << "app-2 sells nothing";
  signalService("app-2", SIGTERM);
  EXPECT_TRUE(eventually([] { return !serviceRuns("app-2"); })) << "the instance did not stop";
  const int before = load.count(200);
  EXPECT_TRUE(eventually([&] { return load.count(200) > before + 50; })) << "nobody sells any more";
  load.stop();
  startService("app-2");
  for (const auto& [status, count] : load.statuses()) EXPECT_EQ(status, 200) << count << " buyers";
  const Json::Value ledger = audit(event);
  EXPECT_EQ(ledger["verdict"].asString(), "safe") << ledger;
  EXPECT_EQ(ledger["sold"].asInt(), load.count(200)) << ledger;
}

TEST(MySqlDown, FailsOnlyTheSalesThatNeedIt) {
  const BroughtBack found({"mariadb"});
  const std::string event = freshEvent(10);
  killService("mariadb");
  const Answer needsIt = sell("strategy=redis-set-ex-lua&stock=mysql&event=" + event);
  const Answer doesNot = sell("strategy=redis-set-ex-lua&stock=redis&event=" + event);
  const Answer ready = request("GET", "/readyz");
  startService("mariadb");
  EXPECT_EQ(needsIt.status, 502) << needsIt.body;
  EXPECT_NE(needsIt.body.find("mysql"), std::string::npos) << needsIt.body;
  EXPECT_EQ(doesNot.status, 200) << doesNot.body;
  EXPECT_EQ(ready.status, 503) << ready.body;
  EXPECT_TRUE(eventually([&] {
    return sell("strategy=redis-set-ex-lua&stock=mysql&event=" + event).status == 200;
  })) << "sales did not resume";
}

}  // namespace
}  // namespace turnstile::test
