#include "loadtest/plan.h"

#include <random>
#include <utility>

namespace turnstile::harness {

std::vector<std::string> planRound(std::vector<std::string> strategies, std::uint64_t seed,
                                   int round) {
  // std::shuffle may differ between standard libraries; a printed seed must not
  std::mt19937_64 random(seed * 1'000'003 + static_cast<std::uint64_t>(round));
  for (std::size_t left = strategies.size(); left > 1; --left) {
    std::swap(strategies[left - 1], strategies[random() % left]);
  }
  const std::size_t groups =
      (strategies.size() + kStrategiesPerCeiling - 1) / kStrategiesPerCeiling;
  const std::size_t each = groups == 0 ? 1 : (strategies.size() + groups - 1) / groups;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    if (i % each == 0) order.emplace_back(kPing);
    order.push_back(std::move(strategies[i]));
  }
  return order;
}

}  // namespace turnstile::harness
