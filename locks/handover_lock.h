// A fenced Redis lock that is handed over: whoever is refused stands in a queue, and a release gives the lock to
// the first there and tells its process. No instance polls, none that releases and asks again overtakes
// those that wait, and the lock is never free while someone wants it.
//
// Who was handed the lock must fetch it within kHandover, so a waiter that died costs that and no more; after
// that anyone may take it. A message that got lost costs the waiter kLookAgain. The fence grows with every
// grant and survives a reset; the stock refuses an older one, so there is nothing to renew.
#pragma once

#include "app/redis.h"
#include "app/redis_channels.h"
#include "locks/lock_driver.h"

namespace turnstile {

class HandoverLock final : public LockDriver {
 public:
  static constexpr Millis kHandover{250};
  static constexpr Millis kLookAgain{100};

  /// `channels` must be of the same server.
  HandoverLock(Clock& clock, Redis& redis, RedisChannels& channels)
      : LockDriver(clock), redis_(redis), channels_(channels) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<> awaitRelease(const LockRequest& request, Millis atMost) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  Task<> abandon(const LockRequest& request) override;
  Task<> reset(std::string name) override;

 private:
  Redis& redis_;
  RedisChannels& channels_;
};

}  // namespace turnstile
