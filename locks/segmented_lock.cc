// The stock spread over several Redis servers with a lock a segment: the articles' answer to a lock
// that is the bottleneck. Each segment is still read, check, write under a lock; there are just
// several of them, so buyers of different segments do not wait for each other.
//
// The lock and the count live on the same node, and that is used: locked and read in one step, written
// and unlocked in one, two round trips a sale where a lock elsewhere costs four. Between the two nothing
// but the lock protects the count. The write asks in the same step whether the lock is still its owner's,
// so one that overran its time is refused, as by a fence; fencing=off leaves that question out.
//
// A segment whose lock is not to be had is left for the next one: of the wait limit each gets its
// share.
#include "app/backends.h"
#include "locks/local_holders.h"
#include "locks/registry.h"
#include "locks/release_if_mine.h"
#include "locks/segment_walk.h"
#include "locks/with_lock.h"

namespace turnstile::strategies {
namespace {

/// One buyer at one segment.
class Visit final : public LockDriver {
 public:
  Visit(Clock& clock, SegmentedStock::Segment& segment, std::string part, LocalHolders& here)
      : LockDriver(clock), segment_(segment), part_(std::move(part)), here_(here) {}

  static std::string lockName(const std::string& part) { return "lock:" + part; }

  /// Once granted: seats there are.
  int remaining() const { return remaining_; }

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    if (here_.held(request)) co_return std::nullopt;  // by one of ours: no need to ask the node
    const TimePoint sent = clock_.now();
    const auto count =
        co_await segment_.stock.lockAndRead(part_, request.name, request.owner, request.ttl);
    if (!count) co_return std::nullopt;
    remaining_ = *count;
    unlocked_ = remaining_ == 0;
    if (!unlocked_) here_.granted(request, sent + request.ttl);
    co_return Grant{request.owner, 0, request.ttl};
  }

  /// false: the lock is no longer the owner's.
  Task<bool> write(const std::string& owner, LedgerEntry entry, bool check) {
    const std::string lock = lockName(part_);
    unlocked_ =
        co_await segment_.stock.writeAndUnlock(part_, remaining_ - 1, entry, lock, owner, check);
    co_return unlocked_;
  }

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    here_.handOn(request);
    if (unlocked_) co_return true;
    const Reply reply = co_await segment_.node.run(kReleaseIfMine, {request.name}, {grant.owner});
    co_return reply.integer == 1;
  }

  Task<> reset(std::string name) override { co_await segment_.node.command({"DEL", name}); }

 private:
  SegmentedStock::Segment& segment_;
  const std::string part_;
  LocalHolders& here_;
  int remaining_ = 0;
  bool unlocked_ = false;  // already, together with a read or a write
};

class SegmentedLock final : public Strategy {
 public:
  explicit SegmentedLock(const Backends& backends)
      : backends_(backends),
        metrics_(backends.metrics.of("segmented-lock")),
        here_(backends.clock) {}

  Task<Sale> sell(SaleRequest request) override {
    const auto sellAt = [&](std::size_t index) { return sellFrom(index, request); };
    co_return co_await walkSegments(segments(), request.event, 1, sellAt);
  }

  Task<> reset(std::string event) override {
    for (std::size_t i = 0; i < segments().count(); ++i) {
      const std::string part = SegmentedStock::part(event, i);
      Visit visit(backends_.clock, segments().at(i), part, here_);
      try {
        co_await visit.reset(Visit::lockName(part));
      } catch (const std::exception&) {
        // Away: the stock's own reset says so, and the lock expires.
      }
    }
  }

 private:
  SegmentedStock& segments() const { return backends_.segmentedStock; }

  Task<Sale> sellFrom(std::size_t index, const SaleRequest& request) {
    const std::string part = SegmentedStock::part(request.event, index);
    Visit visit(backends_.clock, segments().at(index), part, here_);
    LockRequest lock;
    lock.name = Visit::lockName(part);
    lock.owner = backends_.owners.next();
    lock.ttl = request.ttl;
    lock.wait = request.wait / static_cast<int>(segments().count());
    lock.deadline = request.deadline;
    lock.lab = request.lab;
    const std::string owner = lock.owner;
    const Recipe recipe{backends_.clock, backends_.turns, metrics_};
    const auto criticalSection = [&](const Lease& lease) { return sellTo(visit, owner, request, lease); };
    const auto sale = co_await withLock(recipe, visit, lock, criticalSection);
    co_return sale.value_or(Sale::busy());
  }

  Task<Sale> sellTo(Visit& visit, const std::string& owner, const SaleRequest& request,
                    const Lease& lease) {
    const Lab& lab = request.lab;
    co_await lab.pass(Point::afterAcquire);
    if (visit.remaining() <= 0) co_return Sale::soldOut();
    co_await lab.hold();
    if (lease.lost()) {
      metrics_.lost.add();
      co_return Sale::busy();
    }
    co_await lab.pass(Point::beforeWrite);
    const LedgerEntry entry{0, "segmented-lock", backends_.config.instance, request.user};
    const bool written = co_await visit.write(owner, entry, lab.fencing());
    if (!written) {
      metrics_.fenceRefused.add();
      co_return Sale::busy();
    }
    co_await lab.pass(Point::afterWrite);
    co_return Sale::sold(visit.remaining());
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
  LocalHolders here_;
};

}  // namespace

StrategySpec segmented_lock() {
  return {
      .name = "segmented-lock",
      .family = "segments",
      .summary = "stock over five nodes, a lock a segment",
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "one holder a segment, and a seat is in one segment"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "the lock expires by itself; other segments sell on"},
           {"overrun", Verdict::safe, "a write is refused once the lock is not its owner's: both are on one node"},
           {"freeze", Verdict::safe, "a write is refused once the lock is not its owner's: both are on one node"},
           {"node-down", Verdict::safe,
            "its seats are unavailable until it is back; the others sell on"}},
      .make = [](const Backends& backends) { return std::make_unique<SegmentedLock>(backends); },
  };
}

}  // namespace turnstile::strategies
