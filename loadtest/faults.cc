#include "loadtest/faults.h"

#include <json/value.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "loadtest/compare_options.h"
#include "loadtest/environment.h"
#include "loadtest/fault_kinds.h"
#include "loadtest/fault_matrix.h"
#include "loadtest/format.h"
#include "loadtest/interrupt.h"
#include "loadtest/output_dir.h"
#include "loadtest/report_command.h"
#include "loadtest/report_markdown.h"
#include "loadtest/results.h"
#include "loadtest/stack.h"

namespace turnstile::harness {
namespace {

constexpr int kFaultInstances = 3;  // the scenes name them

std::vector<std::string> faultNames() {
  std::vector<std::string> names;
  for (const FaultKind& kind : faultKinds()) names.push_back(kind.name);
  return names;
}

const FaultKind& kindOf(const Cell& cell) {
  return *std::find_if(faultKinds().begin(), faultKinds().end(),
                       [&](const FaultKind& kind) { return kind.name == cell.fault; });
}

void printList(const std::vector<Cell>& cells) {
  for (const FaultKind& kind : faultKinds()) {
    std::string strategies;
    for (const Cell& cell : cells)
      if (cell.fault == kind.name)
        strategies += "  " + cell.strategy +
                      (cell.promised.verdict == "safe" ? "" : " (" + cell.promised.verdict + ")") +
                      "\n";
    if (!strategies.empty())
      std::printf("%s: %s\n%s", kind.name.c_str(), kind.meaning.c_str(), strategies.c_str());
  }
}

void play(Cell& cell, const Bench& bench, const Service& service,
          const std::vector<Described>& catalogue) {
  const auto start = std::chrono::steady_clock::now();
  const auto strategy = std::find_if(catalogue.begin(), catalogue.end(), [&](const Described& one) {
    return one.name == cell.strategy;
  });
  try {
    Scene scene(bench, service, *strategy, kindOf(cell).seats);
    cell.seen = kindOf(cell).stage(scene);
  } catch (const std::exception& problem) {
    cell.seen = {Verdict::unknown, problem.what(), 0};
  }
  putBack(bench);
  cell.played = true;
  cell.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string lineOf(const Cell& cell) {
  std::string line = cell.fault + "  " + cell.strategy + "  " + nameOf(cell.seen.verdict);
  if (!cell.kept()) line += ", promised " + cell.promised.verdict;
  return cell.seen.reason.empty() ? line : line + ": " + cell.seen.reason;
}

Json::Value describe(const std::vector<Cell>& cells, const std::vector<std::string>& command,
                     const std::string& started, const Json::Value& environment) {
  Json::Value out;
  out["version"] = 1;
  out["started_at"] = started;
  for (const std::string& word : command) out["command"].append(word);
  for (const std::string& setting : faultSettings()) out["settings"].append(setting);
  out["environment"] = environment;
  for (const FaultKind& kind : faultKinds()) {
    Json::Value& one = out["faults"].append(Json::objectValue);
    one["name"] = kind.name;
    one["meaning"] = kind.meaning;
  }
  out["cells"] = toJson(cells);
  return out;
}

constexpr const char* kLegend =
    "✓ safe  ✗ oversold  ■ stuck  − lost  ≠ the witnesses disagree  ? could not tell  ! not as "
    "promised  · not played";

// The columns' numbers in words.
std::string columns(const std::vector<Cell>& cells) {
  std::string text;
  int number = 0;
  for (const FaultKind& kind : faultKinds())
    if (std::any_of(cells.begin(), cells.end(),
                    [&](const Cell& cell) { return cell.fault == kind.name; }))
      text += std::to_string(++number) + ". " + kind.name + ": " + kind.meaning + "\n";
  return text;
}

std::string conclusion(const std::vector<Cell>& cells) {
  const auto many = [&](auto which) { return std::count_if(cells.begin(), cells.end(), which); };
  const auto kept = many([](const Cell& cell) { return cell.kept(); });
  const auto played = many([](const Cell& cell) { return cell.played; });
  const std::string of = " of " + std::to_string(cells.size());
  std::string text =
      static_cast<std::size_t>(played) == cells.size()
          ? ""
          : "Interrupted: " + std::to_string(played) + of + " were played and are kept. ";
  return text +
         (kept == played ? "Every verdict is the promised one: "
                         : "Not every verdict is the promised one: ") +
         std::to_string(kept) + of + ".";
}

std::string markdown(const std::vector<Cell>& cells, const std::vector<std::string>& command,
                     const std::string& started, const Json::Value& environment) {
  std::string text = "# Fault matrix of " + started + "\n\n`" + joined(command, " ");
  text += "`\n\n**" + conclusion(cells) + "**\n\n" + asMarkdown(matrixTable(cells, faultNames())) +
          "\n" + kLegend + "\n\n" + columns(cells) + "\n## Who fails, and why\n\n";
  for (const Cell& cell : cells)
    if (cell.played && cell.seen.verdict != Verdict::safe)
      text += "- " + lineOf(cell) + ". Why: " + cell.promised.reason + "\n";
  return text + "\n" + environmentSection(environment);
}

void printEnd(const std::vector<Cell>& cells) {
  std::printf("\n%s\n%s\n%s\n%s\n",
              asText(matrixTable(cells, faultNames()), isatty(STDOUT_FILENO) == 1).c_str(),
              columns(cells).c_str(), kLegend, conclusion(cells).c_str());
  for (const Cell& cell : cells)
    if (cell.played && !cell.kept()) std::printf("  %s\n", lineOf(cell).c_str());
}

}  // namespace

int faults(const FaultOptions& options, const std::vector<std::string>& command) {
  const auto catalogue = describedStrategies();
  auto cells = plannedCells(catalogue, faultNames(), options.strategies, options.faults);
  if (options.list) {
    printList(cells);
    return 0;
  }
  catchInterrupts();
  const auto root = checkoutRoot();
  Stack stack(root, options.basePort, false, faultSettings());
  if (stack.runs())
    throw std::invalid_argument(
        "a stack runs on port " + std::to_string(options.basePort) +
        "; faults kills servers and empties them, so it wants one of its own: "
        "choose another --base-port");
  stack.ensure(kFaultInstances);
  const Bench bench(root, options.basePort, stack.runDir());
  const Service service = stack.service();
  const OutputDir out(root, options.out);
  const std::string started = utcNow();
  const Json::Value environment = environmentStamp(root, stack.runDir(), stack.description());
  for (std::size_t i = 0; i < cells.size() && !interrupted(); ++i) {
    play(cells[i], bench, service, catalogue);
    std::fprintf(stderr, "[%zu/%zu] %s\n", i + 1, cells.size(), lineOf(cells[i]).c_str());
    out.write("matrix.json", toText(describe(cells, command, started, environment)));
    out.write("matrix.md", markdown(cells, command, started, environment));
  }
  printEnd(cells);
  drawReport(out.path());
  std::printf("Report: %s\n", (out.path() / "report.html").c_str());
  std::fflush(stdout);
  return exitCodeOf(cells);
}

void addFaults(CLI::App& app, const std::vector<std::string>& command, int& exitCode) {
  struct Given {
    FaultOptions options;
    std::string strategies, faults;
  };
  auto given = std::make_shared<Given>();
  FaultOptions& options = given->options;
  CLI::App* sub = app.add_subcommand("faults",
                                     "Put every promise of the catalogue to the test: crash, "
                                     "freeze, failover and more, by strategy");
  sub->add_option("--strategies", given->strategies, "Comma list (default: all)");
  sub->add_option("--faults", given->faults, "Comma list (default: all); --list names them");
  sub->add_flag("--list", options.list, "Say who promises what for which fault, stage nothing");
  sub->add_option(
      "--out", options.out,
      "Directory for the files (default: out/<time> with the link out/latest); with a comparison's "
      "results.json in it, one report shows both");
  sub->add_option("--base-port", options.basePort,
                  "Of the stack it starts and ends; none may run there")
      ->check(CLI::Range(1024, 65400))
      ->capture_default_str();
  sub->footer("Exit: 0 every verdict is the promised one; 1 one is not; 2 could not tell.");
  sub->callback([given, &command, &exitCode] {
    try {
      if (!given->strategies.empty()) given->options.strategies = parseList(given->strategies);
      if (!given->faults.empty()) given->options.faults = parseList(given->faults);
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError(e.what());
    }
    exitCode = faults(given->options, command);
  });
}

}  // namespace turnstile::harness
