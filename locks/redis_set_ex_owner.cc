// The value names its owner, and the release asks first: GET, compare, DEL. A holder whose work
// outlasted the TTL no longer deletes the next one's lock. What still breaks it: GET and DEL are
// two commands. A pause between them (a garbage collection, a slow network) outlasts the TTL, and
// the DEL hits the next holder's lock after all. And the TTL is still a guess: work that outlasts
// it still sells beside the next holder.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class SetExOwner final : public RedisKeyLock {
 public:
  using RedisKeyLock::RedisKeyLock;

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    const Reply holder = co_await redis_.command({"GET", request.name});
    if (holder.text != grant.owner) co_return false;
    co_await request.lab.pass(Point::betweenCompareDelete);
    const Reply reply = co_await redis_.command({"DEL", request.name});
    co_return reply.integer == 1;
  }
};

}  // namespace

StrategySpec redis_set_ex_owner() {
  const std::string use = "strategy=redis-set-ex-owner";
  return {
      .name = "redis-set-ex-owner",
      .family = "redis ladder",
      .summary = "SET NX PX with an owner; GET, compare, DEL: two commands to release",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite,
                 Point::betweenCompareDelete, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SET NX lets one in"},
                   {"exception", Verdict::safe, "the holder deletes the key on every path"},
                   {"crash", Verdict::safe, "the key expires by itself"},
                   {"crash-before-expire", Verdict::safe, "one command sets the key and its life"},
                   {"overrun", Verdict::oversold,
                    "the key expires while its holder still works, and the next one is let in"},
                   {"pause-before-delete", Verdict::oversold,
                    "between GET and DEL the lock can change hands, and the DEL frees another's"},
                   {"freeze", Verdict::oversold,
                    "the key expires while its holder stands still, and both write"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
                   {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&ttl=1000&fault=between-compare-delete:pause-3000") +
                    "  # sells, compares, stands still",
                "sleep 1.5",
                tryit::background(2, use + "&hold=4000") + "  # let in: that lock expired",
                "sleep 2.5",
                tryit::redis("EXISTS lock:demo") + "  # 0: the first deleted the second's lock",
                tryit::sale(3, use + "&wait=0") + "  # sold while the second still works", "wait",
                tryit::audit() + "  # oversold: one seat twice"},
      .make = guardedBy<SetExOwner>("redis-set-ex-owner"),
  };
}

}  // namespace turnstile::strategies
