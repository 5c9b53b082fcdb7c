// The state that records stand for, made as naively as can be: a map of jobs, a map of pauses. A
// reserved job does not exist here, since recovery knows none, and a delay that has run out stays
// what the record said: whoever compares knows the time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "xylem/core/record.h"

namespace xylem::durability {

struct ModelJob {
  std::string tube;
  JobState state = JobState::kReady;
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  Time created_at{};
  Time deadline_at{};
  std::uint64_t bury_order = 0;
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  std::string body;
};

struct ModelPause {
  std::uint32_t delay = 0;
  Time until{};
};

struct Model {
  std::map<JobId, ModelJob> jobs;
  std::map<std::string, ModelPause> pauses;

  void apply(const Record& record);
  // Ids in the order of burying.
  [[nodiscard]] std::vector<JobId> buried(const std::string& tube) const;
};

}  // namespace xylem::durability
