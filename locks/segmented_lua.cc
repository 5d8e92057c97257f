// The stock spread over several Redis servers, one atomic script a sale on one of them: the servers
// share the work, as the buckets of a ConcurrentHashMap do. Worth it when one server's CPU is the
// limit; on a machine where all of them share the same cores it only costs (docs/performance.md has
// both).
#include "app/backends.h"
#include "locks/registry.h"
#include "locks/segment_walk.h"
#include "locks/sell_one.h"

namespace turnstile::strategies {
namespace {

constexpr std::uint32_t kInARow = 8;

class SegmentedLua final : public Strategy {
 public:
  explicit SegmentedLua(const Backends& backends) : backends_(backends) {}

  Task<Sale> sell(SaleRequest request) override {
    const std::string event = request.event;
    return walkSegments(backends_.segmentedStock, event, kInARow,
                        [this, request = std::move(request)](std::size_t index) {
                          return sellFrom(index, request);
                        });
  }

 private:
  Task<Sale> sellFrom(std::size_t index, const SaleRequest& request) {
    const std::string part = SegmentedStock::part(request.event, index);
    const LedgerEntry entry{0, "segmented-lua", backends_.config.instance, request.user};
    RedisStock& stock = backends_.segmentedStock.at(index).stock;
    const Reply reply = co_await stock.run(kSellOne, part, entry);
    co_return reply.integer > 0 ? Sale::sold(static_cast<int>(reply.integer)) : Sale::soldOut();
  }

  const Backends& backends_;
};

}  // namespace

StrategySpec segmented_lua() {
  return {
      .name = "segmented-lua",
      .family = "segments",
      .summary = "stock over five nodes, check and decrement in one script on one of them",
      .promises =
          {{"contention", Verdict::safe,
            "a seat lives on one node, and that runs one script at a time"},
           {"crash", Verdict::safe, "a script runs whole or not at all"},
           {"overrun", Verdict::safe, "there is no lock that could expire"},
           {"node-down", Verdict::safe,
            "its seats are unavailable until it is back; the others sell on"},
           {"node-restart", Verdict::safe,
            "the node comes back with its count and its ledger, both from one append-only file"}},
      .make = [](const Backends& backends) { return std::make_unique<SegmentedLua>(backends); },
  };
}

}  // namespace turnstile::strategies
