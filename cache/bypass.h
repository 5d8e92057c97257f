// Reads while Redis is away: straight from the database, one at a time for each key, and never more
// than `limit` at once in this instance, so that losing the cache does not lose the database too.
// Who cannot be served by the deadline is told busy.
#pragma once

#include <atomic>

#include "app/backends.h"
#include "cache/policy.h"
#include "cache/rebuild.h"
#include "cache/single_flight.h"
#include "locks/turns.h"

namespace turnstile {

class Bypass {
 public:
  explicit Bypass(const Backends& backends) : backends_(backends) {}

  Task<CacheAnswer> get(CacheRequest request, CacheMetrics& metrics);
  int limit() const { return backends_.config.cacheDbLimit; }

 private:
  Task<std::optional<Cached>> read(std::string key, TimePoint deadline, CacheMetrics& metrics);

  const Backends& backends_;
  Turns slots_{true};  // `limit` queues of one reader each
  std::atomic<unsigned> next_{0};
  SingleFlight<std::optional<Cached>> flights_;
};

}  // namespace turnstile
