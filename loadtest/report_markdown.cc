#include "loadtest/report_markdown.h"

#include <algorithm>

#include "loadtest/format.h"
#include "loadtest/table.h"

namespace turnstile::harness {
namespace {

std::string conclusion(const Results& results, const Summary& summary) {
  if (!results.complete) {
    return "Incomplete: " + std::to_string(results.runs.size()) + " of " +
           std::to_string(results.plannedRuns) + " runs.";
  }
  if (summary.exitCode == 0) return "Every verdict is the promised one.";
  return summary.exitCode == 1 ? "A promise was broken." : "Not every verdict could be told.";
}

std::string pointSection(const Point& point, const Results& results, const Summary& summary) {
  std::vector<Row> rows;
  std::copy_if(summary.rows.begin(), summary.rows.end(), std::back_inserter(rows),
               [&](const Row& row) { return row.point == point; });
  std::string text = "## " + describe(point) + "\n\n";
  for (const auto& ceiling : summary.ceilings) {
    if (ceiling.point == point) text += describe(ceiling) + "\n\n";
  }
  text += asMarkdown(verdictTable(rows, results.options.sellOut));
  if (const Table locks = lockTable(rows); !locks.rows.empty()) text += "\n" + asMarkdown(locks);
  return text + "\n";
}

}  // namespace

std::string environmentSection(const Json::Value& environment) {
  std::string text = "## Environment\n\n";
  for (const auto& name : environment.getMemberNames()) {
    const Json::Value& value = environment[name];
    if (!value.isObject()) {
      text += "- " + name + ": " + value.asString() + "\n";
      continue;
    }
    text += "- " + name + ":";
    for (const auto& inner : value.getMemberNames())
      text += " " + inner + " " + value[inner].asString() + ";";
    text.back() = '\n';
  }
  return text;
}

std::string markdownReport(const Results& results) {
  const Summary summary = results.summary();
  std::string text = "# Comparison of " + results.startedAt + "\n\n`" + joined(results.command, " ") +
                     "`\n\n**" + conclusion(results, summary) + "**\n\n";
  for (const auto& finding : summary.findings) text += "- " + finding + "\n";
  if (!summary.findings.empty()) text += "\n";
  std::vector<Point> points;
  for (const auto& row : summary.rows) {
    if (points.empty() || !(points.back() == row.point)) points.push_back(row.point);
  }
  for (const Point& point : points) text += pointSection(point, results, summary);
  text += "Medians of " + std::to_string(results.options.rounds) +
          " rounds; ± is the range. ≈ : within the noise of the row above. Ratios are to "
          "`/ping` measured in the same round. "
          "busy: share of all answers. Seed " +
          std::to_string(results.options.seed) + ".\n\n";
  return text + environmentSection(results.environment);
}

}  // namespace turnstile::harness
