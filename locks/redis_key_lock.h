// A lock that is one string key on the main Redis server: what the rungs of the ladder have in
// common, so that each rung's file holds only the step by which it differs. Three kinds, the
// soundest first: with its owner's name and a life (RedisKeyLock), with a life but nobody's name
// (NamelessKeyLock), with neither (SetnxLock).
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "app/backends.h"
#include "locks/guarded_sale.h"
#include "locks/lock_driver.h"

namespace turnstile {

/// Taken by SET key owner NX PX ttl; deleted and renewed by scripts that compare the owner first.
class RedisKeyLock : public LockDriver {
 public:
  explicit RedisKeyLock(const Backends& backends)
      : LockDriver(backends.clock), redis_(backends.redis) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<bool> renew(const LockRequest& request, const Grant& grant) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  Task<> reset(std::string name) override;

 protected:
  /// The value of the key.
  virtual std::string_view mark(const LockRequest& request) const { return request.owner; }

  Redis& redis_;
};

/// The same key and life, but the value names nobody, so release() deletes whatever lock is there.
class NamelessKeyLock : public RedisKeyLock {
 public:
  using RedisKeyLock::RedisKeyLock;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  bool canTakeBack() const override { return false; }

 protected:
  std::string_view mark(const LockRequest&) const override { return "held"; }  // as the articles do
};

/// SETNX: no life either. The key stays until somebody deletes it.
class SetnxLock : public NamelessKeyLock {
 public:
  using NamelessKeyLock::NamelessKeyLock;
  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
};

/// How often a lock is renewed: when one renewal fails, the next is still in time.
inline Millis thirdOf(Millis ttl) { return std::max(ttl / 3, Millis{1}); }

/// StrategySpec::make of a sale guarded by such a lock.
template <class Driver>
auto guardedBy(const std::string& strategy, bool checkLease = false) {
  return [strategy, checkLease](const Backends& backends) -> std::unique_ptr<Strategy> {
    GuardedSale::Options options{strategy};
    options.checkLease = checkLease;
    return std::make_unique<GuardedSale>(backends, std::make_unique<Driver>(backends), options);
  };
}

}  // namespace turnstile
