#include "app/audit.h"

#include <algorithm>

#include "app/errors.h"

namespace turnstile {
namespace {

Verdict verdictOf(const Audit& a) {
  if (!a.unreachable.empty()) return Verdict::unknown;
  const std::int64_t gone = a.stock - a.remaining;
  if (a.sold > a.stock || a.doubleSold > 0 || a.remaining < 0 || a.sold > gone)
    return Verdict::oversold;
  return a.lost > 0 ? Verdict::lost : Verdict::safe;
}

void countSeats(Audit& audit, std::vector<int> seats) {
  std::sort(seats.begin(), seats.end());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const bool again = i > 0 && seats[i] == seats[i - 1];
    if (!again) ++audit.distinctSeats;
    if (again && (audit.doubleSeats.empty() || audit.doubleSeats.back() != seats[i]))
      audit.doubleSeats.push_back(seats[i]);
  }
}

}  // namespace

Audit judge(std::string event, const std::vector<std::pair<std::string, Tally>>& tallies,
            std::vector<std::string> unreachable) {
  Audit audit;
  audit.event = std::move(event);
  audit.unreachable = std::move(unreachable);
  std::int64_t gone = 0;
  std::vector<int> seats;
  for (const auto& [store, tally] : tallies) {
    if (!tally.exists) continue;
    audit.stock = std::max(audit.stock, tally.size);
    gone += tally.size - tally.remaining - tally.unavailable;
    audit.unavailable += tally.unavailable;
    audit.away.insert(audit.away.end(), tally.away.begin(), tally.away.end());
    seats.insert(seats.end(), tally.seats.begin(), tally.seats.end());
    audit.stores.push_back(
        {store, tally.remaining, static_cast<std::int64_t>(tally.seats.size())});
  }
  audit.remaining = audit.stock - gone;
  audit.sold = static_cast<std::int64_t>(seats.size());
  countSeats(audit, std::move(seats));
  audit.doubleSold = audit.sold - audit.distinctSeats;
  audit.oversold = std::max<std::int64_t>(0, audit.sold - audit.stock);
  audit.lost = std::max<std::int64_t>(0, audit.stock - audit.remaining - audit.sold);
  audit.verdict = verdictOf(audit);
  return audit;
}

Task<Audit> audit(std::string event, std::vector<Store*> stores) {
  std::vector<std::pair<std::string, Tally>> tallies;
  std::vector<std::string> unreachable;
  std::string why;
  for (Store* store : stores) {
    try {
      tallies.emplace_back(store->name(), co_await store->tally(event));
    } catch (const std::runtime_error& error) {
      unreachable.emplace_back(store->name());
      why = error.what();
    }
  }
  if (tallies.empty()) throw BackendDown(unreachable.empty() ? "stock" : unreachable.front(), why);
  const bool known = std::any_of(tallies.begin(), tallies.end(),
                                 [](const auto& entry) { return entry.second.exists; });
  if (!known && unreachable.empty()) throw UnknownEvent(event);
  if (!known) throw BackendDown(unreachable.front(), why);
  co_return judge(std::move(event), tallies, std::move(unreachable));
}

}  // namespace turnstile
