// The token issuer over HTTP (cache/issuer is one to run locally): POST /issue.
#pragma once

#include <memory>

#include "app/clock.h"
#include "app/config.h"
#include "cache/token_issuer.h"

namespace turnstile {

/// One that only says what is missing when the setting token-issuer is empty.
std::unique_ptr<TokenIssuer> connectIssuer(const Config& config, Clock& clock);

}  // namespace turnstile
