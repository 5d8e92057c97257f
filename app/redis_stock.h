// The stock on one Redis server: `event:{id}:stock`, its ledger `event:{id}:ledger`, and the youngest
// fence seen. Strategies that deduct without a lock compose their own script from StockScript.
#pragma once

#include "app/redis.h"
#include "app/stock.h"

namespace turnstile {

/// A script that sells. The prelude gives its body these functions, the only way to the stock:
///   remaining()   the count, or the script ends with the reply "unknown event"
///   take(seat)    sells `seat`: sets the count to seat - 1 and appends the sale to the ledger
/// The body sees its own arguments from ARGV[kFirstArg] on, its own keys from KEYS[kFirstKey] on.
class StockScript {
 public:
  static constexpr int kFirstArg = 2;
  static constexpr int kFirstKey = 3;
  explicit StockScript(std::string_view body);
  const Script& script() const { return script_; }

 private:
  Script script_;
};

class RedisStock final : public Stock {
 public:
  explicit RedisStock(Redis& redis, std::string name = "redis")
      : redis_(redis), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  Task<> reset(std::string event, int seats) override;
  Task<Tally> tally(std::string event) override;
  Task<std::optional<int>> read(std::string event, std::uint64_t fence) override;
  Task<bool> write(std::string event, int remaining, LedgerEntry entry) override;

  /// One round trip, ledger included. Throws UnknownEvent when the script found no stock.
  Task<Reply> run(const StockScript& script, std::string_view event, LedgerEntry entry,
                  Args args = {});

 private:
  Redis& redis_;
  std::string name_;
};

}  // namespace turnstile
