// The verdict of a run, from three witnesses that do not know each other: the ledger (sales,
// seats), the stock (what is left), and the buyers (how many heard 200). They must agree, allowing
// only for the requests that were in flight when wrk stopped; where they do not, that is the
// verdict: `disagree`.
#pragma once

#include "loadtest/run.h"

namespace turnstile::harness {

// A run was disturbed, and shows nothing about the strategy, when more than this share of the
// answers were failures, or as many as there were connections: then each of them met the trouble.
inline constexpr double kDisturbed = 0.001;

Judgement judge(const Audit& audit, const ClientCount& client);

// For a run that was disturbed on purpose: failures say nothing against it, nor does a sale of nothing.
Judgement judgeUnderFault(const Audit& audit, const ClientCount& client);

// In addition, for a sale to the last seat: everything sold, nothing left, and the buyers hold
// distinct seats of 1..stock.
// A sale that stalled with seats left is stuck; one that was merely too slow is unknown.
Judgement judgeSellOut(const Audit& audit, const ClientCount& client, bool stalled = false);

// Over several rounds the worst one counts: one oversold round makes a strategy oversold.
Verdict worst(Verdict a, Verdict b);

}  // namespace turnstile::harness
