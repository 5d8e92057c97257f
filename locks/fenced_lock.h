// A Redis lock with an owner, a time to live and a fence, that passes from instance to instance:
// the first contender that is refused reserves the next turn, so a holder that releases and at once
// asks again stands behind it. Acquire and release are one script each. Waiting is polling, many
// times a millisecond's work apart; a reservation nobody comes back for lapses.
//
// The fence grows with every grant and survives a reset. A stock that checks it refuses a holder
// whose time to live ran out, so there is nothing to renew: a run that outlives its lock writes
// nothing.
#pragma once

#include "app/redis.h"
#include "locks/lock_driver.h"

namespace turnstile {

class FencedLock final : public LockDriver {
 public:
  FencedLock(Clock& clock, Redis& redis) : LockDriver(clock), redis_(redis) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<> awaitRelease(const LockRequest& request, Millis atMost) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  Task<> abandon(const LockRequest& request) override;
  Task<> reset(std::string name) override;

 private:
  Redis& redis_;
};

}  // namespace turnstile
