#include "app/segmented_stock.h"

#include <charconv>
#include <random>

#include "app/errors.h"

namespace turnstile {
namespace {

// The size of the whole event, on every node: whoever is left can say how many seats are away.
std::string wholeKey(const std::string& part) { return "event:{" + part + "}:whole"; }

}  // namespace

int segmentSize(int seats, std::size_t count, std::size_t index) {
  const int n = static_cast<int>(count);
  return seats / n + (static_cast<int>(index) < seats % n ? 1 : 0);
}

int segmentSeat(int seat, std::size_t count, std::size_t index) {
  return (seat - 1) * static_cast<int>(count) + static_cast<int>(index) + 1;
}

SegmentedStock::SegmentedStock(const std::vector<Redis*>& nodes, std::size_t segments)
    : next_(std::random_device{}()) {
  if (nodes.empty()) return;  // a service without nodes has no segments; the strategies say so
  segments_.reserve(segments);
  for (std::size_t i = 0; i < segments; ++i) {
    Redis& node = *nodes[i % nodes.size()];
    segments_.push_back({node, RedisStock(node, "segment-" + std::to_string(i))});
  }
}

std::string SegmentedStock::part(std::string_view event, std::size_t index) {
  return std::string(event) + '#' + std::to_string(index);
}

Task<> SegmentedStock::reset(std::string event, int seats) {
  const std::string whole = std::to_string(seats);
  std::string away;
  for (std::size_t i = 0; i < count(); ++i) {
    const std::string name = part(event, i);
    const std::string key = wholeKey(name);
    try {
      co_await at(i).stock.reset(name, segmentSize(seats, count(), i));
      co_await at(i).node.command({"SET", key, whole});
    } catch (const std::runtime_error&) {
      away = at(i).node.name();  // go on: the others must not keep what was
    }
  }
  if (!away.empty())
    throw BackendDown(away,
                      "away, its segment keeps the seats it had; repeat the reset when it is back");
}

Task<Tally> SegmentedStock::tally(std::string event) {
  Tally all;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < count(); ++i) {
    const std::string name = part(event, i);
    const std::string key = wholeKey(name);
    try {
      const Tally one = co_await at(i).stock.tally(name);
      const Reply whole = co_await at(i).node.command({"GET", key});
      if (one.exists) {
        all.exists = true;
        all.remaining += one.remaining;
        std::from_chars(whole.text.data(), whole.text.data() + whole.text.size(), all.size);
        for (const int local : one.seats) all.seats.push_back(seat(i, local));
        continue;
      }
    } catch (const std::runtime_error&) {
      all.away.push_back(at(i).node.name());
    }
    missing.push_back(i);
  }
  if (count() > 0 && all.away.size() == count())
    throw BackendDown(all.away.front(), "no segment could be asked, nor any other node");
  for (const std::size_t i : missing)
    if (all.exists) all.unavailable += segmentSize(static_cast<int>(all.size), count(), i);
  co_return all;
}

}  // namespace turnstile
