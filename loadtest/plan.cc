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
  std::vector<std::string> order;
  for (std::string& strategy : strategies) {
    order.emplace_back(kPing);
    order.push_back(std::move(strategy));
  }
  return order;
}

}  // namespace turnstile::harness
