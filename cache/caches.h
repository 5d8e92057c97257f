// The caches of the service: every policy of the registry over the same products, what they count,
// and the way around them while Redis is away. Made once by the composition root.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/backends.h"
#include "cache/bypass.h"
#include "cache/cache_metrics.h"
#include "cache/policy.h"
#include "cache/product_policy.h"
#include "cache/token_policy.h"

namespace turnstile {

class Caches {
 public:
  struct Entry {
    const CachePolicySpec* spec;
    std::unique_ptr<CachePolicy> policy;
    CacheMetrics& metrics;
  };

  Caches(const Backends& backends, std::unique_ptr<TokenIssuer> issuer);

  /// nullptr: no such policy.
  const Entry* find(std::string_view policy) const;

  /// By the policy; by the database when the policy cannot work because Redis, or the server its
  /// lock is on, is down. Throws BackendDown when the database is down too.
  Task<CacheAnswer> get(const Entry& entry, CacheRequest request);

  /// By name; nullptr: no such policy.
  ProductPolicy* products(std::string_view policy) const;
  TokenPolicy* token(std::string_view policy) const;

  /// One sentence for /readyz.
  std::string describe(bool redisUp) const;
  std::string prometheus() const { return counts_.prometheus(); }
  CacheCounts& counts() { return counts_; }

 private:
  CacheCounts counts_;
  Bypass bypass_;
  std::map<std::string, Entry, std::less<>> policies_;
  std::map<std::string, std::unique_ptr<ProductPolicy>, std::less<>> products_;
  std::unique_ptr<TokenIssuer> issuer_;
  std::map<std::string, std::unique_ptr<TokenPolicy>, std::less<>> tokens_;
};

}  // namespace turnstile
