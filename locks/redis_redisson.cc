// Redisson's lock: reentrant, renewed by a watchdog, and waited for by message instead of by asking
// again and again. Its safety is that of every lock with a life: a holder that is frozen for longer
// than that finds someone else inside when it wakes, and a failover to a replica that has not heard
// of the lock gives it out twice.
//
// Of this process's requests one contends (locks/turns.h). While another one of this process holds
// the lock the contender does not ask at all; the release wakes it, and its attempt travels right
// behind the release on the same connection. Such a release is not announced: whoever heard of it
// would come too late. The count comes along with the grant, as it was in that moment. So a sale costs
// three round trips, and once in a while, when the lock leaves the instance, a lost race more.
#include "locks/guarded_sale.h"
#include "locks/local_holders.h"
#include "locks/redisson_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

// KEYS: the lock, and a ledger if its count is wanted. ARGV: lease in ms, owner. Reply: nil when granted, or a list
// of the count; else the lock's remaining life in ms (-1: it has no end).
const Script kAcquire(R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], '1')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return KEYS[2] and {redis.call('LINDEX', KEYS[2], '-1')})lua");

const std::string kUnlocked = "0";  // what Redisson publishes

class Redisson final : public RedissonLock {
 public:
  explicit Redisson(const Backends& backends)
      : RedissonLock(backends, unlockOf()),
        ordered_(backends.config.redisConnections == 1 && backends.config.threads == 1),
        here_(backends.clock) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const std::string channel = channelOf(request.name);
    const std::string life = std::to_string(lease(request).count());
    if (request.refusals == 0) {
      channels_.listen(channel, kUnlocked, request.turn->wakeup());
      if (here_.held(request)) co_return std::nullopt;
    }
    const TimePoint sent = clock_.now();
    Args keys{request.name};
    if (!request.ledger.empty()) keys.add(request.ledger);
    const Reply reply = co_await redis_.run(kAcquire, keys, {life, request.owner});
    if (reply.kind == Reply::Kind::integer) {
      request.endsWithin.reset();
      if (reply.integer >= 0) request.endsWithin = Millis{reply.integer};
      co_return std::nullopt;
    }
    channels_.leave(channel, kUnlocked, request.turn->wakeup());
    here_.granted(request, sent + lease(request));
    Grant granted = grant(request);
    if (!reply.list.empty()) granted.count = RedisStock::countIn(reply.list.front());
    co_return granted;
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    const std::string channel = channelOf(request.name);
    const auto wakeup = request.turn->wakeup();
    if (!co_await channels_.ready(channel, kUnlocked, wakeup)) co_return;  // then try again
    const TimePoint until = clock_.now() + waitAtMost(request, atMost);
    const bool behindOurOwn = here_.waitBehind(request);
    bool woken = co_await wakeup->wait(leftUntil(until));
    // A message of an earlier release may still come in while one of ours holds the lock.
    while (woken && here_.held(request)) woken = co_await wakeup->wait(leftUntil(until));
    if (behindOurOwn) here_.left(request);
  }

  bool handsOn(const LockRequest& request) override {
    return !request.reentry && here_.handOn(request) && ordered_;
  }

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    // Handed on: the next one here waits, and its attempt follows in a moment.
    std::string message = kUnlocked;
    if (ordered_ && here_.onItsWay(request)) message.clear();
    co_return co_await unlock(request, grant, std::move(message));
  }

  Task<> abandon(const LockRequest& request) override {
    channels_.leave(channelOf(request.name), kUnlocked, request.turn->wakeup());
    co_return;
  }

  Task<> reset(std::string name) override {
    const std::string channel = channelOf(name);
    co_await redis_.command({"DEL", name});
    co_await redis_.command({"PUBLISH", channel, kUnlocked});
  }

 private:
  static const Script& unlockOf() {
    static const Script script(
        unlockScript("if ARGV[1] ~= '' then redis.call('PUBLISH', KEYS[2], ARGV[1]) end"));
    return script;
  }
  Millis leftUntil(TimePoint until) const {
    return std::chrono::ceil<Millis>(until - clock_.now());
  }

  const bool ordered_;  // all our commands go through one connection
  LocalHolders here_;
};

}  // namespace

StrategySpec redis_redisson() {
  const std::string use = "strategy=redis-redisson";
  return {
      .name = "redis-redisson",
      .family = "redis ladder",
      .summary =
          "reentrant hash, watchdog, waiting by pub/sub, unlock latch; Redisson's key format",
      .stocks = {StockKind::redis, StockKind::mysql},
      .reentrant = true,
      .points = {Point::beforeWait, Point::afterAcquire, Point::beforeWrite, Point::afterWrite,
                 Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe, "the acquire script lets one owner in"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "nobody renews, so the lock ends with its life"},
           {"overrun", Verdict::safe, "the watchdog renews for as long as the work takes"},
           {"lost-reply", Verdict::safe,
            "the unlock is repeated, and its latch makes it count once"},
           {"freeze", Verdict::oversold,
            "a frozen holder renews nothing; when it wakes, the next one is inside and both write"},
           {"failover", Verdict::oversold,
            "replication is asynchronous: the replica may never have heard of the lock"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&nested=1&hold=3000") + "  # takes the lock twice",
                "sleep 1; " + tryit::redis("hgetall rlock:demo") +
                    "  # its owner, and the count: 2",
                tryit::sale(2, use + "&wait=5000") + "  # waits for the message, not for the TTL",
                "wait; " + tryit::sale(1, use + "&fault=unlock-reply:drop") +
                    "  # the unlock is sent twice and counts once",
                tryit::background(1, use + "&ttl=1000&fault=before-write:pause-1500"),
                "sleep 1; kill -STOP $(cat .run/pids/app-1.pid)  # frozen just before its write",
                "sleep 1; " + tryit::sale(2, use) + "  # sold: the lock is over",
                "kill -CONT $(cat .run/pids/app-1.pid); wait  # and sells the same seat",
                tryit::audit() + "  # oversold: one seat twice"},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(backends, std::make_unique<Redisson>(backends),
                                                 GuardedSale::Options{"redis-redisson", "rlock:"});
          },
  };
}

}  // namespace turnstile::strategies
