#include "cache/token_policy.h"

// One line a policy. Each names a function `TokenPolicySpec <name>()` in the file
// cache/token_<name>.cc.
#define TURNSTILE_TOKEN_POLICIES(X) \
  X(none)                           \
  X(mutex)

namespace turnstile {

namespace token_policies {
#define TURNSTILE_DECLARE(name) TokenPolicySpec name();
TURNSTILE_TOKEN_POLICIES(TURNSTILE_DECLARE)
#undef TURNSTILE_DECLARE
}  // namespace token_policies

const std::vector<TokenPolicySpec>& tokenPolicies() {
#define TURNSTILE_LIST(name) token_policies::name(),
  static const std::vector<TokenPolicySpec> all{TURNSTILE_TOKEN_POLICIES(TURNSTILE_LIST)};
#undef TURNSTILE_LIST
  return all;
}

namespace {

// KEYS[1]: the token. Both in one step, see cache/cached.cc.
const Script kReadToken(R"lua(
local token = redis.call('GET', KEYS[1])
if not token then return false end
return {token, redis.call('PTTL', KEYS[1])})lua");

}  // namespace

Task<std::optional<Token>> TokenStore::read() {
  const Reply reply = co_await redis_.run(kReadToken, {key_}, {});
  if (reply.list.size() != 2) co_return std::nullopt;
  Token token;
  token.text = reply.list[0].text;
  token.left = Millis{reply.list[1].integer};
  co_return token;
}

Task<> TokenStore::write(IssuedToken issued) {
  const std::string life = std::to_string(std::max<std::int64_t>(issued.validFor.count(), 1));
  co_await redis_.command({"SET", key_, issued.token, "PX", life});
}

Task<> TokenStore::shorten(Millis left) {
  const std::string life = std::to_string(left.count());
  co_await redis_.command({"PEXPIRE", key_, life, "LT"});
}

}  // namespace turnstile
