// Optimistic: read the count, then write one less by a script that first checks that it is still
// the one read; if not, try again. No lock to lose, but under contention most attempts are in vain:
// each success makes everybody else's read stale. So of this process's buyers one tries at a time, and
// the others queue behind it: each instance has one attempt under way, not a herd. The failed attempt
// brings the fresh count along, so a retry costs one round trip; after some it waits a little first, longer
// each time, so that someone gets through.
#include <random>

#include "app/backends.h"
#include "locks/registry.h"
#include "locks/turns.h"

namespace turnstile::strategies {
namespace {

constexpr int kMostAttempts = 200;
constexpr int kAtOnce = 8;  // attempts without a pause
constexpr int kLongestPause = 16;  // ms

// ARGV: the count as read. Reply: the count found; the sale happened if it is the same.
const StockScript kSellIfUnchanged("if remaining ~= tonumber(ARGV[2]) then return remaining end",
                                   StockScript::kTake, "return remaining");

class RedisCas final : public Strategy {
 public:
  explicit RedisCas(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("redis-cas")) {}

  Task<Sale> sell(SaleRequest request) override {
    const LedgerEntry entry{0, "redis-cas", backends_.config.instance, request.user};
    const auto turn = co_await backends_.turns.take("cas:" + request.event, leftOf(request));
    if (!turn) co_return Sale::busy();
    int expected = (co_await backends_.redisStock.read(request.event, 0)).value_or(0);
    for (int attempt = 1; attempt <= kMostAttempts; ++attempt) {
      if (expected <= 0) co_return Sale::soldOut();
      co_await request.lab.pass(Point::beforeWrite);
      const std::string count = std::to_string(expected);
      const Reply reply =
          co_await backends_.redisStock.run(kSellIfUnchanged, request.event, entry, {count});
      if (reply.integer == expected) {
        co_await request.lab.pass(Point::afterWrite);
        co_return Sale::sold(expected);
      }
      metrics_.retries.add();
      expected = static_cast<int>(reply.integer);
      if (backends_.clock.now() >= request.deadline) break;
      if (attempt >= kAtOnce) co_await backends_.clock.sleep(pauseAfter(attempt));
    }
    co_return Sale::busy();
  }

 private:
  Millis leftOf(const SaleRequest& request) const {
    return std::chrono::floor<Millis>(request.deadline - backends_.clock.now());
  }
  // Random, or those that collided once would collide again.
  static Millis pauseAfter(int attempt) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    return Millis{std::uniform_int_distribution<>(0, std::min(attempt, kLongestPause))(random)};
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec redis_cas() {
  return {
      .name = "redis-cas",
      .family = "redis, no lock",
      .summary = "read, compare-and-set script, retry",
      .stocks = {StockKind::redis},
      .points = {Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::safe, "written only if the count is still the one read"},
                   {"exception", Verdict::safe, "there is nothing to release"},
                   {"crash", Verdict::safe, "a script runs whole or not at all"},
                   {"overrun", Verdict::safe, "there is no time limit that could pass unnoticed"},
                   {"freeze", Verdict::safe,
                    "who wakes up late finds another count and reads again"}},
      .make = [](const Backends& backends) { return std::make_unique<RedisCas>(backends); },
  };
}

}  // namespace turnstile::strategies
