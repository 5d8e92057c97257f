// One waiter, any number of wakers: a coroutine waits here until wake() or until its time is up,
// whichever is first, and resumes on the event loop it waited on. A wake() that comes before the wait is
// not lost. Safe from any thread. Held by shared_ptr: a waker may outlive the waiter.
#pragma once

#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <memory>
#include <mutex>

#include "app/clock.h"

namespace turnstile {

class Wakeup : public std::enable_shared_from_this<Wakeup> {
 public:
  void wake();

  /// true: woken; false: time is up. One waiter at a time. Consumes the wake.
  Task<bool> wait(Micros atMost);

 private:
  struct Awaiter;
  void resumeOnce(std::uint64_t round, bool woken);

  std::mutex mutex_;
  bool pending_ = false;  // woken while nobody waited
  bool woken_ = false;    // result of the current wait
  std::uint64_t round_ = 0;
  std::coroutine_handle<> waiter_;
  trantor::EventLoop* loop_ = nullptr;
  trantor::TimerId timer_{0};
};

}  // namespace turnstile
