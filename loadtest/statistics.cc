#include "loadtest/statistics.h"

#include <algorithm>
#include <cmath>

namespace turnstile::harness {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double Spread::relative() const { return median > 0 ? (max - min) / median : 0; }

Spread spreadOf(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high, static_cast<int>(values.size())};
}

bool withinNoise(const Spread& a, const Spread& b, double assumed) {
  const auto noise = [&](const Spread& s) {
    return s.rounds > 1 ? s.max - s.min : s.median * assumed;
  };
  return std::abs(a.median - b.median) <= noise(a) + noise(b);
}

}  // namespace turnstile::harness
