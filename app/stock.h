// Where the count of an event's free seats lives. A Stock is the only way to deduct one, and every
// deduction appends to the ledger in the same atomic step.
//
// Seats are numbered 1..N; a sale hands out the count it read before deducting. All calls throw
// UnknownEvent when the event was never created, and what the port below throws. A read that timed out
// changed nothing and says BackendDown; only a deduction can be BackendTimeout (sold or not: unknown).
#pragma once

#include <drogon/utils/coroutine.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/ledger.h"

namespace turnstile {

using drogon::Task;

enum class StockKind : std::uint8_t { redis, mysql };
std::string_view toString(StockKind kind);
std::optional<StockKind> parseStockKind(std::string_view text);

/// What one store says of an event, read in one consistent step.
struct Tally {
  bool exists = false;
  std::int64_t size = 0;       // seats this store was given
  std::int64_t remaining = 0;  // seats it still has; may be negative after a bad strategy
  std::vector<int> seats;      // the ledger: every seat sold, in order of sale
  std::int64_t unavailable = 0;   // beside those: seats on servers that are away, sold or not
  std::vector<std::string> away;  // those servers
};

/// A place that holds seats of an event and the ledger of their sales: what reset and audit see.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::string_view name() const = 0;
  virtual Task<> reset(std::string event, int seats) = 0;
  virtual Task<Tally> tally(std::string event) = 0;
};

/// The store a guarded strategy reads and writes under its lock.
class Stock : public Store {
 public:
  /// The count. With a fence (not 0) the stock also remembers it, so that an older holder's later
  /// write is refused even if this one has not written yet. nullopt: this fence is itself too old.
  virtual Task<std::optional<int>> read(std::string event, std::uint64_t fence) = 0;

  /// Writes the new count and the sale of seat `remaining + 1`. Checks nothing but the entry's fence
  /// (0: not even that): the guard is the caller's business. false: the fence is too old, nothing written.
  virtual Task<bool> write(std::string event, int remaining, LedgerEntry entry) = 0;
};

}  // namespace turnstile
