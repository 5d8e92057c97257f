// At most so many at once; the others queue in order of arrival, each no longer than it says. For one event
// loop: not thread-safe.
//
//   const auto slot = co_await slots.take(Millis{500});   // empty: not in time; given back by its destructor
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "app/wakeup.h"

namespace turnstile {

class Slots {
 public:
  class Slot {
   public:
    explicit Slot(Slots& slots) : slots_(&slots) {}
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(slots_, other.slots_);
      return *this;
    }
    ~Slot() {
      if (slots_) slots_->give();
    }

   private:
    Slots* slots_;
  };

  explicit Slots(std::size_t count) : free_(count) {}

  Task<std::optional<Slot>> take(Millis atMost) {
    if (free_ > 0) {
      --free_;
      co_return Slot(*this);
    }
    const auto me = std::make_shared<Waiter>();
    waiting_.push_back(me);
    co_await me->wait(atMost);
    // Ask the flag, not the wake-up: our slot may have come in the moment our time ran out.
    if (me->granted) co_return Slot(*this);
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), me));
    co_return std::nullopt;
  }

 private:
  struct Waiter : Wakeup {
    bool granted = false;
  };

  void give() {
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next->granted = true;
    next->wake();
  }

  std::size_t free_;
  std::deque<std::shared_ptr<Waiter>> waiting_;
};

}  // namespace turnstile
