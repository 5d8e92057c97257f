#include "locks/registry.h"

#include <stdexcept>

#include "locks/guarded_sale.h"

// One line a strategy. Each names a function `StrategySpec <name>()` in the file locks/<name>.cc.
#define TURNSTILE_STRATEGIES(X)    \
  X(none)                          \
  X(local_mutex)                   \
  X(redis_setnx)                   \
  X(redis_setnx_finally)           \
  X(redis_setnx_finally_unguarded) \
  X(redis_setnx_expire)            \
  X(redis_setnx_getset)            \
  X(redis_set_ex)                  \
  X(redis_set_ex_owner)            \
  X(redis_set_ex_lua)              \
  X(redis_watchdog)                \
  X(redis_redisson)                \
  X(redis_fair)                    \
  X(redis_fenced)                  \
  X(redis_redlock)                 \
  X(redis_multilock)               \
  X(redis_cas)                     \
  X(redis_decr)                    \
  X(redis_lua)                     \
  X(segmented_lock)                \
  X(segmented_lua)                 \
  X(combining)                     \
  X(cohort)                        \
  X(mysql_unique_index)            \
  X(mysql_for_update)              \
  X(mysql_optimistic)              \
  X(mysql_conditional)             \
  X(mysql_segmented)               \
  X(zookeeper)                     \
  X(etcd)

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

std::unique_ptr<LockDriver> makeLockDriver(std::string_view strategy, const Backends& backends) {
  const StrategySpec* spec = findStrategy(strategy);
  const std::unique_ptr<Strategy> made = spec ? spec->make(backends) : nullptr;
  if (auto* guarded = dynamic_cast<GuardedSale*>(made.get())) return guarded->takeDriver();
  throw std::invalid_argument("'" + std::string(strategy) +
                              "' is no strategy that guards with a lock; redis-set-ex-lua is one");
}

const Promise* StrategySpec::promise(std::string_view condition) const {
  for (const Promise& one : promises)
    if (one.condition == condition) return &one;
  return nullptr;
}

std::string_view toString(Verdict verdict) {
  switch (verdict) {
    case Verdict::safe:
      return "safe";
    case Verdict::oversold:
      return "oversold";
    case Verdict::lost:
      return "lost";
    case Verdict::stuck:
      return "stuck";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

}  // namespace turnstile
