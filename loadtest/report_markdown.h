// report.md: the tables, what they mean, and the environment, to paste into an issue or a README.
#pragma once

#include <string>

#include "loadtest/results.h"

namespace turnstile::harness {

std::string markdownReport(const Results& results);

std::string environmentSection(const Json::Value& environment);

}  // namespace turnstile::harness
