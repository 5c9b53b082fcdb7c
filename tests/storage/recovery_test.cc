// What a start finds in a log: whole, cut short anywhere, with any byte flipped, with files missing
// or of others' making. Torn tails and their mending are in mending_test.cc.
#include "xylem/storage/recovery.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/log_builder.h"
#include "xylem/core/command.h"
#include "xylem/storage/record_codec.h"

namespace xylem::test {
namespace {

std::vector<SegmentNumber> numbers(const Recovered& found) {
  std::vector<SegmentNumber> numbers;
  for (const FoundSegment& segment : found.segments) numbers.push_back(segment.number);
  return numbers;
}

std::size_t damaged_count(const Recovered& found) {
  return static_cast<std::size_t>(std::ranges::count_if(found.segments, &FoundSegment::damaged));
}

TEST_CASE("no log is a log that begins") {
  MemoryDisk disk;
  disk.put("lock", "");
  disk.put("log.0000000007.damaged", "x");
  const Outcome outcome = recovered(disk);
  CHECK(outcome.found.segments.empty());
  CHECK(outcome.found.last_index == 0);
  CHECK(outcome.found.last_id == 0);
  CHECK(outcome.found.next_number == 8);
  CHECK(outcome.heard.texts.empty());
}

TEST_CASE("a whole log is handed out in its order, without what is dead") {
  const LogBuilder log = small_log();
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected());
  CHECK(outcome.found.record_count == log.expected().size());
  CHECK(outcome.found.damage.empty());
  CHECK(outcome.found.torn_tail.empty());
  CHECK(numbers(outcome.found) == std::vector<SegmentNumber>{3, 4, 5});
  CHECK(outcome.found.next_number == 6);
  CHECK(outcome.found.last_index == 6);
  CHECK(outcome.found.last_id == 1'000'000'000'000'000'000);
  CHECK(outcome.found.last_bury_order == 281'474'976'710'655);
  CHECK(outcome.found.cluster_time == Time(Duration(6'500)));
  CHECK(outcome.found.wall_time == Time(Duration(12'500)));
  const FoundSegment& last = outcome.found.segments.back();
  CHECK(last.bytes == disk->contents("log.0000000005").size());
  CHECK(last.end == last.bytes - 300);
  CHECK(last.salt == log.last_salt());
  CHECK(disk->operation_count() < 100);
}

TEST_CASE("records come with their segment and their batch's time") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).segment(2).batch({put(2)}).batch({put(3)});
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.segments == std::vector<SegmentNumber>{1, 2, 2});
  CHECK(outcome.heard.times ==
        std::vector{Time(Duration(1'500)), Time(Duration(2'500)), Time(Duration(3'500))});
}

TEST_CASE("reading only changes nothing") {
  LogBuilder log = small_log();
  log.last_bytes().resize(log.last_bytes().size() - 310);
  const auto disk = log.disk();
  const Outcome first = recovered(*disk, true);
  CHECK_FALSE(first.found.torn_tail.empty());
  CHECK_FALSE(disk->has("log.0000000006"));
  CHECK(disk->contents("log.0000000005") == log.last_bytes());
  CHECK(first.heard.texts == recovered(*disk).heard.texts);
}

// The records that stand in the byte `at` of that segment.
std::set<std::size_t> records_at(const LogBuilder& log, SegmentNumber segment, std::uint64_t at) {
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < log.written().size(); ++i) {
    const Written& it = log.written()[i];
    if (it.segment == segment && it.at <= at && at < it.end) found.insert(i);
  }
  return found;
}

// After damage there must be the same in a second reading, and nothing more to mend.
void check_settled(MemoryDisk& disk, const Outcome& first) {
  const Outcome second = recovered(disk);
  CHECK(second.heard.texts == first.heard.texts);
  CHECK(second.found.torn_tail.empty());
  CHECK(second.found.last_id == first.found.last_id);
  CHECK(second.found.last_index == first.found.last_index);
  CHECK(second.found.damage.size() == first.found.damage.size());
}

TEST_CASE("a flipped byte costs at most the record that it is in") {
  const LogBuilder log = small_log();
  for (const SegmentNumber number : {SegmentNumber{3}, SegmentNumber{4}, SegmentNumber{5}}) {
    const std::string name = segment_name(number);
    const std::size_t size = log.disk()->contents(name).size();
    for (std::size_t at = 0; at < size; ++at) {
      CAPTURE(number);
      CAPTURE(at);
      const auto disk = log.disk();
      std::string bytes = disk->contents(name);
      bytes[at] = static_cast<char>(~bytes[at]);
      disk->put(name, bytes);
      const Outcome outcome = recovered(*disk);
      CHECK(outcome.heard.texts == log.expected(records_at(log, number, at)));
      CHECK(outcome.found.last_id >= 5);
      CHECK(outcome.found.damage.size() <= 1);
      CHECK(outcome.found.damage.size() == damaged_count(outcome.found));
      if (number < 5) CHECK(outcome.found.torn_tail.empty());
      check_settled(*disk, outcome);
    }
  }
}

// The ids that a log with this byte flipped may give again, or leaves out; 0: goes on as the whole
// one.
std::int64_t ids_off(const LogBuilder& log, std::size_t at, JobId last_id) {
  const auto disk = log.disk();
  std::string bytes = disk->contents("log.0000000001");
  bytes[at] = static_cast<char>(~bytes[at]);
  disk->put("log.0000000001", bytes);
  const Outcome outcome = recovered(*disk);
  check_settled(*disk, outcome);
  return static_cast<std::int64_t>(outcome.found.last_id - last_id);
}

TEST_CASE("an id that was lost with its put is not given again") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).batch({put(2), put(3), put(4)}).batch({KickRecord{1}});
  const std::size_t size = log.last_bytes().size();
  for (std::size_t at = 0; at < size; ++at) {
    CAPTURE(at);
    const auto off = ids_off(log, at, 4);
    CHECK((at < log.written()[4].at - kBatchHeaderBytes ? off == 0 : off >= 0));
  }
}

TEST_CASE("ids are not left out where a later header knows them") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).batch({put(2), put(3)}).segment(2).batch({KickRecord{1}});
  for (std::size_t at = 0; at < log.disk()->contents("log.0000000001").size(); ++at) {
    CAPTURE(at);
    CHECK(ids_off(log, at, 3) == 0);
  }
}

TEST_CASE("ids that may have stood in lost batches are not given again") {
  LogBuilder log;
  log.segment(1).batch({put(1)});
  const std::size_t lost_at = log.last_bytes().size();
  log.batch({put(2), put(3)}).batch({put(4)});
  const std::size_t lost_end = log.last_bytes().size();
  log.batch({KickRecord{1}});
  const auto disk = log.disk();
  std::string bytes = disk->contents("log.0000000001");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(lost_at),
            bytes.begin() + static_cast<std::ptrdiff_t>(lost_end), '\0');
  disk->put("log.0000000001", bytes);
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.found.last_id >= 4);
  CHECK(outcome.found.last_id <= 1 + (lost_end - lost_at) / kSmallestPutBytes);
}

// The fuzzer's: damage in front of a torn tail, of which nothing was kept.
TEST_CASE("a segment that was begun later shows that what is lost in front of it is damage") {
  LogBuilder log;
  log.segment(1).batch({put(1)});
  const std::string whole = log.last_bytes();
  for (std::size_t at = kSegmentHeaderBytes; at < whole.size(); ++at) {
    CAPTURE(at);
    LogBuilder damaged = log;
    damaged.last_bytes()[at] = static_cast<char>(~whole[at]);
    const auto disk = damaged.segment(2).disk();
    const Outcome outcome = recovered(*disk);
    const bool in_header = at < kSegmentHeaderBytes + kBatchHeaderBytes;
    CHECK(outcome.heard.segments == std::vector<SegmentNumber>(in_header ? 1 : 0, 1));
    CHECK(outcome.found.damage.size() == 1);
    CHECK(outcome.found.torn_tail.empty());
    check_settled(*disk, outcome);
  }
}

// The fuzzer's. Records found there are kept, so they have to go into the mended segment too.
TEST_CASE("what does not verify in front of a torn batch is part of the tail") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).bytes("no batch, and none is missing").batch({put(2), put(3)});
  log.last_bytes().back() ^= 1;
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected({2}));
  CHECK(outcome.heard.segments == std::vector<SegmentNumber>{1, 2});
  CHECK(outcome.found.damage.empty());
  CHECK_FALSE(outcome.found.torn_tail.empty());
  check_settled(*disk, outcome);
}

TEST_CASE("unless batches are missing there, which is damage and told at once") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).index(4).batch({put(2), put(3)});
  log.last_bytes().back() ^= 1;
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected({2}));
  CHECK(outcome.found.damage.size() == 1);
  CHECK_FALSE(outcome.found.torn_tail.empty());
  check_settled(*disk, outcome);
}

TEST_CASE("an index that does not rise is no batch's, but its records are kept") {
  for (const BatchIndex index : {1U, 2U, 3U}) {
    CAPTURE(index);
    LogBuilder log;
    log.segment(1).batch({put(1)}).batch({put(2)}).batch({put(3)}).index(index).batch({put(4)});
    const auto disk = log.disk();
    const Outcome outcome = recovered(*disk);
    CHECK(outcome.heard.texts == log.expected());
    CHECK(outcome.found.damage.empty());
    CHECK_FALSE(outcome.found.torn_tail.empty());
    check_settled(*disk, outcome);
  }
}

// The next start finds the mended segment, and the file still there.
TEST_CASE("a last segment without a header is told no second time when the tail is mended") {
  LogBuilder log;
  log.segment(1).batch({put(1)});
  log.last_bytes()[kSegmentHeaderBytes] = '!';  // the header of the only batch
  log.segment(2).segment(3);
  log.last_bytes()[0] = '!';
  log.last_bytes()[kSegmentHeaderBytes / 2] = '!';
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.found.damage.size() == 1);
  CHECK(outcome.found.unreadable == std::vector<SegmentNumber>{3});
  CHECK_FALSE(outcome.found.torn_tail.empty());
  check_settled(*disk, outcome);
}

TEST_CASE("damage is told with file and offset, once") {
  LogBuilder log;
  log.segment(1).batch({put(1), put(2)}).batch({put(3)}).segment(2).batch({put(4)});
  const auto disk = log.disk();
  std::string bytes = disk->contents("log.0000000001");
  const std::uint64_t at = log.written()[1].at;
  bytes[at + 5] = '!';
  disk->put("log.0000000001", bytes);
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected({1}));
  REQUIRE(outcome.found.damage.size() == 1);
  CHECK(outcome.found.damage[0].text == "log.0000000001: 46 bytes at 1118 do not verify");
  CHECK(outcome.found.segments[0].damaged);
  CHECK_FALSE(outcome.found.segments[1].damaged);
}

TEST_CASE("every truncation keeps the records in front of it") {
  const LogBuilder log = small_log();
  const std::string name = segment_name(5);
  const std::string whole = log.disk()->contents(name);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto disk = log.disk();
    disk->put(name, whole.substr(0, size));
    std::set<std::size_t> lost;
    for (std::size_t i = 0; i < log.written().size(); ++i) {
      if (log.written()[i].segment == 5 && log.written()[i].end > size) lost.insert(i);
    }
    const Outcome outcome = recovered(*disk);
    CHECK(outcome.heard.texts == log.expected(lost));
    CHECK(outcome.found.damage.empty());
    check_settled(*disk, outcome);
  }
}

TEST_CASE("spares are told, wherever they are") {
  LogBuilder log = small_log();
  const auto disk = log.disk();
  disk->put("log.0000000001", std::string(2'000, '\0'));
  disk->put("log.0000000006", "");
  disk->put("log.0000000007", std::string(5'000'000, '\0'));
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected());
  CHECK(outcome.found.spares == std::vector<SegmentNumber>{1, 6, 7});
  CHECK(numbers(outcome.found) == std::vector<SegmentNumber>{3, 4, 5});
  CHECK(outcome.found.next_number == 8);
  CHECK(outcome.found.torn_tail.empty());
}

TEST_CASE("long bodies come in buffers, ready to be sent; also larger than any window") {
  LogBuilder log;
  const BufferRef longest = long_body(3'000'000);
  const BufferRef shortest = long_body(4'097);
  const std::string inline_body(4'096, 'i');
  log.segment(1).batch({put(1), long_put(2, longest), put(3, inline_body)});
  log.batch({long_put(4, shortest), long_put(5, longest), DeleteRecord{5}});
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.texts == log.expected());
  REQUIRE(outcome.heard.buffers.size() == 4);
  CHECK(outcome.heard.buffers[1]->view() == longest->view());
  CHECK_FALSE(outcome.heard.buffers[2]);
  CHECK(outcome.heard.buffers[3]->view() == shortest->view());
}

TEST_CASE("records behind a broken long body are found") {
  LogBuilder log;
  const BufferRef longest = long_body(3'000'000);
  log.segment(1).batch({put(1), long_put(2, longest), put(3)}).batch({put(4)});
  log.last_bytes()[2'000'000] ^= 1;
  CHECK(recovered(*log.disk()).heard.texts == log.expected({1}));
  log.last_bytes()[2'000'000] ^= 1;
  log.last_bytes()[log.written()[1].at] ^= 1;
  const auto disk = log.disk();
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected({1}));
  CHECK(outcome.found.damage.size() == 1);
}

TEST_CASE("a body that holds a whole log is a body") {
  const std::string inner = LogBuilder().segment(1).batch({put(7), DeleteRecord{1}}).last_bytes();
  for (const std::size_t damage : {std::size_t{0}, std::size_t{1}}) {
    LogBuilder log;
    log.segment(1).batch({put(1), put(2, inner)}).batch({put(3)});
    if (damage > 0) log.last_bytes()[log.written()[1].at] ^= 1;
    const Outcome outcome = recovered(*log.disk());
    CHECK(outcome.heard.texts == (damage > 0 ? log.expected({1}) : log.expected()));
    CHECK(outcome.found.damage.size() == damage);
  }
}

TEST_CASE("old bytes of a recycled segment do not count") {
  const std::string old =
      LogBuilder().segment(1).batch({put(7)}).batch({put(8), put(9)}).last_bytes();
  LogBuilder log;
  log.segment(2).batch({put(1)});
  const std::size_t size = log.last_bytes().size();

  SUBCASE("of another salt, at their own places") { log.bytes(old.substr(size)); }
  SUBCASE("of the same salt, at another place") {
    const std::string mine = log.last_bytes().substr(kSegmentHeaderBytes);
    log.bytes(mine);
  }
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.texts == log.expected());
  CHECK_FALSE(outcome.found.torn_tail.empty());
  CHECK(outcome.found.damage.empty());
}

TEST_CASE(
    "bytes that do not verify behind a segment's last batch are no damage if none is missing") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).bytes("left over").zeros(50).segment(2).batch({put(2)});
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.texts == log.expected());
  CHECK(outcome.found.damage.empty());
  CHECK(outcome.found.segments[0].end == log.written()[0].end);
}

TEST_CASE("batches that a later segment cuts off do not count") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).batch({put(2)}).batch({put(3)});
  log.index(2).segment(2).batch({put(4)});
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.texts == log.expected({1, 2}));
  CHECK(outcome.found.last_index == 2);
  CHECK(outcome.found.segments[0].end == log.written()[0].end);

  log.index(1).segment(3).batch({put(5)});
  const Outcome all = recovered(*log.disk());
  CHECK(all.heard.texts == log.expected({0, 1, 2, 3}));
  CHECK(all.found.spares == std::vector<SegmentNumber>{1, 2});
  CHECK(all.found.damage.empty());
}

TEST_CASE("missing batches are damage") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).index(4).batch({put(2)});
  SUBCASE("inside a segment") {
    const Outcome outcome = recovered(*log.disk());
    REQUIRE(outcome.found.damage.size() == 1);
    CHECK(outcome.found.damage[0].text == "log.0000000001: batches 2 to 3 are missing before 1118");
  }
  SUBCASE("between two") {
    log.segment(2).batch({put(3)}).segment(3).batch({put(4)});
    const auto disk = log.disk();
    REQUIRE(disk->remove(segment_name(2)));
    const Outcome outcome = recovered(*disk);
    CHECK(outcome.heard.texts == log.expected({2}));
    REQUIRE(outcome.found.damage.size() == 2);
    CHECK(outcome.found.damage[1].text == "log.0000000003: batches 5 to 5 are missing before it");
  }
}

TEST_CASE("the oldest segments are missing because they were retired") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).segment(2).batch({put(2)});
  const auto disk = log.disk();
  REQUIRE(disk->remove(segment_name(1)));
  const Outcome outcome = recovered(*disk);
  CHECK(outcome.heard.texts == log.expected({0}));
  CHECK(outcome.found.damage.empty());
}

TEST_CASE("a segment without a header is damage, in front of others") {
  LogBuilder log;
  log.segment(1).batch({put(1)}).segment(2).batch({put(2)}).segment(3).batch({put(3)});
  for (const SegmentNumber number : {SegmentNumber{1}, SegmentNumber{2}}) {
    const auto disk = log.disk();
    std::string bytes = disk->contents(segment_name(number));
    bytes.replace(0, kSegmentHeaderBytes, kSegmentHeaderBytes, 'x');
    disk->put(segment_name(number), bytes);
    const Outcome outcome = recovered(*disk);
    CHECK(outcome.heard.texts == log.expected({number - 1}));
    // An oldest one may as well be what a first torn write has left: index 1 is not missing then.
    REQUIRE(outcome.found.damage.size() == 1);
    CHECK(outcome.found.segments[number - 1].damaged);
    CHECK(outcome.found.torn_tail.empty());
  }
}

TEST_CASE("the highest id in a record, a note or a header counts as given") {
  CHECK(recovered(*LogBuilder().segment(1).batch({put(5)}).disk()).found.last_id == 5);
  CHECK(recovered(*LogBuilder().segment(1).batch({put(5), DeleteRecord{5}}).disk()).found.last_id ==
        5);
  CHECK(recovered(*LogBuilder().segment(1).batch({put(5), IdNote{9}}).disk()).found.last_id == 9);
  CHECK(recovered(*LogBuilder().segment(1).batch({IdNote{9}}).segment(2).disk()).found.last_id ==
        9);
  LogBuilder header;
  header.segment(1).batch({put(8)}).segment(2).batch({put(7)});
  const auto disk = header.disk();
  REQUIRE(disk->remove(segment_name(1)));
  CHECK(recovered(*disk).found.last_id == 8);
}

TEST_CASE("a log of a later format is refused") {
  LogBuilder log;
  log.segment(1).batch({put(1)});
  const auto disk = log.disk();
  disk->put("log.0000000002", later_format(log.last_bytes()));
  Listener heard;
  const auto found = recover(*disk, heard, false);
  REQUIRE_FALSE(found);
  CHECK(found.error().text == "log.0000000002 has format 2, and this server knows format 1 only");
}

TEST_CASE("a segment under another's name is refused") {
  LogBuilder log;
  log.segment(1).batch({put(1)});
  const auto disk = log.disk();
  disk->put("log.0000000002", log.last_bytes());
  Listener heard;
  const auto found = recover(*disk, heard, false);
  REQUIRE_FALSE(found);
  CHECK(found.error().text ==
        "log.0000000002 was written as log.0000000001: it is a copy, or was renamed");
}

TEST_CASE("progress is told on the way") {
  LogBuilder log;
  const BufferRef body = long_body(1'000'000);
  log.segment(1);
  for (JobId id = 1; id <= 20; ++id) log.batch({long_put(id, body)});
  const Outcome outcome = recovered(*log.disk());
  CHECK(outcome.heard.bytes_total == 2 * log.last_bytes().size());
  CHECK(outcome.heard.bytes_read > log.last_bytes().size());
  CHECK(outcome.heard.bytes_read < outcome.heard.bytes_total);
}

}  // namespace
}  // namespace xylem::test
