// Figures over rounds. Machines are noisy, so nothing here averages: the median says what is usual,
// the range says how far apart the rounds were. A few rounds see only part of the noise (three of one and three
// of the other fall apart by mere luck one time in ten), so the whole range counts on either side.
#pragma once

#include <vector>

namespace turnstile::harness {

double median(std::vector<double> values);  // 0 for none

struct Spread {
  double median = 0, min = 0, max = 0;
  int rounds = 0;

  double relative() const;  // the range over the median: 0.03 reads "±3%"
};

Spread spreadOf(const std::vector<double>& values);

// True when the rounds cannot tell the two apart. One round shows no spread at all, so it borrows
// `assumed`, a relative range that is usual for a short run on a shared machine.
bool withinNoise(const Spread& a, const Spread& b, double assumed = 0.10);

}  // namespace turnstile::harness
