// Reads the text format of /metrics and turns two readings, before and after a run, into the lock's
// figures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "loadtest/run.h"

namespace turnstile::harness {

// "name{a="x",b="y"}" -> value, labels sorted by name. Comments, and lines it cannot read, are left
// out.
using Metrics = std::map<std::string, double>;

Metrics parseMetrics(const std::string& text);

// Key of a sample as parseMetrics writes it.
std::string metricKey(const std::string& name, const std::map<std::string, std::string>& labels);

// One Metrics per instance, in the same order before and after.
LockFigures lockFigures(const std::string& strategy, const std::vector<Metrics>& before,
                        const std::vector<Metrics>& after);

// Sales of a strategy over all instances so far.
double soldIn(const std::vector<Metrics>& readings, const std::string& strategy);

// Upper bound -> how many were at or below it (cumulative). Interpolates inside a bucket, as
// Prometheus does; seconds.
double quantileOf(const std::map<double, double>& buckets, double quantile);

}  // namespace turnstile::harness
