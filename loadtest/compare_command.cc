#include <memory>

#include "loadtest/compare.h"

namespace turnstile::harness {

void addCompare(CLI::App& app, const std::vector<std::string>& command, int& exitCode) {
  struct Given {
    CompareOptions options;
    std::string strategies, scan;
    int instances = 0;
    long stock = 0;
  };
  auto given = std::make_shared<Given>();
  CompareOptions& options = given->options;
  CLI::App* sub = app.add_subcommand(
      "compare", "Sell with each strategy in turn; audit, compare with the /ping ceiling, report");
  // the last one wins, so that a script can put its defaults before the user's words
  sub->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  sub->add_option("--strategies", given->strategies,
                  "Comma list (default: all). The control `none` is always added");
  sub->add_option("--instances", given->instances,
                  "App instances behind nginx (default: as they run, else 3)")
      ->check(CLI::Range(1, 16));
  sub->add_option("--connections", options.connections, "Buyers at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  sub->add_option("--duration", options.duration, "Seconds a run; fractions are fine")
      ->check(CLI::Range(0.2, 600.0))
      ->capture_default_str();
  sub->add_option("--rounds", options.rounds, "How often each strategy runs")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  sub->add_option("--warmup", options.warmup, "Seconds a strategy runs beforehand, dropped")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  sub->add_option("--stock", given->stock,
                  "Seats (default: more than can be sold in time; 2000 with --sell-out)")
      ->check(CLI::Range(1L, 100'000'000L));
  sub->add_option("--stock-kind", options.stockKind,
                  "Where the count lives (default: each strategy's own choice)")
      ->check(CLI::IsMember({"redis", "mysql"}));
  sub->add_option(
      "--scan", given->scan,
      "Repeat for connections=16,64,256 or instances=1,2,4; the report draws the curve");
  sub->add_flag("--sell-out", options.sellOut,
                "Sell a small stock to the last seat and check the end");
  sub->add_option("--seed", options.seed, "Order of the runs (default: a new one, printed)");
  sub->add_option("--threads", options.threads, "Threads of wrk")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  sub->add_option("--out", options.out,
                  "Directory for the files (default: out/<time> with the link out/latest)");
  sub->add_option("--base-port", options.basePort, "Which stack")
      ->check(CLI::Range(1024, 65400))
      ->capture_default_str();
  sub->add_flag("--keep-up", options.keepUp, "Leave a stack running that this comparison started");
  sub->footer("Exit: 0 every verdict is the promised one; 1 one is not; 2 could not tell.");
  sub->callback([given, sub, &command, &exitCode] {
    CompareOptions& chosen = given->options;
    try {
      if (!given->strategies.empty()) chosen.strategies = parseList(given->strategies);
      if (!given->scan.empty()) chosen.scan = parseScan(given->scan);
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError(e.what());
    }
    if (sub->count("--instances") > 0) chosen.instances = given->instances;
    if (sub->count("--stock") > 0) chosen.stock = given->stock;
    exitCode = compare(chosen, command);
  });
}

}  // namespace turnstile::harness
