// SETNX, and the holder deletes the key on every path out of its work, as `finally` does: an
// exception no longer leaves the lock behind. Only the holder does: whoever was refused has nothing
// to give back (redis_setnx_finally_unguarded.cc forgets that). What still breaks it: a crash runs
// no `finally`, and the key has no life, so the lock is never free again.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {

StrategySpec redis_setnx_finally() {
  const std::string use = "strategy=redis-setnx-finally";
  return {
      .name = "redis-setnx-finally",
      .family = "redis ladder",
      .summary = "SETNX; its holder sends the DEL on every path, exceptions included",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SETNX lets one in"},
                   {"exception", Verdict::safe, "the holder deletes the key on every path"},
                   {"crash", Verdict::stuck,
                    "a dead process runs no finally and the key has no life of its own"},
                   {"overrun", Verdict::safe, "the key has no life that work could outlast"},
                   {"freeze", Verdict::safe, "a frozen holder keeps the lock; the others are busy"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "no clock is read"},
                   {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::sale(1, use + "&fault=after-acquire:throw") + "  # 500, but the key is gone",
                tryit::sale(2, use) + "  # sold",
                tryit::sale(1, use + "&fault=after-acquire:crash") + "  # the instance dies",
                tryit::sale(2, use + "&wait=500") + "  # 503 busy, and so for ever",
                tryit::redis("PTTL lock:demo") + "  # -1: no life", "scripts/stack start app-1",
                tryit::redis("DEL lock:demo")},
      .make = guardedBy<SetnxLock>("redis-setnx-finally"),
  };
}

}  // namespace turnstile::strategies
