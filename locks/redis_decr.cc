// DECR first, look afterwards: whoever is told 0 or more has the seat above it, whoever is told
// less gives back. The decrement and the ledger line are one script, so a seat can't be taken
// without its sale.
//
// Between a failed DECR and its give-back the count is below zero. That sells nothing: a seat is
// only handed out for a result of 0 or more, each such result goes to one caller, and no ledger
// line is written below. So the audit, which counts ledger lines, holds at every moment, and reads
// a count below zero as none left. The give-back lifts the count to zero and no further: repeated,
// or sent after a reset, it creates no seat, and it mends what a crashed buyer left below zero.
#include "app/backends.h"
#include "app/errors.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

// Reply: what DECR said; the sale is that of the seat above.
const StockScript kDecrement(R"lua(
local left = redis.call('DECR', KEYS[1])
if left >= 0 then redis.call('RPUSH', KEYS[2], (left + 1) .. '|' .. ARGV[1]) end
return left)lua");

const StockScript kGiveBack("if remaining < 0 then redis.call('SET', KEYS[1], 0) end return 0");

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
