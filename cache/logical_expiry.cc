// An entry lives longer in Redis than it is fresh. Once past its time it is served as it is, at
// once, while one request in the fleet rebuilds it behind everyone's back: nobody waits, everyone
// may see what is old for as long as a rebuild takes. With the database down that goes on for
// cache-stale-ms. Only a key that was never cached is waited for, as with `mutex`.
#include "cache/background.h"
#include "cache/guarded_rebuild.h"
#include "cache/policy.h"
#include "cache/single_flight.h"

namespace turnstile::cache_policies {
namespace {

class LogicalExpiry final : public CachePolicy {
 public:
  LogicalExpiry(const Backends& backends, CacheMetrics& metrics)
      : clock_(backends.clock),
        staleFor_(backends.config.cacheStale),
        store_(backends.redis, "logical-expiry"),
        rebuild_(backends, store_, metrics, "logical-expiry", staleFor_),
        behind_(backends.clock) {}

  Task<CacheAnswer> get(CacheRequest request) override {
    std::optional<Cached> entry = co_await store_.read(request.key);
    if (!entry) co_return co_await firstTime(std::move(request));
    if (entry->fresh()) co_return CacheAnswer::of(CacheAnswer::Source::cache, std::move(*entry));
    behind_.start(request.key, [this, key = request.key]() { return refresh(key); });
    co_return CacheAnswer::of(CacheAnswer::Source::stale, std::move(*entry));
  }

  Task<Millis> expire(std::string key) override {
    co_await store_.shorten(std::move(key), staleFor_);
    co_return Millis{0};
  }

 private:
  // Not granted: another instance rebuilds, which is just as well.
  Task<> refresh(std::string key) { co_await rebuild_.run(std::move(key), Millis{0}); }

  Task<CacheAnswer> firstTime(CacheRequest request) {
    const Millis atMost = std::chrono::ceil<Millis>(request.deadline - clock_.now());
    const auto fetch = [this, request, atMost]() {
      return rebuild_.run(request.key, atMost, request.lab);
    };
    const auto rebuilt = co_await flights_.join(request.key, atMost, fetch);
    co_return CacheAnswer::rebuilt(rebuilt.value_or(std::nullopt));
  }

  Clock& clock_;
  Millis staleFor_;
  CacheStore store_;
  GuardedRebuild rebuild_;
  Background behind_;
  SingleFlight<std::optional<Cached>> flights_;
};

}  // namespace

CachePolicySpec logical_expiry() {
  return {
      .name = "logical-expiry",
      .summary = "serves stale at once while one in the fleet rebuilds behind",
      .promised = {.least = 1, .most = 1},
      .waits = false,
      .servesStale = true,
      .make =
          [](const Backends& backends, CacheMetrics& metrics) {
            return std::make_unique<LogicalExpiry>(backends, metrics);
          },
  };
}

}  // namespace turnstile::cache_policies
