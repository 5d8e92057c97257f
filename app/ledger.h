// One line of the ledger: a sale as it happened. The stock appends it in the same atomic step that
// takes the seat, so no strategy can sell without leaving this behind, and none pays a round trip for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace turnstile {

struct LedgerEntry {
  std::uint64_t fence = 0;
  std::string_view strategy;
  std::string_view instance;
  std::string_view user;

  /// "fence|strategy|instance|user": what the Redis ledger keeps (of a batch behind "+count|").
  std::string text() const;
};

}  // namespace turnstile
