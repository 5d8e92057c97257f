// The stock of one event cut into segments that live on independent Redis servers: segment i on
// node i % nodes. What a ConcurrentHashMap does to a lock, this does to a count: buyers of
// different segments never meet. The number of segments is the setting `segments`; reset events
// after changing it.
//
// Segment i of n holds the seats i + 1, i + 1 + n, i + 1 + 2n, …: no seat twice, sizes differ by at
// most one, and no segment needs to know how large the event is. Inside a segment seats are
// numbered from 1, in its ledger too.
//
// A server that is away takes only its own segments' seats with it: tally() calls them unavailable,
// and they are back when it is. reset() needs every server: an old segment that came back later
// would sell seats a second time.
#pragma once

#include <atomic>
#include <vector>

#include "app/redis_stock.h"

namespace turnstile {

/// Seats of segment `index` when `seats` are spread over `count` segments.
int segmentSize(int seats, std::size_t count, std::size_t index);
/// The event's number of the seat that segment `index` calls `seat`.
int segmentSeat(int seat, std::size_t count, std::size_t index);

class SegmentedStock final : public Store {
 public:
  struct Segment {
    Redis& node;
    RedisStock stock;
  };

  SegmentedStock(const std::vector<Redis*>& nodes, std::size_t segments);

  std::string_view name() const override { return "segments"; }
  Task<> reset(std::string event, int seats) override;
  Task<Tally> tally(std::string event) override;

  std::size_t count() const { return segments_.size(); }
  Segment& at(std::size_t index) { return segments_[index]; }
  /// What segment `index` of an event is called on its node. No event's name has a '#'.
  static std::string part(std::string_view event, std::size_t index);
  int seat(std::size_t index, int local) const { return segmentSeat(local, count(), index); }

  /// Where the next buyer starts: spread evenly, from a different place in each instance. Several in a row
  /// at the same segment share a write to its server; where they would queue for it, one.
  std::size_t start(std::uint32_t inARow) {
    return next_.fetch_add(1, std::memory_order_relaxed) / inARow % segments_.size();
  }

 private:
  std::vector<Segment> segments_;
  std::atomic<std::uint32_t> next_;
};

}  // namespace turnstile
