#include "loadtest/table.h"

#include <algorithm>

#include "loadtest/format.h"

namespace turnstile::harness {
namespace {

// Characters, not bytes: "±" and "≈" take two or three bytes and one column.
std::size_t widthOf(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::string gap(width - std::min(width, widthOf(text)), ' ');
  return left ? text + gap : gap + text;
}

constexpr std::size_t kTerminal = 120;

// Two spaces between columns; where that is too wide for a terminal, one between figures, which
// seldom fill their column.
std::vector<std::string> gapsOf(const Table& table, const std::vector<std::size_t>& widths) {
  std::vector<std::string> gaps(table.columns.size(), "  ");
  gaps[0] = "";
  std::size_t total = 2 * (widths.size() - 1);
  for (const auto width : widths) total += width;
  for (std::size_t c = 1; c < gaps.size() && total > kTerminal; ++c) {
    if (!table.columns[c].left) gaps[c] = " ";
  }
  return gaps;
}

std::string compact(long n) {
  const auto value = static_cast<double>(n);
  return n < 1'000'000 ? thousands(value) : fixed(value / 1e6, 2) + "M";
}

std::string promisedCell(const Row& row) {
  if (row.promise == Promise::broken) return row.promised + " ✗";
  if (row.promise == Promise::untold) return (row.promised.empty() ? "-" : row.promised) + " ?";
  return row.promised;
}

// What a reader must not miss stands out; the words carry the meaning without the colour too.
const char* colourOf(const std::string& cell) {
  if (cell.ends_with("✗") || cell == "disagree") return "\033[1;31m";
  if (cell.ends_with("?") || cell == "unknown") return "\033[33m";
  if (cell == "oversold" || cell == "lost" || cell == "stuck") return "\033[31m";
  return cell == "safe" ? "\033[32m" : "";
}

}  // namespace

Table verdictTable(const std::vector<Row>& rows, bool sellOut) {
  Table table{{{"#"},
               {"strategy", true},
               {"sales/s"},
               {"±"},
               {"of ceiling"},
               {"best"},
               {"p50"},
               {"p99"},
               {"busy"},
               {"sold"},
               {"double"},
               {"lost"},
               {"verdict", true},
               {"promised", true}},
              {}};
  if (sellOut) table.columns[3] = {"empty s"};
  int place = 0;
  for (const Row& row : rows) {
    ++place;
    const bool measured = row.salesPerSecond.rounds > 0;
    const auto figure = [&](const std::string& text) { return measured ? text : "-"; };
    table.rows.push_back(
        {row.tiedWithAbove ? "≈" : std::to_string(place), row.strategy,
         figure(thousands(row.salesPerSecond.median)),
         figure(sellOut ? fixed(row.secondsToEmpty, 2) : plusMinus(row.salesPerSecond)),
         figure(fixed(row.ofCeiling.median, row.ofCeiling.median < 0.095 ? 3 : 2)),
         figure(row.ofFastest > 0 ? fixed(row.ofFastest, row.ofFastest < 0.095 ? 3 : 2) : "-"),
         figure(millis(row.p50.median)), figure(millis(row.p99.median)),
         figure(percent(row.busyShare)), compact(row.sold),
         thousands(static_cast<double>(row.doubleSold)), thousands(static_cast<double>(row.lost)),
         nameOf(row.verdict), promisedCell(row)});
  }
  return table;
}

Table lockTable(const std::vector<Row>& rows) {
  Table table{{{"strategy", true},
               {"wait p50 ms"},
               {"wait p99 ms"},
               {"attempts/sale"},
               {"granted"},
               {"refused"},
               {"lost"},
               {"share per instance", true}},
              {}};
  for (const Row& row : rows) {
    if (!row.lock.locks) continue;
    const double sales = static_cast<double>(row.sold);
    table.rows.push_back({row.strategy, millis(row.lock.waitP50Ms), millis(row.lock.waitP99Ms),
                          sales > 0 ? fixed(row.lock.attempts / sales, 2) : "-",
                          thousands(row.lock.granted), thousands(row.lock.refused),
                          thousands(row.lock.lost), shares(row.lock.soldPerInstance)});
  }
  return table;
}

std::string asText(const Table& table, bool colour) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(widthOf(table.columns[c].title));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], widthOf(row[c]));
  }
  const auto gaps = gapsOf(table, widths);
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    text += gaps[c] + padded(table.columns[c].title, widths[c], table.columns[c].left);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const char* paint = colour && c + 2 >= row.size() ? colourOf(row[c]) : "";
      line += gaps[c] + paint + padded(row[c], widths[c], table.columns[c].left) +
              (*paint ? "\033[0m" : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string asMarkdown(const Table& table) {
  std::string text = "|", rule = "|";
  for (const auto& column : table.columns) {
    text += " " + column.title + " |";
    rule += column.left ? ":--|" : "--:|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const auto& cell : row) text += " " + cell + " |";
    text += "\n";
  }
  return text;
}

}  // namespace turnstile::harness
