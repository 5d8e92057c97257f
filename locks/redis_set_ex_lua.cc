// The owner is compared and the key deleted in one script: never deletes another's lock. Key and
// life are set in one step too, in either of the two ways in use, chosen by the setting
// `set-ex-lua-acquire`: SET NX PX, or, for servers older than 2.6.12, SETNX and PEXPIRE in a
// script. The key is the same, so both kinds of instance exclude each other. What it cannot do is
// stop a holder whose work outlasts the TTL: the next one is let in, and both write.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

// KEYS[1]: the lock. ARGV: the owner, its life in ms. Reply: 1 taken, 0 held by someone.
const Script kSetnxPexpire(R"lua(
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2]))lua");

class SetExLua final : public RedisKeyLock {
 public:
  explicit SetExLua(const Backends& backends)
      : RedisKeyLock(backends), byScript_(backends.config.setExLuaAcquire == "lua") {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    return byScript_ ? runSetnxPexpire(request) : RedisKeyLock::tryAcquire(request);
  }

 private:
  Task<std::optional<Grant>> runSetnxPexpire(const LockRequest& request) {
    const std::string ttl = std::to_string(request.ttl.count());
    const Reply reply = co_await redis_.run(kSetnxPexpire, {request.name}, {request.owner, ttl});
    if (reply.integer != 1) co_return std::nullopt;
    co_return Grant{request.owner, 0, request.ttl};
  }

  const bool byScript_;
};

}  // namespace

StrategySpec redis_set_ex_lua() {
  const std::string use = "strategy=redis-set-ex-lua";
  return {
      .name = "redis-set-ex-lua",
      .family = "redis ladder",
      .summary = "SET NX PX with an owner; released by a compare-and-delete script",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SET NX lets one in"},
                   {"exception", Verdict::safe, "released on every path"},
                   {"crash", Verdict::safe, "the key expires by itself"},
                   {"crash-before-expire", Verdict::safe, "one step sets the key and its life"},
                   {"overrun", Verdict::oversold,
                    "the key expires while its holder still works, and the next one is let in"},
                   {"pause-before-delete", Verdict::safe, "compare and delete are one script"},
                   {"freeze", Verdict::oversold,
                    "the key expires while its holder stands still, and both write"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
                   {"lost-reply", Verdict::safe, "the script took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&ttl=1000&hold=3000") +
                    "  # works longer than its lock lives",
                "sleep 0.3; " + tryit::background(2, use + "&wait=5000&hold=4000") + "  # let in after 1 s",
                "sleep 3.5",
                tryit::sale(3, use + "&wait=0") + "  # 503 busy: the second's lock was left alone",
                "wait", tryit::audit() + "  # oversold: the first two sold one seat"},
      .make = guardedBy<SetExLua>("redis-set-ex-lua"),
  };
}

}  // namespace turnstile::strategies
