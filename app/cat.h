// Text put together in one allocation: cat("seat ", 42, " of ", event). For where every sale comes
// by; std::string's own append asks for room at each step.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace turnstile {
namespace text {

// Each put() writes behind `at`, where the caller has made room, and returns where the next goes.

constexpr std::size_t kLongestNumber = 20;  // of 64 bits, with its sign

inline std::size_t most(std::string_view text) { return text.size(); }
template <std::size_t Size>  // a literal: its length is known here
constexpr std::size_t most(const char (&)[Size]) {
  return Size - 1;
}
inline std::size_t most(std::integral auto) { return kLongestNumber; }

inline char* put(char* at, std::string_view text) {
  return std::copy_n(text.data(), text.size(), at);
}
template <std::size_t Size>
char* put(char* at, const char (&literal)[Size]) {
  return std::copy_n(literal, Size - 1, at);
}
inline char* put(char* at, std::integral auto number) {
  return std::to_chars(at, at + kLongestNumber, number).ptr;
}

}  // namespace text

/// Parts are text, or whole numbers and then written in digits.
template <class... Part>
std::string cat(const Part&... parts) {
  std::string all((text::most(parts) + ...), '\0');
  char* at = all.data();
  ((at = text::put(at, parts)), ...);
  all.resize(static_cast<std::size_t>(at - all.data()));
  return all;
}

}  // namespace turnstile
