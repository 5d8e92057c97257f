// The port to time. Strategies never read a clock or arm a timer of their own: a test may skew this
// one (`clock-skew-ms`), and a simulation may replace it.
#pragma once

#include <drogon/utils/coroutine.h>

#include "app/time.h"

namespace turnstile {

using drogon::Task;

class Clock {
 public:
  virtual ~Clock() = default;

  /// The wall clock as this instance believes it to be. Skewed when the lab says so, and it may
  /// jump: only a strategy whose lesson is that clocks differ may let correctness depend on it.
  virtual TimePoint wall() const = 0;

  /// Monotonic: for deadlines and validity. Also advances while the process is frozen.
  virtual TimePoint now() const = 0;

  /// Suspends the coroutine; resumes on the event loop it was called on.
  virtual Task<> sleep(Millis duration) = 0;
};

/// The machine's clocks; `skew` is added to wall() only.
class SystemClock final : public Clock {
 public:
  explicit SystemClock(Millis skew = Millis{0}) : skew_(skew) {}
  TimePoint wall() const override;
  TimePoint now() const override;
  Task<> sleep(Millis duration) override;

 private:
  Millis skew_;
};

}  // namespace turnstile
