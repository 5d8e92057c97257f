// No lock at all: read, check, write, with two round trips between which anyone may do the same. The
// control of every comparison: if this does not oversell, the load was too weak to mean anything.
#include "locks/guarded_sale.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

class None final : public Strategy {
 public:
  explicit None(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("none")) {}

  Task<Sale> sell(SaleRequest request) override {
    co_return co_await sellUnguarded(backends_, metrics_, std::move(request), "none", nullptr, false);
  }

 private:
  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec none() {
  return {
      .name = "none",
      .family = "control",
      .summary = "read, check, write; nothing in between",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::oversold,
                    "two buyers read the same count and both write it back less one"},
                   {"one-instance", Verdict::oversold,
                    "coroutines of one process interleave at every await, as threads do"}},
      .make = [](const Backends& backends) { return std::make_unique<None>(backends); },
  };
}

}  // namespace turnstile::strategies
