// What Redisson's locks have in common, in Redisson's own format, so that a Java service and this
// one exclude each other: the lock "n" is a hash whose only field is its owner ("uuid:number") and
// whose value counts how often that owner took it; waiters hear of a release on the channel
// "redisson_lock__channel:{n}".
//
// Without a lease time a watchdog renews the lock at a third of its life (setting watchdog-ms);
// with one (the lab's ttl=) it ends when it ends.
//
// An unlock leaves a latch, "redisson_unlock_latch:{n}:<id>", holding its result for as long as it
// may be repeated: a second one with the same id changes nothing, where it would otherwise count
// down twice.
#pragma once

#include <mutex>

#include "app/backends.h"
#include "locks/lock_driver.h"

namespace turnstile {

class RedissonLock : public LockDriver {
 public:
  /// `unlock`: see unlockScript().
  RedissonLock(const Backends& backends, const Script& unlock);

  Task<bool> renew(const LockRequest& request, const Grant& grant) override;
  Millis renewEvery(const LockRequest& request) const override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  int releaseAttempts() const override { return 3; }

 protected:
  /// The script of release(). `announce` is Lua that tells the waiters, run when the lock came free.
  /// It has
  ///   KEYS: lock, channel, latch, a latch to forget, then moreKeys()
  ///   ARGV: the message ("0" is Redisson's), lease in ms, owner, life of the latch in ms
  static std::string unlockScript(std::string_view announce);
  virtual std::vector<std::string> moreKeys(const std::string& name) const;

  Task<bool> unlock(const LockRequest& request, const Grant& grant, std::string message);

  Millis lease(const LockRequest& request) const;
  Grant grant(const LockRequest& request) const;
  /// Longest wait for a message: one can be lost while the connection is made again, and nobody
  /// says so.
  static constexpr Millis kLookAgain{2'000};
  /// How long to wait after a refusal: a holder that dies sends no message, but its lease ends.
  static Millis waitAtMost(const LockRequest& request, Millis atMost);

  /// Redisson's rule: the lock's name in braces, unless it brings its own.
  static std::string derived(std::string_view prefix, const std::string& name);
  static std::string channelOf(const std::string& name);

  Redis& redis_;
  RedisChannels& channels_;

 private:
  std::string swapSettled(std::string latch);

  const Script& unlock_;
  const Millis watchdog_;
  const Millis latchLife_;
  std::mutex mutex_;
  std::string
      settled_;  // latch of an unlock whose reply was seen: the next one deletes it on its way
};

}  // namespace turnstile
