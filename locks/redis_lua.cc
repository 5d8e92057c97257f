// No lock: check and decrement in one script. Redis runs scripts one at a time, so the script is the
// critical section, and a sale costs one round trip.
#include "app/backends.h"
#include "locks/registry.h"
#include "locks/sell_one.h"

namespace turnstile::strategies {
namespace {

class RedisLua final : public Strategy {
 public:
  explicit RedisLua(const Backends& backends) : backends_(backends) {}

  Task<Sale> sell(SaleRequest request) override {
    const LedgerEntry entry{0, "redis-lua", backends_.config.instance, request.user};
    const Reply reply = co_await backends_.redisStock.run(kSellOne, request.event, entry);
    co_return reply.integer > 0 ? Sale::sold(static_cast<int>(reply.integer)) : Sale::soldOut();
  }

 private:
  const Backends& backends_;
};

}  // namespace

StrategySpec redis_lua() {
  return {
      .name = "redis-lua",
      .family = "redis, no lock",
      .summary = "check and decrement in one script",
      .stocks = {StockKind::redis},
      .promises = {{"contention", Verdict::safe, "Redis runs one script at a time"},
                   {"crash", Verdict::safe, "a script runs whole or not at all"}},
      .make = [](const Backends& backends) { return std::make_unique<RedisLua>(backends); },
  };
}

}  // namespace turnstile::strategies
