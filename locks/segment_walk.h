// A buyer's way past the segments of an event: starts somewhere, walks on while they are empty, and
// is told sold out only if all of them are. A segment whose node is away is passed by; a deduction
// without a reply ends the walk, since going on might sell this buyer a second seat.
#pragma once

#include "app/errors.h"
#include "app/segmented_stock.h"
#include "locks/strategy.h"

namespace turnstile {

/// `inARow`: see SegmentedStock::start(). `sellAt(index)` gives a Task<Sale> with the seat as the segment counts it; the result has the
/// event's.
template <class SellAt>
Task<Sale> walkSegments(SegmentedStock& segments, std::string event, std::uint32_t inARow,
                        SellAt sellAt) {
  const std::size_t count = segments.count();
  if (count == 0) throw BackendDown("redis-nodes", "none is configured (setting redis-nodes)");
  const std::size_t start = segments.start(inARow);
  bool known = false;
  bool busy = false;
  std::string missing;  // a node without its segment
  std::exception_ptr away;
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t index = (start + step) % count;
    try {
      Sale sale = co_await sellAt(index);
      if (sale.outcome == Outcome::unknown) co_return sale;
      if (sale.outcome == Outcome::sold) {
        sale.seat = segments.seat(index, sale.seat);
        co_return sale;
      }
      known = true;
      busy = busy || sale.outcome == Outcome::busy;
    } catch (const BackendDown&) {
      away = std::current_exception();
    } catch (const UnknownEvent&) {
      missing = segments.at(index).node.name();
    }
  }
  if (busy) co_return Sale::busy();
  if (away) std::rethrow_exception(away);
  if (!known) throw UnknownEvent(event);
  if (!missing.empty()) throw BackendDown(missing, "has no segment of this event; reset the event");
  co_return Sale::soldOut();
}

}  // namespace turnstile
