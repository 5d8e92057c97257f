// What the tests of the Redis ladder share: looking at a lock from outside, and putting instances
// back.
#pragma once

#include <string>

#include "tests/support/guards.h"
#include "tests/support/stack.h"

namespace turnstile::test {

inline std::string lockOf(const std::string& event) { return "lock:" + event; }
inline std::string sale(const std::string& event, const std::string& strategy) {
  return "event=" + event + "&strategy=" + strategy;
}

bool locked(const std::string& event);
/// Of the event's lock, in ms; -1: no end, -2: no lock.
long lifeOf(const std::string& event);
/// How often the main Redis ran a command, scripts included. A sale that has read its stock has run
/// a GET.
long timesRun(const std::string& command);
/// A holder with a watchdog has renewed, so it is past its read and at its pause.
bool eventuallyRenewed(const std::string& event);
bool unanswered(const std::future<Answer>& answer);
double lostLocks(const std::string& strategy);
double refusedFences(const std::string& strategy);

/// Sends a sale that is to kill its instance. true: the connection broke and the process is gone.
bool dies(const std::string& query, int instance);

/// Whatever a test does to this instance, later tests find it running as before, its backends seen.
class PutBack {
 public:
  explicit PutBack(int instance) : instance_(instance) {}
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;
  ~PutBack();

 private:
  int instance_;
};

/// An instance restarted with one more setting, and without it at the end.
class InstanceWith {
 public:
  InstanceWith(int instance, const std::string& variable, const std::string& value);
  InstanceWith(const InstanceWith&) = delete;
  InstanceWith& operator=(const InstanceWith&) = delete;
  ~InstanceWith();

 private:
  int instance_;
};

}  // namespace turnstile::test
