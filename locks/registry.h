// The catalogue: what each strategy says of itself. The service, `/strategies`, docs/strategies.md, the
// harness and the tests all read this and nothing else.
//
// Adding a strategy is one file in locks/ that defines its StrategySpec, and one line in registry.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "locks/strategy.h"

namespace turnstile {

struct Backends;
class LockDriver;

/// What a run shows, by the ledger.
enum class Verdict : std::uint8_t { safe, oversold, lost, stuck, unknown };
std::string_view toString(Verdict verdict);

/// What we say a run under this condition shows, and why. `contention`: several instances, no fault;
/// `one-instance`; or the name of a fault. Views of literals: copying them into strings
/// only made every strategy slower to compile.
struct Promise {
  std::string_view condition;
  Verdict verdict;
  std::string_view reason;
};

struct StrategySpec {
  std::string name{};
  std::string family{};
  std::string summary{};
  std::vector<StockKind> stocks{};  // that a caller may choose from; the first is the default; empty: its own
  bool reentrant = false;
  bool fenced = false;
  std::vector<Point> points{};  // of the lab that it passes
  std::vector<Promise> promises{};
  std::vector<std::string> tryIt{};  // its lesson by hand: lines for a shell, see docs/strategies.md
  std::function<std::unique_ptr<Strategy>(const Backends&)> make{};

  const Promise* promise(std::string_view condition) const;
};

/// In the order of the story.
const std::vector<StrategySpec>& catalogue();
const StrategySpec* findStrategy(std::string_view name);
/// "none, local-mutex, …": for error messages.
std::string strategyNames();

/// The lock of a guarded strategy alone, for whoever guards something else with it (cache/). Throws
/// std::invalid_argument when there is no such strategy, or it has no lock that can be taken apart.
std::unique_ptr<LockDriver> makeLockDriver(std::string_view strategy, const Backends& backends);

}  // namespace turnstile
