// Decoding of beanstalkd's binlog: offsets and units, nothing else. What a record means is decided
// in binlog_index.cc.
#include "storage/binlog_format.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "xylem/check.h"

namespace xylem::binlog {
namespace {

constexpr std::size_t kFieldBytes = 77;

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T number{};
  CHECK(offset + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

std::optional<Layout> layout_of(std::int32_t version) {
  if (version == 7) return Layout{.length_bytes = 4, .job_bytes = 80, .units_per_tick = 100'000};
  if (version == 5) return Layout{.length_bytes = 8, .job_bytes = 77, .units_per_tick = 100};
  return std::nullopt;
}

std::int32_t version_from(std::string_view bytes) { return number_at<std::int32_t>(bytes, 0); }

std::uint64_t length_from(std::string_view bytes, const Layout& layout) {
  return layout.length_bytes == 4 ? number_at<std::uint32_t>(bytes, 0)
                                  : number_at<std::uint64_t>(bytes, 0);
}

Fields fields_from(std::string_view bytes) {
  CHECK(bytes.size() >= kFieldBytes);
  return {.id = number_at<std::uint64_t>(bytes, 0),
          .pri = number_at<std::uint32_t>(bytes, 8),
          .delay = number_at<std::int64_t>(bytes, 16),
          .ttr = number_at<std::int64_t>(bytes, 24),
          .created_at = number_at<std::int64_t>(bytes, 40),
          .deadline_at = number_at<std::int64_t>(bytes, 48),
          .body_size = number_at<std::int32_t>(bytes, 32),
          .reserves = number_at<std::uint32_t>(bytes, 56),
          .timeouts = number_at<std::uint32_t>(bytes, 60),
          .releases = number_at<std::uint32_t>(bytes, 64),
          .buries = number_at<std::uint32_t>(bytes, 68),
          .kicks = number_at<std::uint32_t>(bytes, 72),
          .state = number_at<std::uint8_t>(bytes, 76)};
}

std::uint32_t seconds_from(std::int64_t span, const Layout& layout) {
  const std::int64_t units_per_second = layout.units_per_tick * Clock::period::den;
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(span / units_per_second, 0, kMost));
}

Time time_from(std::int64_t time, const Layout& layout) {
  return Time(Duration(time / layout.units_per_tick));
}

Time deadline_from(std::int64_t time, const Layout& layout) {
  return time_from(time, layout) + Duration(time % layout.units_per_tick > 0 ? 1 : 0);
}

}  // namespace xylem::binlog
