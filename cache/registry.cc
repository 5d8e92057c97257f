#include "cache/policy.h"

// One line a policy. Each names a function `CachePolicySpec <name>()` in the file cache/<name>.cc.
#define TURNSTILE_CACHE_POLICIES(X) \
  X(none)                           \
  X(local_single_flight)            \
  X(mutex)                          \
  X(logical_expiry)                 \
  X(early_refresh)

namespace turnstile {

namespace cache_policies {
#define TURNSTILE_DECLARE(name) CachePolicySpec name();
TURNSTILE_CACHE_POLICIES(TURNSTILE_DECLARE)
#undef TURNSTILE_DECLARE
}  // namespace cache_policies

const std::vector<CachePolicySpec>& cachePolicies() {
#define TURNSTILE_LIST(name) cache_policies::name(),
  static const std::vector<CachePolicySpec> all{TURNSTILE_CACHE_POLICIES(TURNSTILE_LIST)};
#undef TURNSTILE_LIST
  return all;
}

std::string cachePolicyNames() {
  std::string names;
  for (const CachePolicySpec& spec : cachePolicies())
    names.append(names.empty() ? "" : ", ") += spec.name;
  return names;
}

CacheAnswer CacheAnswer::rebuilt(std::optional<Cached> entry) {
  if (!entry) return {};
  return {Source::database, std::move(*entry)};
}

}  // namespace turnstile
