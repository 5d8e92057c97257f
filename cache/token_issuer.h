// The port to whoever issues access tokens. Its rule is the trouble: a new token kills the one
// before it, at once, for everybody.
#pragma once

#include <drogon/utils/coroutine.h>

#include <string>

#include "app/time.h"

namespace turnstile {

using drogon::Task;

struct IssuedToken {
  std::string token;
  Millis validFor{0};  // from the moment before it was asked for
};

class TokenIssuer {
 public:
  virtual ~TokenIssuer() = default;
  /// A new token; the old one is dead from here on. Throws BackendDown naming the issuer.
  virtual Task<IssuedToken> issue() = 0;
};

}  // namespace turnstile
