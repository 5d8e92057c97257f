// One policy under load, with its key expired again and again. The caller has brought the stack up;
// nothing here starts or stops a process.
#pragma once

#include <functional>
#include <string>

#include "loadtest/cache_figures.h"

namespace turnstile::harness {

struct CacheLoad {
  int basePort;
  int instances;
  std::string adminToken;
  std::string key = "p1";
  int connections = 256;
  int expiries = 10;
};

// Throws std::runtime_error when the service does not answer, or the policy does not come to rest.
// Ends early (with fewer expiries) when interrupted. `tick` hears of each expiry.
CacheFigures measureCache(const CacheLoad& load, const std::string& policy,
                          const std::function<void(int expiry, int dbReads)>& tick = {});

// Sum over the instances of turnstile_cache_<name>{policy=…}; for counters and gauges.
double cacheMetric(const CacheLoad& load, const std::string& name, const std::string& policy);

}  // namespace turnstile::harness
