// The stock as a row of `events`, its ledger the table `orders`; both change in one transaction.
#pragma once

#include "app/mysql.h"
#include "app/stock.h"

namespace turnstile {

class MySqlStock final : public Stock {
 public:
  explicit MySqlStock(MySql& mysql) : mysql_(mysql) {}

  std::string_view name() const override { return "mysql"; }
  Task<> reset(std::string event, int seats) override;
  Task<Tally> tally(std::string event) override;
  Task<std::optional<int>> read(std::string event, std::uint64_t fence) override;
  Task<bool> write(std::string event, int remaining, LedgerEntry entry) override;

  /// The ledger line, for strategies that deduct in their own transaction: call it in the same one.
  static Task<> append(Sql& sql, std::string_view event, int seat, LedgerEntry entry);

 private:
  MySql& mysql_;
};

}  // namespace turnstile
