// The stock spread over several Redis servers with a lock a segment: the articles' answer to a lock
// that is the bottleneck. Each segment is still read, check, write under a lock; there are just
// several of them, so buyers of different segments do not wait for each other. The lock and the
// count live on the same node and share its fate, and the fence keeps a holder that overran its
// time from writing.
//
// A segment whose lock is not to be had is left for the next one: of the wait limit each gets its
// share.
#include "app/backends.h"
#include "locks/fenced_lock.h"
#include "locks/guarded_sale.h"
#include "locks/registry.h"
#include "locks/segment_walk.h"

namespace turnstile::strategies {
namespace {

class SegmentedLock final : public Strategy {
 public:
  explicit SegmentedLock(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("segmented-lock")) {
    SegmentedStock& segments = backends.segmentedStock;
    for (std::size_t i = 0; i < segments.count(); ++i)
      drivers_.push_back(std::make_unique<FencedLock>(backends.clock, segments.at(i).node));
  }

  Task<Sale> sell(SaleRequest request) override {
    const auto sellAt = [&](std::size_t index) { return sellFrom(index, request); };
    co_return co_await walkSegments(backends_.segmentedStock, request.event, sellAt);
  }

  Task<> reset(std::string event) override {
    for (std::size_t i = 0; i < drivers_.size(); ++i) {
      try {
        co_await drivers_[i]->reset(lockName(SegmentedStock::part(event, i)));
      } catch (const std::exception&) {
        // Away: the stock's own reset says so, and the lock expires.
      }
    }
  }

 private:
  static std::string lockName(const std::string& part) { return "lock:" + part; }

  Task<Sale> sellFrom(std::size_t index, const SaleRequest& request) {
    SaleRequest local = request;
    local.event = SegmentedStock::part(request.event, index);
    LockRequest lock;
    lock.name = lockName(local.event);
    lock.owner = backends_.owners.next();
    lock.ttl = request.ttl;
    lock.wait = request.wait / static_cast<int>(drivers_.size());
    lock.deadline = request.deadline;
    lock.lab = request.lab;
    const Recipe recipe{backends_.clock, backends_.turns, metrics_};
    const auto criticalSection = [&](const Lease& lease) -> Task<Sale> {
      co_await request.lab.pass(Point::afterAcquire);
      co_return co_await sellUnguarded(backends_, backends_.segmentedStock.at(index).stock,
                                       metrics_, local, "segmented-lock", &lease, true);
    };
    const auto sale = co_await withLock(recipe, *drivers_[index], lock, criticalSection);
    co_return sale.value_or(Sale::busy());
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
  std::vector<std::unique_ptr<FencedLock>> drivers_;
};

}  // namespace

StrategySpec segmented_lock() {
  return {
      .name = "segmented-lock",
      .family = "segments",
      .summary = "stock over five nodes, a lock a segment",
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "one holder a segment, and a seat is in one segment"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "the lock expires by itself; other segments sell on"},
           {"overrun", Verdict::safe, "a write after the lock expired is refused by its fence"},
           {"freeze", Verdict::safe, "a write after the lock expired is refused by its fence"},
           {"node-down", Verdict::safe,
            "its seats are unavailable until it is back; the others sell on"}},
      .make = [](const Backends& backends) { return std::make_unique<SegmentedLock>(backends); },
  };
}

}  // namespace turnstile::strategies
