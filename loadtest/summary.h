// From runs to rows: one row a strategy and scan point, with its figures over the rounds, its worst
// verdict, and whether that is the promised one. Pure: the same runs give the same rows, whether
// live, after Ctrl-C or in a test.
#pragma once

#include <string>
#include <vector>

#include "loadtest/catalogue.h"
#include "loadtest/run.h"
#include "loadtest/statistics.h"

namespace turnstile::harness {

inline constexpr const char* kControl =
    "none";  // runs in every comparison; it must oversell, or the load proves nothing

enum class Promise { kept, broken, untold };
const char* nameOf(Promise);

struct Row {
  Point point;
  std::string strategy, family, about;
  Spread salesPerSecond, ofCeiling, p50, p99;
  double ofFastest = 0;        // of the fastest safe strategy at this point; 0: none is safe
  bool tiedWithAbove = false;  // within the noise of the row above
  double busyShare = 0;        // of all answers
  long sold = 0, doubleSold = 0, lost = 0, inFlightAllowed = 0;
  double secondsToEmpty = 0;  // sell-out mode, median
  Verdict verdict = Verdict::unknown;
  std::string reason;
  std::string promised, promisedReason;  // empty: nothing is promised
  Promise promise = Promise::untold;
  LockFigures lock;  // sums; the waits are medians over the rounds
  std::vector<std::string> warnings;
};

struct Ceiling {
  Point point;
  Spread answersPerSecond;
};

struct Summary {
  std::vector<Row> rows;  // by point, then fastest first
  std::vector<Ceiling> ceilings;
  std::vector<std::string> findings;  // one sentence for each promise not kept or not told
  int exitCode = 2;                   // 0 all kept, 1 one broken, 2 could not tell
};

// `complete` is false while runs are still to come: then the exit code is not 0.
Summary summarize(const std::vector<Run>& runs, const std::vector<Described>& catalogue,
                  bool complete);

}  // namespace turnstile::harness
