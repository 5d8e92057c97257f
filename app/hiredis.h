// What hiredis does for Drogon's client on the way of every sale, done cheaper. Drogon's client
// takes a printf-like format; hiredis puts the command together, and the event loop is told to say
// when the socket takes it.
//
// - Putting together is three allocations and a sprintf a word there: 11,400 instructions for the
//   five words of a sale.
// - Being told is an epoll_ctl a command, two more and a round of the event loop a write: more than
//   a third of an instance's system calls.
//
// hiredis.cc therefore defines two functions of hiredis itself, and the linker prefers them to the
// library's: redisvFormatCommand() and redisAsyncFormattedCommand(). Where it does not, all of this
// still works, at hiredis' speed.
#pragma once

#include <cstddef>
#include <vector>

struct redisAsyncContext;

namespace turnstile {

/// "%b %b …" for 1 to Args::kMost words, which we put together; any other format goes on to
/// hiredis. Each word is then two arguments, where it starts and how long it is: what a caller sent
/// is never part of a format.
const char* formatOf(std::size_t words);

/// While it lives, commands of this thread stay in their connections' buffers; its end writes them,
/// one write a connection. What the socket does not take, and every error, is left to the event
/// loop as ever.
class WriteTogether {
 public:
  WriteTogether();
  ~WriteTogether();
  WriteTogether(const WriteTogether&) = delete;
  WriteTogether& operator=(const WriteTogether&) = delete;

  /// For redisAsyncFormattedCommand(). Nothing may be taken in by an event loop meanwhile: a
  /// connection that broke would be gone.
  static WriteTogether* current();
  void add(redisAsyncContext& connection);

 private:
  std::vector<redisAsyncContext*> connections_;
};

}  // namespace turnstile
