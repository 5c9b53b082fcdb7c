// The rules by which beanstalkd's binlogs are read, each with a log made for it. Files are numbered
// by their order unless a test gives them names.
#include "xylem/storage/binlog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "storage/binlog_import.h"
#include "storage/binlog_maker.h"
#include "support/temporary_folder.h"

namespace xylem::test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNowNs = 1'700'000'100 * kSecond;
constexpr Time kNow{Duration(17'000'001'000'000)};

Imported import_files(std::initializer_list<MadeFile> files,
                      std::uint32_t most = limits::kDefaultJobBytes) {
  const TemporaryFolder folder;
  int number = 0;
  for (const MadeFile& file : files) folder.write("binlog." + std::to_string(++number), file);
  Imported imported = import_folder(folder.path(), kNow, most);
  REQUIRE(imported.error == "");
  REQUIRE(imported.summary.files.size() == files.size());
  return imported;
}

using Ids = std::vector<JobId>;

TEST_CASE("a full record is a job, with all its fields") {
  for (const int version : {7, 5}) {
    CAPTURE(version);
    const Made job{.id = 42,
                   .pri = 7,
                   .delay_ns = 5 * kSecond,
                   .ttr_ns = 61 * kSecond,
                   .created_ns = kNowNs - 3 * kSecond,
                   .deadline_ns = kNowNs + 2 * kSecond,
                   .reserves = 1,
                   .timeouts = 2,
                   .releases = 3,
                   .buries = 4,
                   .kicks = 5,
                   .state = kDelayed};
    const Imported got = import_files({MadeFile(version).full("abc", job, "hello\r\n").zeros(500)});
    REQUIRE(got.ids() == Ids{42});
    const PutRecord& record = got.jobs[0].record;
    CHECK(got.jobs[0].tube == "abc");
    CHECK(got.jobs[0].body == "hello");
    CHECK(record.state == JobState::kDelayed);
    CHECK(record.pri == 7);
    CHECK(record.delay == 5);
    CHECK(record.ttr == 61);
    CHECK(record.created_at == kNow - seconds(3));
    CHECK(record.deadline_at == kNow + seconds(2));
    CHECK(record.bury_order == 0);
    CHECK(record.reserves == 1);
    CHECK(record.timeouts == 2);
    CHECK(record.releases == 3);
    CHECK(record.buries == 4);
    CHECK(record.kicks == 5);
    CHECK(got.summary.jobs == BinlogCounts{.delayed = 1});
    CHECK(got.summary.tubes.at("abc") == BinlogCounts{.delayed = 1});
    CHECK(got.summary.highest_id == 42);
    CHECK(got.summary.files[0].version == version);
    CHECK(got.summary.files[0].end == BinlogEnd::kComplete);
    CHECK(got.summary.files[0].jobs == 1);
    CHECK(got.summary.files[0].records == 1);
  }
}

TEST_CASE("a short record gives new fields, but no tube and no body") {
  for (const int version : {7, 5}) {
    CAPTURE(version);
    const Imported got = import_files({MadeFile(version)
                                           .full("t", {.id = 1}, "a\r\n")
                                           .full("t", {.id = 2}, "b\r\n")
                                           .brief({.id = 1, .pri = 9, .buries = 1, .state = 3})
                                           .brief({.id = 2, .state = kDeleted})});
    REQUIRE(got.ids() == Ids{1});
    CHECK(got.jobs[0].record.pri == 9);
    CHECK(got.jobs[0].record.state == JobState::kBuried);
    CHECK(got.jobs[0].record.buries == 1);  // not one more
    CHECK(got.jobs[0].body == "a");
    CHECK(got.summary.highest_id == 2);
  }
}

TEST_CASE("the size in a short record does not change the body") {
  const Imported got =
      import_files({MadeFile().full("t", {.id = 1}, "abc\r\n").brief({.id = 1, .pri = 1}, 9'000)});
  REQUIRE(got.ids() == Ids{1});
  CHECK(got.jobs[0].body == "abc");
}

TEST_CASE("a reserved job is ready") {
  const Imported got =
      import_files({MadeFile().full("t", {.id = 1, .reserves = 2, .state = kReserved}, "a\r\n")});
  REQUIRE(got.ids() == Ids{1});
  CHECK(got.jobs[0].record.state == JobState::kReady);
  CHECK(got.jobs[0].record.reserves == 2);
}

TEST_CASE("a delay that ran out meanwhile makes a job ready") {
  const auto delayed = [](JobId id, std::int64_t deadline_ns) {
    return Made{.id = id, .delay_ns = 100 * kSecond, .deadline_ns = deadline_ns, .state = kDelayed};
  };
  const Imported got = import_files({MadeFile()
                                         .full("t", delayed(1, kNowNs - 1), "a\r\n")
                                         .full("t", delayed(2, kNowNs), "a\r\n")
                                         .full("t", delayed(3, kNowNs + 1), "a\r\n")});
  REQUIRE(got.ids() == Ids{1, 2, 3});
  CHECK(got.jobs[0].record.state == JobState::kReady);
  CHECK(got.jobs[0].record.delay == 100);
  CHECK(got.jobs[1].record.state == JobState::kReady);
  CHECK(got.jobs[2].record.state == JobState::kDelayed);
  CHECK(got.jobs[2].record.deadline_at == kNow + Duration(1));  // rounded up
}

TEST_CASE("times of a clock that was ahead are brought back") {
  const Imported got = import_files({MadeFile().full("t",
                                                     {.id = 1,
                                                      .delay_ns = 10 * kSecond,
                                                      .created_ns = kNowNs + 5 * kSecond,
                                                      .deadline_ns = INT64_MAX,
                                                      .state = kDelayed},
                                                     "a\r\n")});
  REQUIRE(got.ids() == Ids{1});
  CHECK(got.jobs[0].record.created_at == kNow);
  CHECK(got.jobs[0].record.deadline_at == kNow + seconds(10));
}

TEST_CASE("jobs come in the order of their first records, buried ones are numbered in it") {
  const Imported got = import_files(
      {MadeFile()
           .full("t", {.id = 5}, "a\r\n")
           .full("t", {.id = 3}, "b\r\n")
           .full("t", {.id = 9}, "c\r\n")
           .brief({.id = 9, .state = kBuried}),
       MadeFile().full("t", {.id = 5, .state = kBuried}, "a\r\n").full("t", {.id = 4}, "d\r\n")});
  REQUIRE(got.ids() == Ids{5, 3, 9, 4});
  CHECK(got.jobs[0].record.bury_order == 1);
  CHECK(got.jobs[1].record.bury_order == 0);
  CHECK(got.jobs[2].record.bury_order == 2);
  CHECK(got.summary.jobs == BinlogCounts{.ready = 2, .buried = 2});
  CHECK(got.summary.files[0].jobs == 2);
  CHECK(got.summary.files[1].jobs == 2);
}

TEST_CASE("an id that was deleted and given again is another job") {
  const Imported got = import_files({MadeFile()
                                         .full("old", {.id = 1}, "a\r\n")
                                         .full("t", {.id = 2}, "b\r\n")
                                         .brief({.id = 1, .state = kDeleted})
                                         .full("new", {.id = 1}, "c\r\n")});
  REQUIRE(got.ids() == Ids{2, 1});
  CHECK(got.jobs[1].tube == "new");
  CHECK(got.jobs[1].body == "c");
  CHECK(got.summary.tubes.contains("old") == false);
}

TEST_CASE("a second full record gives fields and body of any size, but the tube stays") {
  const std::string large(50'000, 'x');
  const Imported got = import_files(
      {MadeFile().full("t", {.id = 1}, "a\r\n").full("t", {.id = 2}, large + "\r\n"),
       MadeFile().full("u", {.id = 1, .pri = 1}, large + "\r\n").full("t", {.id = 2}, "\r\n")});
  REQUIRE(got.ids() == Ids{1, 2});
  CHECK(got.jobs[0].body == large);
  CHECK(got.jobs[0].tube == "t");
  CHECK(got.jobs[0].record.pri == 1);
  CHECK(got.jobs[1].body == "");
  CHECK(got.summary.files[0].jobs == 0);
  CHECK(got.summary.files[1].jobs == 2);
}

TEST_CASE("a short record of an unknown job is nothing, but its id was given") {
  const Imported got =
      import_files({MadeFile().brief({.id = 8, .state = kDeleted}).full("t", {.id = 1}, "a\r\n")});
  CHECK(got.ids() == Ids{1});
  CHECK(got.summary.ownerless == 1);
  CHECK(got.summary.highest_id == 8);
  CHECK(got.summary.files[0].end == BinlogEnd::kComplete);
}

TEST_CASE("zeros end a file, however many") {
  for (const std::size_t count : {0U, 1U, 3U, 4U, 83U, 84U, 85U, 5'000U}) {
    CAPTURE(count);
    for (const int version : {7, 5}) {
      const Imported got =
          import_files({MadeFile(version).full("t", {.id = 1}, "a\r\n").zeros(count)});
      CHECK(got.ids() == Ids{1});
      CHECK(got.summary.files[0].end == BinlogEnd::kComplete);
      CHECK(got.summary.files[0].why == "");
    }
  }
}

TEST_CASE("jobs up to the maximum size are taken, and what is behind them") {
  const auto of_size = [](std::size_t bytes) { return std::string(bytes, 'x') + "\r\n"; };
  const Imported got = import_files({MadeFile()
                                         .full("t", {.id = 1}, of_size(65'534))
                                         .full("t", {.id = 2}, of_size(65'535))
                                         .full("t", {.id = 3}, of_size(65'536))
                                         .full("t", {.id = 4}, of_size(3))});
  CHECK(got.ids() == Ids{1, 2, 4});
  CHECK(got.jobs[1].body.size() == 65'535);
  REQUIRE(got.summary.skipped.size() == 1);
  CHECK(got.summary.skipped[0].jobs == 1);
  CHECK(got.summary.skipped[0].why == "the body is larger than max-job-size, 65535 bytes");
  CHECK(got.summary.skipped[0].examples == std::vector<std::string>{"job 3 of 65536 bytes"});
  CHECK(got.summary.highest_id == 4);
}

TEST_CASE("a body larger than the window comes whole") {
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  const Imported got = import_files({MadeFile()
                                         .full("t", {.id = 1}, large + "\r\n")
                                         .full("t", {.id = 2}, "b\r\n")
                                         .full("t", {.id = 3}, large + "\r\n")},
                                    limits::kMostJobBytes);
  REQUIRE(got.ids() == Ids{1, 2, 3});
  CHECK((got.jobs[0].body == large));
  CHECK(got.jobs[1].body == "b");
  CHECK((got.jobs[2].body == large));
}

TEST_CASE("a tube whose name is not legal costs its jobs, unless they are deleted") {
  const Imported got = import_files({MadeFile()
                                         .full("a b", {.id = 1}, "a\r\n")
                                         .full("-c", {.id = 2}, "a\r\n")
                                         .full("x\n\xff\"\\", {.id = 3}, "a\r\n")
                                         .full("good", {.id = 4}, "a\r\n")
                                         .brief({.id = 2, .state = kDeleted})});
  CHECK(got.ids() == Ids{4});
  REQUIRE(got.summary.skipped.size() == 1);
  CHECK(got.summary.skipped[0].jobs == 2);
  CHECK(
      got.summary.skipped[0].examples ==
      std::vector<std::string>{"job 1 of tube \"a b\"", "job 3 of tube \"x\\x0a\\xff\\x22\\x5c\""});
  CHECK(got.summary.highest_id == 4);
}

TEST_CASE("the summary names ten jobs of a reason and counts the rest") {
  MadeFile file;
  for (JobId id = 1; id <= 12; ++id) file.full("a b", {.id = id}, "a\r\n");
  const Imported got = import_files({file});
  CHECK(got.summary.skipped[0].jobs == 12);
  CHECK(got.summary.skipped[0].examples.size() == 10);
}

TEST_CASE("a name has up to 200 bytes") {
  const std::string name(200, 'n');
  CHECK(import_files({MadeFile().full(name, {.id = 1}, "a\r\n")}).jobs[0].tube == name);
  const Imported got =
      import_files({MadeFile().full("t", {.id = 1}, "a\r\n").full(name + "n", {.id = 2}, "a\r\n")});
  CHECK(got.ids() == Ids{1});
  CHECK(got.summary.files[0].end == BinlogEnd::kDamaged);
}

// Job 1, then `damage` at byte 95, then job 3 in the same file and job 4 in the next.
Imported around(const MadeFile& damage, int version = 7) {
  const std::string behind = MadeFile(version).full("t", {.id = 3}, "c\r\n").bytes().substr(4);
  return import_files({MadeFile(version)
                           .full("t", {.id = 1, .pri = 1}, "abcdef\r\n")
                           .raw(damage.bytes().substr(4))
                           .raw(behind),
                       MadeFile(version).full("t", {.id = 4}, "d\r\n")});
}

TEST_CASE("a record that makes no sense ends its file, and changes nothing") {
  const auto ends = [](const MadeFile& damage, const std::string& why, int version = 7) {
    CAPTURE(why);
    const Imported got = around(damage, version);
    CHECK(got.ids() == Ids{1, 4});
    CHECK(got.jobs[0].record.pri == 1);
    CHECK(got.jobs[0].body == "abcdef");
    const BinlogFile& file = got.summary.files[0];
    CHECK(file.end == BinlogEnd::kDamaged);
    CHECK(file.end_at == (version == 5 ? 98 : 97));
    CHECK(file.why == why);
    CHECK(got.summary.files[1].end == BinlogEnd::kComplete);
    CHECK(got.summary.highest_id == 4);
  };
  ends(MadeFile().raw("\xff\xff\xff\xff"), "the length of a tube's name is more than 200");
  ends(MadeFile().raw("\xc9").zeros(3), "the length of a tube's name is more than 200");
  ends(MadeFile(5).raw(std::string("\x01\0\0\0\0\0\0\x01", 8)),
       "the length of a tube's name is more than 200", 5);
  ends(MadeFile().brief({.id = 1, .pri = 2, .state = 5}), "the state of job 1 is 5");
  ends(MadeFile().full("t", {.id = 2, .state = 255}, "b\r\n"), "the state of job 2 is 255");
  ends(MadeFile().brief({.id = 1, .pri = 2}, 0), "the body of job 1 has 0 bytes");
  ends(MadeFile().full("t", {.id = 2}, "b\r\n", -1'000), "the body of job 2 has -1000 bytes");
  ends(MadeFile().full("t", {.id = 2}, "", 1), "the body of job 2 has 1 bytes");
  ends(MadeFile().full("t", {.id = 2}, "", 1'073'741'827),
       "the body of job 2 has 1073741827 bytes");
  ends(MadeFile().full("t", {.id = 1ULL << 63}, "b\r\n"), "a job has id 9223372036854775808");
  ends(MadeFile().full("t", {.id = 0, .pri = 1}, "b\r\n"), "a job has id 0");
  ends(MadeFile().full("t", {.id = 2}, "bbbb\r\n", 4),
       "the body of job 2 is not where its size says");
}

TEST_CASE("a flipped bit in a CRLF costs nothing and is told") {
  const Imported got = around(MadeFile().full("t", {.id = 2}, "b\r\x0b"));
  CHECK(got.ids() == Ids{1, 2, 3, 4});
  CHECK(got.jobs[1].body == "b");
  CHECK(got.summary.bodies_unended == 1);
  CHECK(got.summary.files[0].end == BinlogEnd::kComplete);
}

TEST_CASE("the record in which a server was killed is left out, wherever it stopped") {
  const MadeFile whole = MadeFile().full("tube", {.id = 1}, "a\r\n");
  const MadeFile both = MadeFile(whole).full("tube", {.id = 2}, "body\r\n");
  const std::size_t begin = whole.bytes().size();
  const std::size_t end = both.bytes().size();
  for (std::size_t size = begin; size < end; ++size) {
    CAPTURE(size);
    for (const std::size_t zeros : {std::size_t{0}, std::size_t{1'000}}) {
      MadeFile torn = MadeFile(both).cut(end - size).zeros(zeros);
      const Imported got = import_files({torn, MadeFile().full("t", {.id = 3}, "c\r\n")});
      REQUIRE(got.ids() == Ids{1, 3});
      CHECK(got.summary.highest_id == 3);
      const bool begun = zeros > 0 ? size > begin : size >= begin + 4;
      CHECK(got.summary.files[0].end == (begun ? BinlogEnd::kTorn : BinlogEnd::kComplete));
      CHECK((!begun || got.summary.files[0].end_at == begin));
    }
  }
}

TEST_CASE("a job whose newer record was not finished stays as it was") {
  const Imported got = import_files({MadeFile()
                                         .full("t", {.id = 1, .pri = 1}, "old\r\n")
                                         .full("t", {.id = 1, .pri = 2}, "old\r\n")
                                         .cut(1)});
  REQUIRE(got.ids() == Ids{1});
  CHECK(got.jobs[0].record.pri == 1);
  CHECK(got.jobs[0].body == "old");
  CHECK(got.summary.files[0].end == BinlogEnd::kTorn);
}

TEST_CASE("a file without a version was just made; one with another version is skipped") {
  for (const std::size_t bytes : {0U, 1U, 3U, 4U, 8'192U}) {
    CAPTURE(bytes);
    const TemporaryFolder folder;
    folder.write("binlog.1", std::string(bytes, '\0'));
    folder.write("binlog.2", MadeFile().full("t", {.id = 1}, "a\r\n"));
    const Imported got = import_folder(folder.path(), kNow);
    CHECK(got.ids() == Ids{1});
    CHECK(got.summary.files[0].end == BinlogEnd::kTorn);
  }
  for (const int version : {0, 1, 4, 6, 8}) {
    const Imported got = import_files({MadeFile(version).full("t", {.id = 9}, "a\r\n"),
                                       MadeFile().full("t", {.id = 1}, "a\r\n")});
    CHECK(got.ids() == Ids{1});
    CHECK(got.summary.files[0].end == BinlogEnd::kUnknownVersion);
    CHECK(got.summary.files[0].version == version);
  }
}

std::vector<std::string> lines(const BinlogSummary& summary) {
  std::vector<std::string> texts;
  for (const BinlogLine& line : lines_of(summary)) {
    texts.push_back((line.warning ? "! " : "  ") + line.text);
  }
  return texts;
}

TEST_CASE("the summary in words") {
  const TemporaryFolder folder;
  folder.write("binlog.1", MadeFile()
                               .full("a", {.id = 1}, "a\r\n")
                               .full("b", {.id = 2, .state = kBuried}, "a\r\n")
                               .full("b c", {.id = 3}, "a\r\n")
                               .brief({.id = 1, .state = 9})
                               .zeros(16));
  folder.write("binlog.3", MadeFile(6));
  folder.write("binlog.6", MadeFile().full("a", {.id = 4}, "a\r\n").cut(2));
  folder.write("binlog.7", MadeFile().full("a", {.id = 5}, "a\r!").brief({.id = 5}));
  CHECK(lines(import_folder(folder.path(), kNow).summary) ==
        std::vector<std::string>{
            "! binlog.2 is missing",
            "! binlog.4 to binlog.5 are missing",
            "! binlog.1: 2 jobs taken; damaged at byte 270: the state of job 1 is 9: 100 bytes "
            "from there on were skipped",
            "! binlog.3: skipped: version 6 is not known",
            "  binlog.6: 0 jobs taken; the last record, at byte 4, was not finished, as after a "
            "kill: the file ends within the body of job 4",
            "  binlog.7: 1 jobs taken",
            "  tube a: 2 ready, 0 delayed, 0 buried",
            "  tube b: 0 ready, 0 delayed, 1 buried",
            "! 1 jobs skipped: the tube's name is not legal: job 3 of tube \"b c\"",
            "! 1 jobs were taken though no CRLF follows their body: they may be damaged",
            "  3 jobs imported: 2 ready, 0 delayed, 1 buried; the highest id is 5",
        });
}

}  // namespace
}  // namespace xylem::test
