// Another answer to the crash between SETNX and EXPIRE: the value is the moment at which the lock
// ends, so one SETNX sets both. A lock past that moment is taken over by GETSET: of several who
// try, only the one that gets back the value it saw has won. What still breaks it: each instance
// writes and judges that moment by its own clock, so one whose clock is ahead takes over a lock
// that is held. A loser's GETSET has written its own moment into the winner's lock all the same.
// And the value names nobody: the release is a plain DEL.
#include <charconv>

#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class SetnxGetset final : public NamelessKeyLock {
 public:
  using NamelessKeyLock::NamelessKeyLock;

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const Grant granted{request.owner, 0, request.ttl};
    const std::string end = std::to_string(wallMillis() + request.ttl.count());
    const Reply set = co_await redis_.command({"SETNX", request.name, end});
    if (set.integer == 1) co_return granted;

    const Reply seen = co_await redis_.command({"GET", request.name});
    if (seen.isNil() || !isPast(seen.text)) co_return std::nullopt;
    co_await request.lab.pass(Point::betweenGetGetset);
    const Reply old = co_await redis_.command({"GETSET", request.name, end});
    // Refused, and yet our moment now stands in someone else's lock: GETSET cannot be taken back.
    if (old.text != seen.text) co_return std::nullopt;
    co_return granted;
  }

 private:
  std::int64_t wallMillis() const {
    return std::chrono::floor<Millis>(clock_.wall()).time_since_epoch().count();
  }

  // A value that is no number is not of this strategy: held, as far as we know.
  bool isPast(std::string_view end) const {
    std::int64_t millis = 0;
    const auto parsed = std::from_chars(end.data(), end.data() + end.size(), millis);
    return parsed.ec == std::errc{} && millis < wallMillis();
  }
};

}  // namespace

StrategySpec redis_setnx_getset() {
  const std::string use = "strategy=redis-setnx-getset";
  return {
      .name = "redis-setnx-getset",
      .family = "redis ladder",
      .summary =
          "the value is the lock's end by the holder's clock; taken over by GETSET, plain DEL",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::betweenGetGetset, Point::afterAcquire, Point::beforeWrite,
                 Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SETNX lets one in, and no lock is past its end"},
                   {"exception", Verdict::safe, "the holder deletes the key on every path"},
                   {"crash", Verdict::safe, "the lock is taken over once its moment is past"},
                   {"crash-before-expire", Verdict::safe, "one SETNX sets the key and its end"},
                   {"overrun", Verdict::oversold,
                    "a lock past its end is taken over while its holder still works"},
                   {"freeze", Verdict::oversold,
                    "a lock past its end is taken over while its holder stands still"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::oversold,
                    "an instance whose clock is ahead takes a held lock for one past its end"},
                   {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt =
          {tryit::reset(10),
           "TURNSTILE_CLOCK_SKEW_MS=3600000 scripts/stack restart app-2  # an hour ahead",
           tryit::background(1, use + "&hold=3000") + "  # holds the lock for 3 s", "sleep 1",
           tryit::sale(2, use + "&wait=0") + "  # sold: it stole the lock", "wait",
           tryit::audit() + "  # oversold: one seat twice", "scripts/stack restart app-2",
           tryit::redis("SET lock:demo 1") + "  # a lock long past its end",
           tryit::background(1, use + "&wait=0&ttl=60000&fault=between-get-getset:pause-2000") +
               "  # sees that, and is slow",
           "sleep 1", tryit::background(2, use + "&hold=4000") + "  # takes it over and holds it",
           "sleep 0.5; " + tryit::redis("GET lock:demo") + "  # the holder's moment",
           "sleep 1.5; " + tryit::redis("GET lock:demo") + "  # the refused one's moment", "wait"},
      .make = guardedBy<SetnxGetset>("redis-setnx-getset"),
  };
}

}  // namespace turnstile::strategies
