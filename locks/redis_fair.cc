// First come, first served, across all instances: redis-redisson's lock with a queue in front of
// it. Every request has its own place there, so nobody queues in the process, and a release tells
// exactly one waiter: the first in line, through its process's channel.
//
// A waiter keeps its place by being heard of: it asks again at a third of fair-waiter-ms. One that
// is silent for longer is dead, and whoever asks next removes every dead one at once, so any number
// of waiters that died together cost their successors one timeout, not one each. The clock of these
// timeouts is the Redis server's; no instance's matters.
#include "locks/guarded_sale.h"
#include "locks/redisson_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

// Shared by the scripts below. `queue` is the list of owners in order of arrival, `seen` the sorted
// set of the times until which they count as alive.
constexpr std::string_view kQueue = R"lua(
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function removeDead(queue, seen)
  for _, owner in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now())) do
    redis.call('LREM', queue, 1, owner)
    redis.call('ZREM', seen, owner)
  end
end
local function tellFirst(queue, channel)
  local first = redis.call('LINDEX', queue, '0')
  if first then redis.call('PUBLISH', channel .. ':' .. string.match(first, '^[^:]*'), first) end
end
)lua";

// KEYS: lock, queue, seen, channel. ARGV: lease in ms, owner, a waiter's timeout in ms. Reply: nil
// when granted, else the lock's remaining life in ms (negative: it has none, or it is free and the
// first in line was told).
const Script kAcquire(std::string(kQueue) + R"lua(
removeDead(KEYS[2], KEYS[3])
local free = redis.call('EXISTS', KEYS[1]) == 0
local first = redis.call('LINDEX', KEYS[2], '0')
if (free and (not first or first == ARGV[2])) or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  if first == ARGV[2] then
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], ARGV[2])
  end
  redis.call('HINCRBY', KEYS[1], ARGV[2], '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if redis.call('ZADD', KEYS[3], now() + ARGV[3], ARGV[2]) == 1 then
  redis.call('RPUSH', KEYS[2], ARGV[2])
end
if free then tellFirst(KEYS[2], KEYS[4]) end
return redis.call('PTTL', KEYS[1]))lua");

// KEYS: lock, queue, seen, channel. ARGV[1]: the owner that gives up. It may have been told that it
// is next.
const Script kAbandon(std::string(kQueue) + R"lua(
redis.call('LREM', KEYS[2], 1, ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
removeDead(KEYS[2], KEYS[3])
if redis.call('EXISTS', KEYS[1]) == 0 then tellFirst(KEYS[2], KEYS[4]) end
return 1)lua");

class Fair final : public RedissonLock {
 public:
  explicit Fair(const Backends& backends)
      : RedissonLock(backends, unlockOf()), waiter_(backends.config.fairWaiter) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const Keys keys(request.name);
    const std::string life = std::to_string(lease(request).count());
    const std::string timeout = std::to_string(waiter_.count());
    if (request.refusals == 0) listen(request);
    const Args lock{request.name, keys.queue, keys.seen, keys.channel};
    const Args args{life, request.owner, timeout};
    const Reply reply = co_await redis_.run(kAcquire, lock, args);
    if (!reply.isNil()) {
      request.endsWithin.reset();
      if (reply.integer >= 0) request.endsWithin = Millis{reply.integer};
      co_return std::nullopt;
    }
    leave(request);
    co_return grant(request);
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    const std::string channel = ourChannel(request);
    const auto wakeup = request.turn->wakeup();
    if (!co_await channels_.ready(channel, request.owner, wakeup)) co_return;
    co_await wakeup->wait(std::min(waitAtMost(request, atMost), waiter_ / 3));
  }

  Task<> abandon(const LockRequest& request) override {
    const Keys keys(request.name);
    leave(request);
    const Args lock{request.name, keys.queue, keys.seen, keys.channel};
    const Args args{request.owner};
    co_await redis_.run(kAbandon, lock, args);
  }

  bool queuesItself() const override { return true; }

  Task<> reset(std::string name) override {
    const Keys keys(name);
    co_await redis_.command({"DEL", name, keys.queue, keys.seen});
  }

 private:
  struct Keys {
    explicit Keys(const std::string& name)
        : queue(derived("redisson_lock_queue", name)),
          seen(derived("redisson_lock_timeout", name)),
          channel(channelOf(name)) {}
    std::string queue, seen, channel;
  };

  static const Script& unlockOf() {
    static const Script script(std::string(kQueue) + unlockScript(R"lua(
removeDead(KEYS[5], KEYS[6])
tellFirst(KEYS[5], KEYS[2]))lua"));
    return script;
  }

  std::vector<std::string> moreKeys(const std::string& name) const override {
    Keys keys(name);
    return {std::move(keys.queue), std::move(keys.seen)};
  }

  // One a process and lock; the message says whose turn it is.
  static std::string ourChannel(const LockRequest& request) {
    return channelOf(request.name) + ':' + request.owner.substr(0, request.owner.find(':'));
  }
  void listen(const LockRequest& request) {
    channels_.listen(ourChannel(request), request.owner, request.turn->wakeup());
  }
  void leave(const LockRequest& request) {
    channels_.leave(ourChannel(request), request.owner, request.turn->wakeup());
  }

  const Millis waiter_;
};

}  // namespace

StrategySpec redis_fair() {
  const std::string use = "strategy=redis-fair&wait=10000";
  return {
      .name = "redis-fair",
      .family = "redis ladder",
      .summary = "redis-redisson with a queue: first come, first served; dead waiters are skipped",
      .stocks = {StockKind::redis, StockKind::mysql},
      .reentrant = true,
      .points = {Point::beforeWait, Point::afterAcquire, Point::beforeWrite, Point::afterWrite,
                 Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe,
            "one script checks the lock and the queue before it grants"},
           {"exception", Verdict::safe, "released on every path, and a waiter leaves the queue"},
           {"crash", Verdict::safe, "lock and place in the queue both end when nobody renews them"},
           {"overrun", Verdict::safe, "the watchdog renews for as long as the work takes"},
           {"lost-reply", Verdict::safe,
            "the unlock is repeated, and its latch makes it count once"},
           {"freeze", Verdict::oversold,
            "a frozen holder renews nothing; when it wakes, the next one is inside and both write"},
           {"failover", Verdict::oversold,
            "replication is asynchronous: the replica may never have heard of the lock"}},
      .tryIt = {tryit::reset(10), tryit::background(1, use + "&hold=3000&user=first"),
                "sleep 0.3; " + tryit::background(2, use + "&user=second"),
                "sleep 0.3; " + tryit::background(3, use + "&user=third"),
                "sleep 0.3; " + tryit::background(1, use + "&user=fourth"),
                tryit::redis("lrange 'redisson_lock_queue:{rfair:demo}' 0 -1") +
                    "  # who waits, in order",
                "wait; " + tryit::redis("lrange 'event:{demo}:ledger' 0 -1") +
                    "  # sold in the order of arrival"},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(backends, std::make_unique<Fair>(backends),
                                                 GuardedSale::Options{"redis-fair", "rfair:"});
          },
  };
}

}  // namespace turnstile::strategies
