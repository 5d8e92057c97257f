// A queue of keys in order of their creation: the oldest holds the lock, everyone else watches the key just
// before its own. Each key hangs on a lease, so that of a dead holder is deleted when its lease runs out.
// Keys are named as etcd's own concurrency package names them,
//   turnstile/locks/<event>/<lease id in hex>
// so `etcdctl lock turnstile/locks/demo` takes turns with us, both ways.
//
// Round trips of one sale: 1 to enter the queue and look at it (one transaction), 1 to leave it. A waiter
// adds a message to watch and 1 look after the wait: its own lease may be over by then, and the one before
// it may have given up without ever holding the lock. Leases are borrowed from a pool (locks/etcd_leases.h).
// The fence is the key's create revision.
//
// A lease outlives a slow holder, not a frozen one (`session-timeout-ms`, in whole seconds; `ttl=` of the
// lab means nothing here). The holder knows until when its lease is safe and looks before it writes; what gets
// past that look is refused by the stock, by the fence.
#include "app/errors.h"
#include "app/etcd.h"
#include "locks/etcd_leases.h"
#include "locks/guarded_sale.h"
#include "locks/places.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

std::string hex(std::int64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

struct Place {
  std::shared_ptr<EtcdLease> lease;
  std::string key;
  std::int64_t revision = 0;  // of its creation; 0: not known to exist
  std::string predecessor;    // empty: none, or not known
  std::int64_t seen = 0;      // the store's revision when we last looked
  int holds = 0;
};

class EtcdLock final : public LockDriver {
 public:
  EtcdLock(Clock& clock, Etcd& etcd, std::chrono::seconds ttl, StrategyMetrics& metrics)
      : LockDriver(clock), etcd_(etcd), leases_(etcd, clock, ttl), metrics_(metrics) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const auto place = places_.findOrAdd(request.owner);
    bool first = place->holds > 0;  // asks again: counted
    try {
      if (!first) first = co_await isFirst(request, *place);
    } catch (const BackendDown&) {
      forget(request, *place);
      throw;
    }
    if (!first) co_return std::nullopt;
    ++place->holds;
    co_return Grant{request.owner, static_cast<std::uint64_t>(place->revision)};
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    const auto place = places_.find(request.owner);
    if (place->predecessor.empty()) co_return;  // we lost our place: take a new one
    const auto watch = etcd_.watchDeletion(place->predecessor, place->seen);
    const bool woken = co_await watch->wait(atMost);
    if (!woken) etcd_.unwatch(watch);
    if (watch->deleted()) metrics_.watchEvents.add();
  }

  Task<bool> release(const LockRequest& request, const Grant&) override {
    const auto place = places_.find(request.owner);
    if (!place) co_return false;
    if (--place->holds > 0) co_return true;
    if (place->revision == 0) {  // an attempt that went unanswered: there may be a key
      forget(request, *place);
      co_return false;
    }
    try {
      const bool ours = co_await etcd_.remove(place->key);
      leases_.giveBack(place->lease);
      places_.erase(request.owner);
      co_return ours;
    } catch (const std::exception&) {
      forget(request, *place);
      throw;
    }
  }

  Task<> abandon(const LockRequest& request) override {
    const Grant none;
    try {
      co_await release(request, none);
    } catch (const std::exception&) {
      // the key goes with its lease
    }
  }

  bool stillHeld(const LockRequest& request) const override {
    const auto place = places_.find(request.owner);
    return place && place->lease && leases_.alive(*place->lease);
  }

  // As far as it goes: without etcd there is no lock to delete, and its holder's fence is forgotten.
  Task<> reset(std::string name) override {
    try {
      co_await etcd_.removeAll(name + '/');
    } catch (const std::exception&) {
      co_return;
    }
  }

 private:
  Task<bool> isFirst(const LockRequest& request, Place& place) {
    const std::string prefix = request.name + '/';
    std::optional<Etcd::Queue> queue;
    if (place.revision == 0) {
      if (!place.lease) place.lease = co_await leases_.borrow();
      place.key = prefix + hex(place.lease->id);
      queue = co_await etcd_.putIfAbsent(place.key, place.lease->id, prefix);
    } else {
      queue = co_await etcd_.newest(prefix, place.revision);
    }
    if (!queue || queue->newest.empty() || queue->newest[0].name != place.key) {
      leases_.drop(std::move(place.lease));  // over: the next attempt enters again, with another
      place = Place{};
      co_return false;
    }
    place.revision = queue->newest[0].createRevision;
    place.seen = queue->revision;
    place.predecessor = queue->newest.size() > 1 ? queue->newest[1].name : std::string();
    co_return place.predecessor.empty();
  }

  // Whatever this request may have left behind dies with its lease.
  void forget(const LockRequest& request, const Place& place) {
    if (place.lease) leases_.drop(place.lease);
    places_.erase(request.owner);
  }

  Etcd& etcd_;
  EtcdLeases leases_;
  StrategyMetrics& metrics_;
  Places<Place> places_;
};

// In whole seconds; etcd makes anything below 2 s into 2 s by itself.
std::chrono::seconds leaseTtl(const Config& config) {
  return std::chrono::ceil<std::chrono::seconds>(config.sessionTimeout);
}

}  // namespace

StrategySpec etcd() {
  const std::string use = "strategy=etcd";
  return {
      .name = "etcd",
      .family = "coordinators",
      .summary = "keys on leases in order of creation, each waiter watches its predecessor; etcdctl lock's keys",
      .stocks = {StockKind::redis, StockKind::mysql},
      .reentrant = true,
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "the oldest key holds the lock, and revisions are given once"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "the key goes when the lease of the dead process runs out"},
           {"overrun", Verdict::safe, "the lease is kept alive however long the holder works"},
           {"freeze", Verdict::safe,
            "the lease of a frozen holder runs out, and the stock refuses its late write by the fence; "
            "with fencing=off that write sells a seat twice"},
           {"clock-skew", Verdict::safe, "no wall clock is read"}},
      .tryIt = {tryit::reset(10), tryit::background(1, use + "&fault=before-write:pause-2000"),
                "sleep 1; kill -STOP $(cat .run/pids/app-1.pid)  # frozen just before its write",
                tryit::sale(2, use + "&wait=20000") + "  # sold, once the lease of the first is over",
                "kill -CONT $(cat .run/pids/app-1.pid)  # 503 busy: its write is refused", "wait",
                tryit::audit() + "  # safe; with &fencing=off on both sales it is oversold",
                tryit::reset(10),
                "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:8112 lock turnstile/locks/demo sleep 2 &",
                "sleep 1; " + tryit::sale(1, use) + "  # waits until etcdctl lets go"},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(
                backends,
                std::make_unique<EtcdLock>(backends.clock, backends.etcd, leaseTtl(backends.config),
                                           backends.metrics.of("etcd")),
                GuardedSale::Options{"etcd", "turnstile/locks/", /*checkLease=*/true});
          },
  };
}

}  // namespace turnstile::strategies
