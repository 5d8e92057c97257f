#include "locks/turns.h"

#include <algorithm>
#include <utility>

namespace turnstile {

Turn::Turn(Turn&& other) noexcept
    : turns_(std::exchange(other.turns_, nullptr)),
      name_(std::move(other.name_)),
      wakeup_(std::move(other.wakeup_)) {}

Turn& Turn::operator=(Turn&& other) noexcept {
  std::swap(turns_, other.turns_);
  std::swap(name_, other.name_);
  std::swap(wakeup_, other.wakeup_);
  return *this;
}

Turn::~Turn() {
  if (turns_) turns_->pass(name_);
}

Task<std::optional<Turn>> Turns::take(std::string name, Millis atMost) {
  if (!enabled_) co_return unqueued(std::move(name));
  auto me = std::make_shared<Wakeup>();
  {
    const std::lock_guard guard(mutex_);
    Queue& queue = queues_[name];
    queue.push_back(me);
    if (queue.front() == me) co_return Turn(this, std::move(name), std::move(me));
  }
  co_await me->wait(atMost);
  {
    // Ask the queue, not the wake-up: our turn may have come in the moment our time ran out.
    const std::lock_guard guard(mutex_);
    Queue& queue = queues_[name];
    if (queue.front() != me) {
      queue.erase(std::find(queue.begin(), queue.end(), me));
      co_return std::nullopt;
    }
  }
  co_return Turn(this, std::move(name), std::move(me));
}

void Turns::pass(const std::string& name) {
  std::shared_ptr<Wakeup> next;
  {
    const std::lock_guard guard(mutex_);
    const auto found = queues_.find(name);
    found->second.pop_front();
    if (found->second.empty())
      queues_.erase(found);
    else
      next = found->second.front();
  }
  if (next) next->wake();
}

void Turns::released(const std::string& name) {
  std::shared_ptr<Wakeup> contender;
  {
    const std::lock_guard guard(mutex_);
    const auto found = queues_.find(name);
    if (found == queues_.end()) return;
    contender = found->second.front();
  }
  contender->wake();
}

}  // namespace turnstile
