// All tubes with their figures: by one stats-tubes where the server has it, else by list-tubes and
// a pipeline of stats-tube. Tubes that vanish in between are left out.
#pragma once

#include <vector>

#include "tool.h"

namespace xylem::tool {

Result<std::vector<Map>> fetch_tubes(Connection& connection, bool has_stats_tubes);
// Sorted by a key: names from a to z, numbers from the largest down, ties by name.
void sort_tubes(std::vector<Map>& tubes, std::string_view key);

}  // namespace xylem::tool
