// A read-write lock in Redis: readers share, a writer is alone. Reentrant by owner: a holder is let
// in again, a writer may also read, the only reader may become the writer. (Two readers that both
// want to become the writer wait for each other until their time is up.) A writer that waits keeps
// new readers out, so it is not starved; readers that hold the lock go on.
//
// Each holder has an end of its own, by Redis's clock, pushed on while it works (a third of the
// TTL, like every watchdog here): a dead reader frees its share within the TTL while the living
// keep theirs.
#pragma once

#include "app/redis.h"
#include "locks/lock_driver.h"

namespace turnstile {

class RedisRwLock final : public LockDriver {
 public:
  enum class Mode : char { read = 'r', write = 'w' };

  RedisRwLock(Clock& clock, Redis& redis, Mode mode)
      : LockDriver(clock), redis_(redis), mode_(mode) {}

  /// The name both modes of one lock share is `request.name` up to '#': what follows only keeps the
  /// queues of readers and writers in this process apart.
  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<bool> renew(const LockRequest& request, const Grant& grant) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  Task<> abandon(const LockRequest& request) override;
  Millis renewEvery(const LockRequest& request) const override {
    return request.ttlGiven ? Millis{0} : request.ttl / 3;
  }
  Task<> reset(std::string name) override;

  /// Where the readers are: for a script that acts only while its owner is one (cache/rw_lock.cc).
  static std::string readersKey(const std::string& name) { return name + ":readers"; }

 private:
  Redis& redis_;
  Mode mode_;
};

}  // namespace turnstile
