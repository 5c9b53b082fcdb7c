// Progress: a line on standard error that is written over ten times a second, with a rate and,
// where the whole is known, a bar. Nothing at all unless standard error is a terminal, or while
// what is printed goes to the same terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tool.h"

namespace xylem::tool {

class Progress {
 public:
  // `verb` is what is done to jobs: "put", "loaded"; `beside_output`: a terminal shows jobs
  // meanwhile.
  Progress(const Tool& tool, std::string verb, bool beside_output = false);
  // Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` jobs so far; `part` of the whole, from 0 to 1.
  void show(std::uint64_t done, std::optional<double> part = std::nullopt);

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_ = false;
  bool watched_;
  std::string verb_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace xylem::tool
