// Whoever finds the token used up fetches a new one. Of all that do so at the same time only the
// last has a token that lives; the others hold, and hand out, dead ones.
#include "cache/token_policy.h"

namespace turnstile::token_policies {
namespace {

class None final : public TokenPolicy {
 public:
  None(const Backends& backends, TokenIssuer& issuer)
      : backends_(backends), issuer_(issuer), store_(backends.redis, "none") {}

  Task<std::optional<Token>> get(TimePoint) override {
    std::optional<Token> token = co_await store_.read();
    if (token && token->left > backends_.config.tokenMargin) co_return token;
    const IssuedToken issued = co_await issuer_.issue();
    co_await store_.write(issued);
    Token fresh;
    fresh.text = issued.token;
    fresh.left = issued.validFor;
    fresh.refreshed = true;
    co_return fresh;
  }

  Task<> expire() override { co_await store_.shorten(Millis{1}); }

 private:
  const Backends& backends_;
  TokenIssuer& issuer_;
  TokenStore store_;
};

}  // namespace

TokenPolicySpec none() {
  return {
      .name = "none",
      .summary = "every caller that finds the token used up fetches a new one",
      .make = [](const Backends& backends,
                 TokenIssuer& issuer) { return std::make_unique<None>(backends, issuer); },
  };
}

}  // namespace turnstile::token_policies
