// A guarded strategy: some lock around the three lines every article guards: read, check, write.
#pragma once

#include <memory>

#include "app/backends.h"
#include "locks/strategy.h"
#include "locks/with_lock.h"

namespace turnstile {

/// read, check, write: what a lock is there to protect. `lease` null: nothing protects it. With
/// `checkLease` the holder asks Lease::lost() as late as it can; between that and the write there is
/// still a gap, which is the lesson of locks without a fence.
Task<Sale> sellUnguarded(const Backends& backends, StrategyMetrics& metrics, SaleRequest request,
                         std::string_view strategy, const Lease* lease, bool checkLease);
/// The same from a stock of the caller's, whatever `request.stock` says.
Task<Sale> sellUnguarded(const Backends& backends, Stock& stock, StrategyMetrics& metrics,
                         SaleRequest request, std::string_view strategy, const Lease* lease,
                         bool checkLease);

class GuardedSale final : public Strategy {
 public:
  struct Options {
    std::string strategy;          // its name
    std::string lockPrefix = "lock:";  // the lock of event "demo" is "lock:demo"
    bool checkLease = false;       // the strategy promises that a lost lock is noticed before the write
  };

  GuardedSale(const Backends& backends, std::unique_ptr<LockDriver> driver, Options options);

  Task<Sale> sell(SaleRequest request) override;
  Task<> reset(std::string event) override;
  void start() override { driver_->start(); }

  /// The lock alone. After this the sale has none and may only be destroyed.
  std::unique_ptr<LockDriver> takeDriver() { return std::move(driver_); }

 private:
  LockRequest lockRequest(const SaleRequest& request) const;

  const Backends& backends_;
  std::unique_ptr<LockDriver> driver_;
  Options options_;
  StrategyMetrics& metrics_;
};

}  // namespace turnstile
