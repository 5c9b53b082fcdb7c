// xylem-bench: measures any server that speaks the beanstalk protocol, beside others and beside the
// floor. docs/benchmarks.md is its manual.
#include <fmt/format.h>

#include <algorithm>

#include "clock.h"
#include "contest.h"
#include "failure.h"
#include "floor.h"
#include "options.h"
#include "table.h"

namespace {

using xylem::load::Contestant;
using xylem::load::Options;
using xylem::load::Workload;

int measure(const Options& options) {
  const auto workload =
      std::ranges::find(xylem::load::workloads(), options.workload, &Workload::name);
  const std::vector<Contestant> contestants = xylem::load::hold_contest(options, *workload);
  fmt::print("{}", options.json ? xylem::load::to_json(options.workload, contestants)
                                : xylem::load::to_table(contestants));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int exit_code = 0;
  if (!xylem::load::parse_options(argc, argv, options, exit_code)) return exit_code;
  try {
    if (!options.serve_floor.empty()) {
      xylem::load::serve_floor(xylem::load::parse_address(options.serve_floor));
      return 0;
    }
    xylem::load::catch_signals();
    return measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "xylem-bench: {}\n", error.what());
    return 1;
  }
}
