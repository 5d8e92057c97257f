// A mutex of this process, as `synchronized` is in the articles: right as long as there is one instance,
// and no help at all against the next one.
#include <mutex>
#include <unordered_set>

#include "locks/guarded_sale.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

class LocalMutex final : public LockDriver {
 public:
  using LockDriver::LockDriver;

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const std::lock_guard guard(mutex_);
    if (!held_.insert(request.name).second) co_return std::nullopt;
    co_return Grant{request.owner};
  }

  Task<bool> release(const LockRequest& request, const Grant&) override {
    const std::lock_guard guard(mutex_);
    co_return held_.erase(request.name) == 1;
  }

  Task<> reset(std::string) override { co_return; }  // a holder of this process will release it

 private:
  std::mutex mutex_;  // guards the set, never held across an await
  std::unordered_set<std::string> held_;
};

}  // namespace

StrategySpec local_mutex() {
  return {
      .name = "local-mutex",
      .family = "control",
      .summary = "a mutex of this process",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::oversold,
                    "each instance has a mutex of its own, and they do not know of each other"},
                   {"one-instance", Verdict::safe, "one process, one mutex"},
                   {"exception", Verdict::safe, "released on every path"},
                   {"crash", Verdict::safe, "the mutex dies with its process"}},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(backends,
                                                 std::make_unique<LocalMutex>(backends.clock),
                                                 GuardedSale::Options{"local-mutex"});
          },
  };
}

}  // namespace turnstile::strategies
