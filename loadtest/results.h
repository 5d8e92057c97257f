// A whole comparison, as it is written to results.json and as every report reads it. The format is
// docs/results-schema.json.
#pragma once

#include <json/value.h>

#include <cstdint>
#include <string>
#include <vector>

#include "loadtest/catalogue.h"
#include "loadtest/compare_options.h"
#include "loadtest/run.h"
#include "loadtest/summary.h"

namespace turnstile::harness {

inline constexpr int kResultsVersion = 1;

struct Results {
  std::string startedAt, finishedAt;  // finishedAt is empty while it runs
  bool complete = false;              // every planned run was made
  std::vector<std::string> command;
  CompareOptions options;
  int plannedRuns = 0;
  Json::Value environment;
  std::vector<Described> catalogue;  // of the strategies compared
  std::vector<Run> runs;

  Summary summary() const { return summarize(runs, catalogue, complete); }
};

Json::Value toJson(const Results& results);
std::string toText(const Json::Value& json);

}  // namespace turnstile::harness
