// The sample records have a different number in each field, so that a swap of two shows. Numbers
// that have an end are at it.
#include "support/samples.h"

#include <fmt/format.h>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "xylem/core/command.h"

namespace xylem::test {
namespace {

using namespace std::string_view_literals;

Time at(std::int64_t ticks) { return Time(Duration(ticks)); }
long long ticks(Time time) { return time.time_since_epoch().count(); }

std::string text(const PutRecord& p) {
  return fmt::format(
      "put {} {} {} pri {} delay {} ttr {} created {} deadline {} order {} "
      "counts {} {} {} {} {} body {}",
      p.id, p.tube, name_of(p.state), p.pri, p.delay, p.ttr, ticks(p.created_at),
      ticks(p.deadline_at), p.bury_order, p.reserves, p.timeouts, p.releases, p.buries, p.kicks,
      p.body);
}
std::string text(const DeleteRecord& r) { return fmt::format("delete {}", r.id); }
std::string text(const ReleaseRecord& r) {
  return fmt::format("release {} {} {} {}", r.id, r.pri, r.delay, ticks(r.deadline_at));
}
std::string text(const BuryRecord& r) {
  return fmt::format("bury {} {} {}", r.id, r.pri, r.bury_order);
}
std::string text(const KickRecord& r) { return fmt::format("kick {}", r.id); }
std::string text(const ReserveJobRecord& r) {
  return fmt::format("reserve-job {} {}", r.id, r.reserves);
}
std::string text(const PauseRecord& r) {
  return fmt::format("pause {} {} {}", r.tube, r.delay, ticks(r.until));
}
std::string text(const MoveRecord& r) {
  return fmt::format("move {} {} {}", r.id, r.tube, r.bury_order);
}
std::string text(const FlushRecord& r) {
  std::string text =
      fmt::format("flush {} {} {}", r.tube, r.state ? name_of(*r.state) : "all", ticks(r.at));
  for (std::size_t i = 0; i < r.reserved.size(); ++i) text += fmt::format(" {}", r.reserved[i]);
  return text;
}
std::string text(const PriorityRecord& r) { return fmt::format("priority {} {}", r.id, r.pri); }
std::string text(const ReserveNote& r) { return fmt::format("reserve {} {}", r.id, r.reserves); }
std::string text(const TimeoutNote& r) { return fmt::format("timeout {} {}", r.id, r.timeouts); }
std::string text(const IdNote& r) { return fmt::format("ids {}", r.id); }

PutRecord put(JobId id, std::string_view tube, JobState state, std::string_view body) {
  PutRecord put;
  put.id = id;
  put.tube = tube;
  put.state = state;
  put.pri = 4'294'967'295;
  put.delay = 3'000'000'000;
  put.ttr = 60;
  put.created_at = at(17'000'000'000'000);
  put.body = body;
  return put;
}

}  // namespace

std::string text_of(const Record& record) {
  return std::visit([](const auto& one) { return text(one); }, record);
}

std::vector<Record> sample_records() {
  PutRecord delayed = put(2, "emails.$_()/;+-", JobState::kDelayed, "hello");
  delayed.deadline_at = at(17'030'000'000'001);
  PutRecord buried = put(3, "x", JobState::kBuried, "");
  buried.bury_order = 281'474'976'710'655;
  PutRecord counted = put(4, "counted", JobState::kReady, "\r\n");
  counted.reserves = 1;
  counted.timeouts = 2;
  counted.releases = 3;
  counted.buries = 4;
  counted.kicks = 4'294'967'295;
  PutRecord full = counted;
  full.id = 5;
  full.state = JobState::kBuried;
  full.bury_order = 7;
  return {put(1, "default", JobState::kReady, "one body"),
          delayed,
          buried,
          counted,
          full,
          ReleaseRecord{1, 5, 6, at(17'000'000'060'000)},
          BuryRecord{2, 9, 10},
          KickRecord{3},
          ReserveJobRecord{4, 11},
          PauseRecord{"emails.$_()/;+-", 12, at(17'000'000'120'000)},
          MoveRecord{3, "other", 281'474'976'710'654},
          PriorityRecord{5, 15},
          FlushRecord{"emails.$_()/;+-", JobState::kBuried, at(17'000'000'180'000), {}},
          FlushRecord{"x", {}, at(17'000'000'180'001), {"\1\2\3\4\5\6\7\10\0\0\0\0\0\0\0\200"sv}},
          ReserveNote{1, 13},
          TimeoutNote{2, 14},
          IdNote{1'000'000'000'000'000'000},
          DeleteRecord{5}};
}

BufferRef long_body(std::uint32_t bytes) {
  BufferRef buffer = Buffer::make(bytes + 2);
  for (std::uint32_t i = 0; i < bytes; ++i) buffer->data()[i] = static_cast<char>(i * 7 + i / 256);
  buffer->filled(bytes);
  buffer->append("\r\n");
  return buffer;
}

PutRecord put(JobId id, std::string_view body) {
  PutRecord put;
  put.id = id;
  put.tube = "t";
  put.ttr = 1;
  put.body = body;
  return put;
}

PutRecord long_put(JobId id, const BufferRef& buffer) {
  PutRecord record = put(id, "long", JobState::kReady, {buffer->data(), buffer->size() - 2});
  record.buffer = buffer.get();
  return record;
}

std::string later_format(std::string segment) {
  for (const std::size_t copy : {std::size_t{0}, std::size_t{512}}) {
    segment[copy + 8] = 2;
    store_number<8>(&segment[copy + 64], check64({&segment[copy], 64}, 0));
  }
  return segment;
}

}  // namespace xylem::test
