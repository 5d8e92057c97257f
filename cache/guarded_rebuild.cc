#include "cache/guarded_rebuild.h"

#include "locks/registry.h"

namespace turnstile {

GuardedRebuild::GuardedRebuild(const Backends& backends, CacheStore& store, CacheMetrics& metrics,
                               const std::string& policy, Millis staleFor)
    : backends_(backends),
      store_(store),
      rebuild_(backends, store, metrics, staleFor),
      prefix_("lock:cache:" + policy + ":"),
      driver_(makeLockDriver(backends.config.cacheLock, backends)),
      lockMetrics_(backends.metrics.of("cache:" + policy)) {}

Task<std::optional<Cached>> GuardedRebuild::run(std::string key, Millis wait, Lab lab) {
  const Recipe recipe{backends_.clock, backends_.turns, lockMetrics_};
  LockRequest lock;
  lock.name = prefix_ + key;
  lock.owner = backends_.owners.next();
  lock.ttl = backends_.config.cacheLockTtl;
  lock.wait = wait;
  lock.deadline = backends_.clock.now() + wait;
  const auto body = [&](const Lease&) -> Task<Cached> {
    std::optional<Cached> entry = co_await store_.read(key);
    if (entry && entry->fresh()) co_return std::move(*entry);
    co_return co_await rebuild_.run(key, lab);
  };
  co_return co_await withLock(recipe, *driver_, lock, body);
}

}  // namespace turnstile
