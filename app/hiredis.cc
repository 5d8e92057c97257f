#include "app/hiredis.h"

#include <dlfcn.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "app/cat.h"
#include "app/redis.h"

namespace turnstile {
namespace {

constexpr std::string_view kWord = "%b ";
constexpr std::size_t kLongestHead = sizeof("$18446744073709551615\r\n");
constexpr std::string_view kEnd = "\r\n";

const std::array<std::string, Args::kMost + 1> kFormats = [] {
  std::array<std::string, Args::kMost + 1> formats;
  for (std::size_t words = 1; words <= Args::kMost; ++words)
    formats[words] = formats[words - 1] + (words > 1 ? " %b" : "%b");
  return formats;
}();

// 0: not one of ours.
std::size_t wordsIn(const char* format) {
  const std::size_t words = (std::strlen(format) + 1) / kWord.size();
  return words <= Args::kMost && kFormats[words] == format ? words : 0;
}

char* putHead(char* at, char kind, std::size_t number) {
  *at++ = kind;
  return text::put(text::put(at, number), kEnd);
}

char* putWord(char* at, std::string_view word) {
  return text::put(text::put(putHead(at, '$', word.size()), word), kEnd);
}

// hiredis' own, behind ours.
template <class Function>
Function* next(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

thread_local WriteTogether* gathering = nullptr;

}  // namespace

const char* formatOf(std::size_t words) { return kFormats.at(words).c_str(); }

WriteTogether::WriteTogether() { gathering = this; }

WriteTogether::~WriteTogether() {
  gathering = nullptr;
  for (redisAsyncContext* const connection : connections_) {
    int done = 0;
    if (redisBufferWrite(&connection->c, &done) != REDIS_OK || !done)
      connection->ev.addWrite(connection->ev.data);
  }
}

WriteTogether* WriteTogether::current() { return gathering; }

void WriteTogether::add(redisAsyncContext& connection) {
  if (std::find(connections_.begin(), connections_.end(), &connection) == connections_.end())
    connections_.push_back(&connection);
}

}  // namespace turnstile

extern "C" int redisvFormatCommand(char** target, const char* format, va_list arguments) {
  using namespace turnstile;
  const std::size_t count = wordsIn(format);
  if (count == 0) {
    static const auto hiredis = next("redisvFormatCommand", redisvFormatCommand);
    return hiredis ? hiredis(target, format, arguments) : -1;
  }
  std::array<std::string_view, Args::kMost> words;
  std::size_t most = kLongestHead;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const start = va_arg(arguments, const char*);
    words[i] = {start, va_arg(arguments, std::size_t)};
    most += kLongestHead + words[i].size() + kEnd.size();
  }
  char* const command = static_cast<char*>(std::malloc(most));  // hiredis frees it
  if (!command) return -1;
  char* at = putHead(command, '*', count);
  for (std::size_t i = 0; i < count; ++i) at = putWord(at, words[i]);
  *target = command;
  return static_cast<int>(at - command);
}

extern "C" int redisAsyncFormattedCommand(redisAsyncContext* connection, redisCallbackFn* onReply,
                                          void* context, const char* command, std::size_t length) {
  using namespace turnstile;
  static const auto hiredis = next("redisAsyncFormattedCommand", redisAsyncFormattedCommand);
  if (!hiredis) return REDIS_ERR;
  WriteTogether* const together = WriteTogether::current();
  if (!together || !(connection->c.flags & REDIS_CONNECTED) || !connection->ev.addWrite)
    return hiredis(connection, onReply, context, command, length);
  const auto addWrite = std::exchange(connection->ev.addWrite, nullptr);
  const int status = hiredis(connection, onReply, context, command, length);
  connection->ev.addWrite = addWrite;
  together->add(*connection);
  return status;
}
