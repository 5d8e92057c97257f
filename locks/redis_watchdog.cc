// The lock of redis_set_ex_lua.cc, renewed at a third of its TTL for as long as its holder works:
// the TTL need no longer be guessed, it only says how soon a dead holder's lock is free. A refused
// renewal, or a TTL over without one, tells the holder that the lock is lost; it asks just before
// it writes and then sells nothing. What still breaks it: a holder that freezes after it asked. Its
// renewals freeze with it, the next holder sells, and the late write goes through, because nothing
// at the stock tells the two apart.
//
// A caller's own TTL (lab `ttl`) is renewed like the configured one: here it is a length, not a
// lease time.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class Watchdog final : public RedisKeyLock {
 public:
  using RedisKeyLock::RedisKeyLock;
  Millis renewEvery(const LockRequest& request) const override { return thirdOf(request.ttl); }
};

}  // namespace

StrategySpec redis_watchdog() {
  const std::string use = "strategy=redis-watchdog";
  return {
      .name = "redis-watchdog",
      .family = "redis ladder",
      .summary = "SET NX PX with an owner, renewed at TTL/3 while its holder works",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SET NX lets one in"},
                   {"exception", Verdict::safe, "released on every path, and the renewal ends"},
                   {"crash", Verdict::safe, "the renewal dies with its holder and the key expires"},
                   {"crash-before-expire", Verdict::safe, "one command sets the key and its life"},
                   {"overrun", Verdict::safe, "the lock is renewed for as long as the work takes"},
                   {"pause-before-delete", Verdict::safe, "compare and delete are one script"},
                   {"freeze", Verdict::oversold,
                    "the renewal freezes with its holder, and nothing stops the late write"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
                   {"lost-reply", Verdict::safe, "the script took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&ttl=1000&hold=3000") +
                    "  # works for three times the TTL",
                "sleep 2; " + tryit::sale(2, use + "&wait=0") +
                    "  # 503 busy: the lock was renewed",
                "wait", tryit::background(1, use + "&ttl=1000&fault=before-write:pause-1500"),
                "sleep 1; kill -STOP $(cat .run/pids/app-1.pid)  # frozen just before its write",
                "sleep 2; " + tryit::sale(2, use) + "  # sold: the lock expired",
                "kill -CONT $(cat .run/pids/app-1.pid)  # and sells the same seat", "wait",
                tryit::audit() + "  # oversold: one seat twice"},
      .make = guardedBy<Watchdog>("redis-watchdog", /*checkLease=*/true),
  };
}

}  // namespace turnstile::strategies
