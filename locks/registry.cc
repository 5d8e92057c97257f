#include "locks/registry.h"

// One line a strategy. Each names a function `StrategySpec <name>()` in the file locks/<name>.cc.
#define TURNSTILE_STRATEGIES(X) \
  X(none)                       \
  X(local_mutex)                \
  X(redis_set_ex_lua)           \
  X(redis_redisson)             \
  X(redis_fair)                 \
  X(redis_redlock)              \
  X(redis_multilock)            \
  X(redis_cas)                  \
  X(redis_decr)                 \
  X(redis_lua)                  \
  X(segmented_lock)             \
  X(segmented_lua)              \
  X(combining)                  \
  X(cohort)

namespace turnstile {

namespace strategies {
#define TURNSTILE_DECLARE(name) StrategySpec name();
TURNSTILE_STRATEGIES(TURNSTILE_DECLARE)
#undef TURNSTILE_DECLARE
}  // namespace strategies

const std::vector<StrategySpec>& catalogue() {
#define TURNSTILE_LIST(name) strategies::name(),
  static const std::vector<StrategySpec> all{TURNSTILE_STRATEGIES(TURNSTILE_LIST)};
#undef TURNSTILE_LIST
  return all;
}

const StrategySpec* findStrategy(std::string_view name) {
  for (const StrategySpec& spec : catalogue())
    if (spec.name == name) return &spec;
  return nullptr;
}

std::string strategyNames() {
  std::string names;
  for (const StrategySpec& spec : catalogue()) names.append(names.empty() ? "" : ", ") += spec.name;
  return names;
}

const Promise* StrategySpec::promise(std::string_view condition) const {
  for (const Promise& one : promises)
    if (one.condition == condition) return &one;
  return nullptr;
}

std::string_view toString(Verdict verdict) {
  switch (verdict) {
    case Verdict::safe: return "safe";
    case Verdict::oversold: return "oversold";
    case Verdict::lost: return "lost";
    case Verdict::stuck: return "stuck";
    case Verdict::unknown: break;
  }
  return "unknown";
}

}  // namespace turnstile
