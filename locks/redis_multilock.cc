// The lock of all five servers at once: as safe as the safest of them, as available as the least. One server
// down and nobody gets in. It uses RedLock's keys, so the two exclude each other. Where RedLock forgets a
// lock with a server that restarts empty, this one still has four servers that say no.
#include "locks/guarded_sale.h"
#include "locks/quorum_lock.h"
#include "locks/registry.h"

namespace turnstile::strategies {

StrategySpec redis_multilock() {
  return {
      .name = "redis-multilock",
      .family = "redis quorum",
      .summary = "all of five independent servers; busy as soon as one of them is down",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe, "every server lets one in, and all of them must"},
           {"exception", Verdict::safe, "released on every path, on every server"},
           {"crash", Verdict::safe, "the keys expire by themselves"},
           {"overrun", Verdict::safe,
            "the holder sees before it writes that its validity is over, and answers busy"},
           {"lost-reply", Verdict::safe, "a repeated or lost release deletes nobody else's key"},
           {"node-down", Verdict::safe, "busy: without that server nobody has all, nothing is sold"},
           {"node-restart", Verdict::safe, "the servers that kept their data still refuse"},
           {"freeze", Verdict::oversold,
            "frozen between the check of its validity and the write, it writes beside the next holder"}},
      .make =
          [](const Backends& backends) {
            GuardedSale::Options options{"redis-multilock", "redlock:"};
            options.checkLease = true;
            return std::make_unique<GuardedSale>(
                backends, std::make_unique<QuorumLock>(backends, backends.redisNodes.size()),
                std::move(options));
          },
  };
}

}  // namespace turnstile::strategies
