// The recipe every lock is used by: queue in process, try, wait, try again until the wait limit; run the
// body; renew while it runs; release on every path. Drivers supply single attempts (locks/lock_driver.h).
//
//   auto sale = co_await withLock(recipe, driver, request, [&](const Lease& lease) -> Task<Sale> { … });
//   if (!sale) …                                    // busy: not granted in time
//
// The body's exception reaches the caller after the release. A release that fails is counted, never
// thrown: what the body did stands.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "app/metrics.h"
#include "locks/lock_driver.h"

namespace turnstile {

/// What the recipe needs beside a driver.
struct Recipe {
  Clock& clock;
  Turns& turns;
  StrategyMetrics& metrics;
};

/// A lock while it is held.
class Lease {
 public:
  Lease(const Recipe& recipe, LockDriver& driver, std::shared_ptr<const LockRequest> request,
        Grant grant, TimePoint asked);
  ~Lease();  // unreleased: logged and counted, a bug of ours
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept = default;  // only onto an empty one

  std::uint64_t fence() const;
  std::optional<int> count() const;  // what the grant brought along
  /// A renewal was refused, the time the backend gave us is over, or the session the lock lives in:
  /// someone else may hold it.
  bool lost() const;

  Task<> release();
  void disown();  // this lock is left behind on purpose (locks/redis_setnx.cc)

 private:
  struct State;
  static Task<> keepRenewing(std::shared_ptr<State> state, Millis every);
  std::shared_ptr<State> state_;
};

/// Until granted, or nullopt when `request.wait` is over.
Task<std::optional<Lease>> acquire(Recipe recipe, LockDriver& driver, LockRequest request);

template <class Body, class Result = drogon::await_result_t<std::invoke_result_t<Body&, const Lease&>>>
Task<std::optional<Result>> withLock(Recipe recipe, LockDriver& driver, LockRequest request,
                                     Body body) {
  std::optional<Lease> lease = co_await acquire(recipe, driver, std::move(request));
  if (!lease) co_return std::nullopt;
  std::optional<Result> result;
  std::exception_ptr failure;
  try {
    result = co_await body(*lease);
  } catch (...) {
    failure = std::current_exception();  // a catch block cannot co_await the release
  }
  if (failure && !driver.releasesOnException())
    lease->disown();
  else
    co_await lease->release();
  if (failure) std::rethrow_exception(failure);
  co_return result;
}

}  // namespace turnstile
