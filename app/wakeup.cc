#include "app/wakeup.h"

#include <utility>

namespace turnstile {
namespace {

constexpr Micros kLong{100'000};
constexpr double kTickSeconds = 0.01;

}  // namespace

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
    ++self.round_;
    self.endsBy(atMost);
    return true;
  }

  bool await_resume() const { return self.woken_; }
};

Task<bool> Wakeup::wait(Micros atMost) { co_return co_await Awaiter{*this, atMost}; }

void Wakeup::endsBy(Micros atMost) {
  if (atMost >= kLong) {
    LongWaits& waits = longWaits();
    long_ = waits.ends.emplace(std::chrono::steady_clock::now() + atMost, shared_from_this());
    return waits.time();
  }
  timer_ = loop_->runAfter(
      std::chrono::duration<double>(atMost).count(),
      [shared = shared_from_this(), round = round_] { shared->resumeOnce(round, false); });
}

Wakeup::LongWaits& Wakeup::longWaits() {
  static thread_local LongWaits waits;
  return waits;
}

void Wakeup::LongWaits::time() {
  if (std::exchange(timed, true)) return;
  trantor::EventLoop::getEventLoopOfCurrentThread()->runAfter(kTickSeconds, [this] { lookThrough(); });
}

void Wakeup::LongWaits::lookThrough() {
  const auto now = std::chrono::steady_clock::now();
  while (!ends.empty() && ends.begin()->first <= now) {
    const auto wakeup = ends.begin()->second;
    wakeup->resumeOnce(wakeup->round_, false);
  }
  timed = false;
  if (!ends.empty()) time();
}

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
  std::shared_ptr<Wakeup> kept;  // the list may hold the last reference
  {
    const std::lock_guard guard(mutex_);
    if (round != round_ || !waiter_) return;  // the other one was first
    handle = std::exchange(waiter_, nullptr);
    woken_ = woken;
    if (long_) {
      kept = std::move((*long_)->second);
      longWaits().ends.erase(*std::exchange(long_, std::nullopt));
    } else if (woken) {
      loop_->invalidateTimer(timer_);
    }
  }
  handle.resume();
}

}  // namespace turnstile
