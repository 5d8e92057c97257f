// A lock of some backend, cut down to single attempts. A driver never loops, sleeps or retries: the
// recipe (locks/with_lock.h) does, the same way for all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/clock.h"
#include "locks/lab.h"
#include "locks/turns.h"

namespace turnstile {

/// One wish for one lock. The recipe owns it and keeps it alive through every call it makes.
struct LockRequest {
  std::string name;   // of the lock; a driver derives its keys from it
  std::string owner;  // this request, unique in the fleet
  Millis ttl{0};
  bool ttlGiven = false;
  Millis wait{0};
  TimePoint deadline;
  Lab lab;
  bool reentry = false;  // this owner holds the lock already and asks again
  Turn* turn = nullptr;  // our place among this process's waiters, while waiting
  int refusals = 0;      // so far
  /// The ledger on this Redis server that the lock guards, where there is one and nothing may come between
  /// grant and read: a driver may bring its count along with the grant. Empty: it may not.
  std::string ledger;
  /// A driver's note from a refused attempt to the wait after it: the holder's lease ends by then.
  mutable std::optional<Millis> endsWithin;
};

struct Grant {
  std::string owner;
  std::uint64_t fence = 0;  // 0: this lock has none
  Millis validFor{0};       // from the moment before the attempt was sent; 0: no end
  std::string releaseId{};  // of this grant's release, where the backend recognises a repeated one
  std::optional<int> count{};  // of LockRequest::ledger, as it was when the lock was granted
};

class LockDriver {
 public:
  explicit LockDriver(Clock& clock) : clock_(clock) {}
  virtual ~LockDriver() = default;

  /// One attempt. nullopt: someone else holds it.
  virtual Task<std::optional<Grant>> tryAcquire(const LockRequest& request) = 0;

  /// Returns when another attempt makes sense, at the latest after `atMost`. Waking too often is
  /// harmless, too late is not. Default: a short random pause, cut short by a release in this
  /// process.
  virtual Task<> awaitRelease(const LockRequest& request, Millis atMost);

  /// Asks for another `ttl`. false: no longer ours.
  virtual Task<bool> renew(const LockRequest& request, const Grant& grant);

  /// false: it was no longer ours.
  virtual Task<bool> release(const LockRequest& request, const Grant& grant) = 0;

  /// How often the recipe renews while the lock is held; 0: never.
  virtual Millis renewEvery(const LockRequest& request) const {
    (void)request;
    return Millis{0};
  }

  /// Whether the lock is still ours as far as this process can tell without asking: for locks that
  /// live as long as a session does. Asked by Lease::lost().
  virtual bool stillHeld(const LockRequest& request) const {
    (void)request;
    return true;
  }

  /// The waiter gave up (time ran out): leave no trace, for instance in a queue.
  virtual Task<> abandon(const LockRequest& request) {
    (void)request;
    co_return;
  }

  /// How often the recipe sends a release before it leaves the lock to expire. More than once only
  /// where a release whose reply was lost may be repeated without freeing twice.
  virtual int releaseAttempts() const { return 1; }

  /// Asked before a release: may the next waiter of this process send its attempt right behind it,
  /// without waiting for the reply? Only where the backend keeps their order.
  virtual bool handsOn(const LockRequest& request) {
    (void)request;
    return false;
  }

  /// Every request has a place of its own at the backend, so none queues in this process first.
  virtual bool queuesItself() const { return false; }

  /// Two rungs of the ladder are known for what they do not do. No other driver overrides these.
  virtual bool releasesOnException() const { return true; }
  virtual bool releasesWhenRefused() const { return false; }

  /// May an attempt without a reply be taken back by release()? Not where release() deletes a lock
  /// whoever holds it: then what the attempt left behind stays.
  virtual bool canTakeBack() const { return true; }

  /// Once, on an event loop, when the loops run: for work beside the locking.
  virtual void start() {}

  /// Deletes the lock whoever holds it: for PUT /events.
  virtual Task<> reset(std::string name) = 0;

 protected:
  Clock& clock_;
};

}  // namespace turnstile
