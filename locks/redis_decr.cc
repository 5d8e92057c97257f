// DECR first, look afterwards: whoever is told 0 or more has the seat above it, whoever is told
// less gives back. The decrement and the ledger line are one script, so a seat can't be taken
// without its sale.
//
// Between a failed DECR and its give-back the counter is below zero. That sells nothing: a seat is
// only handed out for a result of 0 or more, each such result goes to one caller, and no ledger
// line is written below. So the audit, which reads the ledger, holds at every moment. The give-back
// lifts the counter to zero and no further: repeated, or sent after a reset, it creates no seat, and
// it mends what a crashed buyer left below zero.
#include "app/backends.h"
#include "app/errors.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

// The counter is this strategy's own, beside the ledger; whoever sold by another one since then, or a reset, is
// caught up with here. Reply: what DECR said; the sale is that of the seat above.
const StockScript kDecrement(R"lua(
local counter = KEYS[1] .. ':counter'
local left = redis.call('DECR', counter)
if left ~= remaining - 1 and (remaining > 0 or left >= 0) then
  left = remaining - 1
  redis.call('SET', counter, left)
end
if left >= 0 then redis.call('RPUSH', KEYS[1], ARGV[1], left) end
return left)lua");

const StockScript kGiveBack(R"lua(
local counter = KEYS[1] .. ':counter'
if tonumber(redis.call('GET', counter) or 0) < 0 then redis.call('SET', counter, 0) end
return 0)lua");

class RedisDecr final : public Strategy {
 public:
  explicit RedisDecr(const Backends& backends) : backends_(backends) {}

  Task<Sale> sell(SaleRequest request) override {
    const LedgerEntry entry{0, "redis-decr", backends_.config.instance, request.user};
    const Reply reply = co_await backends_.redisStock.run(kDecrement, request.event, entry);
    if (reply.integer >= 0) co_return Sale::sold(static_cast<int>(reply.integer) + 1);
    co_await request.lab.pass(Point::afterWrite);
    try {
      co_await backends_.redisStock.run(kGiveBack, request.event, entry);
    } catch (const BackendTimeout&) {
      // Given back or not, this buyer got nothing, and the next one mends it.
    } catch (const BackendDown&) {
    }
    co_return Sale::soldOut();
  }

  Task<> reset(std::string event) override {
    const std::string counter = RedisStock::ledgerKey(event) + ":counter";
    co_await backends_.redis.command({"DEL", counter});
  }

 private:
  const Backends& backends_;
};

}  // namespace

StrategySpec redis_decr() {
  return {
      .name = "redis-decr",
      .family = "redis, no lock",
      .summary = "DECR, give back below zero",
      .stocks = {StockKind::redis},
      .points = {Point::afterWrite},
      .promises = {{"contention", Verdict::safe, "each result of DECR goes to one caller"},
                   {"exception", Verdict::safe, "a count left below zero sells nothing"},
                   {"crash", Verdict::safe,
                    "a count left below zero sells nothing and is mended by the next buyer"},
                   {"overrun", Verdict::safe, "there is no lock that could expire"}},
      .make = [](const Backends& backends) { return std::make_unique<RedisDecr>(backends); },
  };
}

}  // namespace turnstile::strategies
