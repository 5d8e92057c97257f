// The fault matrix as data: a cell for every promise of the catalogue, what was seen there, and
// what that means for the exit code. No stack here, so that it can be tested.
#pragma once

#include <json/value.h>

#include <string>
#include <vector>

#include "loadtest/catalogue.h"
#include "loadtest/run.h"
#include "loadtest/table.h"

namespace turnstile::harness {

struct Cell {
  std::string strategy, fault;
  Promised promised;
  Judgement seen;
  double seconds = 0;

  bool played = false;
  bool kept() const { return played && nameOf(seen.verdict) == promised.verdict; }
  // Nothing is known: not staged, or a control that did not fail, so the load was too weak to mean
  // anything.
  bool untold() const {
    return !played || seen.verdict == Verdict::unknown ||
           (strategy == "none" && seen.verdict == Verdict::safe);
  }
};

/// A cell for each promise of these strategies for one of these faults (both empty: all), fault by
/// fault in their order. The control `none` comes with contention. Throws std::invalid_argument
/// saying what is allowed when a name is unknown, or no promise is left.
std::vector<Cell> plannedCells(const std::vector<Described>& catalogue,
                               const std::vector<std::string>& faults,
                               const std::vector<std::string>& askedStrategies,
                               const std::vector<std::string>& askedFaults);

/// 0: every promise kept; 1: one is not; 2: could not tell.
int exitCodeOf(const std::vector<Cell>& cells);

/// Strategies down, faults across by number; a mark for each verdict, and after it "!" where
/// another was promised.
Table matrixTable(const std::vector<Cell>& cells, const std::vector<std::string>& faults);
std::string markOf(Verdict verdict);

Json::Value toJson(const std::vector<Cell>& cells);

}  // namespace turnstile::harness
