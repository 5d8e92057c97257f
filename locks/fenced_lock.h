// redis-set-ex-lua's lock with a fence: SET NX PX and the next number in one script, compare-and-delete to give it
// back. The number grows with every grant and survives a reset. A stock that checks it refuses a holder whose
// time to live ran out, so there is nothing to renew: work that outlives its lock writes nothing.
#pragma once

#include "app/redis.h"
#include "locks/lock_driver.h"

namespace turnstile {

class FencedLock final : public LockDriver {
 public:
  FencedLock(Clock& clock, Redis& redis) : LockDriver(clock), redis_(redis) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  Task<> reset(std::string name) override;

 private:
  Redis& redis_;
};

}  // namespace turnstile
