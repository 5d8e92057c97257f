#include "app/mysql_segments.h"

#include "app/errors.h"

namespace turnstile {
namespace {

constexpr std::string_view kForget = "DELETE FROM segments WHERE event = ?";
constexpr std::string_view kForgetSales = "DELETE FROM segment_orders WHERE event = ?";
constexpr std::string_view kAdd =
    "INSERT INTO segments (event, segment, base, size, top) VALUES (?, ?, ?, ?, ?)";
constexpr std::string_view kCounts = "SELECT SUM(size), SUM(top - base) FROM segments WHERE event = ?";
constexpr std::string_view kSeats = "SELECT seat FROM segment_orders WHERE event = ? ORDER BY id";
constexpr std::string_view kRows = "SELECT segment, top - base FROM segments WHERE event = ?";
// The reply to an UPDATE carries LAST_INSERT_ID: the seat comes with it, without a second question.
constexpr std::string_view kTake =
    "UPDATE segments SET top = LAST_INSERT_ID(top) - 1 WHERE event = ? AND segment = ? AND top > base";
constexpr std::string_view kAppend =
    "INSERT INTO segment_orders (event, seat, fence, strategy, instance, buyer) VALUES (?, ?, ?, ?, ?, ?)";

}  // namespace

Task<> MySqlSegments::reset(std::string event, int seats) {
  co_await mysql_.inTransaction([&](Sql& sql) -> Task<> {
    co_await sql.exec(kForget, {event});
    co_await sql.exec(kForgetSales, {event});
    const int count = static_cast<int>(segments_);
    int base = 0;
    for (int segment = 0; segment < count; ++segment) {
      const int size = seats / count + (segment < seats % count ? 1 : 0);
      co_await sql.exec(kAdd, {event, segment, base, size, base + size});
      base += size;
    }
  });
}

Task<Tally> MySqlSegments::tally(std::string event) {
  Tally tally;
  // One transaction: InnoDB's snapshot makes the counts and the ledger of one moment.
  co_await mysql_.inTransaction([&](Sql& sql) -> Task<> {
    const SqlResult counts = co_await sql.exec(kCounts, {event});
    if (counts.rows.empty() || counts.rows[0][0].empty()) co_return;
    tally.exists = true;
    tally.size = std::stoll(counts.rows[0][0]);
    tally.remaining = std::stoll(counts.rows[0][1]);
    const SqlResult seats = co_await sql.exec(kSeats, {event});
    tally.seats.reserve(seats.rows.size());
    for (const auto& row : seats.rows) tally.seats.push_back(std::stoi(row[0]));
  });
  co_return tally;
}

Task<int> MySqlSegments::take(std::string event, int segment, LedgerEntry entry,
                              std::optional<Millis> connectionWithin) {
  int seat = 0;
  co_await mysql_.inTransaction(
      [&](Sql& sql) -> Task<> {
        const SqlResult taken = co_await sql.exec(kTake, {event, segment});
        if (taken.affected == 0) co_return;
        seat = static_cast<int>(taken.insertId);
        co_await sql.exec(kAppend,
                          {event, seat, entry.fence, entry.strategy, entry.instance, entry.user});
      },
      connectionWithin);
  co_return seat;
}

Task<std::vector<int>> MySqlSegments::withSeats(std::string event) {
  const SqlResult found = co_await mysql_.exec(kRows, {event});
  if (found.rows.empty()) throw UnknownEvent(event);
  std::vector<int> segments;
  for (const auto& row : found.rows)
    if (std::stoi(row[1]) > 0) segments.push_back(std::stoi(row[0]));
  co_return segments;
}

}  // namespace turnstile
