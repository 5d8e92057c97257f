// Taking turns inside one process. Of all requests here that want the same lock, one contends for it at the
// backend and the others queue behind it in memory: the backend sees one contender an instance, not a
// herd. The turn ends when the lock is granted, not when it is released, so holders of this process
// still meet at the backend: the queue hides no flaw of a strategy.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "app/wakeup.h"

namespace turnstile {

class Turns;

/// The right to contend. Ends with the object.
class Turn {
 public:
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&& other) noexcept;
  ~Turn();

  /// Until a lock of this name is released in this process, or `atMost`. true: released.
  Task<bool> awaitLocalRelease(Millis atMost) { return wakeup_->wait(atMost); }
  const std::shared_ptr<Wakeup>& wakeup() const { return wakeup_; }

 private:
  friend class Turns;
  Turn(Turns* turns, std::string name, std::shared_ptr<Wakeup> wakeup)
      : turns_(turns), name_(std::move(name)), wakeup_(std::move(wakeup)) {}
  Turns* turns_;  // null: queues are switched off, or moved from
  std::string name_;
  std::shared_ptr<Wakeup> wakeup_;
};

class Turns {
 public:
  /// `enabled` false lets everyone contend at once: the herd, for comparison.
  explicit Turns(bool enabled) : enabled_(enabled) {}

  /// Of a request that must not wait behind others: contends at once.
  static Turn unqueued(std::string name) {
    return Turn(nullptr, std::move(name), std::make_shared<Wakeup>());
  }

  /// In order of arrival. nullopt: not in time.
  Task<std::optional<Turn>> take(std::string name, Millis atMost);

  /// A lock of this name was released here: whoever contends should try now.
  void released(const std::string& name);

 private:
  friend class Turn;
  using Queue = std::deque<std::shared_ptr<Wakeup>>;  // front: the contender
  void pass(const std::string& name);

  const bool enabled_;
  std::mutex mutex_;
  std::unordered_map<std::string, Queue> queues_;
};

}  // namespace turnstile
