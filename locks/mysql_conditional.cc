// No lock of ours: one UPDATE … WHERE remaining > 0 takes the seat, and the row lock InnoDB takes for it lasts
// until the commit. The condition and the deduction are one statement, so nothing can come between
// them; the reply carries the seat.
#include "app/backends.h"
#include "locks/registry.h"
#include "locks/sql_retry.h"

namespace turnstile::strategies {
namespace {

// The reply to an UPDATE carries LAST_INSERT_ID: the count it found, which is the seat. The version moves
// too, or mysql-optimistic would not notice this sale.
constexpr std::string_view kTakeOne =
    "UPDATE events SET remaining = LAST_INSERT_ID(remaining) - 1, version = version + 1 "
    "WHERE event = ? AND remaining > 0";
constexpr std::string_view kExists = "SELECT 1 FROM events WHERE event = ?";

class MySqlConditional final : public Strategy {
 public:
  explicit MySqlConditional(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("mysql-conditional")) {}

  Task<Sale> sell(SaleRequest request) override {
    const WaitLimit limit(backends_.clock, request);
    const auto once = [&]() -> Task<Sale> { co_return co_await sellOnce(request, limit.left()); };
    co_return co_await retryUndone(limit, metrics_, once);
  }

 private:
  Task<Sale> sellOnce(const SaleRequest& request, Millis connectionWithin) {
    Sale sale = Sale::soldOut();
    co_await backends_.mysql.inTransaction(
        [&](Sql& sql) -> Task<> {
          const SqlResult taken = co_await sql.exec(kTakeOne, {request.event});
          if (taken.affected == 0) {
            const SqlResult known = co_await sql.exec(kExists, {request.event});
            if (known.rows.empty()) throw UnknownEvent(request.event);
            co_return;
          }
          co_await request.lab.pass(Point::afterAcquire);
          co_await request.lab.hold();
          sale = Sale::sold(static_cast<int>(taken.insertId));
          const LedgerEntry entry{0, "mysql-conditional", backends_.config.instance, request.user};
          co_await MySqlStock::append(sql, request.event, sale.seat, entry);
          co_await request.lab.pass(Point::afterWrite);
        },
        connectionWithin);
    co_return sale;
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec mysql_conditional() {
  return {
      .name = "mysql-conditional",
      .family = "mysql",
      .summary = "UPDATE … WHERE remaining > 0, sale and ledger in one transaction",
      .stocks = {StockKind::mysql},
      .points = {Point::afterAcquire, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "the check and the deduction are one statement on one locked row"},
           {"exception", Verdict::safe, "the transaction is rolled back: the seat is free again"},
           {"crash", Verdict::safe, "the server rolls back what a dead client did not commit"},
           {"overrun", Verdict::safe, "a row lock has no time to live: it ends with its transaction"},
           {"freeze", Verdict::safe, "the row stays locked until the frozen holder commits or its connection ends; others are busy"}},
      .make = [](const Backends& backends) { return std::make_unique<MySqlConditional>(backends); },
  };
}

}  // namespace turnstile::strategies
