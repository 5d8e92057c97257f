// Which locks a request of this process holds, and whether another one here waits right behind it.
// A driver asks this before it asks its backend: what is held here need not be tried, and a release
// that the next one here takes up at once need not be announced to everybody else.
//
// Handing on inside the process is cheap and could go on for ever, so a run of it is bounded: every
// kLongestRun-th release is an ordinary one, and the other instances have their chance.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "locks/lock_driver.h"

namespace turnstile {

class LocalHolders {
 public:
  static constexpr int kLongestRun = 64;

  explicit LocalHolders(Clock& clock) : clock_(clock) {}

  void granted(const LockRequest& request, TimePoint until) {
    const std::lock_guard guard(mutex_);
    Lock& lock = locks_[request.name];
    lock.owner = request.owner;
    lock.until = until;
  }

  /// By a request of this process other than this one, and for certain: its lease is not over.
  bool held(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto found = locks_.find(request.name);
    return found != locks_.end() && found->second.heldByOther(request.owner, clock_.now());
  }

  /// The same; true also notes that this request waits for the release. Until left().
  bool waitBehind(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto found = locks_.find(request.name);
    if (found == locks_.end() || !found->second.heldByOther(request.owner, clock_.now()))
      return false;
    found->second.awaited = true;
    return true;
  }
  void left(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto found = locks_.find(request.name);
    if (found != locks_.end()) found->second.awaited = false;
  }

  /// Before a release: it is no longer held here. true: one waits here and may take it up.
  bool handOn(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto found = locks_.find(request.name);
    if (found == locks_.end() || found->second.owner != request.owner) return false;
    if (found->second.awaited && ++found->second.run < kLongestRun) {
      found->second.handedOnBy = std::exchange(found->second.owner, {});
      return true;
    }
    locks_.erase(found);
    return false;
  }
  /// During that release: whether it is one that is handed on.
  bool onItsWay(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const auto found = locks_.find(request.name);
    return found != locks_.end() && found->second.owner.empty() &&
           found->second.handedOnBy == request.owner;
  }

 private:
  struct Lock {
    std::string owner;  // empty: on its way from one request to the next
    std::string handedOnBy;
    TimePoint until;
    bool awaited = false;
    int run = 0;  // handed on so often

    bool heldByOther(const std::string& asker, TimePoint now) const {
      return !owner.empty() && owner != asker && now < until;
    }
  };

  Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Lock> locks_;
};

}  // namespace turnstile
