// RedLock: a majority of five independent Redis servers, so that losing two of them stops nothing
// and no failover has to be trusted. The holder knows until when its lock is good and looks at the
// clock before it writes.
//
// What it does not survive: a server that restarts without its data within the TTL. The holder had
// three of five, that server was one of them, and a second client finds three free: both hold the
// lock. A server must stay away for longer than the longest TTL before it comes back. And nothing
// helps a holder that is frozen between its look at the clock and its write, except a fence.
#include "locks/guarded_sale.h"
#include "locks/quorum_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {

StrategySpec redis_redlock() {
  const std::string use = "strategy=redis-redlock";
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
            "frozen between the check of its validity and the write, it writes beside the next "
            "holder"},
           {"node-restart", Verdict::oversold,
            "a server that comes back empty within the TTL gives its vote away a second time"}},
      .tryIt =
          {tryit::reset(10), "scripts/stack stop redis-node-4 redis-node-5; sleep 1  # until every instance knows",
           tryit::sale(1, use) + "  # sold: three of five are a majority",
           tryit::background(1, use + "&ttl=60000&hold=20000") + "  # holds nodes 1, 2 and 3",
           "sleep 1; scripts/stack stop redis-node-3 && rm -r .run/data/redis-node-3; sleep 1",
           tryit::sale(2, use + "&wait=500") + "  # 503 busy: two are no majority",
           "scripts/stack start redis-node-3 redis-node-4 redis-node-5  # 3 has forgotten the lock",
           "sleep 3; " + tryit::sale(2, use) + "  # sold: 3, 4 and 5 are a majority as well",
           "wait; " + tryit::audit() + "  # oversold: one seat twice"},
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
