// The bytes of beanstalkd's binlog, as values. A file is a version (4 bytes) and then records back
// to back until the first id 0; integers are those of the machine that wrote them, in C's layout:
//
//   version 7:  | L 4 | tube L | job 80 | body, with its CRLF: only if L > 0 |   times in ns
//   version 5:  | L 8 | tube L | job 77 | body, likewise                     |   times in us
//
// L = 0 makes a short record: new fields of a job whose full record came earlier. There is no
// checksum: damage can be told only by what no server writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "xylem/core/time.h"

namespace xylem::binlog {

inline constexpr std::size_t kVersionBytes = 4;
inline constexpr std::size_t kCrlfBytes = 2;

// What differs between the versions.
struct Layout {
  std::size_t length_bytes;     // of L
  std::size_t job_bytes;        // of the job's fields
  std::int64_t units_per_tick;  // of the times
};

// None for a version that is not known.
std::optional<Layout> layout_of(std::int32_t version);

// The states of version 5 and 7. Any other number is damage.
enum class State : std::uint8_t { kDeleted, kReady, kReserved, kBuried, kDelayed };

// A job's fields as they stand in a record.
struct Fields {
  std::uint64_t id = 0;  // 0 ends the file
  std::uint32_t pri = 0;
  std::int64_t delay = 0;  // delay to deadline_at: in the layout's units
  std::int64_t ttr = 0;
  std::int64_t created_at = 0;
  std::int64_t deadline_at = 0;  // if delayed; otherwise without meaning
  std::int32_t body_size = 0;    // with CRLF
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  std::uint8_t state = 0;
};

// `bytes` are exactly kVersionBytes.
std::int32_t version_from(std::string_view bytes);
// `bytes` are exactly length_bytes. Negative lengths come out as huge ones.
std::uint64_t length_from(std::string_view bytes, const Layout& layout);
// `bytes` are at least 77; what follows is padding.
Fields fields_from(std::string_view bytes);

// Whole seconds of a delay or ttr, at most what the protocol can say.
std::uint32_t seconds_from(std::int64_t span, const Layout& layout);
// A time in ticks: rounded down, and rounded up so that it never comes early.
Time time_from(std::int64_t time, const Layout& layout);
Time deadline_from(std::int64_t time, const Layout& layout);

}  // namespace xylem::binlog
