// What a test changes in the stack, and what puts it back: every guard restores on the way out,
// also when an assertion ended the test. And what a test counts: commands a server carried out,
// sales in their order.
#pragma once

#include <string>
#include <vector>

#include "tests/support/stack.h"

namespace turnstile::test {

/// Whatever happens to these services meanwhile, at the end they run again and every instance sees
/// them.
class BroughtBack {
 public:
  explicit BroughtBack(std::vector<std::string> services) : services_(std::move(services)) {}
  ~BroughtBack();
  BroughtBack(const BroughtBack&) = delete;
  BroughtBack& operator=(const BroughtBack&) = delete;

 private:
  std::vector<std::string> services_;
};

/// All instances, restarted with these settings ("TURNSTILE_WATCHDOG_MS=600"), and without at the
/// end.
class InstancesWith {
 public:
  explicit InstancesWith(const std::vector<std::string>& settings);
  ~InstancesWith();
  InstancesWith(const InstancesWith&) = delete;
  InstancesWith& operator=(const InstancesWith&) = delete;
};

/// A service frozen (SIGSTOP) until thawed, at the latest at the end.
class Frozen : public harness::Frozen {
 public:
  explicit Frozen(std::string service) : harness::Frozen(bench(), std::move(service)) {}
};

/// true: this instance (all of them: 0) says that it sees this backend.
bool sees(int instance, const std::string& backend);

/// How often the server has carried out a command since it started, also inside scripts.
long calls(const std::string& service, const std::string& command);

/// The users of an event's sales on Redis, in the order of the ledger.
std::vector<std::string> buyersInOrder(const std::string& event);

}  // namespace turnstile::test
