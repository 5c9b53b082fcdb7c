// Two passes: widths, then lines. The last column is not padded, so that no line ends with blanks
// and long bodies do not widen the others.
#include "table.h"

#include <algorithm>

#include "text.h"

namespace xylem::tool {

std::string Table::text(const Tool& tool) const {
  std::vector<std::string> head;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    head.emplace_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text = tool.in_colour("1", line(head, widths)) + "\n";
  for (const std::vector<std::string>& row : rows_) text += line(row, widths) + "\n";
  return text;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string pad(widths[i] - width_of(cells[i]), ' ');
    const bool last = i + 1 == cells.size();
    if (i > 0) text += "  ";
    text += columns_[i].right ? pad + cells[i] : cells[i] + (last ? "" : pad);
  }
  return text;
}

}  // namespace xylem::tool
