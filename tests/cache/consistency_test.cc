// Stale reads, counted over 100,000 reads and writes through all instances; the checker is proven
// by a policy that is broken on purpose. Then the read-write lock itself: shared, exclusive,
// reentrant, renewed, fair to writers, and free again when its holder dies.
#include "loadtest/consistency.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/cache/support.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;
using harness::ConsistencyFigures;
using harness::ConsistencyOrder;

ConsistencyFigures check(const std::string& policy, long operations, double pausedShare) {
  const auto load = cacheLoad("-");
  ConsistencyOrder order{load.basePort, kInstances, load.adminToken, policy};
  order.operations = operations;
  order.pausedShare = pausedShare;
  return harness::checkConsistency(order);
}

TEST(StaleReads, AreNoneWithTheReadWriteLock) {
  const ConsistencyFigures seen = check("rw-lock", 100'000, 0.1);
  EXPECT_EQ(seen.staleReads, 0);
  EXPECT_EQ(seen.errors, 0) << seen.firstError;
  EXPECT_EQ(seen.reads + seen.writes + seen.busy, 100'000);
  EXPECT_LT(seen.busy, 100) << "a lock that refuses everyone has no stale reads either";
  EXPECT_GT(seen.writes, 3'000);
}

TEST(StaleReads, AreThereWithCacheAsideWhenTheRaceIsWidened) {
  const ConsistencyFigures seen = check("cache-aside", 100'000, 0.1);
  EXPECT_GT(seen.staleReads, 0);
  EXPECT_EQ(seen.errors, 0) << seen.firstError;
}

TEST(StaleReads, AreThereWithDoubleDeleteUntilItsSecondDelete) {
  const ConsistencyFigures seen = check("double-delete", 20'000, 0.1);
  EXPECT_GT(seen.staleReads, 0);
  EXPECT_EQ(seen.errors, 0) << seen.firstError;
}

TEST(StaleReads, AreFoundInAPolicyThatIsBrokenOnPurpose) {
  const auto load = cacheLoad("-");
  ConsistencyOrder order{load.basePort, kInstances, load.adminToken, "never-deletes"};
  order.operations = 5'000;
  order.pausedShare = 1;  // every request shows the admin token: this policy is not offered without
  order.pauseMs = 0;
  const ConsistencyFigures seen = harness::checkConsistency(order);
  EXPECT_GT(seen.staleReads, seen.reads / 2);
  EXPECT_EQ(seen.errors, 0) << seen.firstError;
}

Answer readPast(const std::string& id, const std::string& more, int instance = kNginx) {
  return request("GET", "/products/" + id + "?policy=rw-lock&miss=1" + more, {}, true, instance);
}
Answer write(const std::string& id, const std::string& more, int instance = kNginx) {
  return request("PUT", "/products/" + id + "?policy=rw-lock" + more, R"({"name":"x","price":1})",
                 true, instance);
}
std::string key(const std::string& id, const char* part) { return "rw:{" + id + "}:" + part; }
int readersOf(const std::string& id) {
  return std::stoi(redis("redis-main", {"ZCARD", key(id, "readers")}).value_or("0"));
}

TEST(ReadWriteLock, IsSharedByReadersAndExcludesAWriter) {
  const std::string id = freshProduct();
  auto first = std::async(std::launch::async,
                          [&] { return readPast(id, "&fault=before-fill:pause-800", 1); });
  auto second = std::async(std::launch::async,
                           [&] { return readPast(id, "&fault=before-fill:pause-800", 2); });
  ASSERT_TRUE(eventually([&] { return readersOf(id) == 2; })) << "two readers hold it at once";
  const Answer written = write(id, "", 3);
  EXPECT_EQ(written.status, 200) << written.body;
  EXPECT_EQ(readersOf(id), 0) << "the writer got in beside a reader";
  EXPECT_EQ(first.get().status, 200);
  EXPECT_EQ(second.get().status, 200);
  EXPECT_EQ(
      request("GET", "/products/" + id + "?policy=rw-lock").json["product"]["version"].asInt(),
      written.json["version"].asInt());
}

TEST(ReadWriteLock, IsReentrantAlsoWhileAWriterWaits) {
  const std::string id = freshProduct();
  // Ten rounds of nested readers against writers: a nested reader that queued behind a waiting
  // writer would wait for its own deadline.
  std::atomic<bool> stop{false};
  auto writer = std::async(std::launch::async, [&] {
    while (!stop) EXPECT_EQ(write(id, "&nested=1", 2).status, 200);
  });
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(readPast(id, "&nested=1&fault=before-fill:pause-20", 1).status, 200);
  stop = true;
  writer.get();
  EXPECT_EQ(readersOf(id), 0);
  EXPECT_EQ(redis("redis-main", {"HLEN", key(id, "counts")}), "0") << "a hold was not given back";
}

TEST(ReadWriteLock, DoesNotStarveAWriter) {
  const std::string id = freshProduct();
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::vector<std::thread> readers;  // at any time several of them hold the lock
  for (int i = 0; i < 9; ++i)
    readers.emplace_back([&, i] {
      while (!stop)
        if (readPast(id, "&fault=before-fill:pause-100", 1 + i % kInstances).status == 200) ++reads;
    });
  EXPECT_TRUE(eventually([&] { return readersOf(id) >= 3; }));
  const int before = reads;
  const Answer written = write(id, "", 1);
  const int during = reads - before;
  EXPECT_EQ(written.status, 200) << written.body;
  // Those who held it when the writer came finish; were new ones let in, hundreds would have.
  EXPECT_LE(during, 2 * 9) << "readers that came later went first";
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(ReadWriteLock, IsRenewedWhileItsHolderWorks) {
  const std::string id = freshProduct();
  const int ttl = request("GET", "/cache").json["lock_ttl_ms"].asInt();
  auto reader = std::async(std::launch::async, [&] {
    return readPast(id, "&fault=before-fill:pause-" + std::to_string(ttl + ttl / 2), 1);
  });
  ASSERT_TRUE(eventually([&] { return readersOf(id) == 1; }));
  const auto start = Clock::now();
  EXPECT_EQ(write(id, "", 2).status, 200);
  EXPECT_GT(Clock::now() - start, milliseconds{ttl}) << "the writer was let in when the TTL ended";
  EXPECT_EQ(reader.get().status, 200);
}

TEST(ReadWriteLock, IsFreeAgainWhenItsHolderDies) {
  const std::string id = freshProduct();
  auto reader = std::async(std::launch::async, [&] {
    try {
      return readPast(id, "&fault=before-fill:pause-20000", 1).status;
    } catch (const std::exception&) {
      return 0;
    }
  });
  ASSERT_TRUE(eventually([&] { return readersOf(id) == 1; }));
  Outage outage("app-1");
  EXPECT_EQ(reader.get(), 0);
  EXPECT_EQ(write(id, "", 2).status, 200);
}

}  // namespace
}  // namespace turnstile::test
