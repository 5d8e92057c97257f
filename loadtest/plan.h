// The order of a comparison. A machine drifts while it is measured, so the strategies take turns:
// every round runs each of them once, in an order shuffled anew, and the /ping ceiling is measured
// again before each of them: a rate is held against the ceilings right before and after it. The same seed
// gives the same order on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace turnstile::harness {

inline constexpr const char* kPing = "/ping";

// Strategies of one round in running order, kPing before each.
std::vector<std::string> planRound(std::vector<std::string> strategies, std::uint64_t seed,
                                   int round);

}  // namespace turnstile::harness
