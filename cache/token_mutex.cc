// One refresh in the whole fleet, and no caller with a dead token. The lock alone would not do: a
// caller who was handed the old token a moment before the refresh would use it a moment after. So a
// token is not handed out for the last `token-margin-ms` of its life, and whoever holds the lock
// lets that time pass before it fetches the next: by then every caller has had the margin to use
// what it was given.
#include "cache/single_flight.h"
#include "cache/token_policy.h"
#include "locks/registry.h"
#include "locks/with_lock.h"

namespace turnstile::token_policies {
namespace {

class Mutex final : public TokenPolicy {
 public:
  Mutex(const Backends& backends, TokenIssuer& issuer)
      : backends_(backends),
        issuer_(issuer),
        store_(backends.redis, "mutex"),
        driver_(makeLockDriver(backends.config.cacheLock, backends)),
        lockMetrics_(backends.metrics.of("token:mutex")) {}

  Task<std::optional<Token>> get(TimePoint deadline) override {
    std::optional<Token> token = co_await store_.read();
    if (token && token->left > backends_.config.tokenMargin) co_return token;
    const Millis atMost = std::chrono::ceil<Millis>(deadline - backends_.clock.now());
    const auto fetch = [this, atMost]() { return refreshUnderLock(atMost); };
    const auto refreshed = co_await flights_.join("token", atMost, fetch);
    co_return refreshed.value_or(std::nullopt);
  }

  // Who was handed it just now has the margin to use it.
  Task<> expire() override { co_await store_.shorten(backends_.config.tokenMargin); }

 private:
  Task<std::optional<Token>> refreshUnderLock(Millis wait) {
    const Config& config = backends_.config;
    const Recipe recipe{backends_.clock, backends_.turns, lockMetrics_};
    LockRequest lock;
    lock.name = "lock:token";
    lock.owner = backends_.owners.next();
    // Longer than all that is done under it can take: a second refresh would kill the first one's
    // token.
    lock.ttl = config.tokenMargin + config.tokenTimeout + 3 * config.redisTimeout;
    lock.wait = wait;
    lock.deadline = backends_.clock.now() + wait;
    const auto body = [&](const Lease&) -> Task<Token> { return refresh(); };
    co_return co_await withLock(recipe, *driver_, lock, body);
  }

  Task<Token> refresh() {
    std::optional<Token> token = co_await store_.read();
    if (token && token->left > backends_.config.tokenMargin) co_return std::move(*token);
    if (token) co_await backends_.clock.sleep(token->left);
    const IssuedToken issued = co_await issuer_.issue();
    co_await store_.write(issued);
    Token fresh;
    fresh.text = issued.token;
    fresh.left = issued.validFor;
    fresh.refreshed = true;
    co_return fresh;
  }

  const Backends& backends_;
  TokenIssuer& issuer_;
  TokenStore store_;
  std::unique_ptr<LockDriver> driver_;
  StrategyMetrics& lockMetrics_;
  SingleFlight<std::optional<Token>> flights_;
};

}  // namespace

TokenPolicySpec mutex() {
  return {
      .name = "mutex",
      .summary = "one in the fleet refreshes, once nobody can still be using the old token",
      .make = [](const Backends& backends,
                 TokenIssuer& issuer) { return std::make_unique<Mutex>(backends, issuer); },
  };
}

}  // namespace turnstile::token_policies
