// The port to one Redis server. Narrow on purpose: a strategy can send a command or run a script
// and nothing else, so the same code can run against a simulated server.
//
// Every call has a deadline (the `redis-timeout-ms` setting). It throws BackendDown when the command
// was certainly not executed, BackendTimeout when that is not known, and RedisError when Redis
// itself answered with an error.
#pragma once

#include <drogon/utils/coroutine.h>

#include <array>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/time.h"

namespace turnstile {

using drogon::Task;

/// A reply, copied out of the client's buffer. Small replies cost no allocation.
struct Reply {
  enum class Kind : std::uint8_t { nil, integer, text, list };
  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  std::string text;
  std::vector<Reply> list;

  bool isNil() const { return kind == Kind::nil; }
  bool isOk() const { return kind == Kind::text && text == "OK"; }
};

/// Redis answered "-ERR ...".
class RedisError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A Lua script, hashed once. Declare it as a named constant at the top of the file that uses it
/// and document KEYS and ARGV there.
class Script {
 public:
  explicit Script(std::string_view source);
  const std::string& source() const { return source_; }
  const std::string& sha() const { return sha_; }

 private:
  std::string source_;
  std::string sha_;
};

/// Words of a command, written `{"SET", key, value}`. A class of its own rather than a vector because GCC 12
/// cannot keep an initializer_list in a coroutine frame, and because it needs no allocation. The words
/// are views: the caller's strings must live until the reply is there, as those of a caller that awaits
/// in the same expression do.
class Args {
 public:
  static constexpr std::size_t kMost = 16;

  Args() = default;
  template <class... Word>
    requires(sizeof...(Word) > 0 && (std::convertible_to<const Word&, std::string_view> && ...))
  Args(const Word&... words) {  // NOLINT(google-explicit-constructor): `{...}` is the point
    static_assert(sizeof...(Word) <= kMost);
    (add(words), ...);
  }
  Args(const Args& other) { addAll(other); }
  Args& operator=(const Args&) = delete;

  void add(std::string_view word) {
    if (size_ == kMost) throw std::length_error("a Redis command has at most 16 words");
    words_[size_++] = {word.data(), word.size()};
  }
  void addAll(const Args& more) {
    for (std::size_t i = 0; i < more.size(); ++i) add(more[i]);
  }
  void set(std::size_t place, std::string_view word) { words_[place] = {word.data(), word.size()}; }
  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t place) const {
    return {words_[place].start, words_[place].length};
  }

 private:
  struct Word {  // a string_view would be zeroed, all sixteen of them
    const char* start;
    std::size_t length;
  };
  std::size_t size_ = 0;
  std::array<Word, kMost> words_;
};

class Redis;

/// One command and its reply: await it in the expression that made it. An awaiter and not a coroutine:
/// it is on the way of every sale.
class Exchange {
 public:
  Exchange(Redis& redis, const Args& words) : redis_(redis), words_(words) {
    if (words.size() == 0) throw std::logic_error("a Redis command has at least one word");
  }
  Exchange(Redis& redis, const Script& script, const Args& keys, const Args& args);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool await_ready() const;  // throws BackendDown
  void await_suspend(std::coroutine_handle<> waiter);
  Reply await_resume() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(reply_);
  }

  // For the port: one of these, once, when it has been sent. The exchange may be gone afterwards.
  const Args& words() const { return words_; }
  void answered(Reply reply);
  void refused(const std::string& error);  // by Redis itself
  void failed(std::exception_ptr failure);

 private:
  Redis& redis_;
  const Script* script_ = nullptr;  // until it was sent whole
  std::array<char, 2> keys_{};      // how many, as text
  Args words_;
  std::coroutine_handle<> waiter_;
  Reply reply_;
  std::exception_ptr failure_;
};

class Redis {
 public:
  virtual ~Redis() = default;

  /// One command, one reply.
  Exchange command(const Args& words) { return {*this, words}; }

  /// EVALSHA, and EVAL when the server does not know the script yet.
  Exchange run(const Script& script, const Args& keys, const Args& args) {
    return {*this, script, keys, args};
  }

  /// "redis-main", "redis-node-3": what errors call it.
  virtual const std::string& name() const = 0;

 private:
  friend class Exchange;
  /// Throws BackendDown while the server is known to be away.
  virtual void ensureUp() const = 0;
  /// Tells the exchange how it ended: later, not from within.
  virtual void send(Exchange& exchange) = 0;
};

}  // namespace turnstile
