#include "loadtest/prometheus.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>

namespace turnstile::harness {
namespace {

using Labels = std::map<std::string, std::string>;

std::optional<Labels> parseLabels(const std::string& text) {
  Labels labels;
  for (std::size_t at = 0; at < text.size();) {
    const auto equals = text.find("=\"", at);
    if (equals == std::string::npos) return std::nullopt;
    const auto end = text.find('"', equals + 2);
    if (end == std::string::npos) return std::nullopt;
    labels[text.substr(at, equals - at)] = text.substr(equals + 2, end - equals - 2);
    at = end + 1;
    while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
  }
  return labels;
}

double valueOf(const Metrics& metrics, const std::string& key) {
  const auto found = metrics.find(key);
  return found == metrics.end() ? 0 : found->second;
}

// A counter that went down belongs to an instance that was restarted: what it shows now is what it
// did since.
double grown(const Metrics& before, const Metrics& after, const std::string& key) {
  const double was = valueOf(before, key), is = valueOf(after, key);
  return is >= was ? is - was : is;
}

std::map<double, double> waitBuckets(const std::string& strategy,
                                     const std::vector<Metrics>& before,
                                     const std::vector<Metrics>& after) {
  const std::string prefix = "turnstile_lock_wait_seconds_bucket{le=\"";
  const std::string suffix = "\",strategy=\"" + strategy + "\"}";
  std::map<double, double> buckets;
  for (std::size_t i = 0; i < after.size(); ++i) {
    for (auto it = after[i].lower_bound(prefix);
         it != after[i].end() && it->first.starts_with(prefix); ++it) {
      if (!it->first.ends_with(suffix)) continue;
      const std::string bound =
          it->first.substr(prefix.size(), it->first.size() - prefix.size() - suffix.size());
      const double le = bound == "+Inf" ? std::numeric_limits<double>::infinity()
                                        : std::strtod(bound.c_str(), nullptr);
      buckets[le] += grown(before[i], after[i], it->first);
    }
  }
  return buckets;
}

}  // namespace

std::string metricKey(const std::string& name, const Labels& labels) {
  std::string key = name + "{";
  for (const auto& [label, value] : labels) {
    if (key.back() != '{') key += ',';
    key += label + "=\"" + value + "\"";
  }
  return key + "}";
}

Metrics parseMetrics(const std::string& text) {
  Metrics metrics;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto open = line.find('{'), close = line.rfind('}');
    const auto space = line.find(' ', close == std::string::npos ? 0 : close);
    if (space == std::string::npos || (open == std::string::npos) != (close == std::string::npos))
      continue;
    const bool labelled = open != std::string::npos && open < close;
    const auto labels = parseLabels(labelled ? line.substr(open + 1, close - open - 1) : "");
    if (!labels) continue;
    metrics[metricKey(line.substr(0, labelled ? open : space), *labels)] =
        std::strtod(line.c_str() + space, nullptr);
  }
  return metrics;
}

double quantileOf(const std::map<double, double>& buckets, double quantile) {
  const double total = buckets.empty() ? 0 : buckets.rbegin()->second;
  if (total <= 0) return 0;
  const double rank = quantile * total;
  double lower = 0, below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank) {
      if (std::isinf(bound)) return lower;  // beyond the last bound nothing is known but "at least"
      return count > below ? lower + (bound - lower) * (rank - below) / (count - below) : bound;
    }
    lower = bound;
    below = count;
  }
  return lower;
}

LockFigures lockFigures(const std::string& strategy, const std::vector<Metrics>& before,
                        const std::vector<Metrics>& after) {
  LockFigures figures;
  if (before.size() != after.size()) return figures;
  const auto total = [&](const char* name) {
    double sum = 0;
    const std::string key = metricKey(name, {{"strategy", strategy}});
    for (std::size_t i = 0; i < after.size(); ++i) sum += grown(before[i], after[i], key);
    return sum;
  };
  figures.attempts = total("turnstile_lock_attempts_total");
  figures.granted = total("turnstile_lock_granted_total");
  figures.refused = total("turnstile_lock_refused_total");
  figures.lost = total("turnstile_lock_lost_total");
  figures.fenceRefused = total("turnstile_fence_refused_total");
  figures.locks = figures.attempts > 0 || figures.granted > 0;
  const auto buckets = waitBuckets(strategy, before, after);
  figures.waitP50Ms = 1000 * quantileOf(buckets, 0.50);
  figures.waitP99Ms = 1000 * quantileOf(buckets, 0.99);
  const std::string sold =
      metricKey("turnstile_sales_total", {{"strategy", strategy}, {"outcome", "sold"}});
  for (std::size_t i = 0; i < after.size(); ++i)
    figures.soldPerInstance.push_back(grown(before[i], after[i], sold));
  return figures;
}

double soldIn(const std::vector<Metrics>& readings, const std::string& strategy) {
  const std::string key =
      metricKey("turnstile_sales_total", {{"strategy", strategy}, {"outcome", "sold"}});
  double sum = 0;
  for (const auto& metrics : readings) sum += valueOf(metrics, key);
  return sum;
}

}  // namespace turnstile::harness
