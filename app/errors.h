// What can go wrong, as few types as the answers differ. Expected results (busy, sold out) are
// values, never these.
#pragma once

#include <stdexcept>
#include <string>

namespace turnstile {

/// The backend is not there, or refused: nothing was done. HTTP 502, naming the backend.
class BackendDown : public std::runtime_error {
 public:
  BackendDown(std::string name, const std::string& why)
      : std::runtime_error(name + ": " + why), backend(std::move(name)) {}
  std::string backend;
};

/// All connections of a pool stayed taken until the deadline: a strategy that pins them may call this busy.
class PoolExhausted : public BackendDown {
  using BackendDown::BackendDown;
};

/// The request was sent and no reply came in time: it may or may not have taken effect. HTTP 504.
class BackendTimeout : public std::runtime_error {
 public:
  BackendTimeout(std::string name, const std::string& why)
      : std::runtime_error(name + ": " + why), backend(std::move(name)) {}
  std::string backend;
};

/// No such event on the stock that was asked. HTTP 404.
class UnknownEvent : public std::runtime_error {
 public:
  explicit UnknownEvent(const std::string& event)
      : std::runtime_error("unknown event '" + event +
                           "'; create it with PUT /events/" + event + " {\"stock\":2000}") {}
};

/// The caller's fault; `what()` says what is allowed. HTTP 400.
class BadRequest : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by the lab's `throw` action: stands for any exception in the business code. HTTP 500.
class InjectedFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace turnstile
