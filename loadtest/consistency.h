// The checker of stale reads: reads and writes versioned products through all instances at once and
// counts each read that began after a write was acknowledged and returned an older version. One
// thread sends and hears everything, so "after" is the order in which it happened here, with no
// clock in between.
#pragma once

#include <json/value.h>

#include <string>
#include <vector>

namespace turnstile::harness {

struct ConsistencyOrder {
  int basePort;
  int instances;
  std::string adminToken;
  std::string policy;
  long operations = 100'000;
  int connections = 48;
  int products = 16;
  double writeShare = 0.05;
  // A share of the reads pauses between reading the database and filling the cache (lab): the race,
  // widened.
  double pausedShare = 0;
  int pauseMs = 30;
  std::uint64_t seed = 1;
};

struct ConsistencyFigures {
  std::string policy;
  long reads = 0, writes = 0, staleReads = 0, busy = 0, errors = 0;
  long mostVersionsBehind = 0;
  std::string firstError;
};

// Throws std::runtime_error when the service does not answer, or not in time.
ConsistencyFigures checkConsistency(const ConsistencyOrder& order);

Json::Value toJson(const ConsistencyFigures& figures);

}  // namespace turnstile::harness
