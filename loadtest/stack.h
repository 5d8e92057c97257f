// The local stack, as the harness uses it: started when nothing runs, adjusted to a number of
// instances, and left as it was found. What the harness started it stops; what the user started
// stays up. Works through scripts/stack, never by itself.
#pragma once

#include <json/value.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loadtest/service.h"

namespace turnstile::harness {

// The checkout: TURNSTILE_ROOT, else the parent of the directory this program is in. Throws
// std::runtime_error if it is none.
std::filesystem::path checkoutRoot();

class Stack {
 public:
  // `settings` ("TURNSTILE_LOCK_TTL_MS=1200") are for the instances.
  Stack(std::filesystem::path root, int basePort, bool keepUp, std::vector<std::string> settings = {});
  ~Stack();  // leave()
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  bool runs() const;

  // Brings it up, with so many instances if given. Throws std::runtime_error when `scripts/stack
  // up` fails.
  void ensure(std::optional<int> instances);
  void setInstances(int instances);
  int instances() const { return instances_; }

  // Down again if we started it, back to as many instances as we found otherwise. Also after an
  // exception or Ctrl-C.
  void leave();

  Service service() const;
  Json::Value description() const;  // stack.json, null when there is none
  std::filesystem::path runDir() const;

 private:
  void up(int instances);

  std::filesystem::path root_;
  int basePort_;
  bool keepUp_;
  std::vector<std::string> settings_;
  bool startedByUs_ = false;
  int instances_ = 0, found_ = 0;
};

}  // namespace turnstile::harness
