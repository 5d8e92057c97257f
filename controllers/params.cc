#include "controllers/params.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <charconv>

#include "app/errors.h"

namespace turnstile {
namespace {

constexpr std::size_t kLongestName = 64;

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == ':' || c == '@' || c == '-';
}

std::string quoted(std::string_view value) {
  std::string text(value.substr(0, kLongestName));
  if (value.size() > kLongestName) text += "…";
  return "'" + text + "'";
}

}  // namespace

void eachParameter(std::string_view query,
                   const std::function<void(std::string_view, std::string_view)>& use) {
  const bool plain = query.find('%') == query.npos && query.find('+') == query.npos;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value = pair.substr(std::min(pair.size(), equals + 1));
    if (plain)
      use(name, value);
    else
      use(name, drogon::utils::urlDecode(value));
  }
}

std::string checkedName(std::string_view what, std::string_view value) {
  if (value.empty() || value.size() > kLongestName ||
      !std::all_of(value.begin(), value.end(), isNameCharacter))
    throw BadRequest(std::string(what) + " " + quoted(value) +
                     " is not allowed: 1 to 64 characters of A-Z a-z 0-9 . _ : @ -");
  return std::string(value);
}

std::int64_t checkedNumber(std::string_view what, std::string_view value, std::int64_t least,
                           std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < least || number > most)
    throw BadRequest(std::string(what) + " " + quoted(value) + " is not allowed: a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
  return number;
}

bool checkedFlag(std::string_view what, std::string_view value) {
  if (value == "1" || value == "on" || value == "true") return true;
  if (value == "0" || value == "off" || value == "false") return false;
  throw BadRequest(std::string(what) + " " + quoted(value) + " is not allowed: 1, 0, on or off");
}

bool isAdmin(const drogon::HttpRequestPtr& request, const std::string& token) {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string& header = request->getHeader("authorization");
  if (token.empty() || !std::string_view(header).starts_with(kScheme)) return false;
  const std::string_view given = std::string_view(header).substr(kScheme.size());
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i)  // the same time whatever is wrong
    difference |= static_cast<unsigned char>(token[i]) ^
                  static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  return difference == 0;
}

}  // namespace turnstile
