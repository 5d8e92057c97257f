// The hot row split into `segments` rows, each with seats of its own: sales of different rows do not wait for
// each other. A sale starts at a random row; when that is empty it asks which rows are not, and walks those.
// Sold out is said only after a look at all of them that found none with a seat; a seat taken by a transaction
// that may still roll back counts as there, and the walk waits for it.
#include <random>

#include "app/backends.h"
#include "locks/registry.h"
#include "locks/sql_retry.h"

namespace turnstile::strategies {
namespace {

int randomBelow(std::size_t bound) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return static_cast<int>(std::uniform_int_distribution<std::size_t>(0, bound - 1)(random));
}

class MySqlSegmented final : public Strategy {
 public:
  explicit MySqlSegmented(const Backends& backends)
      : backends_(backends), metrics_(backends.metrics.of("mysql-segmented")) {}

  Task<Sale> sell(SaleRequest request) override {
    const WaitLimit limit(backends_.clock, request);
    // One transaction a row: a walk that kept the locks of the rows it found empty would deadlock.
    int segment = randomBelow(backends_.config.segments);
    for (;;) {
      const auto once = [&]() -> Task<Sale> { co_return co_await sellFrom(segment, request, limit); };
      const Sale sale = co_await retryUndone(limit, metrics_, once);
      if (sale.outcome != Outcome::soldOut) co_return sale;
      const std::vector<int> others = co_await withSeats(request.event);
      if (others.empty()) co_return Sale::soldOut();
      if (limit.over()) co_return Sale::busy();
      metrics_.retries.add();
      segment = others[randomBelow(others.size())];
    }
  }

 private:
  // soldOut: this segment is.
  Task<Sale> sellFrom(int segment, const SaleRequest& request, const WaitLimit& limit) {
    co_await request.lab.pass(Point::beforeWrite);
    const LedgerEntry entry{0, "mysql-segmented", backends_.config.instance, request.user};
    const int seat =
        co_await backends_.mysqlSegments.take(request.event, segment, entry, limit.left());
    co_return seat > 0 ? Sale::sold(seat) : Sale::soldOut();
  }

  Task<std::vector<int>> withSeats(const std::string& event) {
    try {
      co_return co_await backends_.mysqlSegments.withSeats(event);
    } catch (const BackendTimeout& timeout) {
      throw BackendDown(timeout.backend, "no reply to a read; nothing was sold");
    }
  }

  const Backends& backends_;
  StrategyMetrics& metrics_;
};

}  // namespace

StrategySpec mysql_segmented() {
  return {
      .name = "mysql-segmented",
      .family = "mysql",
      .summary = "the hot row split into rows; random start, walks on when empty",
      .points = {Point::beforeWrite},
      .promises =
          {{"contention", Verdict::safe, "each row's check and deduction are one statement, and no seat is in two rows"},
           {"exception", Verdict::safe, "the transaction is rolled back: the seat is free again"},
           {"crash", Verdict::safe, "the server rolls back what a dead client did not commit"},
           {"freeze", Verdict::safe, "nothing is held before the one transaction that sells"}},
      .make = [](const Backends& backends) { return std::make_unique<MySqlSegmented>(backends); },
  };
}

}  // namespace turnstile::strategies
