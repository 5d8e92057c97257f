// One valid token for the whole fleet. Fetching a new one kills the old one, so it matters who
// refreshes and when; two policies, GET /token?policy=…: `none` shows the trouble, `mutex` has
// none.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/backends.h"
#include "cache/token_issuer.h"

namespace turnstile {

struct Token {
  std::string text;
  Millis left{0};          // of its life
  bool refreshed = false;  // this request fetched it, or waited for the one who did
};

/// The token all instances share, in Redis, for as long as the issuer honours it.
class TokenStore {
 public:
  TokenStore(Redis& redis, const std::string& policy) : redis_(redis), key_("token:" + policy) {}
  Task<std::optional<Token>> read();
  Task<> write(IssuedToken issued);
  Task<> shorten(Millis left);

 private:
  Redis& redis_;
  std::string key_;
};

class TokenPolicy {
 public:
  virtual ~TokenPolicy() = default;
  /// nullopt: not refreshed before the deadline. Throws BackendDown. There is no way around Redis
  /// here: a refresh without coordination kills everyone else's token.
  virtual Task<std::optional<Token>> get(TimePoint deadline) = 0;
  /// The token nears its end now: the next caller refreshes it.
  virtual Task<> expire() = 0;
};

struct TokenPolicySpec {
  std::string name{};
  std::string summary{};
  std::function<std::unique_ptr<TokenPolicy>(const Backends&, TokenIssuer&)> make{};
};
const std::vector<TokenPolicySpec>& tokenPolicies();

}  // namespace turnstile
