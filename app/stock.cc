#include "app/stock.h"

namespace turnstile {

std::string_view toString(StockKind kind) { return kind == StockKind::redis ? "redis" : "mysql"; }

std::optional<StockKind> parseStockKind(std::string_view text) {
  if (text == "redis") return StockKind::redis;
  if (text == "mysql") return StockKind::mysql;
  return std::nullopt;
}

std::string LedgerEntry::text() const {
  std::string line;
  line.reserve(24 + strategy.size() + instance.size() + user.size());
  line.append(std::to_string(fence));
  for (const std::string_view part : {strategy, instance, user}) line.append("|").append(part);
  return line;
}

}  // namespace turnstile
