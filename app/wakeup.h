// One waiter, any number of wakers: a coroutine waits here until wake() or until its time is up,
// whichever is first, and resumes on the event loop it waited on. A wake() that comes before the wait is
// not lost. Safe from any thread. Held by shared_ptr: a waker may outlive the waiter.
#pragma once

#include <trantor/net/EventLoop.h>

#include <chrono>
#include <coroutine>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "app/clock.h"

namespace turnstile {

class Wakeup : public std::enable_shared_from_this<Wakeup> {
 public:
  void wake();

  /// true: woken; false: time is up; a wait of 100 ms or more may end 10 ms late. One waiter at a time.
  /// Consumes the wake.
  Task<bool> wait(Micros atMost);

 private:
  struct Awaiter;
  void endsBy(Micros atMost);
  void resumeOnce(std::uint64_t round, bool woken);

  // Long waits by their end, a list an event loop and one timer for all of them. Almost every long wait is
  // cut short, and Trantor keeps a cancelled timer until its time comes: at thousands of waits a second,
  // each of seconds, those would be most of what the loop looks after.
  using Ends = std::multimap<std::chrono::steady_clock::time_point, std::shared_ptr<Wakeup>>;
  struct LongWaits {
    Ends ends;
    bool timed = false;  // the timer runs
    void time();
    void lookThrough();
  };
  static LongWaits& longWaits();

  std::mutex mutex_;
  bool pending_ = false;  // woken while nobody waited
  bool woken_ = false;    // result of the current wait
  std::uint64_t round_ = 0;
  std::coroutine_handle<> waiter_;
  trantor::EventLoop* loop_ = nullptr;
  trantor::TimerId timer_{0};             // of a short wait
  std::optional<Ends::iterator> long_{};  // our place, of a long one
};

}  // namespace turnstile
