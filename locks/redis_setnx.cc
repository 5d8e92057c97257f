// The first rung: SETNX to take the lock, work, DEL to give it back, written one after the other.
// Exclusive between processes, which a mutex is not. What breaks it: anything that leaves the work
// between the two. An exception skips the DEL, a crash too, and since the key has no life the lock
// is never free again.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class Setnx final : public SetnxLock {
 public:
  using SetnxLock::SetnxLock;
  bool releasesOnException() const override { return false; }  // the lesson of this rung
};

}  // namespace

StrategySpec redis_setnx() {
  const std::string use = "strategy=redis-setnx";
  return {
      .name = "redis-setnx",
      .family = "redis ladder",
      .summary = "SETNX, work, DEL; an exception in between skips the DEL",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SETNX lets one in"},
                   {"exception", Verdict::stuck,
                    "the DEL is skipped and a key without a life stays until someone deletes it"},
                   {"crash", Verdict::stuck, "nobody is left to send the DEL"},
                   {"overrun", Verdict::safe, "the key has no life that work could outlast"},
                   {"freeze", Verdict::safe, "a frozen holder keeps the lock; the others are busy"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "no clock is read"},
                   {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::sale(1, use + "&fault=after-acquire:throw") + "  # 500: the DEL is skipped",
                tryit::sale(2, use + "&wait=500") + "  # 503 busy, and so for ever",
                tryit::redis("PTTL lock:demo") + "  # -1: no life", tryit::redis("DEL lock:demo"),
                tryit::sale(2, use) + "  # sold again"},
      .make = guardedBy<Setnx>("redis-setnx"),
  };
}

}  // namespace turnstile::strategies
