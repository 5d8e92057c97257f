// Reads what loadtest/lock.lua prints at the end of a wrk run: the line "TURNSTILE {json}".
#pragma once

#include <string>

#include "loadtest/run.h"

namespace turnstile::harness {

// Throws std::runtime_error with wrk's own words when there is no such line (wrk could not connect,
// the script failed).
ClientCount parseWrkOutput(const std::string& output);

}  // namespace turnstile::harness
