// What one run of wrk against one strategy showed: the raw material of the table, the results file
// and the reports.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace turnstile::harness {

struct Point {  // the settings a scan varies
  int connections = 64;
  int instances = 3;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Latency {  // milliseconds
  double mean = 0, max = 0;
  std::vector<std::pair<double, double>> percentiles;  // percent, ms; ascending

  double at(double percent) const;  // 0 when that percentile was not reported
};

struct ClientCount {  // what the buyers were told
  double seconds = 0;
  int connections = 0;
  long requests = 0, issued = 0;  // issued and unanswered = in flight when wrk stopped
  long sold = 0, soldOut = 0, busy = 0, unknown = 0, error = 0;
  long connectErrors = 0, readErrors = 0, writeErrors = 0, timeouts = 0;
  Latency latency;
  std::string firstError;
  std::vector<long> seats;  // only when asked for

  long inFlight() const { return issued > requests ? issued - requests : 0; }
};

struct Audit {  // GET /events/{id}: the ledger and the stock
  long stock = 0, remaining = 0, sold = 0, distinctSeats = 0, doubleSold = 0;
  std::string verdict;
  std::vector<long> doubleSeats;

  long oversold() const { return sold > stock ? sold - stock : 0; }
  long lost() const { return stock - remaining > sold ? stock - remaining - sold : 0; }
  friend bool operator==(const Audit&, const Audit&) = default;
};

struct LockFigures {   // from /metrics of every instance, as the difference over the run
  bool locks = false;  // this strategy takes a lock at all
  double waitP50Ms = 0, waitP99Ms = 0;
  double attempts = 0, granted = 0, refused = 0, lost = 0, fenceRefused = 0;
  std::vector<double> soldPerInstance;

  double fairness()
      const;  // Jain's index of the instances' shares: 1 = even, 1/n = one took all; 0 = not known
};

enum class Verdict { safe, oversold, lost, stuck, disagree, unknown };
const char* nameOf(Verdict);

struct Judgement {
  Verdict verdict = Verdict::unknown;
  std::string reason;  // one sentence; empty when safe and nothing to add
  long inFlightAllowed = 0;
};

struct Run {
  Point point;
  int round = 0;         // 1-based
  std::string strategy;  // or kPing
  std::string event;
  std::string startedAt;
  ClientCount client;
  std::optional<Audit> audit;
  LockFigures lock;
  Judgement judgement;
  double ceiling = 0;         // answers/s of /ping: mean of the runs before and after; 0: not measured
  double secondsToEmpty = 0;  // sell-out mode: when the last seat went
  long soldSoFar = 0;         // as the ledger was last seen during a sell-out
  std::chrono::milliseconds lastSaleAt{0};
  std::chrono::milliseconds nextAudit{0};
  bool stalled = false;  // a sell-out in which nothing was sold any more

  double salesPerSecond() const;
  double ofCeiling() const { return ceiling > 0 ? salesPerSecond() / ceiling : 0; }
};

}  // namespace turnstile::harness
