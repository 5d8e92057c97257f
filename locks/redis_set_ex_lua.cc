// SET key owner NX PX ttl to take it, compare-and-delete in one script to give it back: never deletes
// another's lock. What it cannot do is stop a holder whose work outlives the TTL: the next one is let in,
// and both write.
#include "app/redis.h"
#include "locks/guarded_sale.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

// KEYS[1]: the lock. ARGV[1]: the owner who believes it is theirs.
const Script kReleaseIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0)lua");

class SetExLua final : public LockDriver {
 public:
  SetExLua(Clock& clock, Redis& redis) : LockDriver(clock), redis_(redis) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    const std::string ttl = std::to_string(request.ttl.count());
    const Reply reply =
        co_await redis_.command({"SET", request.name, request.owner, "NX", "PX", ttl});
    if (!reply.isOk()) co_return std::nullopt;
    co_return Grant{request.owner, 0, request.ttl};
  }

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    const Reply reply = co_await redis_.run(kReleaseIfMine, {request.name}, {grant.owner});
    co_return reply.integer == 1;
  }

  Task<> reset(std::string name) override { co_await redis_.command({"DEL", name}); }

 private:
  Redis& redis_;
};

}  // namespace

StrategySpec redis_set_ex_lua() {
  return {
      .name = "redis-set-ex-lua",
      .family = "redis ladder",
      .summary = "SET NX PX with an owner; released by a compare-and-delete script",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::safe, "SET NX lets one in"},
                   {"exception", Verdict::safe, "released on every path"},
                   {"crash", Verdict::safe, "the key expires by itself"},
                   {"overrun", Verdict::oversold,
                    "the key expires while its holder still works, and the next one is let in"}},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(
                backends, std::make_unique<SetExLua>(backends.clock, backends.redis),
                GuardedSale::Options{"redis-set-ex-lua"});
          },
  };
}

}  // namespace turnstile::strategies
