// One rebuild in the whole fleet: whoever gets the lock reads the database, the others wait and
// then read the cache again, never longer than their deadline. Inside an instance one request
// contends and its neighbours wait for it in memory, so the lock sees one contender an instance.
//
// The article this comes from prints it the wrong way round: its code sleeps and tries again on a
// *hit*, reads the database on a miss *without* taking the lock it names, and deletes the key it
// has just filled. What its text means is what stands here. Killed in mid-rebuild, the holder's
// lock ends by its time to live (cache-lock-ttl-ms), and another takes over.
#include "cache/guarded_rebuild.h"
#include "cache/policy.h"
#include "cache/single_flight.h"

namespace turnstile::cache_policies {
namespace {

class Mutex final : public CachePolicy {
 public:
  Mutex(const Backends& backends, CacheMetrics& metrics)
      : clock_(backends.clock),
        store_(backends.redis, "mutex"),
        rebuild_(backends, store_, metrics, "mutex") {}

  Task<CacheAnswer> get(CacheRequest request) override {
    std::optional<Cached> entry = co_await store_.read(request.key);
    if (entry) co_return CacheAnswer::of(CacheAnswer::Source::cache, std::move(*entry));
    const Millis atMost = std::chrono::ceil<Millis>(request.deadline - clock_.now());
    const auto fetch = [this, request, atMost]() {
      return rebuild_.run(request.key, atMost, request.lab);
    };
    const auto rebuilt = co_await flights_.join(request.key, atMost, fetch);
    co_return CacheAnswer::rebuilt(rebuilt.value_or(std::nullopt));
  }

  Task<Millis> expire(std::string key) override {
    co_await store_.drop(std::move(key));
    co_return Millis{0};
  }

 private:
  Clock& clock_;
  CacheStore store_;
  GuardedRebuild rebuild_;
  SingleFlight<std::optional<Cached>> flights_;  // nullopt: the lock was not granted in time
};

}  // namespace

CachePolicySpec mutex() {
  return {
      .name = "mutex",
      .summary =
          "one rebuild in the fleet, under a distributed lock; the others wait and read again",
      .promised = {.least = 1, .most = 1},
      .make = [](const Backends& backends,
                 CacheMetrics& metrics) { return std::make_unique<Mutex>(backends, metrics); },
  };
}

}  // namespace turnstile::cache_policies
