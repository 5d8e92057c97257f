// What `compare` can be told, with its defaults. Values are checked here, once; what comes out is
// usable as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "loadtest/run.h"

namespace turnstile::harness {

struct Scan {
  std::string key;  // connections or instances
  std::vector<int> values;
};

struct CompareOptions {
  std::vector<std::string> strategies;  // empty: all of the catalogue
  std::optional<int> instances;         // empty: as many as run already, else 3
  std::optional<long> stock;            // empty: enough for the whole run (sell-out: 2000)
  std::string stockKind;                // empty: each strategy's default
  int connections = 64;
  int threads = 2;
  double duration = 1.5;  // seconds a run
  double warmup = 0.4;    // seconds a strategy, dropped
  int rounds = 3;
  std::optional<Scan> scan;
  bool sellOut = false;
  bool keepUp = false;
  int basePort = 8080;
  std::uint64_t seed = 0;     // 0: from the clock, and printed
  std::filesystem::path out;  // empty: out/<time> in the checkout, with the link out/latest

  long seats() const;
  std::chrono::milliseconds runTime() const;
  std::vector<Point> points(int instancesNow) const;
};

// Throw std::invalid_argument saying what is allowed.
Scan parseScan(const std::string& text);                      // "connections=16,64,256"
std::vector<std::string> parseList(const std::string& text);  // "a,b": no empty entries, no repeats
void checkStrategies(const std::vector<std::string>& asked, const std::vector<std::string>& known);

}  // namespace turnstile::harness
