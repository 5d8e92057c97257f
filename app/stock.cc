#include "app/stock.h"

#include "app/cat.h"

namespace turnstile {

std::string_view toString(StockKind kind) { return kind == StockKind::redis ? "redis" : "mysql"; }

std::optional<StockKind> parseStockKind(std::string_view text) {
  if (text == "redis") return StockKind::redis;
  if (text == "mysql") return StockKind::mysql;
  return std::nullopt;
}

std::string LedgerEntry::text() const { return cat(fence, "|", strategy, "|", instance, "|", user); }

}  // namespace turnstile
