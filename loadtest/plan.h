// The order of a comparison. A machine drifts while it is measured, so the strategies take turns:
// every round runs each of them once, in an order shuffled anew, and the /ping ceiling is measured
// again before every few of them. The same seed gives the same order on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace turnstile::harness {

inline constexpr const char* kPing = "/ping";

// A strategy's ratio is to the mean of the ceilings before and after its group: neither is further away
// than this many runs.
inline constexpr int kStrategiesPerCeiling = 4;

// Strategies of one round in running order, kPing at the head of every group.
std::vector<std::string> planRound(std::vector<std::string> strategies, std::uint64_t seed,
                                   int round);

}  // namespace turnstile::harness
