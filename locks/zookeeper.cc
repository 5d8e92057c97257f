// A queue of ephemeral sequential nodes: the lowest number holds the lock, everyone else watches the node just
// before its own, so a release wakes one waiter and not the herd. A holder that dies takes its node along
// when its session ends. Nodes are named as Curator's InterProcessMutex names them,
//   /turnstile/locks/<event>/_c_<uuid>-lock-0000000042
// so a Curator client on that path takes turns with us, both ways.
//
// Round trips of one sale: 1 to enter the queue (create and list travel together), 1 to leave it; a waiter
// adds 1 to watch, while it waits anyway. No second look after the wait when the node we watched was the
// first: numbers only grow, so nobody can have come before us. The fence is the creation's zxid, not the
// sequence number, which starts again at 0 once the server has swept an empty directory away.
//
// A session outlives a slow holder, not a frozen one (`session-timeout-ms`; `ttl=` of the lab means
// nothing here). The holder knows until when its session is safe and looks before it writes; what gets past
// that look is refused by the stock, by the fence.
#include "app/errors.h"
#include "app/zookeeper.h"
#include "locks/guarded_sale.h"
#include "locks/places.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

constexpr std::string_view kNumberFollows = "lock-";  // in a node's name, by Curator's convention

// Curator's protection: the node says who made it, so one whose creation went unanswered can be found.
// An owner is "<process uuid>:<count>"; the last group of the uuid makes room for the count.
std::string prefixOf(const std::string& owner) {
  constexpr std::size_t kGroups = 24;
  constexpr std::size_t kDigits = 12;
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::uint64_t count = std::stoull(owner.substr(owner.rfind(':') + 1));
  std::string digits(kDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, count >>= 4)
    *digit = kHex[count & 0xf];
  return "_c_" + owner.substr(0, kGroups) + digits + '-' + std::string(kNumberFollows);
}

// Curator sorts by what follows the last "lock-", and by the whole name where there is none.
std::string_view orderOf(std::string_view name) {
  const auto at = name.rfind(kNumberFollows);
  return at == std::string_view::npos ? name : name.substr(at + kNumberFollows.size());
}

struct Place {
  std::string name;  // of our node; empty: none that we know of
  std::uint64_t zxid = 0;
  std::int64_t session = 0;
  std::string predecessor;
  bool nextInLine = false;       // the predecessor is the first
  bool predecessorGone = false;  // we were told
  int holds = 0;
};

class ZooKeeperLock final : public LockDriver {
 public:
  ZooKeeperLock(Clock& clock, ZooKeeper& zookeeper, StrategyMetrics& metrics)
      : LockDriver(clock), zookeeper_(zookeeper), metrics_(metrics) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    if (request.name.ends_with("/.") || request.name.ends_with("/.."))
      throw BadRequest("an event named '.' or '..' cannot be a ZooKeeper node");
    const auto place = places_.findOrAdd(request.owner);
    bool first = place->holds > 0;  // asks again: counted, as Curator does
    try {
      if (!first) first = co_await isFirst(request, *place);
    } catch (const BackendDown&) {
      leave(request, *place);
      throw;
    }
    if (!first) co_return std::nullopt;
    ++place->holds;
    co_return Grant{request.owner, place->zxid};
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    const auto place = places_.find(request.owner);
    if (place->name.empty()) co_return;  // we lost our place: take a new one
    std::string failure;
    try {
      const auto watch = co_await zookeeper_.watchDeletion(request.name + '/' + place->predecessor);
      if (watch) co_await watch->wait(atMost);
      place->predecessorGone = !watch || watch->deleted();
      if (watch && watch->deleted()) metrics_.watchEvents.add();
      co_return;
    } catch (const std::exception& error) {
      failure = error.what();
    }
    leave(request, *place);
    throw BackendDown("zookeeper", "lost while waiting, nothing was sold (" + failure + ")");
  }

  Task<bool> release(const LockRequest& request, const Grant&) override {
    const auto place = places_.find(request.owner);
    if (!place) co_return false;
    if (--place->holds > 0) co_return true;
    if (place->name.empty()) {  // an attempt that went unanswered: there may be a node
      zookeeper_.removeEventually(request.name, prefixOf(request.owner), place->session);
      places_.erase(request.owner);
      co_return false;
    }
    try {
      const bool ours = co_await zookeeper_.remove(request.name + '/' + place->name);
      places_.erase(request.owner);
      co_return ours;
    } catch (const std::exception&) {
      leave(request, *place);
      throw;
    }
  }

  Task<> abandon(const LockRequest& request) override {
    const Grant none;
    try {
      co_await release(request, none);
    } catch (const std::exception&) {
      // release() sees to it in the background
    }
  }

  bool stillHeld(const LockRequest& request) const override {
    const auto place = places_.find(request.owner);
    return place && alive(*place);
  }

  // As far as it goes: without ZooKeeper there is no lock to delete, and its holder's fence is forgotten.
  Task<> reset(std::string name) override {
    try {
      const auto names = co_await zookeeper_.children(name);
      for (const std::string& node : names) co_await zookeeper_.remove(name + '/' + node);
    } catch (const std::exception&) {
      co_return;
    }
  }

 private:
  bool alive(const Place& place) const {
    const auto session = zookeeper_.session();
    return session.id == place.session && clock_.now() < session.validUntil;
  }

  Task<bool> isFirst(const LockRequest& request, Place& place) {
    if (!place.name.empty() && !alive(place)) place = Place{};
    if (!place.name.empty() && place.nextInLine && place.predecessorGone) co_return true;
    if (!place.name.empty()) {
      const auto queue = co_await zookeeper_.children(request.name);
      if (findPredecessor(queue, place)) co_return place.predecessor.empty();
      place = Place{};  // deleted by a reset
    }
    place.session = zookeeper_.session().id;
    auto entered = co_await zookeeper_.enter(request.name, prefixOf(request.owner));
    place.name = std::move(entered.name);
    place.zxid = entered.zxid;
    place.session = entered.session;
    if (!findPredecessor(entered.children, place)) place = Place{};
    co_return !place.name.empty() && place.predecessor.empty();
  }

  // false: our node is not there.
  static bool findPredecessor(const std::vector<std::string>& queue, Place& place) {
    const std::string_view ours = orderOf(place.name);
    const std::string* best = nullptr;
    int before = 0;
    bool there = false;
    for (const std::string& name : queue) {
      there = there || name == place.name;
      if (orderOf(name) >= ours) continue;
      ++before;
      if (!best || orderOf(name) > orderOf(*best)) best = &name;
    }
    place.predecessor = best ? *best : std::string();
    place.nextInLine = before == 1;
    place.predecessorGone = false;
    return there;
  }

  // Our node goes in the background: those behind it must not wait for our session's end.
  void leave(const LockRequest& request, const Place& place) {
    if (!place.name.empty())
      zookeeper_.removeEventually(request.name, prefixOf(request.owner), place.session);
    places_.erase(request.owner);
  }

  ZooKeeper& zookeeper_;
  StrategyMetrics& metrics_;
  Places<Place> places_;
};

}  // namespace

StrategySpec zookeeper() {
  const std::string use = "strategy=zookeeper";
  return {
      .name = "zookeeper",
      .family = "coordinators",
      .summary = "ephemeral sequential nodes, each waiter watches its predecessor; Curator's node names",
      .stocks = {StockKind::redis, StockKind::mysql},
      .reentrant = true,
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "the lowest node holds the lock, and numbers are given once"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "the node goes when the session of the dead process times out"},
           {"overrun", Verdict::safe, "the session is kept alive however long the holder works"},
           {"freeze", Verdict::safe,
            "the session of a frozen holder times out, and the stock refuses its late write by the "
            "fence; with fencing=off that write sells a seat twice"},
           {"clock-skew", Verdict::safe, "no wall clock is read"}},
      .tryIt = {tryit::reset(10), tryit::background(1, use + "&fault=before-write:pause-2000"),
                "sleep 1; kill -STOP $(cat .run/pids/app-1.pid)  # frozen just before its write",
                tryit::sale(2, use + "&wait=20000") + "  # sold, once the session of the first is over",
                "kill -CONT $(cat .run/pids/app-1.pid)  # 503 busy: its write is refused", "wait",
                tryit::audit() + "  # safe; with &fencing=off on both sales it is oversold"},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(
                backends,
                std::make_unique<ZooKeeperLock>(backends.clock, backends.zookeeper,
                                                backends.metrics.of("zookeeper")),
                GuardedSale::Options{"zookeeper", "/turnstile/locks/", /*checkLease=*/true});
          },
  };
}

}  // namespace turnstile::strategies
