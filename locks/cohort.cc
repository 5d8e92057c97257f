// Cohort: one distributed lock an event, taken once for many sales. The instance that holds it
// serves the requests waiting in its own memory, batch after batch, for a bounded number of sales
// and of milliseconds, then releases, and the next instance has its turn (locks/handover_lock.h). A
// lock costs its round trips once a run instead of once a sale.
//
// What a run does: read the count once, under the lock's fence; for each batch one write of the
// count and all its ledger lines, in one atomic step, from the count in memory. Nobody is answered
// before the write that holds its sale has been confirmed. So a crash at any point sells no seat
// twice: before a write nothing happened, after it the count and the ledger both tell, and the next
// holder reads the count afresh. The write carries the fence and is refused as soon as a younger
// holder has read, or the event was reset: a holder that slept through its time to live loses its
// batch, never a seat.
#include "app/backends.h"
#include "app/errors.h"
#include "locks/gathering.h"
#include "locks/handover_lock.h"
#include "locks/registry.h"
#include "locks/with_lock.h"

namespace turnstile::strategies {
namespace {

constexpr std::size_t kMostMembers = 256;  // of a batch
constexpr int kMostSales = 1024;           // of a run
constexpr Millis kLongestRun{10};          // likewise; checked between batches
constexpr Millis kWaitSlice{250};  // so long a member may wait beyond its limit while its instance does not get the lock

class Cohort final : public Strategy {
 public:
  explicit Cohort(const Backends& backends)
      : backends_(backends),
        metrics_(backends.metrics.of("cohort")),
        driver_(backends.clock, backends.redis, backends.channels) {}

  Task<Sale> sell(SaleRequest request) override {
    request.deadline = std::min(request.deadline, backends_.clock.now() + request.wait);
    Member me(request);
    co_await gathering_.join(me);
    co_return me.result();
  }

  Task<> reset(std::string event) override { co_await driver_.reset(lockName(event)); }

 private:
  static std::string lockName(const std::string& event) { return "lock:cohort:" + event; }

  Task<> serve(Line& line) {
    const Recipe recipe{backends_.clock, backends_.turns, metrics_};
    const auto body = [&](const Lease& lease) { return run(line, lease); };
    while (const Member* first = line.front()) {
      LockRequest lock;
      lock.name = lockName(line.event());
      lock.owner = backends_.owners.next();
      lock.ttl = first->request.ttl;
      lock.wait = kWaitSlice;
      lock.deadline = TimePoint::max();
      std::exception_ptr failure;
      try {
        co_await withLock(recipe, driver_, lock, body);
      } catch (const std::exception&) {
        failure = std::current_exception();  // the lock could not be asked for: nothing was sold
      }
      if (failure) fail(line.takeIf([](const Member&) { return true; }), failure);
      const TimePoint now = backends_.clock.now();
      Line::answer(line.takeIf([now](const Member& one) { return one.request.deadline <= now; }));
    }
  }

  // Until the line is empty, the bounds are reached or something went wrong; the lock is held
  // throughout.
  Task<bool> run(Line& line, const Lease& lease) {
    const TimePoint end = backends_.clock.now() + kLongestRun;
    std::optional<int> count;
    for (int sold = 0; sold < kMostSales && backends_.clock.now() < end;) {
      Batch batch = line.take(kMostMembers);
      if (batch.empty()) break;
      std::exception_ptr failure;
      bool goOn = false;
      try {
        co_await passAll(batch, Point::afterAcquire);
        goOn = co_await sellBatch(line.event(), batch, lease, count);
        co_await passAll(batch, Point::afterWrite);
      } catch (const std::exception&) {
        failure = std::current_exception();
      }
      if (failure) {
        fail(batch, failure);
        break;
      }
      sold += static_cast<int>(batch.size());
      Line::answer(batch);
      if (!goOn) break;
      co_await line.endOfRound();
    }
    co_return true;
  }

  // `count`: what this run knows of the stock; empty: not read yet. Whom nothing is said here is
  // told busy. false: the lock is no longer ours.
  Task<bool> sellBatch(const std::string& event, Batch& batch, const Lease& lease,
                       std::optional<int>& count) {
    bool fencing = true;
    for (const Member* member : batch) fencing = fencing && member->request.lab.fencing();
    const std::uint64_t fence = fencing ? lease.fence() : 0;
    if (!count) count = co_await backends_.redisStock.read(event, fence);
    if (!count) {
      metrics_.fenceRefused.add();
      co_return false;
    }
    for (const Member* member : batch)
      if (!member->request.lab.closed()) co_await member->request.lab.hold();
    if (lease.lost()) {
      metrics_.lost.add();
      co_return false;
    }
    co_await passAll(batch, Point::beforeWrite);
    const std::size_t buyers =
        std::min(batch.size(), static_cast<std::size_t>(std::max(0, *count)));
    bool written = true;  // nothing to write is written
    if (buyers > 0) written = co_await write(event, batch, buyers, *count, fence);
    if (!written) {
      metrics_.fenceRefused.add();
      co_return false;
    }
    for (std::size_t i = 0; i < batch.size(); ++i)
      batch[i]->sale =
          i < buyers ? Sale::sold(*count - static_cast<int>(i), lease.fence()) : Sale::soldOut();
    *count -= static_cast<int>(buyers);
    co_return true;
  }

  Task<bool> write(const std::string& event, const Batch& batch, std::size_t buyers, int count,
                   std::uint64_t fence) {
    Buyers names;
    for (std::size_t i = 0; i < buyers; ++i) names.add(batch[i]->request.user);
    const LedgerEntry entry{fence, "cohort", backends_.config.instance, ""};
    co_return co_await backends_.redisStock.writeMany(event, count, entry, std::move(names));
  }

  static void fail(const Batch& batch, const std::exception_ptr& failure) {
    for (Member* member : batch) member->failure = failure;
    Line::answer(batch);
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
  HandoverLock driver_;
  Gathering gathering_{[this](Line& line) { return serve(line); }};
};

}  // namespace

StrategySpec cohort() {
  return {
      .name = "cohort",
      .family = "combining",
      .summary = "one distributed lock, handed on inside an instance for a bounded run",
      .stocks = {StockKind::redis},
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::safe, "one instance at a time holds the lock"},
                   {"exception", Verdict::safe, "only its own request leaves the batch"},
                   {"crash", Verdict::safe,
                    "a batch is one atomic write, nobody is answered before it, the lock expires"},
                   {"overrun", Verdict::safe,
                    "a write after the lock expired is refused by its fence"},
                   {"freeze", Verdict::safe,
                    "a write after the lock expired is refused by its fence"}},
      .make = [](const Backends& backends) { return std::make_unique<Cohort>(backends); },
  };
}

}  // namespace turnstile::strategies
