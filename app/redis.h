// The port to one Redis server. Narrow on purpose: a strategy can send a command or run a script
// and nothing else, so the same code can run against a simulated server.
//
// Every call has a deadline (the `redis-timeout-ms` setting). It throws BackendDown when the command
// was certainly not executed, BackendTimeout when that is not known, and RedisError when Redis
// itself answered with an error.
#pragma once

#include <drogon/utils/coroutine.h>

#include <concepts>
#include <cstdint>
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
/// cannot keep an initializer_list in a coroutine frame. The words are views: the caller's strings
/// must live until the reply is there, as those of a caller that awaits in the same expression do.
class Args {
 public:
  Args() = default;
  template <class... Word>
    requires(sizeof...(Word) > 0 && (std::convertible_to<const Word&, std::string_view> && ...))
  Args(const Word&... words) {  // NOLINT(google-explicit-constructor): `{...}` is the point
    words_.reserve(sizeof...(words) + kSpare);
    (words_.emplace_back(words), ...);
  }
  void add(std::string_view word) { words_.push_back(word); }
  void addAll(const Args& more) {
    words_.insert(words_.end(), more.words_.begin(), more.words_.end());
  }
  std::size_t size() const { return words_.size(); }
  auto begin() const { return words_.begin(); }
  auto end() const { return words_.end(); }

 private:
  static constexpr std::size_t kSpare = 4;
  std::vector<std::string_view> words_;
};

class Redis {
 public:
  virtual ~Redis() = default;

  /// One command, one reply.
  virtual Task<Reply> command(Args args) = 0;

  /// EVALSHA, and EVAL when the server does not know the script yet.
  virtual Task<Reply> run(const Script& script, Args keys, Args args) = 0;

  /// "redis-main", "redis-node-3": what errors call it.
  virtual const std::string& name() const = 0;
};

}  // namespace turnstile
