// Combining: the requests that arrive at this instance while a deduction is under way are deducted
// together, in one script call, and each is answered with its own seat. No lock, and at n waiting
// requests 1/n round trips a sale. An idle instance sends a request at once.
//
// A batch is one script: all of it happened or nothing. When its reply is lost nobody knows which,
// so each member is answered `unknown`, and the ledger knows. Sold out in the middle of a batch:
// the first in line get the seats.
#include "app/backends.h"
#include "locks/gathering.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

// After a batch of this many the next one is under way already, through nginx: three quarters of those
// seen are given a moment to arrive, because a call for two costs Redis almost what a call for ten does.
// Below, nobody waits for anybody.
constexpr std::size_t kCrowd = 4;
constexpr Micros kLinger{1000};
constexpr std::size_t kMostMembers = 256;  // bounds how long one script keeps Redis from others

// ARGV: how many buyers, their names. Reply: the count before; whoever stands at place i has seat
// count - i, if that is a seat.
const StockScript kSellMany("local buyers, names = tonumber(ARGV[2]), ARGV[3]",
                            StockScript::kTakeMany, "return remaining");

class Combining final : public Strategy {
 public:
  explicit Combining(const Backends& backends) : backends_(backends) {}

  Task<Sale> sell(SaleRequest request) override {
    Member me(request);
    co_await gathering_.join(me);
    co_return me.result();
  }

 private:
  Task<> serve(Line& line) {
    for (;;) {
      Batch batch = line.take(kMostMembers);
      if (batch.empty()) co_return;
      co_await passAll(batch, Point::beforeWrite);
      if (!batch.empty()) co_await deduct(line.event(), batch);
      co_await passAll(batch, Point::afterWrite);
      const std::size_t served = batch.size();
      const std::size_t seen = served + line.size();
      Line::answer(batch);
      if (served >= kCrowd)
        co_await line.awaitCompany(seen * 3 / 4, kLinger);
      else
        co_await line.endOfRound();
    }
  }

  Task<> deduct(const std::string& event, const Batch& batch) {
    Buyers buyers;
    for (const Member* member : batch) buyers.add(member->request.user);
    const std::string count = std::to_string(buyers.count());
    const LedgerEntry entry{0, "combining", backends_.config.instance, ""};
    try {
      const Reply reply = co_await backends_.redisStock.run(kSellMany, event, entry, {count, buyers.names()});
      int seat = static_cast<int>(reply.integer);
      for (Member* member : batch) {
        member->sale = seat > 0 ? Sale::sold(seat) : Sale::soldOut();
        --seat;
      }
    } catch (const std::exception&) {
      for (Member* member : batch) member->failure = std::current_exception();
    }
  }

  const Backends& backends_;
  Gathering gathering_{[this](Line& line) { return serve(line); }};
};

}  // namespace

StrategySpec combining() {
  return {
      .name = "combining",
      .family = "combining",
      .summary = "requests of one instance gathered, deducted in one script",
      .stocks = {StockKind::redis},
      .points = {Point::beforeWrite, Point::afterWrite},
      .promises = {{"contention", Verdict::safe,
                    "Redis runs one script at a time, and a batch is one"},
                   {"exception", Verdict::safe, "only its own member leaves the batch"},
                   {"crash", Verdict::safe,
                    "a batch is written whole or not at all; its buyers do not learn which"},
                   {"lost-reply", Verdict::safe,
                    "every member of the batch is told unknown, none is sold again"}},
      .make = [](const Backends& backends) { return std::make_unique<Combining>(backends); },
  };
}

}  // namespace turnstile::strategies
