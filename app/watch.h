// Word of one deletion: a coordinator's promise that it will say when a key or node is gone.
// Waiting on it ends early, with `deleted` still false, when the coordinator can no longer keep the
// promise (connection lost, session over): ask again then.
#pragma once

#include <atomic>
#include <memory>

#include "app/wakeup.h"

namespace turnstile {

class Watch {
 public:
  /// The last word: from any thread. `gone` false: the promise cannot be kept.
  void fire(bool gone) {
    if (gone) deleted_ = true;
    ended_ = true;
    wakeup_->wake();
  }
  /// Look again, and then wait on: the promise stands.
  void nudge() { wakeup_->wake(); }
  /// true: woken; false: time is up.
  Task<bool> wait(Millis atMost) { return wakeup_->wait(atMost); }
  bool deleted() const { return deleted_; }
  bool ended() const { return ended_; }

 private:
  std::atomic<bool> deleted_{false};
  std::atomic<bool> ended_{false};
  std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>();
};

}  // namespace turnstile
