// Torn tails: what of them is kept, which ids they raise, and that mending one may be cut short at
// any step, by power or by the disk, and leaves a log that says the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/log_builder.h"
#include "xylem/core/command.h"
#include "xylem/storage/record_codec.h"

namespace xylem::test {
namespace {

constexpr std::string_view kGarbage = "what a disk may leave of a write that was never synced";

// Breaks the header of the batch that begins with that record.
void break_header(LogBuilder& log, std::size_t first_record) {
  log.last_bytes()[log.written()[first_record].at - 1] ^= 1;
}

void break_record(LogBuilder& log, std::size_t record) {
  log.last_bytes()[log.written()[record].at] ^= 1;
}

struct Torn {
  std::string name;
  LogBuilder log;
  std::set<std::size_t> lost;  // of log.written()
};

std::vector<Torn> torn_logs() {
  LogBuilder base;
  base.segment(1).batch({put(1), put(2)}).segment(2).batch({put(3), DeleteRecord{1}});
  std::vector<Torn> logs;
  const auto add = [&](std::string name, LogBuilder log, std::set<std::size_t> lost) {
    logs.push_back({std::move(name), std::move(log), std::move(lost)});
  };
  add("garbage behind the last batch", LogBuilder(base).bytes(kGarbage).zeros(2'000), {});
  add("garbage behind zeros", LogBuilder(base).zeros(5'000).bytes(kGarbage), {});

  LogBuilder last = base;
  last.batch({put(5), KickRecord{2}, DeleteRecord{2}, put(6)}).zeros(900);
  LogBuilder record = last;
  break_record(record, 4);
  add("a record of the last batch", record, {4});
  LogBuilder header = last;
  break_header(header, 4);
  add("the header of the last batch", header, {});
  LogBuilder both = header;
  break_record(both, 6);
  add("header and a delete of the last batch", both, {6});

  LogBuilder two = last;
  two.batch({put(7), put(8)}).zeros(70);
  break_header(two, 4);
  break_header(two, 8);
  add("the headers of the last two batches", two, {});

  LogBuilder first;
  first.segment(1).batch({put(1), put(2)});
  break_record(first, 0);
  add("the first batch of all", first, {0});
  LogBuilder next = base;
  next.segment(3).batch({put(4), KickRecord{3}});
  break_header(next, 4);
  add("the first batch of the last segment", next, {});
  LogBuilder lost_header = base;
  lost_header.segment(3).batch({put(4)});
  lost_header.last_bytes().replace(0, kSegmentHeaderBytes, kSegmentHeaderBytes, 'x');
  add("both headers of the last segment", lost_header, {4});
  LogBuilder behind = base;
  behind.batch({put(4)}).segment(3).zeros(100);
  behind.last_bytes()[behind.last_bytes().size() - 50] = 'x';
  add("garbage in a segment that was only begun", behind, {});
  return logs;
}

TEST_CASE("what verifies in a torn tail is kept, in a segment that cuts the tail off") {
  for (const Torn& torn : torn_logs()) {
    CAPTURE(torn.name);
    const auto disk = torn.log.disk();
    const Outcome first = recovered(*disk);
    CHECK(first.heard.texts == torn.log.expected(torn.lost));
    CHECK_FALSE(first.found.torn_tail.empty());
    CHECK(first.found.damage.empty());
    const FoundSegment& mended = first.found.segments.back();
    CHECK(mended.number + 1 == first.found.next_number);
    CHECK(mended.end == mended.bytes);
    CHECK(disk->contents(segment_name(mended.number)).size() == mended.bytes);

    const Outcome second = recovered(*disk);
    CHECK(second.heard.texts == first.heard.texts);
    CHECK(second.heard.segments == first.heard.segments);
    CHECK(second.found.torn_tail.empty());
    CHECK(second.found.damage.empty());
    CHECK(second.found.last_id == first.found.last_id);
    CHECK(second.found.last_index == first.found.last_index);
    CHECK(second.found.spares == first.found.spares);
  }
}

TEST_CASE("spares of a torn log may go or stay") {
  for (const Torn& torn : torn_logs()) {
    CAPTURE(torn.name);
    const auto disk = torn.log.disk();
    const Outcome first = recovered(*disk);
    for (const SegmentNumber spare : first.found.spares) {
      REQUIRE(disk->remove(segment_name(spare)));
      const Outcome again = recovered(*disk);
      CHECK(again.heard.texts == first.heard.texts);
      CHECK(again.found.last_id == first.found.last_id);
      CHECK(again.found.damage.empty());
    }
  }
}

// Recovers `torn` and stops before each step of it; `check` sees the disk as it is then.
template <class Check>
void at_each_step(const Torn& torn, Check check) {
  const auto disk = torn.log.disk();
  std::vector<std::unique_ptr<MemoryDisk>> stopped;
  check(stopped, *disk);
  const Outcome outcome = recovered(*disk);
  for (const auto& one : stopped) {
    const Outcome after = recovered(*one);
    CHECK(after.heard.texts == outcome.heard.texts);
    CHECK(after.found.last_id == outcome.found.last_id);
    CHECK(after.found.damage.empty());
    CHECK(recovered(*one).heard.texts == outcome.heard.texts);
  }
  CHECK(stopped.size() > 20);
}

TEST_CASE("a power cut at any step of mending leaves a log that says the same") {
  std::minstd_rand random(7);
  for (const Torn& torn : torn_logs()) {
    CAPTURE(torn.name);
    at_each_step(torn, [&](auto& stopped, MemoryDisk& disk) {
      disk.before_each([&] {
        for (const Fate fate : {Fate::kKept, Fate::kDropped, Fate::kGarbled}) {
          stopped.push_back(disk.after_power_cut([&] { return fate; }));
        }
        for (int i = 0; i < 3; ++i) {
          stopped.push_back(disk.after_power_cut([&] { return static_cast<Fate>(random() % 3); }));
        }
      });
    });
  }
}

TEST_CASE("a kill at any step of mending leaves a log that says the same") {
  for (const Torn& torn : torn_logs()) {
    CAPTURE(torn.name);
    at_each_step(torn, [&](auto& stopped, MemoryDisk& disk) {
      disk.before_each([&] { stopped.push_back(disk.after_kill()); });
    });
  }
}

TEST_CASE("a disk that fails at any step is told, and the log says the same later") {
  for (const Torn& torn : torn_logs()) {
    CAPTURE(torn.name);
    const auto texts = recovered(*torn.log.disk()).heard.texts;
    for (std::uint64_t nth = 1;; ++nth) {
      CAPTURE(nth);
      const auto disk = torn.log.disk();
      disk->fail_at(nth);
      Listener heard;
      const auto found = recover(*disk, heard, false);
      if (disk->operation_count() < nth) break;
      REQUIRE_FALSE(found);
      CHECK(found.error().text.find("planned I/O error") != std::string::npos);
      CHECK(recovered(*disk->after_kill()).heard.texts == texts);
    }
  }
}

TEST_CASE("a disk too full to mend is told, and nothing is lost") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).bytes(kGarbage);
  const auto disk = log.disk();
  disk->set_capacity(disk->used_bytes() + 100);
  Listener heard;
  const auto found = recover(*disk, heard, false);
  REQUIRE_FALSE(found);
  CHECK(found.error().text == "cannot write log.mending: no space left");
  CHECK(recovered(*disk->after_kill()).heard.texts == log.expected());
}

TEST_CASE("a full disk has room to mend where zeros stand behind the tail") {
  LogBuilder log;
  log.segment(1).batch({put(1), put(2)}).batch({put(3, std::string(50, '\0'))}).zeros(20'000);
  break_record(log, 2);
  const auto disk = log.disk();
  disk->set_capacity(log.last_bytes().size());
  const Outcome first = recovered(*disk);
  CHECK(first.heard.texts == log.expected({2}));
  CHECK_FALSE(first.found.torn_tail.empty());
  const Outcome second = recovered(*disk);
  CHECK(second.heard.texts == first.heard.texts);
  CHECK(second.found.torn_tail.empty());
}

TEST_CASE("lost bytes raise the ids by the puts that may have stood in them") {
  LogBuilder log;
  log.segment(1).batch({put(10)});
  const auto last_id = [](LogBuilder changed, std::size_t garbage) {
    const auto disk = changed.bytes(std::string(garbage, 'x')).zeros(10'000).disk();
    const Outcome first = recovered(*disk);
    CHECK(recovered(*disk).found.last_id == first.found.last_id);
    return first.found.last_id;
  };
  // A batch header would stand in front of them.
  CHECK(last_id(log, 1) == 10);
  CHECK(last_id(log, kBatchHeaderBytes + kSmallestPutBytes - 1) == 10);
  CHECK(last_id(log, kBatchHeaderBytes + kSmallestPutBytes) == 11);
  CHECK(last_id(log, kBatchHeaderBytes + 5 * kSmallestPutBytes) == 15);
  log.batch({KickRecord{10}, put(11, std::string(100, 'b'))});
  break_record(log, 2);
  CHECK(last_id(log, 0) == 10 + put_bytes(1, 100, false, false) / kSmallestPutBytes);
}

TEST_CASE("a batch of which the end was never written is torn, and counts as lost") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).batch({put(2), put(3), put(4)});
  const Written& second = log.written()[2];
  std::string& bytes = log.last_bytes();
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(second.at), bytes.end(), '\0');
  log.zeros(100);
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.texts == log.expected({2, 3}));
  CHECK(outcome.found.last_id == 2 + 2);
  CHECK_FALSE(outcome.found.torn_tail.empty());
}

TEST_CASE(
    "the records of a tail belong to the mended segment, with their batch's time if it is known") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).batch({put(2), put(3)});
  LogBuilder headless = log;
  break_record(log, 1);
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.segments == std::vector<SegmentNumber>{1, 2});
  CHECK(outcome.heard.times == std::vector{Time(Duration(1'500)), Time(Duration(2'500))});
  break_header(headless, 1);
  const Outcome without = recovered(*headless.disk());
  CHECK(without.heard.segments == std::vector<SegmentNumber>{1, 2, 2});
  CHECK(without.heard.times[1] == Time(Duration(1'500)));
  CHECK(without.found.cluster_time == Time(Duration(1'500)));
}

TEST_CASE("a long tail is mended in several batches, with its long bodies") {
  LogBuilder log;
  const BufferRef body = long_body(700'000);
  log.segment(1).batch({put(1)});
  log.batch({long_put(2, body), long_put(3, body), long_put(4, body), long_put(5, body)});
  break_header(log, 1);
  const auto disk = log.disk();
  CHECK(recovered(*disk).heard.texts == log.expected());
  const Outcome second = recovered(*disk);
  CHECK(second.heard.texts == log.expected());
  CHECK(second.found.last_index == 3);
}

TEST_CASE("a log of which only a torn header is left begins anew, with higher ids") {
  MemoryDisk disk;
  disk.put("log.0000000004", std::string(kSegmentHeaderBytes + 48 + 420, 'x'));
  const Outcome outcome = recovered(disk);
  CHECK(outcome.found.segments.empty());
  CHECK(outcome.found.spares.empty());
  CHECK(outcome.found.unreadable == std::vector<SegmentNumber>{4});
  CHECK(outcome.found.next_number == 5);
  CHECK(outcome.found.last_id == 10);
  CHECK_FALSE(outcome.found.torn_tail.empty());
  CHECK(disk.has("log.0000000004"));
}

TEST_CASE("the mended log goes on") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).bytes(kGarbage);
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.found.last_index == 1);
  LogBuilder next;
  next.index(2).segment(outcome.found.next_number).batch({put(2)});
  disk->put(segment_name(outcome.found.next_number), next.last_bytes());
  const Outcome after = recovered(*disk);
  CHECK(after.heard.texts.size() == 2);
  CHECK(after.found.torn_tail.empty());
  CHECK(after.found.damage.empty());
}

}  // namespace
}  // namespace xylem::test
