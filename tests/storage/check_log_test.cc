// --check-log and --dump-log on logs made here; the golden logs of format 1, which every later
// version must read as they stand; and the hex example of docs/disk-format.md.
#include "xylem/storage/check_log.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "storage/dump_text.h"
#include "support/log_builder.h"
#include "xylem/storage/posix_disk.h"

namespace xylem::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = XYLEM_SOURCE_DIR;

// What `print` writes.
template <class Print>
std::string printed(Print print) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  print(file);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

std::string dump(Directory& disk, DumpFormat format = DumpFormat::kText) {
  return printed([&](std::FILE* out) { CHECK(dump_log(disk, format, out)); });
}

std::string check(Directory& disk, bool good, DumpFormat format = DumpFormat::kText) {
  return printed([&](std::FILE* out) {
    auto checked = check_log(disk, format, out);
    REQUIRE(checked);
    CHECK(checked.value() == good);
  });
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

PutRecord put(JobId id, std::string_view tube, std::string_view body) {
  PutRecord put;
  put.id = id;
  put.tube = tube;
  put.ttr = 60;
  put.created_at = Time(Duration(17'000'000'000'005));
  put.body = body;
  return put;
}

LogBuilder log_of_two_tubes() {
  LogBuilder log;
  log.segment(1).batch({put(1, "a", "one"), put(2, "a", "two"), put(3, "b", "three\n\x01\xff")});
  log.batch({put(4, "b", "gr\xc3\xbc\xc3\x9f \"dich\""), BuryRecord{2, 7, 8}, DeleteRecord{1}});
  return log.batch({PauseRecord{"b", 60, Time(Duration(17'000'000'600'000))}});
}

TEST_CASE("a check in JSON is one object") {
  const auto disk = log_of_two_tubes().zeros(50).disk();
  CHECK(check(*disk, true, DumpFormat::kJson) ==
        R"({"segments":[{"file":"log.0000000001","bytes":1493,"used":1443,"damaged":false}],)"
        R"("spares":[],"last-batch":3,"last-id":4,"ready":2,"delayed":0,"buried":1,)"
        R"("tubes":[{"name":"a","ready":0,"delayed":0,"buried":1,"paused":false},)"
        R"({"name":"b","ready":2,"delayed":0,"buried":0,"paused":true}],)"
        R"("torn-tail":"","damage":[]})"
        "\n");
}

TEST_CASE("a check tells jobs by state and tube") {
  const auto disk = log_of_two_tubes().zeros(50).disk();
  CHECK(check(*disk, true) ==
        "log.0000000001: 1443 of 1493 bytes used\n"
        "last batch: 3, last id: 4\n"
        "3 jobs: 2 ready, 0 delayed, 1 buried\n"
        "tube a: 0 ready, 0 delayed, 1 buried\n"
        "tube b: 2 ready, 0 delayed, 0 buried\n"
        "tube b is paused\n"
        "no damage\n");
}

TEST_CASE("a check finds damage in records that a start would skip") {
  LogBuilder log = log_of_two_tubes();
  log.last_bytes()[log.written()[0].end - 1] ^= 1;
  const auto disk = log.disk();
  const std::string text = check(*disk, false);
  CHECK(text.find("damage: log.0000000001: 45 bytes at 1072 do not verify\n") != std::string::npos);
  CHECK(text.find(", damaged\n") != std::string::npos);
  CHECK(recovered(*disk).found.damage.empty());
}

TEST_CASE("a torn tail is told, and is no damage") {
  const auto disk = log_of_two_tubes().bytes("torn").disk();
  const std::string text = check(*disk, true);
  CHECK(text.find("torn tail: log.0000000001: ") != std::string::npos);
  CHECK(disk->contents("log.0000000001").ends_with("torn"));
}

TEST_CASE("a dump has a line for each record") {
  CHECK(
      dump(*log_of_two_tubes().bytes("torn").disk()) ==
      R"(log.0000000001 1072 batch 1 put id 1 tube a state ready pri 0 delay 0 ttr 60 created 1700000000.0005 reserves 0 timeouts 0 releases 0 buries 0 kicks 0 body "one"
log.0000000001 1117 batch 1 put id 2 tube a state ready pri 0 delay 0 ttr 60 created 1700000000.0005 reserves 0 timeouts 0 releases 0 buries 0 kicks 0 body "two"
log.0000000001 1162 batch 1 put id 3 tube b state ready pri 0 delay 0 ttr 60 created 1700000000.0005 reserves 0 timeouts 0 releases 0 buries 0 kicks 0 body "three\n\x01\xff"
log.0000000001 1260 batch 2 put id 4 tube b state ready pri 0 delay 0 ttr 60 created 1700000000.0005 reserves 0 timeouts 0 releases 0 buries 0 kicks 0 body "gr\xc3\xbc\xc3\x9f \"dich\""
log.0000000001 1315 batch 2 bury id 2 pri 7 bury_order 8
log.0000000001 1346 batch 2 delete id 1
log.0000000001 1411 batch 3 pause-tube tube b delay 60 until 1700000060.0000
log.0000000001 1443 batch 3 unverified bytes 4
)");
}

TEST_CASE("a dump in JSON keeps UTF-8 and encodes what is none") {
  const std::string text = dump(*log_of_two_tubes().disk(), DumpFormat::kJson);
  CHECK(
      text.find(
          R"({"file":"log.0000000001","at":1315,"batch":2,"type":"bury","id":2,"pri":7,"bury_order":8})"
          "\n") != std::string::npos);
  CHECK(text.find("\"body\":\"gr\xc3\xbc\xc3\x9f \\\"dich\\\"\"}\n") != std::string::npos);
  CHECK(text.find(R"("created":1700000000.0005,)") != std::string::npos);
  CHECK(text.find(R"("body_base64":"dGhyZWUKAf8="})") != std::string::npos);
}

TEST_CASE("bytes as text") {
  CHECK(quoted("a\t\"\\\r\n\x7f") == R"("a\t\"\\\r\n\x7f")");
  CHECK(json_string("a\t\"\\\x01") == R"("a\t\"\\\u0001")");
  CHECK(json_string("\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9\xf0\x9f\x98\x80") ==
        "\"\\u007f\\u009b\\u202e\xc3\xa9\xf0\x9f\x98\x80\"");
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
}

TEST_CASE("UTF-8 is told from what only looks like it") {
  for (const char* good : {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80",
                           "\xf4\x8f\xbf\xbf", "a\xc3\xbc\xe2\x82\xac"}) {
    CHECK(is_utf8(good));
  }
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    CHECK_FALSE(is_utf8(bad));
  }
}

std::string with_all_replaced(std::string text, const std::string& from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_CASE("golden logs of format 1 read as ever") {
  for (const char* name : {"whole", "torn", "damaged"}) {
    CAPTURE(name);
    const std::string path = kRoot / "tests/storage/golden" / name;
    auto disk = open_directory(path, Access::kRead);
    REQUIRE(disk);
    CHECK(dump(*disk.value()) == text_of_file(path + ".dump"));
    // Sentences name a file by its path, which is another on each machine.
    const std::string checked = check(*disk.value(), std::string_view(name) != "damaged");
    CHECK(with_all_replaced(checked, path, "DIR") == text_of_file(path + ".check"));
  }
}

// The lines of the page's block that begins with ```NAME.
std::vector<std::string> block(const std::string& page, const std::string& name) {
  const std::string fence = "\n```" + name + "\n";
  const std::size_t begin = page.find(fence);
  REQUIRE(begin != std::string::npos);
  std::string_view text = std::string_view(page).substr(begin + fence.size());
  text = text.substr(0, text.find("```"));
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

TEST_CASE("the hex example of the manual is a log, and says what stands beneath it") {
  const std::string page = text_of_file(kRoot / "docs/disk-format.md");
  std::string bytes(2'048, '\0');
  for (const std::string& line : block(page, "hex")) {
    // "0400  01 02 ...  what it is": offset and bytes in hex.
    std::size_t at = std::stoul(line.substr(0, 4), nullptr, 16);
    for (std::size_t digit = 6; digit + 1 < line.size() && line[digit] != ' '; digit += 3) {
      bytes.at(at++) = static_cast<char>(std::stoi(line.substr(digit, 2), nullptr, 16));
    }
  }
  MemoryDisk disk;
  disk.put("log.0000000001", bytes);
  std::string expected;
  for (const std::string& line : block(page, "dump")) expected += line + "\n";
  CHECK(dump(disk) == expected);
  const Outcome outcome = recovered(disk);
  CHECK(outcome.found.damage.empty());
  CHECK(outcome.found.torn_tail.empty());
}

}  // namespace
}  // namespace xylem::test
