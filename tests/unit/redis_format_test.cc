// Our way to put a command together gives the very bytes that hiredis would.
#include "app/redis_format.h"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <cstdarg>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/redis.h"

namespace turnstile {
namespace {

std::string formatted(const char* format, ...) {
  char* command = nullptr;
  va_list arguments;
  va_start(arguments, format);
  const int length = redisvFormatCommand(&command, format, arguments);
  va_end(arguments);
  if (length < 0) return "error " + std::to_string(length);
  std::string text(command, static_cast<std::size_t>(length));
  std::free(command);
  return text;
}

std::string byHiredis(const std::vector<std::string>& words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) starts.push_back(word.data()), lengths.push_back(word.size());
  char* command = nullptr;
  const auto length = redisFormatCommandArgv(&command, static_cast<int>(words.size()), starts.data(),
                                             lengths.data());
  std::string text(command, static_cast<std::size_t>(length));
  std::free(command);
  return text;
}

std::string byUs(const std::string& a) { return formatted(formatOf(1), a.data(), a.size()); }
std::string byUs(const std::string& a, const std::string& b, const std::string& c) {
  return formatted(formatOf(3), a.data(), a.size(), b.data(), b.size(), c.data(), c.size());
}

TEST(RedisFormat, AreTheBytesOfHiredis) {
  const std::string binary("\0\r\n$3 %s", 9);
  EXPECT_EQ(byUs("PING"), byHiredis({"PING"}));
  EXPECT_EQ(byUs("SET", "", binary), byHiredis({"SET", "", binary}));
  for (const std::size_t size : {9u, 10u, 99u, 100u, 4096u, 1'000'000u})
    EXPECT_EQ(byUs("SET", std::string(size, 'k'), "%b"),
              byHiredis({"SET", std::string(size, 'k'), "%b"}));
}

TEST(RedisFormat, TakesAsManyWordsAsItSays) {
  EXPECT_STREQ(formatOf(2), "%b %b");
  const std::string w = "word";
  const char* const d = w.data();
  const std::size_t n = w.size();
  static_assert(Args::kMost == 16);
  EXPECT_EQ(formatted(formatOf(16), d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n,
                      d, n, d, n, d, n, d, n),
            byHiredis(std::vector<std::string>(16, w)));
  EXPECT_THROW(formatOf(17), std::out_of_range);
}

TEST(RedisFormat, LeavesOtherFormatsToHiredis) {
  EXPECT_EQ(formatted("SELECT %d", 7), byHiredis({"SELECT", "7"}));
  EXPECT_EQ(formatted("AUTH %s %b", "user", "pass", std::size_t{4}), byHiredis({"AUTH", "user", "pass"}));
  EXPECT_EQ(formatted("PING"), byHiredis({"PING"}));
  EXPECT_EQ(formatted("%b%b", "PI", std::size_t{2}, "NG", std::size_t{2}), byHiredis({"PING"}));
}

}  // namespace
}  // namespace turnstile
