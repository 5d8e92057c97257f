#include "loadtest/fault_matrix.h"

#include <algorithm>
#include <stdexcept>

#include "loadtest/compare_options.h"
#include "loadtest/format.h"

namespace turnstile::harness {
namespace {

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<Cell> plannedCells(const std::vector<Described>& catalogue,
                               const std::vector<std::string>& faults,
                               const std::vector<std::string>& askedStrategies,
                               const std::vector<std::string>& askedFaults) {
  std::vector<std::string> known;
  for (const Described& one : catalogue) known.push_back(one.name);
  checkStrategies(askedStrategies, known);
  for (const std::string& fault : askedFaults)
    if (!among(faults, fault))
      throw std::invalid_argument("unknown fault '" + fault + "'; allowed: " + joined(faults, ", "));

  std::vector<Cell> cells;
  for (const std::string& fault : faults) {
    if (!askedFaults.empty() && !among(askedFaults, fault)) continue;
    for (const Described& strategy : catalogue) {
      const bool control = strategy.name == "none" && fault == "contention";
      if (!askedStrategies.empty() && !among(askedStrategies, strategy.name) && !control) continue;
      if (const Promised* promised = strategy.promise(fault))
        cells.push_back(
            {.strategy = strategy.name, .fault = fault, .promised = *promised, .seen = {}});
    }
  }
  const auto asked = [&](const Cell& cell) {
    return askedStrategies.empty() || among(askedStrategies, cell.strategy);
  };
  if (std::none_of(cells.begin(), cells.end(), asked))
    throw std::invalid_argument("none of these strategies promises anything for " +
                                joined(askedFaults, ", ") +
                                "; ./turnstile faults --list shows who promises what");
  return cells;
}

int exitCodeOf(const std::vector<Cell>& cells) {
  int code = 0;
  for (const Cell& cell : cells) {
    if (cell.kept()) continue;
    if (!cell.untold()) return 1;
    code = 2;
  }
  return code;
}

std::string markOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::safe:
      return "✓";
    case Verdict::oversold:
      return "✗";
    case Verdict::lost:
      return "−";
    case Verdict::stuck:
      return "■";
    case Verdict::disagree:
      return "≠";
    case Verdict::unknown:
      return "?";
  }
  return "?";
}

Table matrixTable(const std::vector<Cell>& cells, const std::vector<std::string>& faults) {
  std::vector<std::string> columns, strategies;
  for (const std::string& fault : faults)
    if (std::any_of(cells.begin(), cells.end(),
                    [&](const Cell& cell) { return cell.fault == fault; }))
      columns.push_back(fault);
  for (const Cell& cell : cells)
    if (!among(strategies, cell.strategy)) strategies.push_back(cell.strategy);

  Table table{{{"strategy", true}}, {}};
  for (std::size_t i = 1; i <= columns.size(); ++i)
    table.columns.push_back({std::to_string(i), true});
  for (const std::string& strategy : strategies) {
    std::vector<std::string> row{strategy};
    for (const std::string& fault : columns) {
      const auto cell = std::find_if(cells.begin(), cells.end(), [&](const Cell& one) {
        return one.strategy == strategy && one.fault == fault;
      });
      row.push_back(cell == cells.end() ? ""
                    : !cell->played     ? "·"
                                        : markOf(cell->seen.verdict) + (cell->kept() ? "" : "!"));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json::Value toJson(const std::vector<Cell>& cells) {
  Json::Value out = Json::arrayValue;
  for (const Cell& cell : cells) {
    Json::Value& one = out.append(Json::objectValue);
    one["strategy"] = cell.strategy;
    one["fault"] = cell.fault;
    one["promised"] = cell.promised.verdict;
    one["why"] = cell.promised.reason;
    one["played"] = cell.played;
    if (!cell.played) continue;
    one["verdict"] = nameOf(cell.seen.verdict);
    one["seen"] = cell.seen.reason;
    one["kept"] = cell.kept();
    one["seconds"] = cell.seconds;
  }
  return out;
}

}  // namespace turnstile::harness
