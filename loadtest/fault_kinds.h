// The conditions of the catalogue's promises, each staged on a real stack: what is done to servers
// and instances while a strategy sells. Where a moment must be met, a point of the lab holds the
// sale there; the ledger decides.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loadtest/scene.h"

namespace turnstile::harness {

struct FaultKind {
  std::string name;     // as in the promises
  std::string meaning;  // one line
  int seats;
  std::function<Judgement(Scene&)> stage;  // may leave services dead or frozen: putBack()
};

/// In the order of the matrix's columns.
const std::vector<FaultKind>& faultKinds();

/// What the instances of the stack must be told: locks live for about a second, so that outliving
/// one takes seconds; a request may take longer than any scene.
const std::vector<std::string>& faultSettings();

/// Every service runs again, and every instance sees every backend. Throws std::runtime_error
/// naming what does not.
void putBack(const Bench& bench);

}  // namespace turnstile::harness
