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
  /// From any thread.
  void fire(bool gone) {
    if (gone) deleted_ = true;
    wakeup_->wake();
  }
  /// true: woken; false: time is up.
  Task<bool> wait(Millis atMost) { return wakeup_->wait(atMost); }
  bool deleted() const { return deleted_; }

 private:
  std::atomic<bool> deleted_{false};
  std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>();
};

}  // namespace turnstile
