// The comparison as tables: figures and verdicts, then the locks' own figures. Plain text for the
// terminal (120 columns) and Markdown for report.md come from the same cells.
#pragma once

#include <string>
#include <vector>

#include "loadtest/summary.h"

namespace turnstile::harness {

struct Table {
  struct Column {
    std::string title;
    bool left = false;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

Table verdictTable(const std::vector<Row>& rows, bool sellOut);
Table lockTable(const std::vector<Row>& rows);  // only the strategies that take locks; may be empty

std::string asText(const Table& table, bool colour);
std::string asMarkdown(const Table& table);

}  // namespace turnstile::harness
