#include "cache/cache_metrics.h"

namespace turnstile {
namespace {

struct Row {
  const char* metric;
  const char* label;  // further label, or ""
  Counter CacheMetrics::*field;
};

constexpr Row kRows[] = {
    {"turnstile_cache_answers_total", ",source=\"cache\"", &CacheMetrics::hits},
    {"turnstile_cache_answers_total", ",source=\"stale\"", &CacheMetrics::stale},
    {"turnstile_cache_answers_total", ",source=\"database\"", &CacheMetrics::rebuilt},
    {"turnstile_cache_answers_total", ",source=\"busy\"", &CacheMetrics::busy},
    {"turnstile_cache_answers_total", ",source=\"failed\"", &CacheMetrics::failed},
    {"turnstile_cache_db_reads_total", "", &CacheMetrics::dbReads},
    {"turnstile_cache_db_failed_total", "", &CacheMetrics::dbFailed},
    {"turnstile_cache_bypassed_total", "", &CacheMetrics::bypassed},
};

std::string sample(const char* metric, const std::string& policy, const char* label,
                   const std::string& value) {
  return std::string(metric) + "{policy=\"" + policy + "\"" + label + "} " + value + '\n';
}

}  // namespace

CacheMetrics& CacheCounts::of(const std::string& policy) {
  const std::lock_guard guard(mutex_);
  return byPolicy_[policy];
}

std::string CacheCounts::prometheus() const {
  const std::lock_guard guard(mutex_);
  std::string out;
  std::string_view last;
  for (const Row& row : kRows) {
    if (last != row.metric) out += std::string("# TYPE ") + row.metric + " counter\n";
    last = row.metric;
    for (const auto& [policy, metrics] : byPolicy_)
      out += sample(row.metric, policy, row.label, std::to_string((metrics.*row.field).value()));
  }
  out += "# TYPE turnstile_cache_db_reading gauge\n";
  for (const auto& [policy, metrics] : byPolicy_)
    out +=
        sample("turnstile_cache_db_reading", policy, "", std::to_string(metrics.dbReading.load()));
  return out;
}

}  // namespace turnstile
