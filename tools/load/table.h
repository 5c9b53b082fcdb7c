// Showing a contest: a table for people, JSON for programs. Both show the same medians; bench-suite
// reads the JSON.
#pragma once

#include <string>
#include <vector>

#include "contest.h"

namespace xylem::load {

/// One line for each figure, one column for each server, and behind each but the first its ratio to
/// the first.
std::string to_table(const std::vector<Contestant>& contestants);

/// {"workload": NAME, "servers": [{"name": NAME, "runs": N, "figures": {NAME: NUMBER, ...}}, ...]}
std::string to_json(const std::string& workload, const std::vector<Contestant>& contestants);

}  // namespace xylem::load
