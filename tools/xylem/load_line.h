// A line of a dump, read back. What dump writes is taken as it stands; what could be taken for
// something else is refused rather than guessed at, since a job that is not as it was is worse than
// one that is missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tool.h"

namespace xylem::tool {

struct LoadedJob {
  std::string tube = {};
  std::string body = {};
  client::Put put = {};
  bool buried = false;
};

// What is wrong is said without the line's number.
Result<LoadedJob> parse_job(std::string_view text);

}  // namespace xylem::tool
