// A rebuild that only one in the whole fleet does: under a lock of the ladder (setting cache-lock),
// after looking once more whether another has just done it. The lock saves work, it protects no
// data: should it be lost (its holder killed, or slower than cache-lock-ttl-ms), the next one
// rebuilds again, and both write what the database said.
#pragma once

#include <memory>

#include "app/backends.h"
#include "cache/rebuild.h"
#include "locks/with_lock.h"

namespace turnstile {

class GuardedRebuild {
 public:
  GuardedRebuild(const Backends& backends, CacheStore& store, CacheMetrics& metrics,
                 const std::string& policy, Millis staleFor = Millis{0});

  /// nullopt: someone else holds the lock, and still did after `wait`.
  Task<std::optional<Cached>> run(std::string key, Millis wait, Lab lab = {});

 private:
  const Backends& backends_;
  CacheStore& store_;
  Rebuild rebuild_;
  std::string prefix_;
  std::unique_ptr<LockDriver> driver_;
  StrategyMetrics& lockMetrics_;
};

}  // namespace turnstile
