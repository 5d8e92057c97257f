// Nothing is locked while the buyer thinks: the row is read with its version, and the write says "only if the
// version is still that one". Whoever loses the race reads again, after a random pause that grows. Good
// while conflicts are rare; on one hot row most work is done for nothing, which `retries` in /metrics shows.
#include <random>

#include "app/backends.h"
#include "locks/registry.h"
#include "locks/sql_retry.h"

namespace turnstile::strategies {
namespace {

constexpr int kMostTries = 60;
constexpr Millis kLongestPause{40};

constexpr std::string_view kRead = "SELECT remaining, version FROM events WHERE event = ?";
constexpr std::string_view kWriteIfUnchanged =
    "UPDATE events SET remaining = ?, version = version + 1 WHERE event = ? AND version = ?";

// Random, so that those who collided do not collide again.
Millis pauseBefore(int tried) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const auto ceiling = std::min<std::int64_t>(kLongestPause.count(), 1LL << std::min(tried, 10));
  return Millis{std::uniform_int_distribution<std::int64_t>(0, ceiling)(random)};
}

class MySqlOptimistic final : public Strategy {
 public:
  explicit MySqlOptimistic(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("mysql-optimistic")) {}

  Task<Sale> sell(SaleRequest request) override {
    const WaitLimit limit(backends_.clock, request);
    const auto once = [&]() -> Task<Sale> { co_return co_await sellOnce(request, limit.left()); };
    for (int tried = 1;; ++tried) {
      const Sale sale = co_await retryUndone(limit, metrics_, once);
      if (sale.outcome != Outcome::busy || tried == kMostTries || limit.over()) co_return sale;
      metrics_.retries.add();
      co_await backends_.clock.sleep(pauseBefore(tried));
    }
  }

 private:
  // busy: someone else's write came first.
  Task<Sale> sellOnce(const SaleRequest& request, Millis connectionWithin) {
    const SqlResult row = co_await read(request.event);
    if (row.rows.empty()) throw UnknownEvent(request.event);
    const int remaining = std::stoi(row.rows[0][0]);
    if (remaining <= 0) co_return Sale::soldOut();
    co_await request.lab.hold();
    co_await request.lab.pass(Point::beforeWrite);
    Sale sale = Sale::busy();
    co_await backends_.mysql.inTransaction(
        [&](Sql& sql) -> Task<> {
          const SqlResult written =
              co_await sql.exec(kWriteIfUnchanged, {remaining - 1, request.event, row.rows[0][1]});
          if (written.affected == 0) co_return;
          const LedgerEntry entry{0, "mysql-optimistic", backends_.config.instance, request.user};
          co_await MySqlStock::append(sql, request.event, remaining, entry);
          co_await request.lab.pass(Point::afterWrite);
          sale = Sale::sold(remaining);
        },
        connectionWithin);
    co_return sale;
  }

  Task<SqlResult> read(const std::string& event) {
    try {
      co_return co_await backends_.mysql.exec(kRead, {event});
    } catch (const BackendTimeout& timeout) {
      throw BackendDown(timeout.backend, "no reply to a read; nothing was sold");
    }
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec mysql_optimistic() {
  return {
      .name = "mysql-optimistic",
      .family = "mysql",
      .summary = "read with a version, write if it is unchanged, else try again",
      .stocks = {StockKind::mysql},
      .points = {Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "a write over a changed version changes no row"},
           {"exception", Verdict::safe, "nothing is held; the transaction is rolled back"},
           {"crash", Verdict::safe, "nothing is held; the server rolls back what was not committed"},
           {"overrun", Verdict::safe, "whoever is late finds another version and writes nothing"},
           {"freeze", Verdict::safe, "whoever is late finds another version and writes nothing"}},
      .make = [](const Backends& backends) { return std::make_unique<MySqlOptimistic>(backends); },
  };
}

}  // namespace turnstile::strategies
