// RedLock: a majority of five independent Redis servers, so that losing two of them stops nothing and no
// failover has to be trusted. The holder knows until when its lock is good and looks at the clock before it
// writes.
//
// What it does not survive: a server that restarts without its data within the TTL. The holder had three of
// five, that server was one of them, and a second client finds three free: both hold the lock. A server must
// stay away for longer than the longest TTL before it comes back. And nothing helps a holder that is frozen
// between its look at the clock and its write, except a fence.
#include "locks/guarded_sale.h"
#include "locks/quorum_lock.h"
#include "locks/registry.h"

namespace turnstile::strategies {

StrategySpec redis_redlock() {
  return {
      .name = "redis-redlock",
      .family = "redis quorum",
      .summary = "a majority of five independent servers, within the validity that is left",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe, "two majorities share a server, and it lets one in"},
           {"exception", Verdict::safe, "released on every path, on every server"},
           {"crash", Verdict::safe, "the keys expire by themselves"},
           {"overrun", Verdict::safe,
            "the holder sees before it writes that its validity is over, and answers busy"},
           {"lost-reply", Verdict::safe, "a repeated or lost release deletes nobody else's key"},
           {"minority-down", Verdict::safe, "three of five are still a majority, and it sells"},
           {"majority-down", Verdict::safe, "nobody gets a majority: busy, and nothing is sold"},
           {"freeze", Verdict::oversold,
            "frozen between the check of its validity and the write, it writes beside the next holder"},
           {"node-restart", Verdict::oversold,
            "a server that comes back empty within the TTL gives its vote away a second time"}},
      .make =
          [](const Backends& backends) {
            const std::size_t majority = backends.redisNodes.size() / 2 + 1;
            GuardedSale::Options options{"redis-redlock", "redlock:"};
            options.checkLease = true;
            return std::make_unique<GuardedSale>(
                backends, std::make_unique<QuorumLock>(backends, majority), std::move(options));
          },
  };
}

}  // namespace turnstile::strategies
