// The stock of an event split into several rows of MySQL, each with seats of its own: together 1..N, none in
// two. Sales from different rows do not wait for each other. Its ledger is the table `segment_orders`.
#pragma once

#include "app/mysql.h"
#include "app/stock.h"

namespace turnstile {

class MySqlSegments final : public Store {
 public:
  /// `segments`: into how many rows reset() splits an event.
  MySqlSegments(MySql& mysql, std::size_t segments) : mysql_(mysql), segments_(segments) {}

  std::string_view name() const override { return "mysql-segments"; }
  Task<> reset(std::string event, int seats) override;
  Task<Tally> tally(std::string event) override;

  /// Takes the highest free seat of one segment and writes its sale, in one transaction. 0: it has none, or
  /// does not exist.
  Task<int> take(std::string event, int segment, LedgerEntry entry,
                 std::optional<Millis> connectionWithin);

  /// The segments that still have a seat. A sale that is not committed yet has not taken its seat.
  /// Throws UnknownEvent.
  Task<std::vector<int>> withSeats(std::string event);

 private:
  MySql& mysql_;
  const std::size_t segments_;
};

}  // namespace turnstile
