// The contest: every server takes its turn in every repeat, and each figure is the median over the
// repeats.
#pragma once

#include <string>
#include <vector>

#include "bench.h"

namespace xylem::load {

struct Contestant {
  std::string name;
  std::vector<Figures> runs;

  /// The median of this figure over all runs; false if no run has it.
  bool median(const std::string& figure, double& value) const;
};

/// Measures the workload on all servers of the options. The first contestant is the one that others
/// are compared with.
std::vector<Contestant> hold_contest(const Options& options, const Workload& workload);

}  // namespace xylem::load
