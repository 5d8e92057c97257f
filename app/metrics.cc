#include "app/metrics.h"

#include <algorithm>
#include <bit>

namespace turnstile {
namespace {

using Field = Counter StrategyMetrics::*;

struct Row {
  const char* metric;
  const char* label;  // further label, or ""
  Field field;
};

constexpr Row kRows[] = {
    {"turnstile_sales_total", ",outcome=\"sold\"", &StrategyMetrics::sold},
    {"turnstile_sales_total", ",outcome=\"sold_out\"", &StrategyMetrics::soldOut},
    {"turnstile_sales_total", ",outcome=\"busy\"", &StrategyMetrics::busy},
    {"turnstile_sales_total", ",outcome=\"unknown\"", &StrategyMetrics::unknown},
    {"turnstile_sales_total", ",outcome=\"failed\"", &StrategyMetrics::failed},
    {"turnstile_lock_attempts_total", "", &StrategyMetrics::attempts},
    {"turnstile_lock_granted_total", "", &StrategyMetrics::granted},
    {"turnstile_lock_refused_total", "", &StrategyMetrics::refused},
    {"turnstile_lock_lost_total", "", &StrategyMetrics::lost},
    {"turnstile_fence_refused_total", "", &StrategyMetrics::fenceRefused},
    {"turnstile_retries_total", "", &StrategyMetrics::retries},
    {"turnstile_watch_events_total", "", &StrategyMetrics::watchEvents},
    {"turnstile_release_failed_total", "", &StrategyMetrics::releaseFailed},
    {"turnstile_lease_leaked_total", "", &StrategyMetrics::leaked},
};

std::string labels(const std::string& strategy, const std::string& more) {
  return "{strategy=\"" + strategy + "\"" + more + "} ";
}

void appendHistogram(std::string& out, const std::string& strategy, const WaitHistogram& wait) {
  std::uint64_t total = 0;
  for (int i = 0; i <= WaitHistogram::kBuckets; ++i) {
    total += wait.count(i);
    const std::string bound =
        i == WaitHistogram::kBuckets
            ? "+Inf"
            : std::to_string(static_cast<double>(WaitHistogram::kFirstBoundMicros << i) / 1e6);
    out += "turnstile_lock_wait_seconds_bucket" + labels(strategy, ",le=\"" + bound + "\"") +
           std::to_string(total) + '\n';
  }
  out += "turnstile_lock_wait_seconds_sum" + labels(strategy, "") +
         std::to_string(static_cast<double>(wait.sumMicros()) / 1e6) + '\n';
  out += "turnstile_lock_wait_seconds_count" + labels(strategy, "") + std::to_string(total) + '\n';
}

}  // namespace

void WaitHistogram::record(Micros waited) {
  const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(waited.count(), 0));
  const int bucket = static_cast<int>(std::bit_width(micros / kFirstBoundMicros));
  buckets_[static_cast<std::size_t>(std::min(bucket, kBuckets))].add();
  sum_.add(micros);
}

StrategyMetrics& Metrics::of(const std::string& strategy) {
  const std::lock_guard guard(mutex_);
  return byStrategy_[strategy];
}

std::string Metrics::prometheus() const {
  const std::lock_guard guard(mutex_);
  std::string out;
  std::string_view last;
  for (const Row& row : kRows) {
    if (last != row.metric) out += std::string("# TYPE ") + row.metric + " counter\n";
    last = row.metric;
    for (const auto& [strategy, metrics] : byStrategy_)
      out += row.metric + labels(strategy, row.label) +
             std::to_string((metrics.*row.field).value()) + '\n';
  }
  out += "# TYPE turnstile_lock_wait_seconds histogram\n";
  for (const auto& [strategy, metrics] : byStrategy_)
    if (metrics.granted.value() > 0) appendHistogram(out, strategy, metrics.wait);
  return out;
}

}  // namespace turnstile
