// What the cache tests share: a product of their own, the counters of the fleet, and services that
// are up again whatever a test did to them.
#pragma once

#include <string>

#include "loadtest/cache_measure.h"
#include "tests/support/stack.h"

namespace turnstile::test {

/// The stack as the harness's measuring functions see it: three instances, 256 connections.
harness::CacheLoad cacheLoad(const std::string& key);

/// A product no other test uses, created in the database.
std::string freshProduct();

/// Sum over the instances that answer.
double cacheCount(const std::string& name, const std::string& policy);

/// GET /cache on one instance, or through nginx.
Answer readCache(const std::string& key, const std::string& policy, int instance = kNginx);
void expireCache(const std::string& key, const std::string& policy);

/// Kills a service now; starts it again when it goes out of scope, and waits until every instance
/// is ready.
class Outage {
 public:
  explicit Outage(std::string service);
  ~Outage();
  Outage(const Outage&) = delete;
  Outage& operator=(const Outage&) = delete;
  void end();

 private:
  std::string service_;
  bool over_ = false;
};

constexpr int kInstances = 3;

}  // namespace turnstile::test
