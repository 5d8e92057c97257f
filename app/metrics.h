// What the service counts, one block a strategy. Relaxed atomics only: counting must not cost a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "app/time.h"

namespace turnstile {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Powers of two from 64 µs to 2 s, and one bucket for what is longer.
class WaitHistogram {
 public:
  static constexpr int kBuckets = 16;
  static constexpr std::int64_t kFirstBoundMicros = 64;
  void record(Micros waited);
  std::uint64_t count(int bucket) const { return buckets_[bucket].value(); }
  std::uint64_t sumMicros() const { return sum_.value(); }

 private:
  std::array<Counter, kBuckets + 1> buckets_;
  Counter sum_;
};

struct StrategyMetrics {
  Counter sold, soldOut, busy, unknown, failed;
  Counter attempts, granted, refused;  // of the lock
  Counter lost;                        // learned before the write that the lock was gone
  Counter fenceRefused;                // learned it from the stock
  Counter retries;                     // compare-and-set or deadlock retries
  Counter watchEvents;                 // deletions a waiter was woken by
  Counter releaseFailed;               // a sale stood, its lock was left to expire
  Counter leaked;                      // a lease destroyed unreleased: a bug of ours
  WaitHistogram wait;
};

class Metrics {
 public:
  /// Created on first use; the reference stays good.
  StrategyMetrics& of(const std::string& strategy);
  /// Prometheus text format.
  std::string prometheus() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, StrategyMetrics> byStrategy_;
};

}  // namespace turnstile
