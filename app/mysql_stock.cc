#include "app/mysql_stock.h"

#include <string>

#include "app/errors.h"

namespace turnstile {
namespace {

constexpr std::string_view kReset =
    "INSERT INTO events (event, size, remaining) VALUES (?, ?, ?) "
    "ON DUPLICATE KEY UPDATE size = VALUES(size), remaining = VALUES(remaining), version = 0, fence = 0";
constexpr std::string_view kForget = "DELETE FROM orders WHERE event = ?";
constexpr std::string_view kCounts = "SELECT size, remaining FROM events WHERE event = ?";
constexpr std::string_view kSeats = "SELECT seat FROM orders WHERE event = ? ORDER BY id";
constexpr std::string_view kRead = "SELECT remaining FROM events WHERE event = ?";
// One round trip: the reply to an UPDATE carries LAST_INSERT_ID, the count. No row: our fence is not new.
constexpr std::string_view kRaiseFence =
    "UPDATE events SET fence = ?, remaining = LAST_INSERT_ID(remaining) WHERE event = ? AND fence < ?";
constexpr std::string_view kReadAtFence =
    "SELECT remaining, fence FROM events WHERE event = ?";
// The version moves with every write: mysql-optimistic must notice it, and an UPDATE that changes nothing
// would count no row even if the fence is good.
constexpr std::string_view kWrite =
    "UPDATE events SET remaining = ?, version = version + 1 WHERE event = ?";
constexpr std::string_view kFencedWrite =
    "UPDATE events SET remaining = ?, version = version + 1, fence = ? WHERE event = ? AND fence <= ?";
constexpr std::string_view kAppend =
    "INSERT INTO orders (event, seat, fence, strategy, instance, buyer) VALUES (?, ?, ?, ?, ?, ?)";

}  // namespace

Task<> MySqlStock::reset(std::string event, int seats) {
  co_await mysql_.inTransaction([&](Sql& sql) -> Task<> {
    co_await sql.exec(kReset, {event, seats, seats});
    co_await sql.exec(kForget, {event});
  });
}

Task<Tally> MySqlStock::tally(std::string event) {
  Tally tally;
  // One transaction: InnoDB's snapshot makes the count and the ledger of one moment.
  co_await mysql_.inTransaction([&](Sql& sql) -> Task<> {
    const SqlResult counts = co_await sql.exec(kCounts, {event});
    if (counts.rows.empty()) co_return;
    tally.exists = true;
    tally.size = std::stoll(counts.rows[0][0]);
    tally.remaining = std::stoll(counts.rows[0][1]);
    const SqlResult seats = co_await sql.exec(kSeats, {event});
    tally.seats.reserve(seats.rows.size());
    for (const auto& row : seats.rows) tally.seats.push_back(std::stoi(row[0]));
  });
  co_return tally;
}

Task<std::optional<int>> MySqlStock::read(std::string event, std::uint64_t fence) {
  try {
    if (fence != 0) {
      const SqlResult raised = co_await mysql_.exec(kRaiseFence, {fence, event, fence});
      if (raised.affected > 0) co_return static_cast<int>(raised.insertId);
    }
    const SqlResult found = co_await mysql_.exec(fence ? kReadAtFence : kRead, {event});
    if (found.rows.empty()) throw UnknownEvent(event);
    if (fence != 0 && std::stoull(found.rows[0][1]) > fence) co_return std::nullopt;
    co_return std::stoi(found.rows[0][0]);
  } catch (const BackendTimeout& timeout) {
    throw BackendDown(timeout.backend, "no reply to a read; nothing was sold");
  }
}

Task<bool> MySqlStock::write(std::string event, int remaining, LedgerEntry entry) {
  bool accepted = true;
  co_await mysql_.inTransaction([&](Sql& sql) -> Task<> {
    if (entry.fence == 0) {
      co_await sql.exec(kWrite, {remaining, event});
    } else {
      const SqlResult written =
          co_await sql.exec(kFencedWrite, {remaining, entry.fence, event, entry.fence});
      accepted = written.affected > 0;
      if (!accepted) co_return;
    }
    co_await append(sql, event, remaining + 1, entry);
  });
  co_return accepted;
}

Task<> MySqlStock::append(Sql& sql, std::string_view event, int seat, LedgerEntry entry) {
  co_await sql.exec(kAppend,
                    {event, seat, entry.fence, entry.strategy, entry.instance, entry.user});
}

}  // namespace turnstile
