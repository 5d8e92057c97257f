// One lock on several independent Redis servers: held by whoever got `need` of them within its
// time. A majority makes it RedLock, all of them a multi-lock. The key is plain: SET NX PX with a
// value of the owner's, released by compare-and-delete, as node-redlock and redsync have it.
//
// All servers are asked at once and none for longer than node-timeout-ms, far below any TTL; one
// that is down costs nothing, because the port knows. What counts is the time that is left when the
// votes are in: the TTL less the time it took, less what clocks may drift apart.
#pragma once

#include <functional>
#include <limits>

#include "app/backends.h"
#include "locks/lock_driver.h"

namespace turnstile {

class QuorumLock final : public LockDriver {
 public:
  QuorumLock(const Backends& backends, std::size_t need);

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override;
  Task<> awaitRelease(const LockRequest& request, Millis atMost) override;
  Task<bool> release(const LockRequest& request, const Grant& grant) override;
  bool handsOn(const LockRequest&) override { return ordered_; }
  Task<> reset(std::string name) override;

 private:
  /// One server's answer to one question: for us or not.
  using Question = std::function<Task<bool>(Redis& node)>;

  static constexpr std::size_t kEveryone = std::numeric_limits<std::size_t>::max();
  /// Asks every server at once; the number of those that said yes. Returns when `enough` did, when
  /// all answered, or when the time is over, whichever is first; later answers are ignored.
  Task<std::size_t> poll(Question question, std::size_t enough);
  Task<std::size_t> releaseEverywhere(std::string name, std::string value);

  const std::vector<Redis*> nodes_;
  const std::size_t need_;
  const Millis nodeTimeout_;
  const bool ordered_;  // one connection a server
};

}  // namespace turnstile
