// The port to MySQL or MariaDB. A statement's arguments always travel apart from its text ('?').
//
// Every call has a deadline (`mysql-timeout-ms`). It throws BackendDown when the statement was
// certainly not executed (PoolExhausted: because no connection came free), BackendTimeout when that is not
// known, and SqlError when the server refused it.
#pragma once

#include <drogon/utils/coroutine.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/time.h"

namespace turnstile {

using drogon::Task;

struct SqlResult {
  std::uint64_t affected = 0;
  std::uint64_t insertId = 0;
  std::vector<std::vector<std::string>> rows;
};

class SqlError : public std::runtime_error {
 public:
  enum class Kind { other, deadlock /*1213*/, lockWaitTimeout /*1205*/, duplicateKey /*1062*/ };
  SqlError(Kind k, const std::string& message) : std::runtime_error(message), kind(k) {}
  bool retryable() const { return kind == Kind::deadlock || kind == Kind::lockWaitTimeout; }
  Kind kind;
};

/// Values for the '?' of a statement, written `{event, 7}`: strings and integers (see Args in app/redis.h).
class SqlArgs {
 public:
  SqlArgs() = default;
  template <class... Value>
    requires(sizeof...(Value) > 0 && !(std::same_as<std::remove_cvref_t<Value>, SqlArgs> || ...))
  SqlArgs(const Value&... values) {  // NOLINT(google-explicit-constructor): `{...}` is the point
    (add(values), ...);
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  void add(std::string_view text) { values_.emplace_back(text); }
  void add(std::integral auto number) { values_.push_back(std::to_string(number)); }
  std::vector<std::string> values_;
};

/// Anything that runs a statement: the pool, or one transaction of it.
class Sql {
 public:
  virtual ~Sql() = default;
  virtual Task<SqlResult> exec(std::string_view statement, SqlArgs args) = 0;
};

class MySql : public Sql {
 public:
  using Body = std::function<Task<>(Sql&)>;

  /// Runs `body` in one transaction and resumes after the COMMIT was acknowledged: what you do next
  /// (release a lock, answer) cannot precede it. Rolls back when `body` throws, then rethrows.
  /// A COMMIT whose acknowledgement is lost throws BackendTimeout; a failure before it, BackendDown.
  /// Waits at most `connectionWithin` (else the deadline of a statement) for a free connection, then throws
  /// PoolExhausted.
  virtual Task<> inTransaction(Body body,
                               std::optional<Millis> connectionWithin = std::nullopt) = 0;
};

}  // namespace turnstile
