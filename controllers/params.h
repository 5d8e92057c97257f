// Reading what a caller sent: names, numbers, the admin token. Everything here either returns a checked
// value or throws BadRequest saying what is allowed.
#pragma once

#include <drogon/HttpRequest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace turnstile {

/// Calls `use(name, value)` for each pair of "a=1&b=2", percent-decoded. No map, no copies of what
/// needs no decoding.
void eachParameter(std::string_view query,
                   const std::function<void(std::string_view, std::string_view)>& use);

/// 1 to 64 letters, digits, and . _ : @ - : safe in keys, SQL, JSON and logs as it is.
std::string checkedName(std::string_view what, std::string_view value);

std::int64_t checkedNumber(std::string_view what, std::string_view value, std::int64_t least,
                           std::int64_t most);
bool checkedFlag(std::string_view what, std::string_view value);

/// "Authorization: Bearer <token>", compared in constant time. False when no token is configured.
bool isAdmin(const drogon::HttpRequestPtr& request, const std::string& token);

}  // namespace turnstile
