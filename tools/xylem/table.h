// A table of text: columns as wide as their widest cell, numbers to the right, a bold head if a
// person watches. Cells are escaped already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool.h"

namespace xylem::tool {

struct Column {
  std::string_view title;
  bool right = true;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text(const Tool& tool) const;

 private:
  [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                 const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace xylem::tool
