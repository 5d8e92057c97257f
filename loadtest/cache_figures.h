// What the scoreboard shows of one policy, and whether that is what the policy promised.
#pragma once

#include <json/value.h>

#include <string>
#include <vector>

#include "cache/policy.h"
#include "loadtest/table.h"

namespace turnstile::harness {

struct CacheFigures {
  std::string policy;
  std::vector<int> dbReads;      // one an expiry
  std::vector<double> windowMs;  // latency of every answer whose request began in a rebuild window
  long answers = 0, waited = 0, stale = 0, errors = 0;  // in the windows; waited: for the database
  std::string firstError;

  int leastReads() const;
  int mostReads() const;
  double latency(double quantile) const;  // REQUIRES: windowMs is sorted
};

struct CacheVerdict {
  enum class Kind : std::uint8_t { kept, broken, untold } kind;
  std::string reason;
};
CacheVerdict judge(const CacheFigures& figures, const CachePolicySpec& spec, int instances);

Table cacheTable(const std::vector<CacheFigures>& all, int instances);
Json::Value toJson(const CacheFigures& figures, int instances);

const CachePolicySpec& specOf(const std::string& policy);  // REQUIRES: it exists

}  // namespace turnstile::harness
