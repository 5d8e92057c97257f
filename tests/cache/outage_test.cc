// What a reader sees when something is gone: the one who rebuilds, the database, the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "tests/cache/support.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;

double setting(const char* name) { return request("GET", "/cache").json[name].asDouble(); }
double millisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

TEST(Outage, AnotherRebuildsWhenTheRebuilderIsKilled) {
  const std::string key = freshProduct();
  const std::string lock = "lock:cache:mutex:" + key;
  // app-1 gets the lock, reads the database, and is killed before it fills the cache; by then the
  // readers of the others are waiting for it.
  auto victim = std::async(std::launch::async, [&] {
    try {
      return request("GET", "/cache/" + key + "?policy=mutex&fault=before-fill:pause-20000", {},
                     true, 1)
          .status;
    } catch (const std::exception&) {
      return 0;
    }
  });
  ASSERT_TRUE(eventually([&] { return redis("redis-main", {"EXISTS", lock}) == "1"; }));
  struct Seen {
    int status;
    double ms;
  };
  const auto start = Clock::now();
  std::vector<std::future<Seen>> readers;
  for (int i = 0; i < 20; ++i)
    readers.push_back(std::async(std::launch::async, [&, i] {
      const auto asked = Clock::now();
      const int status = readCache(key, "mutex", 2 + i % 2).status;
      return Seen{status, millisSince(asked)};
    }));
  Outage outage("app-1");
  const double killed = millisSince(start);
  EXPECT_EQ(victim.get(), 0) << "the rebuilder answered: it was not killed in mid-rebuild";
  double slowest = 0;
  for (auto& reader : readers) {
    const Seen seen = reader.get();
    EXPECT_EQ(seen.status, 200);
    slowest = std::max(slowest, seen.ms);
  }
  EXPECT_LT(slowest, setting("deadline_ms"));
  // Within what was left of the lock's TTL, plus one rebuild; generous to a busy machine.
  EXPECT_LT(slowest, setting("lock_ttl_ms") + killed + 10 * setting("rebuild_ms"));
  EXPECT_EQ(readCache(key, "mutex", 3).json["source"].asString(), "cache");
}

TEST(Outage, ServesStaleWithoutTheDatabaseWhereThePolicyAllowsIt) {
  const std::string key = freshProduct();
  for (const CachePolicySpec& spec : cachePolicies())
    ASSERT_EQ(readCache(key, spec.name).status, 200) << spec.name;
  for (const CachePolicySpec& spec : cachePolicies()) {
    if (spec.name != "early-refresh")
      expireCache(key, spec.name);
    else
      redis("redis-main",
            {"DEL", "cache:early-refresh:" + key});  // expire() only brings the end nearer
  }
  Outage outage("mariadb");
  for (const CachePolicySpec& spec : cachePolicies()) {
    const auto start = Clock::now();
    const Answer answer = readCache(key, spec.name);
    EXPECT_EQ(answer.status, spec.servesStale ? 200 : 502) << spec.name << ": " << answer.body;
    if (spec.servesStale) {
      EXPECT_EQ(answer.json["source"].asString(), "stale");
    } else {
      EXPECT_NE(answer.body.find("mysql"), std::string::npos) << answer.body;
    }
    EXPECT_LT(millisSince(start), setting("deadline_ms")) << spec.name;
  }
  outage.end();
  for (const CachePolicySpec& spec : cachePolicies())
    EXPECT_TRUE(eventually([&] { return readCache(key, spec.name).json["source"] == "cache"; }))
        << spec.name;
}

TEST(Outage, ReadsTheDatabaseWithALimitWhileRedisIsAway) {
  const std::string key = freshProduct();
  const int limit = static_cast<int>(setting("db_limit"));
  ASSERT_EQ(readCache(key, "mutex").status, 200);
  const double before = cacheCount("db_reads_total", "mutex");
  Outage outage("redis-main");
  for (int instance = 1; instance <= kInstances; ++instance)
    ASSERT_TRUE(eventually([&] {
      readCache(key, "mutex", instance);  // an instance learns of it by trying
      return request("GET", "/readyz", {}, false, instance)
                 .json["cache"]
                 .asString()
                 .find("at most") != std::string::npos;
    })) << "/readyz does not say that reads go to the database";
  EXPECT_EQ(request("GET", "/readyz", {}, false, 1).status, 503);

  // Sixty products at once: every read is answered, and the database never has more than the limit
  // of them.
  std::vector<std::future<int>> readers;
  for (int i = 0; i < 60; ++i)
    readers.push_back(std::async(std::launch::async, [i] {
      return readCache("p" + std::to_string(100 + i), "mutex", 1 + i % kInstances).status;
    }));
  double atOnce = 0;
  bool waiting = true;
  while (waiting) {
    atOnce = std::max(atOnce, cacheCount("db_reading", "mutex"));
    waiting = std::any_of(readers.begin(), readers.end(), [](auto& reader) {
      return reader.wait_for(milliseconds{0}) != std::future_status::ready;
    });
  }
  for (auto& reader : readers) EXPECT_EQ(reader.get(), 200);
  EXPECT_LE(atOnce, limit * kInstances);
  EXPECT_GT(atOnce, kInstances) << "they did not run side by side, so the limit was not tested";

  // One hot product: the readers of an instance share a read.
  std::vector<std::future<int>> crowd;
  const double beforeCrowd = cacheCount("db_reads_total", "mutex");
  for (int i = 0; i < 90; ++i)
    crowd.push_back(std::async(
        std::launch::async, [&, i] { return readCache(key, "mutex", 1 + i % kInstances).status; }));
  for (auto& reader : crowd) EXPECT_EQ(reader.get(), 200);
  EXPECT_LT(cacheCount("db_reads_total", "mutex") - beforeCrowd, 45) << "no sharing at all";
  EXPECT_GE(cacheCount("db_reads_total", "mutex") - before, 60);
  outage.end();
  EXPECT_EQ(request("GET", "/readyz", {}, false, 1).json["cache"].asString(), "through redis-main");
  EXPECT_TRUE(eventually([&] { return readCache(key, "mutex").json["source"] == "cache"; }));
}

}  // namespace
}  // namespace turnstile::test
