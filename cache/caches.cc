#include "cache/caches.h"

#include "app/errors.h"

namespace turnstile {
namespace {

void count(CacheMetrics& metrics, CacheAnswer::Source source) {
  switch (source) {
    case CacheAnswer::Source::cache:
      return metrics.hits.add();
    case CacheAnswer::Source::stale:
      return metrics.stale.add();
    case CacheAnswer::Source::database:
      return metrics.rebuilt.add();
    case CacheAnswer::Source::busy:
      return metrics.busy.add();
  }
}

constexpr std::string_view kDatabase = "mysql";

}  // namespace

Caches::Caches(const Backends& backends, std::unique_ptr<TokenIssuer> issuer)
    : bypass_(backends), issuer_(std::move(issuer)) {
  for (const CachePolicySpec& spec : cachePolicies()) {
    CacheMetrics& metrics = counts_.of(spec.name);
    policies_.try_emplace(spec.name, Entry{&spec, spec.make(backends, metrics), metrics});
  }
  for (const ProductPolicySpec& spec : productPolicies())
    products_.try_emplace(spec.name, spec.make(backends));
  for (const TokenPolicySpec& spec : tokenPolicies())
    tokens_.try_emplace(spec.name, spec.make(backends, *issuer_));
}

ProductPolicy* Caches::products(std::string_view policy) const {
  const auto found = products_.find(policy);
  return found == products_.end() ? nullptr : found->second.get();
}

TokenPolicy* Caches::token(std::string_view policy) const {
  const auto found = tokens_.find(policy);
  return found == tokens_.end() ? nullptr : found->second.get();
}

const Caches::Entry* Caches::find(std::string_view policy) const {
  const auto found = policies_.find(policy);
  return found == policies_.end() ? nullptr : &found->second;
}

Task<CacheAnswer> Caches::get(const Entry& entry, CacheRequest request) {
  CacheAnswer answer;
  bool around = false;
  try {
    answer = co_await entry.policy->get(request);
  } catch (const BackendDown& down) {
    around = down.backend != kDatabase;
    if (!around) entry.metrics.failed.add();
    if (!around) throw;
  } catch (const BackendTimeout&) {
    around = true;  // of Redis: a database read that times out is a BackendDown
  }
  if (around) answer = co_await bypass_.get(std::move(request), entry.metrics);
  count(entry.metrics, answer.source);
  co_return answer;
}

std::string Caches::describe(bool redisUp) const {
  if (redisUp) return "through redis-main";
  return "redis-main is away: reads go to the database, at most " +
         std::to_string(bypass_.limit()) + " at once in this instance";
}

}  // namespace turnstile
