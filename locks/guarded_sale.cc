#include "locks/guarded_sale.h"

namespace turnstile {

Task<Sale> sellUnguarded(const Backends& backends, StrategyMetrics& metrics, SaleRequest request,
                         std::string_view strategy, const Lease* lease, bool checkLease) {
  Stock& stock = backends.stock(request.stock);
  return sellUnguarded(backends, stock, metrics, std::move(request), strategy, lease, checkLease);
}

Task<Sale> sellUnguarded(const Backends& backends, Stock& stock, StrategyMetrics& metrics,
                         SaleRequest request, std::string_view strategy, const Lease* lease,
                         bool checkLease) {
  const std::uint64_t granted = lease ? lease->fence() : 0;
  const std::uint64_t fence = request.lab.fencing() ? granted : 0;

  std::optional<int> remaining;
  if (lease) remaining = lease->count();
  if (!remaining) remaining = co_await stock.read(request.event, fence);
  if (!remaining) {
    metrics.fenceRefused.add();
    co_return Sale::busy();
  }
  if (*remaining <= 0) co_return Sale::soldOut();

  co_await request.lab.hold();
  if (checkLease && lease && lease->lost()) {
    metrics.lost.add();
    co_return Sale::busy();
  }
  co_await request.lab.pass(Point::beforeWrite);
  const LedgerEntry entry{fence, strategy, backends.config.instance, request.user};
  if (!co_await stock.write(request.event, *remaining - 1, entry)) {
    metrics.fenceRefused.add();
    co_return Sale::busy();
  }
  co_await request.lab.pass(Point::afterWrite);
  co_return Sale::sold(*remaining, granted);
}

GuardedSale::GuardedSale(const Backends& backends, std::unique_ptr<LockDriver> driver,
                         Options options)
    : backends_(backends),
      driver_(std::move(driver)),
      options_(std::move(options)),
      metrics_(backends.metrics.of(options_.strategy)) {}

LockRequest GuardedSale::lockRequest(const SaleRequest& request) const {
  LockRequest lock;
  lock.name = options_.lockPrefix + request.event;
  lock.owner = backends_.owners.next();
  lock.ttl = request.ttl;
  lock.ttlGiven = request.ttlGiven;
  lock.wait = request.wait;
  lock.deadline = request.deadline;
  lock.lab = request.lab;
  if (request.stock == StockKind::redis && request.lab.closed())
    lock.ledger = RedisStock::ledgerKey(request.event);
  return lock;
}

Task<Sale> GuardedSale::sell(SaleRequest request) {
  const Recipe recipe{backends_.clock, backends_.turns, metrics_};
  const LockRequest lock = lockRequest(request);
  const auto criticalSection = [&](const Lease& lease) -> Task<Sale> {
    co_await request.lab.pass(Point::afterAcquire);
    co_return co_await sellUnguarded(backends_, metrics_, request, options_.strategy, &lease,
                                     options_.checkLease);
  };
  const auto nested = [&](const Lease&) -> Task<Sale> {
    // The same owner asks again: a reentrant lock counts up, any other answers busy in time.
    LockRequest again = lock;
    again.reentry = true;
    const auto inner = co_await withLock(recipe, *driver_, std::move(again), criticalSection);
    co_return inner.value_or(Sale::busy());
  };
  std::optional<Sale> sale;
  if (request.lab.nested())
    sale = co_await withLock(recipe, *driver_, lock, nested);
  else
    sale = co_await withLock(recipe, *driver_, lock, criticalSection);
  co_return sale.value_or(Sale::busy());
}

Task<> GuardedSale::reset(std::string event) {
  co_await driver_->reset(options_.lockPrefix + event);
}

}  // namespace turnstile
