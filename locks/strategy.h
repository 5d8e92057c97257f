// What a controller sees of a strategy: one call that sells one ticket, or says why not.
#pragma once

#include <cstdint>
#include <string>

#include "app/stock.h"
#include "app/time.h"
#include "locks/lab.h"

namespace turnstile {

/// Expected results are values; a broken backend throws (app/errors.h).
enum class Outcome : std::uint8_t { sold, soldOut, busy, unknown };

struct Sale {
  Outcome outcome = Outcome::busy;
  int seat = 0;       // sold only: the seat handed out
  int remaining = 0;  // sold and soldOut: what is left as far as this sale saw
  std::uint64_t fence = 0;

  static Sale sold(int seat, std::uint64_t fence = 0) {
    return {Outcome::sold, seat, seat - 1, fence};
  }
  static Sale soldOut() { return {Outcome::soldOut}; }
  static Sale busy() { return {Outcome::busy}; }
  static Sale unknown() { return {Outcome::unknown}; }
};

struct SaleRequest {
  std::string event;
  StockKind stock = StockKind::redis;
  std::string user;
  Millis ttl{0};         // of the lock
  bool ttlGiven = false;  // by the caller: a lease time, so a watchdog stays asleep
  Millis wait{0};        // at most this long for the lock
  TimePoint deadline;    // by Clock::now(): retries end here
  Lab lab;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual Task<Sale> sell(SaleRequest request) = 0;
  /// Once, on an event loop, when the loops run: for work beside the sales.
  virtual void start() {}
  /// Forgets what this strategy keeps for an event beside the stock: locks, queues, caches.
  virtual Task<> reset(std::string event) {
    (void)event;
    co_return;
  }
};

}  // namespace turnstile
