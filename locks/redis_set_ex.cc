// SET key value NX PX ttl: key and life in one command, so no crash leaves a lock behind for ever.
// What still breaks it: a TTL is a guess. Work that outlasts it goes on while the next holder is
// let in, and since the value names nobody, the late one's DEL then deletes that holder's lock: a
// third enters beside the second, whose DEL frees the third's, and so on down the line.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {

StrategySpec redis_set_ex() {
  const std::string use = "strategy=redis-set-ex";
  return {
      .name = "redis-set-ex",
      .family = "redis ladder",
      .summary = "SET NX PX in one command; a plain DEL that deletes whoever's lock is there",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe, "SET NX lets one in"},
           {"exception", Verdict::safe, "the holder deletes the key on every path"},
           {"crash", Verdict::safe, "the key expires by itself"},
           {"crash-before-expire", Verdict::safe, "one command sets the key and its life"},
           {"overrun", Verdict::oversold,
            "the key expires under its holder, whose late DEL then frees the next one's lock"},
           {"freeze", Verdict::oversold,
            "the key expires while its holder stands still, and both write"},
           {"failover", Verdict::oversold,
            "replication is asynchronous: a promoted replica may not know the lock"},
           {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
           {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&ttl=1000&hold=3000") +
                    "  # works longer than its lock lives",
                "sleep 0.3; " + tryit::background(2, use + "&wait=5000&hold=4000") + "  # let in after 1 s",
                "sleep 3.5",
                tryit::redis("EXISTS lock:demo") + "  # 0: the first deleted the second's lock",
                tryit::sale(3, use + "&wait=0") + "  # sold while the second still works", "wait",
                tryit::audit() + "  # oversold: one seat twice"},
      .make = guardedBy<NamelessKeyLock>("redis-set-ex"),
  };
}

}  // namespace turnstile::strategies
