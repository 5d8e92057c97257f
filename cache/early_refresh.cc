// Rebuilt before it expires, by chance: each reader of an entry with `left` to live draws a lot and
// rebuilds behind its answer when  left <= cost * -ln(u),  u uniform in (0, 1]. The costlier the
// rebuild and the nearer the end, the likelier; under load someone has drawn it in time, so no
// request sees a miss and none sees anything stale. No lock: one rebuild an instance at most. A key
// hardly ever read just expires, and its next reader waits as with `local-single-flight`.
#include <cmath>
#include <random>

#include "app/backends.h"
#include "cache/background.h"
#include "cache/policy.h"
#include "cache/rebuild.h"
#include "cache/single_flight.h"

namespace turnstile::cache_policies {
namespace {

constexpr int kCostsBeforeTheEnd =
    5;  // where expire() puts an entry: e^-5, one reader in 150 draws it

// -ln(u): how many costs before its end this reader takes an entry for expired.
double drawLot() {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return -std::log(1.0 - std::uniform_real_distribution<>(0.0, 1.0)(random));
}

class EarlyRefresh final : public CachePolicy {
 public:
  EarlyRefresh(const Backends& backends, CacheMetrics& metrics)
      : clock_(backends.clock),
        rebuildTime_(backends.config.cacheRebuild),
        store_(backends.redis, "early-refresh"),
        rebuild_(backends, store_, metrics),
        behind_(backends.clock) {}

  Task<CacheAnswer> get(CacheRequest request) override {
    std::optional<Cached> entry = co_await store_.read(request.key);
    if (!entry) co_return co_await tooLate(std::move(request));
    const double lot = drawLot();
    if (!entry->absent && isDue(*entry, lot))
      behind_.start(request.key, [this, key = request.key, lot]() { return refresh(key, lot); });
    co_return CacheAnswer::of(CacheAnswer::Source::cache, std::move(*entry));
  }

  Task<Millis> expire(std::string key) override {
    const Millis left = kCostsBeforeTheEnd * std::max(rebuildTime_, Millis{20});
    co_await store_.shorten(std::move(key), left);
    co_return left;
  }

 private:
  static bool isDue(const Cached& entry, double lot) {
    return static_cast<double>(entry.left.count()) <=
           lot * static_cast<double>(std::max<std::int64_t>(entry.cost.count(), 1));
  }

  // The lot was drawn on an entry that may have been replaced since: the same lot is asked again.
  Task<> refresh(std::string key, double lot) {
    const std::optional<Cached> entry = co_await store_.read(key);
    if (entry && !isDue(*entry, lot)) co_return;
    co_await rebuild_.run(std::move(key));
  }

  Task<Cached> rebuildUnlessThere(std::string key, Lab lab) {
    std::optional<Cached> entry = co_await store_.read(key);
    if (entry) co_return std::move(*entry);
    co_return co_await rebuild_.run(std::move(key), std::move(lab));
  }

  Task<CacheAnswer> tooLate(CacheRequest request) {
    const Millis atMost = std::chrono::ceil<Millis>(request.deadline - clock_.now());
    const auto fetch = [this, request]() { return rebuildUnlessThere(request.key, request.lab); };
    co_return CacheAnswer::rebuilt(co_await flights_.join(request.key, atMost, fetch));
  }

  Clock& clock_;
  Millis rebuildTime_;
  CacheStore store_;
  Rebuild rebuild_;
  Background behind_;
  SingleFlight<Cached> flights_;
};

}  // namespace

CachePolicySpec early_refresh() {
  return {
      .name = "early-refresh",
      .summary = "rebuilt by chance shortly before it expires; no miss under load",
      .promised = {.least = 1, .most = 1, .perInstance = true},
      .waits = false,
      .make =
          [](const Backends& backends, CacheMetrics& metrics) {
            return std::make_unique<EarlyRefresh>(backends, metrics);
          },
  };
}

}  // namespace turnstile::cache_policies
