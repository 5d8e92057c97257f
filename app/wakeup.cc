#include "app/wakeup.h"

namespace turnstile {

struct Wakeup::Awaiter {
  Wakeup& self;
  Micros atMost;

  bool await_ready() const { return false; }

  bool await_suspend(std::coroutine_handle<> handle) {
    const std::lock_guard guard(self.mutex_);
    self.woken_ = std::exchange(self.pending_, false);
    if (self.woken_ || atMost <= Micros{0}) return false;
    self.waiter_ = handle;
    self.loop_ = trantor::EventLoop::getEventLoopOfCurrentThread();
    const auto round = ++self.round_;
    self.timer_ = self.loop_->runAfter(
        std::chrono::duration<double>(atMost).count(),
        [shared = self.shared_from_this(), round] { shared->resumeOnce(round, false); });
    return true;
  }

  bool await_resume() const { return self.woken_; }
};

Task<bool> Wakeup::wait(Micros atMost) { co_return co_await Awaiter{*this, atMost}; }

void Wakeup::wake() {
  trantor::EventLoop* loop = nullptr;
  std::uint64_t round = 0;
  {
    const std::lock_guard guard(mutex_);
    if (!waiter_) {
      pending_ = true;
      return;
    }
    loop = loop_;
    round = round_;
  }
  // Queued even on our own loop: the waker finishes its step first, and the stack stays flat.
  loop->queueInLoop([shared = shared_from_this(), round] { shared->resumeOnce(round, true); });
}

void Wakeup::resumeOnce(std::uint64_t round, bool woken) {
  std::coroutine_handle<> handle;
  {
    const std::lock_guard guard(mutex_);
    if (round != round_ || !waiter_) return;  // the other one was first
    handle = std::exchange(waiter_, nullptr);
    woken_ = woken;
    if (woken) loop_->invalidateTimer(timer_);
  }
  handle.resume();
}

}  // namespace turnstile
