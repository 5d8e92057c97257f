// The watchdog's lock with a fence: each grant draws the next number of a counter in the script
// that takes the lock, and the stock refuses a write that carries an older number than it has seen.
// So the late write of a holder that froze past its TTL is refused, on either stock, though nobody
// could have stopped it from being sent. The counter outlives PUT /events: a number never comes
// twice. What still breaks it: the counter lives in the same Redis as the lock. A replica promoted
// before it heard of the last grant hands out the same number again, and the stock cannot tell the
// two holders apart.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

// KEYS: the lock, its fence counter. ARGV: the owner, its life in ms. Reply: the fence, or 0: held
// by someone. One script, because a number drawn after the grant could be drawn late, and then be
// the youngest.
const Script kAcquireWithFence(R"lua(
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2]))lua");

class Fenced final : public RedisKeyLock {
 public:
  using RedisKeyLock::RedisKeyLock;
  Millis renewEvery(const LockRequest& request) const override { return thirdOf(request.ttl); }

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const std::string counter = "fence:" + request.name;
    const std::string ttl = std::to_string(request.ttl.count());
    const Reply reply =
        co_await redis_.run(kAcquireWithFence, {request.name, counter}, {request.owner, ttl});
    if (reply.integer == 0) co_return std::nullopt;
    co_return Grant{request.owner, static_cast<std::uint64_t>(reply.integer), request.ttl};
  }
};

}  // namespace

StrategySpec redis_fenced() {
  const std::string use = "strategy=redis-fenced";
  return {
      .name = "redis-fenced",
      .family = "redis ladder",
      .summary = "the watchdog's lock; each grant draws a fence, and the stock refuses older ones",
      .stocks = {StockKind::redis, StockKind::mysql},
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SET NX lets one in"},
                   {"exception", Verdict::safe, "released on every path, and the renewal ends"},
                   {"crash", Verdict::safe, "the renewal dies with its holder and the key expires"},
                   {"crash-before-expire", Verdict::safe, "one script sets the key and its life"},
                   {"overrun", Verdict::safe, "the lock is renewed for as long as the work takes"},
                   {"pause-before-delete", Verdict::safe, "compare and delete are one script"},
                   {"freeze", Verdict::safe,
                    "the stock has seen a younger fence and refuses the late write"},
                   {"failover", Verdict::oversold,
                    "a promoted replica may know neither lock nor number, and hand out that number "
                    "twice"},
                   {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
                   {"lost-reply", Verdict::safe, "the script took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&ttl=1000&fault=before-write:pause-1500"),
                "sleep 1; kill -STOP $(cat .run/pids/app-1.pid)  # frozen just before its write",
                "sleep 2; " + tryit::sale(2, use) + "  # sold: the lock expired",
                "kill -CONT $(cat .run/pids/app-1.pid)  # 503 busy: its write is refused", "wait",
                tryit::audit() + "  # safe; with &fencing=off on both sales it is oversold"},
      .make = guardedBy<Fenced>("redis-fenced", /*checkLease=*/true),
  };
}

}  // namespace turnstile::strategies
