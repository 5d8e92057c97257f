// Work done behind the caller's back, at most once at a time for each key in this process. A
// failure is logged, and the key rests for a moment before it is tried again: a database that is
// down must not be asked once for every request that is served without it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "app/clock.h"

namespace turnstile {

class Background {
 public:
  using Work = std::function<Task<>()>;
  explicit Background(Clock& clock) : clock_(clock) {}

  /// Returns at once. Does nothing while work for `key` is under way or rests. The work outlives
  /// the caller: it must hold what it needs by value, or something that lives as long as the
  /// process.
  void start(const std::string& key, Work work);

 private:
  Task<> run(std::string key, Work work);

  Clock& clock_;
  std::mutex mutex_;
  std::unordered_set<std::string> running_;
};

}  // namespace turnstile
