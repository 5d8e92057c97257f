#include "loadtest/compare.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "loadtest/catalogue.h"
#include "loadtest/environment.h"
#include "loadtest/format.h"
#include "loadtest/interrupt.h"
#include "loadtest/measure.h"
#include "loadtest/output_dir.h"
#include "loadtest/plan.h"
#include "loadtest/progress.h"
#include "loadtest/report_html.h"
#include "loadtest/report_markdown.h"
#include "loadtest/results.h"
#include "loadtest/stack.h"
#include "loadtest/table.h"

namespace turnstile::harness {
namespace {

std::vector<std::string> namesOf(const std::vector<Described>& strategies) {
  std::vector<std::string> names;
  for (const auto& one : strategies) names.push_back(one.name);
  return names;
}

// Those asked for, in the catalogue's order, and always the control.
std::vector<Described> chosenFrom(const std::vector<Described>& all,
                                  const CompareOptions& options) {
  checkStrategies(options.strategies, namesOf(all));
  std::vector<Described> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const Described& one) {
    const auto& asked = options.strategies;
    const bool wanted =
        asked.empty() || std::find(asked.begin(), asked.end(), one.name) != asked.end();
    const auto& kinds = one.stocks;
    const bool fits = options.stockKind.empty() ||
                      std::find(kinds.begin(), kinds.end(), options.stockKind) != kinds.end();
    if (wanted && !fits)
      std::fprintf(stderr, "left out: %s does not sell from %s\n", one.name.c_str(),
                   options.stockKind.c_str());
    return (wanted || one.name == kControl) && fits;
  });
  return chosen;
}

std::string promisedOf(const std::vector<Described>& strategies, const Run& run) {
  for (const auto& one : strategies) {
    if (one.name != run.strategy) continue;
    const Promised* promised = one.forInstances(run.point.instances);
    return promised ? promised->verdict : "nothing";
  }
  return "";
}

class Comparison {
 public:
  Comparison(Results& results, Stack& stack, const OutputDir& out, const HtmlReport& html,
             std::filesystem::path script)
      : results_(results),
        stack_(stack),
        out_(out),
        html_(html),
        script_(std::move(script)),
        progress_(results.plannedRuns, results.options.rounds, results.options.scan.has_value()) {}

  void run(const std::vector<Point>& points) {
    for (const Point& point : points) {
      stack_.setInstances(point.instances);
      runPoint(point);
      if (interrupted()) break;
    }
    results_.complete =
        static_cast<int>(results_.runs.size()) == results_.plannedRuns && !interrupted();
    results_.finishedAt = utcNow();
    progress_.close();
    save();
  }

 private:
  void runPoint(const Point& point) {
    const Service service = stack_.service();
    const Measurer measurer(service, results_.options, script_,
                            [this](double rate) { progress_.live(rate); });
    const auto names = namesOf(results_.catalogue);
    if (results_.options.warmup > 0) progress_.say("warming up (" + describe(point) + "), dropped");
    for (const auto& name : names) {
      if (!interrupted()) measurer.warmUp(name, point);
    }
    double ceiling = 0;
    std::size_t since = results_.runs.size();  // where the runs after the last ceiling begin
    for (int round = 1; round <= results_.options.rounds; ++round) {
      for (const auto& name : planRound(names, results_.options.seed, round)) {
        if (interrupted()) return;
        Run run;
        run.point = point;
        run.round = round;
        run.strategy = name;
        run.ceiling = ceiling;
        const std::string promised = promisedOf(results_.catalogue, run);
        progress_.begin(run);
        measurer.measure(run, promised);
        if (interrupted()) return;  // cut short: it would only look slow
        if (name == kPing) {
          run.ceiling = ceiling = run.salesPerSecond();
          // The machine drifted meanwhile: what ran in between is held against both ends.
          for (; since < results_.runs.size(); ++since)
            results_.runs[since].ceiling = (results_.runs[since].ceiling + ceiling) / 2;
        }
        progress_.end(run, promised);
        results_.runs.push_back(std::move(run));
        if (name == kPing) since = results_.runs.size();
        save();
      }
    }
  }

  void save() const {
    const Json::Value json = toJson(results_);
    out_.write("results.json", toText(json));
    out_.write("report.md", markdownReport(results_));
    out_.write("report.html", html_.page(json, out_.path()));
  }

  Results& results_;
  Stack& stack_;
  const OutputDir& out_;
  const HtmlReport& html_;
  std::filesystem::path script_;
  Progress progress_;
};

void printTables(const Results& results, const Summary& summary) {
  const bool colour = isatty(STDOUT_FILENO) == 1;
  for (const auto& ceiling : summary.ceilings) {
    std::vector<Row> rows;
    std::copy_if(summary.rows.begin(), summary.rows.end(), std::back_inserter(rows),
                 [&](const Row& row) { return row.point == ceiling.point; });
    std::printf("\n%s; %s\n\n", describe(ceiling.point).c_str(), describe(ceiling).c_str());
    std::printf("%s", asText(verdictTable(rows, results.options.sellOut), colour).c_str());
    if (const Table locks = lockTable(rows); !locks.rows.empty())
      std::printf("\n%s", asText(locks, false).c_str());
    for (const Row& row : rows) {
      for (const auto& warning : row.warnings)
        std::printf("note: %s: %s\n", row.strategy.c_str(), warning.c_str());
    }
  }
}

void printEnd(const Results& results, const Summary& summary, const OutputDir& out) {
  int rounds = 0;  // fewer than planned after Ctrl-C
  for (const Row& row : summary.rows) rounds = std::max(rounds, row.salesPerSecond.rounds);
  std::printf(
      "\n%s %s. ≈: within the noise of the row above%s. Requests in flight when wrk stopped are "
      "allowed for.\n",
      rounds > 1 ? ("Median of " + std::to_string(rounds) + " rounds,").c_str() : "One round,",
      rounds > 1 ? "± the range" : "so no spread is known",
      rounds > 1 ? "" : " (10 % assumed)");
  for (const auto& finding : summary.findings) std::printf("  %s\n", finding.c_str());
  if (!results.complete) {
    std::printf("Interrupted: %zu of %d runs were made and are kept.\n", results.runs.size(),
                results.plannedRuns);
  } else if (summary.exitCode == 0) {
    std::printf("Every verdict is the promised one.\n");
  }
  std::printf("Seed %llu. Report: %s\n", static_cast<unsigned long long>(results.options.seed),
              (out.path() / "report.html").c_str());
}

int plannedRuns(const CompareOptions& options, std::size_t strategies, std::size_t points) {
  const auto perRound = planRound(std::vector<std::string>(strategies, "x"), 1, 1).size();
  return static_cast<int>(perRound * points) * options.rounds;
}

}  // namespace

int compare(CompareOptions options, const std::vector<std::string>& command) {
  catchInterrupts();
  const auto root = checkoutRoot();
  const HtmlReport html(
      root);  // before anything runs: a missing package should not cost five minutes
  Results results;
  results.catalogue = chosenFrom(describedStrategies(), options);
  if (options.seed == 0) options.seed = std::random_device{}();
  results.options = options;
  results.command = command;

  Stack stack(root, options.basePort, options.keepUp);
  const bool scansInstances = options.scan && options.scan->key == "instances";
  stack.ensure(scansInstances ? std::optional<int>(options.scan->values.front())
                              : options.instances);
  const auto points = options.points(stack.instances());
  results.plannedRuns = plannedRuns(options, results.catalogue.size(), points.size());
  results.environment = environmentStamp(root, stack.runDir(), stack.description());
  results.startedAt = utcNow();

  const OutputDir out(root, options.out);
  std::fprintf(stderr, "%zu strategies, rounds: %d, runs: %d of %g s, seed %llu\n",
               results.catalogue.size(), options.rounds, results.plannedRuns, options.duration,
               static_cast<unsigned long long>(options.seed));
  Comparison(results, stack, out, html, root / "loadtest" / "lock.lua").run(points);
  const Summary summary = results.summary();
  printTables(results, summary);
  printEnd(results, summary, out);
  std::fflush(stdout);
  return summary.exitCode;
}

}  // namespace turnstile::harness
