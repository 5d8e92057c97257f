// Runs wrk with loadtest/lock.lua against the service for a given time. wrk itself knows only whole
// seconds, so it is stopped by SIGINT, upon which it ends its run and reports as usual; should it
// not, it is killed.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "loadtest/run.h"

namespace turnstile::harness {

struct WrkOrder {
  std::filesystem::path script;
  std::string url;
  std::string strategy;  // or kPing
  std::string event;
  std::string stockKind;  // empty: the strategy's default
  int threads = 2;
  int connections = 64;
  bool collectSeats = false;
  std::chrono::milliseconds duration{2000};
  std::chrono::milliseconds tick{250};  // how often WhileRunning is called
};

std::vector<std::string> argvOf(const WrkOrder& order);

// Called at every tick; true stops the run early.
using WhileRunning = std::function<bool(std::chrono::milliseconds elapsed)>;

// Throws std::runtime_error when wrk gives no report.
ClientCount runWrk(const WrkOrder& order, const WhileRunning& tick);

}  // namespace turnstile::harness
