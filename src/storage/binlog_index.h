// The jobs that live, as far as the records say that were applied: each job's fields and where its
// body stands, never the body itself. Records are applied in the order of the log.
//
// A job that cannot be taken stays here with its trouble until it is deleted, so that only those
// that still live are told as skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/binlog_format.h"
#include "xylem/core/ids.h"
#include "xylem/core/time.h"

namespace xylem::binlog {

// Tubes by name, with the number of their jobs; a tube without jobs leaves.
struct NameHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using Tubes = std::unordered_map<std::string, std::uint64_t, NameHash, std::equal_to<>>;

struct Place {
  std::size_t file = 0;  // which of the directory's files
  std::uint64_t offset = 0;
};

enum class Trouble : std::uint8_t { kNone, kIllegalTube, kTooLarge };

struct LivingJob {
  JobId id = 0;
  std::uint64_t order = 0;  // of its first record
  const std::string* tube = nullptr;
  Place body;
  std::uint32_t body_bytes = 0;  // without CRLF
  bool body_ended = true;        // with CRLF
  Trouble trouble = Trouble::kNone;
  State state = State::kReady;
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  Time created_at{};
  Time deadline_at{};  // rounded up
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
};

class Index {
 public:
  explicit Index(std::uint32_t most_job_bytes) : most_job_bytes_(most_job_bytes) {}

  // The fields must make sense: an id that is not 0, a known state, room for CRLF in the body.
  void apply_full(std::string_view tube, const Fields& fields, const Layout& layout, Place body,
                  bool body_ended);
  void apply_short(const Fields& fields, const Layout& layout);

  // In the order of their first records. Valid until the next change.
  [[nodiscard]] std::vector<const LivingJob*> in_order() const;
  [[nodiscard]] std::uint64_t ownerless() const { return ownerless_; }
  [[nodiscard]] JobId highest_id() const { return highest_id_; }

 private:
  void forget(JobId id);

  std::uint32_t most_job_bytes_;
  Tubes tubes_;
  std::unordered_map<JobId, LivingJob> jobs_;
  std::uint64_t last_order_ = 0;
  std::uint64_t ownerless_ = 0;
  JobId highest_id_ = 0;
};

}  // namespace xylem::binlog
