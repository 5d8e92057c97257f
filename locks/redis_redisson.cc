// Redisson's lock: reentrant, renewed by a watchdog, and waited for by message instead of by asking again
// and again. Its safety is that of every lock with a life: a holder that is frozen for longer than that
// finds someone else inside when it wakes, and a failover to a replica that has not heard of the lock
// gives it out twice.
//
// Of this process's requests one contends (locks/turns.h). While another one of this process holds the lock
// the contender does not ask at all; the release wakes it, and its attempt travels right behind the release
// on the same connection. So a sale costs four round trips, and a message that another instance won costs
// at most one more.
#include <random>

#include "locks/guarded_sale.h"
#include "locks/redisson_lock.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

// KEYS[1]: the lock. ARGV: lease in ms, owner. Reply: nil when granted, else the lock's remaining life in ms
// (-1: it has no end).
const Script kAcquire(R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil)lua");

const std::string kUnlocked = "0";  // what Redisson publishes

class Redisson final : public RedissonLock {
 public:
  explicit Redisson(const Backends& backends)
      : RedissonLock(backends, unlockOf()), ordered_(backends.config.redisConnections == 1) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const std::string channel = channelOf(request.name);
    const std::string life = std::to_string(lease(request).count());
    if (request.refusals == 0) {
      channels_.listen(channel, kUnlocked, request.turn->wakeup());
      if (heldHere(request)) co_return std::nullopt;
    }
    const TimePoint sent = clock_.now();
    const Reply reply = co_await redis_.run(kAcquire, {request.name}, {life, request.owner});
    if (!reply.isNil()) {
      request.endsWithin.reset();
      if (reply.integer >= 0) request.endsWithin = Millis{reply.integer};
      co_return std::nullopt;
    }
    channels_.leave(channel, kUnlocked, request.turn->wakeup());
    nowHeld(request, sent + lease(request));
    co_return grant(request);
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    const std::string channel = channelOf(request.name);
    const auto wakeup = request.turn->wakeup();
    if (!co_await channels_.ready(channel, kUnlocked, wakeup)) co_return;  // then try again
    const TimePoint until = clock_.now() + waitAtMost(request, atMost);
    const auto left = [&] { return std::chrono::ceil<Millis>(until - clock_.now()); };
    const bool behindOurOwn = heldHere(request);
    bool woken = co_await wakeup->wait(left());
    if (behindOurOwn) {
      // A message of an earlier release may still come in; ours has not been sent yet.
      while (woken && heldHere(request)) woken = co_await wakeup->wait(left());
      co_return;
    }
    // One release wakes a contender of every instance and one of them wins. Who has lost before lets some
    // releases go by instead of asking in vain, unless it becomes quiet: then the lock may be free.
    const int skip = std::min(request.refusals - 1, kMostSkipped);
    for (int i = 0; i < skip && woken; ++i) woken = co_await wakeup->wait(quiet());
  }

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    if (!request.reentry) noLongerHeld(request);
    co_return co_await RedissonLock::release(request, grant);
  }

  Task<> abandon(const LockRequest& request) override {
    channels_.leave(channelOf(request.name), kUnlocked, request.turn->wakeup());
    co_return;
  }

  bool releaseIsOrdered() const override { return ordered_; }

  Task<> reset(std::string name) override {
    const std::string channel = channelOf(name);
    co_await redis_.command({"DEL", name});
    co_await redis_.command({"PUBLISH", channel, kUnlocked});
  }

 private:
  static constexpr int kMostSkipped = 3;

  static const Script& unlockOf() {
    static const Script script(unlockScript("redis.call('PUBLISH', KEYS[2], ARGV[1])"));
    return script;
  }

  static Millis quiet() {
    static thread_local std::minstd_rand random{std::random_device{}()};
    return Millis{std::uniform_int_distribution<>(1, 3)(random)};
  }

  // By a request of this process other than this one, and for certain: its lease is not over.
  bool heldHere(const LockRequest& request) {
    const std::lock_guard guard(heldMutex_);
    const auto found = held_.find(request.name);
    return found != held_.end() && found->second.owner != request.owner &&
           clock_.now() < found->second.until;
  }
  void nowHeld(const LockRequest& request, TimePoint until) {
    const std::lock_guard guard(heldMutex_);
    held_[request.name] = Held{request.owner, until};
  }
  void noLongerHeld(const LockRequest& request) {
    const std::lock_guard guard(heldMutex_);
    const auto found = held_.find(request.name);
    if (found != held_.end() && found->second.owner == request.owner) held_.erase(found);
  }

  struct Held {
    std::string owner;
    TimePoint until;
  };
  const bool ordered_;
  std::mutex heldMutex_;
  std::unordered_map<std::string, Held> held_;
};

}  // namespace

StrategySpec redis_redisson() {
  return {
      .name = "redis-redisson",
      .family = "redis ladder",
      .summary = "reentrant hash, watchdog, waiting by pub/sub, unlock latch; Redisson's key format",
      .stocks = {StockKind::redis, StockKind::mysql},
      .reentrant = true,
      .points = {Point::beforeWait, Point::afterAcquire, Point::beforeWrite, Point::afterWrite,
                 Point::unlockReply},
      .promises =
          {{"contention", Verdict::safe, "the acquire script lets one owner in"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "nobody renews, so the lock ends with its life"},
           {"overrun", Verdict::safe, "the watchdog renews for as long as the work takes"},
           {"lost-reply", Verdict::safe, "the unlock is repeated, and its latch makes it count once"},
           {"freeze", Verdict::oversold,
            "a frozen holder renews nothing; when it wakes, the next one is inside and both write"},
           {"failover", Verdict::oversold,
            "replication is asynchronous: the replica may never have heard of the lock"}},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(
                backends, std::make_unique<Redisson>(backends),
                GuardedSale::Options{"redis-redisson", "rlock:"});
          },
  };
}

}  // namespace turnstile::strategies
