#include "loadtest/summary.h"

#include <algorithm>
#include <functional>

#include "loadtest/plan.h"
#include "loadtest/verdict.h"

namespace turnstile::harness {
namespace {

using Group = std::vector<const Run*>;

Spread over(const Group& runs, const std::function<double(const Run&)>& figure) {
  std::vector<double> values;
  for (const Run* run : runs) {
    if (run->client.requests > 0) values.push_back(figure(*run));
  }
  return spreadOf(values);
}

LockFigures lockOver(const Group& runs) {
  LockFigures sum;
  std::vector<double> p50, p99;
  for (const Run* run : runs) {
    const LockFigures& lock = run->lock;
    sum.locks |= lock.locks;
    sum.attempts += lock.attempts;
    sum.granted += lock.granted;
    sum.refused += lock.refused;
    sum.lost += lock.lost;
    sum.fenceRefused += lock.fenceRefused;
    sum.soldPerInstance.resize(std::max(sum.soldPerInstance.size(), lock.soldPerInstance.size()));
    for (std::size_t i = 0; i < lock.soldPerInstance.size(); ++i)
      sum.soldPerInstance[i] += lock.soldPerInstance[i];
    p50.push_back(lock.waitP50Ms);
    p99.push_back(lock.waitP99Ms);
  }
  sum.waitP50Ms = median(p50);
  sum.waitP99Ms = median(p99);
  return sum;
}

void addCounts(Row& row, const Group& runs) {
  double busy = 0, answers = 0;
  bool ranOut = false;
  for (const Run* run : runs) {
    busy += static_cast<double>(run->client.busy);
    answers += static_cast<double>(run->client.requests);
    row.inFlightAllowed += run->judgement.inFlightAllowed;
    ranOut |= run->secondsToEmpty == 0 && run->client.soldOut > 0;
    if (!run->audit) continue;
    row.sold += run->audit->sold;
    row.doubleSold += run->audit->doubleSold;
    row.lost += run->audit->lost();
  }
  row.busyShare = answers > 0 ? busy / answers : 0;
  if (ranOut)
    row.warnings.push_back(
        "the stock ran out before the end: sales/s is too low, give a larger --stock");
}

void addVerdict(Row& row, const Group& runs) {
  row.verdict = Verdict::safe;
  for (const Run* run : runs) {
    const Verdict so = worst(row.verdict, run->judgement.verdict);
    if (so != row.verdict || row.reason.empty()) row.reason = run->judgement.reason;
    row.verdict = so;
  }
}

Row rowOf(const Group& runs, const std::vector<Described>& catalogue) {
  Row row;
  row.point = runs.front()->point;
  row.strategy = runs.front()->strategy;
  row.salesPerSecond = over(runs, [](const Run& r) { return r.salesPerSecond(); });
  row.ofCeiling = over(runs, [](const Run& r) { return r.ofCeiling(); });
  row.p50 = over(runs, [](const Run& r) { return r.client.latency.at(50); });
  row.p99 = over(runs, [](const Run& r) { return r.client.latency.at(99); });
  row.secondsToEmpty = over(runs, [](const Run& r) { return r.secondsToEmpty; }).median;
  row.lock = lockOver(runs);
  addCounts(row, runs);
  addVerdict(row, runs);
  for (const auto& described : catalogue) {
    if (described.name != row.strategy) continue;
    row.family = described.family;
    row.about = described.summary;
    if (const Promised* promised = described.forInstances(row.point.instances)) {
      row.promised = promised->verdict;
      row.promisedReason = promised->reason;
    }
  }
  return row;
}

// The control decides what the others' figures are worth: a load under which it does not oversell
// would let anything pass.
void holdAgainstPromise(std::vector<Row>& rows) {
  bool weak = false;
  for (Row& row : rows) {
    if (row.strategy == kControl && row.promised == "oversold" && row.verdict == Verdict::safe) {
      row.verdict = Verdict::unknown;
      row.reason = "load too weak: the control did not oversell";
      weak = true;
    }
  }
  for (Row& row : rows) {
    const bool luckySafe = weak && row.promised == "oversold" && row.verdict == Verdict::safe;
    if (row.promised.empty() || row.verdict == Verdict::unknown || luckySafe) {
      row.promise = Promise::untold;
    } else {
      row.promise = row.promised == nameOf(row.verdict) ? Promise::kept : Promise::broken;
    }
  }
}

void rank(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.ofCeiling.median, a.salesPerSecond.median) >
           std::pair(b.ofCeiling.median, b.salesPerSecond.median);
  });
  double fastest = 0;
  for (const Row& row : rows) {
    if (row.verdict == Verdict::safe) fastest = std::max(fastest, row.salesPerSecond.median);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].ofFastest = fastest > 0 ? rows[i].salesPerSecond.median / fastest : 0;
    rows[i].tiedWithAbove = i > 0 && rows[i].salesPerSecond.rounds > 0 &&
                            withinNoise(rows[i].ofCeiling, rows[i - 1].ofCeiling);
  }
}

std::string finding(const Row& row) {
  const std::string where = " (" + std::to_string(row.point.connections) + " connections, " +
                            std::to_string(row.point.instances) + " instances)";
  if (row.promise == Promise::broken) {
    return row.strategy + " is " + nameOf(row.verdict) + ", promised " + row.promised + where +
           (row.reason.empty() ? "" : ": " + row.reason);
  }
  if (row.promised.empty()) return row.strategy + ": the catalogue promises nothing" + where;
  return row.strategy + " is unknown" + where + (row.reason.empty() ? "" : ": " + row.reason);
}

std::vector<Point> pointsOf(const std::vector<Run>& runs) {
  std::vector<Point> points;
  for (const Run& run : runs) {
    if (std::find(points.begin(), points.end(), run.point) == points.end())
      points.push_back(run.point);
  }
  return points;
}

}  // namespace

const char* nameOf(Promise promise) {
  switch (promise) {
    case Promise::kept:
      return "kept";
    case Promise::broken:
      return "broken";
    case Promise::untold:
      return "untold";
  }
  return "untold";
}

Summary summarize(const std::vector<Run>& runs, const std::vector<Described>& catalogue,
                  bool complete) {
  Summary summary;
  for (const Point& point : pointsOf(runs)) {
    std::vector<std::pair<std::string, Group>> groups;
    for (const Run& run : runs) {
      if (!(run.point == point)) continue;
      auto found = std::find_if(groups.begin(), groups.end(),
                                [&](const auto& g) { return g.first == run.strategy; });
      if (found == groups.end()) found = groups.insert(found, {run.strategy, {}});
      found->second.push_back(&run);
    }
    std::vector<Row> rows;
    for (const auto& [name, group] : groups) {
      if (name == kPing) {
        Group answered;
        std::copy_if(group.begin(), group.end(), std::back_inserter(answered),
                     [](const Run* run) { return run->judgement.verdict == Verdict::safe; });
        summary.ceilings.push_back(
            {point, over(answered, [](const Run& r) { return r.salesPerSecond(); })});
      } else {
        rows.push_back(rowOf(group, catalogue));
      }
    }
    holdAgainstPromise(rows);
    rank(rows);
    summary.rows.insert(summary.rows.end(), rows.begin(), rows.end());
  }
  bool broken = false, untold = summary.rows.empty() || !complete;
  for (const Row& row : summary.rows) {
    if (row.promise == Promise::kept) continue;
    (row.promise == Promise::broken ? broken : untold) = true;
    summary.findings.push_back(finding(row));
  }
  summary.exitCode = broken ? 1 : untold ? 2 : 0;
  return summary;
}

}  // namespace turnstile::harness
