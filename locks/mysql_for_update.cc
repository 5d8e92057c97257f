// SELECT … FOR UPDATE locks the row until the transaction ends; the sale and its ledger line are written in it,
// and the commit is the unlock. The row lock needs no TTL and no owner: the server ends it with the connection.
//
// The price is connections. Every waiter holds one while InnoDB keeps it waiting for the row, so a crowd for
// one event takes them all, up to the server's max_connections, and then nobody gets one: this is how a FOR
// UPDATE lock stops services that have nothing to do with it. Three fences against that:
//   - a pool of its own (`mysql-for-update-connections` a loop): this strategy can exhaust only itself;
//   - a wait for a free connection counts as waiting for the lock and ends with it (`busy`);
//   - innodb_lock_wait_timeout is 1 s in this pool's sessions (the server's default is 50 s): the wait for
//     the row is cut, asked again within the limit, and then `busy`.
#include "app/backends.h"
#include "locks/registry.h"
#include "locks/sql_retry.h"

namespace turnstile::strategies {
namespace {

constexpr std::string_view kLockRow = "SELECT remaining FROM events WHERE event = ? FOR UPDATE";
// The version moves too, or mysql-optimistic would not notice this sale.
constexpr std::string_view kWrite =
    "UPDATE events SET remaining = ?, version = version + 1 WHERE event = ?";

class MySqlForUpdate final : public Strategy {
 public:
  explicit MySqlForUpdate(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("mysql-for-update")) {}

  Task<Sale> sell(SaleRequest request) override {
    const WaitLimit limit(backends_.clock, request);
    const auto once = [&]() -> Task<Sale> { co_return co_await sellOnce(request, limit.left()); };
    co_return co_await retryUndone(limit, metrics_, once);
  }

 private:
  Task<Sale> sellOnce(const SaleRequest& request, Millis connectionWithin) {
    Sale sale = Sale::soldOut();
    const TimePoint asked = backends_.clock.now();
    metrics_.attempts.add();
    co_await backends_.mysqlForUpdate.inTransaction(
        [&](Sql& sql) -> Task<> {
          const SqlResult row = co_await sql.exec(kLockRow, {request.event});
          if (row.rows.empty()) throw UnknownEvent(request.event);
          metrics_.granted.add();
          metrics_.wait.record(backends_.clock.now() - asked);
          co_await request.lab.pass(Point::afterAcquire);
          const int remaining = std::stoi(row.rows[0][0]);
          if (remaining <= 0) co_return;
          co_await request.lab.hold();
          co_await request.lab.pass(Point::beforeWrite);
          co_await sql.exec(kWrite, {remaining - 1, request.event});
          const LedgerEntry entry{0, "mysql-for-update", backends_.config.instance, request.user};
          co_await MySqlStock::append(sql, request.event, remaining, entry);
          co_await request.lab.pass(Point::afterWrite);
          sale = Sale::sold(remaining);
        },
        connectionWithin);
    co_return sale;
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec mysql_for_update() {
  return {
      .name = "mysql-for-update",
      .family = "mysql",
      .summary = "SELECT … FOR UPDATE: a row lock until the commit, on connections of its own",
      .stocks = {StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "InnoDB gives the row to one transaction at a time"},
           {"exception", Verdict::safe, "the transaction is rolled back, and that frees the row"},
           {"crash", Verdict::safe, "the server rolls back a dead client's transaction and frees the row"},
           {"overrun", Verdict::safe, "a row lock has no time to live: it ends with its transaction"},
           {"freeze", Verdict::safe, "the row stays locked until the frozen holder commits or its connection ends; others are busy"}},
      .make = [](const Backends& backends) { return std::make_unique<MySqlForUpdate>(backends); },
  };
}

}  // namespace turnstile::strategies
