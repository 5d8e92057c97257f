// Runs one attempt of a sale in SQL again when InnoDB undid it: a deadlock (1213) or a row that stayed
// locked (1205). Both say "nothing was done, try once more". Ends at the limit with `busy`; so does a pool without
// a free connection.
#pragma once

#include <algorithm>

#include "app/clock.h"
#include "app/errors.h"
#include "app/metrics.h"
#include "app/mysql.h"
#include "locks/strategy.h"

namespace turnstile {

/// Until when a sale may wait, and how much of that is left.
class WaitLimit {
 public:
  WaitLimit(Clock& clock, const SaleRequest& request)
      : clock_(clock), until_(std::min(clock.now() + request.wait, request.deadline)) {}
  Millis left() const {
    return std::max(Millis{0}, std::chrono::ceil<Millis>(until_ - clock_.now()));
  }
  bool over() const { return clock_.now() >= until_; }

 private:
  Clock& clock_;
  TimePoint until_;
};

/// `attempt`: () -> Task<Sale>, one transaction.
template <class Attempt>
Task<Sale> retryUndone(WaitLimit limit, StrategyMetrics& metrics, Attempt attempt) {
  for (;;) {
    try {
      co_return co_await attempt();
    } catch (const SqlError& error) {
      if (!error.retryable()) throw;
    } catch (const PoolExhausted&) {
      co_return Sale::busy();
    }
    metrics.retries.add();
    if (limit.over()) co_return Sale::busy();
  }
}

}  // namespace turnstile
