// What the user sees while waiting. On a terminal one line that is rewritten: run, round, strategy,
// live sales/s, time left. Elsewhere (a log, CI) one plain line for each finished run. Everything
// goes to stderr: stdout is for the result.
#pragma once

#include <chrono>
#include <string>

#include "loadtest/run.h"

namespace turnstile::harness {

class Progress {
 public:
  Progress(int plannedRuns, int rounds, bool scanning);

  void say(const std::string& line);  // a line of its own that stays
  void begin(const Run& run);
  void live(double salesPerSecond);  // only shown on a terminal
  void end(const Run& run, const std::string& promised);
  void close();

 private:
  std::string head(const Run& run) const;
  std::string timeLeft() const;
  void show(const std::string& line) const;

  int planned_, rounds_, done_ = 0;
  bool scanning_, terminal_;
  std::string current_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace turnstile::harness
