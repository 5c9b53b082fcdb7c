// The real disk and the one in memory keep the same contract (file.h); then what only one of them
// has: permissions and locks, or power cuts and planned failures.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/memory_disk.h"
#include "support/temporary_folder.h"
#include "xylem/storage/posix_disk.h"

namespace xylem::test {
namespace {

std::unique_ptr<Directory> posix_disk(const std::string& path) {
  auto directory = open_directory(path, Access::kWrite);
  REQUIRE(directory);
  return std::move(directory).value();
}

std::unique_ptr<File> file_of(Result<std::unique_ptr<File>> file) {
  REQUIRE(file);
  return std::move(file).value();
}

void write(File& file, std::uint64_t at, std::vector<std::string_view> parts) {
  REQUIRE(file.write(at, parts));
}

std::string contents(File& file) {
  auto size = file.size();
  REQUIRE(size);
  std::string bytes(size.value() + 10, '?');
  auto got = file.read(0, bytes);
  REQUIRE(got);
  bytes.resize(got.value());
  return bytes;
}

std::vector<std::string> names(Directory& directory) {
  auto names = directory.list();
  REQUIRE(names);
  std::ranges::sort(names.value());
  return names.value();
}

void check_files(Directory& directory) {
  const auto file = file_of(directory.create("one"));
  write(*file, 0, {"abc", "", "def"});
  write(*file, 8, {"g"});
  write(*file, 1, {"B"});
  write(*file, 20, {});
  const std::string expected("aBcdef\0\0g", 9);
  CHECK(contents(*file) == expected);
  CHECK(file->sync());

  std::string middle(3, '?');
  CHECK(file->read(2, middle).value() == 3);
  CHECK(middle == "cde");
  CHECK(file->read(7, middle).value() == 2);
  CHECK(file->read(9, middle).value() == 0);
  CHECK(file->read(1'000, middle).value() == 0);

  CHECK(file->allocate(4'000).value());
  CHECK(contents(*file) == expected + std::string(4'000 - 9, '\0'));
  CHECK(file->allocate(10).value());
  CHECK(file->size().value() == 4'000);
  CHECK(file->truncate(2));
  CHECK(contents(*file_of(directory.open("one"))) == "aB");
}

void check_many_parts(Directory& directory) {
  const auto file = file_of(directory.create("parts"));
  std::vector<std::string> parts;
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    parts.push_back(std::string(static_cast<std::size_t>(i % 3), static_cast<char>('a' + i % 26)));
    expected += parts.back();
  }
  write(*file, 0, {parts.begin(), parts.end()});
  CHECK(contents(*file) == expected);
}

void check_names(Directory& directory) {
  CHECK(names(directory).empty());
  file_of(directory.create("b"));
  file_of(directory.create("a"));
  CHECK(names(directory) == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(directory.create("a"));
  CHECK_FALSE(directory.open("c"));
  CHECK(directory.rename("a", "c"));
  CHECK(directory.remove("b"));
  CHECK_FALSE(directory.remove("b"));
  CHECK_FALSE(directory.rename("b", "d"));
  CHECK(directory.sync());
  CHECK(names(directory) == std::vector<std::string>{"c"});
  CHECK(directory.open("b").error().text.find(directory.path_of("b")) != std::string::npos);
}

TEST_CASE("both disks keep the contract") {
  for (const auto check : {check_files, check_many_parts, check_names}) {
    const TemporaryFolder folder;
    check(*posix_disk(folder.path()));
    MemoryDisk memory;
    check(memory);
  }
}

TEST_CASE("the real disk: files are their owner's, blocks are there, folders are no files") {
  const TemporaryFolder folder;
  const auto directory = posix_disk(folder.path());
  const auto file = file_of(directory->create("f"));
  REQUIRE(file->allocate(1'000'000));
  struct stat status {};
  REQUIRE(stat(directory->path_of("f").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(status.st_blocks * 512 >= 1'000'000);
  REQUIRE(mkdir(directory->path_of("folder").c_str(), 0700) == 0);
  CHECK(names(*directory) == std::vector<std::string>{"f"});
}

TEST_CASE("the real disk: what may only read does not write") {
  const TemporaryFolder folder;
  file_of(posix_disk(folder.path())->create("f"));
  auto directory = open_directory(folder.path(), Access::kRead);
  REQUIRE(directory);
  const auto file = file_of(directory.value()->open("f"));
  CHECK(contents(*file).empty());
  const std::string_view part = "x";
  CHECK_FALSE(file->write(0, {&part, 1}));
}

TEST_CASE("a directory that is not there is told with exit code 10") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/none";
  const auto directory = open_directory(path, Access::kWrite);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().exit_code == 10);
  CHECK(directory.error().text == "cannot open " + path + ": No such file or directory");
  const auto lock = lock_directory(path);
  REQUIRE_FALSE(lock);
  CHECK(lock.error().exit_code == 10);
}

// The exit code of a child that tries to lock: 0 if it could. (A POSIX lock never stands in the way
// of its own process.)
int lock_elsewhere(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = lock_directory(path);
    _exit(lock ? 0 : lock.error().exit_code);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WEXITSTATUS(status);
}

TEST_CASE("a directory has one server") {
  const TemporaryFolder folder;
  {
    const auto lock = lock_directory(folder.path());
    REQUIRE(lock);
    CHECK(lock_elsewhere(folder.path()) == 10);
  }
  CHECK(lock_elsewhere(folder.path()) == 0);
  CHECK(std::filesystem::exists(folder.path() + "/lock"));
}

TEST_CASE("a stopped log is read as it is; a folder without one is told") {
  const TemporaryFolder folder;
  const auto none = open_stopped(folder.path());
  REQUIRE_FALSE(none);
  CHECK(none.error().exit_code == 10);
  CHECK(none.error().text == folder.path() + " holds no log");
  std::ofstream(folder.path() + "/log.0000000001") << "a copy";
  auto copy = open_stopped(folder.path());
  REQUIRE(copy);
  CHECK(copy.value().lock == nullptr);
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/lock"));
  REQUIRE(lock_elsewhere(folder.path()) == 0);  // as a server that has stopped
  const auto stopped = open_stopped(folder.path());
  REQUIRE(stopped);
  CHECK(lock_elsewhere(folder.path()) == 10);
}

TEST_CASE("a power cut keeps what was synced, and of the rest what fate keeps") {
  MemoryDisk disk;
  const auto file = file_of(disk.create("f"));
  write(*file, 0, {"synced"});
  REQUIRE(file->sync());
  CHECK_FALSE(disk.after_power_cut([] { return Fate::kDropped; })->has("f"));
  REQUIRE(disk.sync());
  write(*file, 2, {"XYZW"});
  REQUIRE(file->allocate(8));

  const auto contents_after = [&](Fate fate) {
    return disk.after_power_cut([fate] { return fate; })->contents("f");
  };
  CHECK(contents_after(Fate::kKept) == std::string("syXYZW\0\0", 8));
  CHECK(contents_after(Fate::kDropped) == "synced");
  CHECK(contents_after(Fate::kGarbled).substr(0, 2) == "sy");
  CHECK(contents_after(Fate::kGarbled).size() == 6);
  CHECK(contents_after(Fate::kGarbled) != "synced");
  CHECK(disk.after_kill()->contents("f") == std::string("syXYZW\0\0", 8));
}

TEST_CASE("a power cut may tear a write between sectors") {
  MemoryDisk disk;
  const auto file = file_of(disk.create("f"));
  REQUIRE(disk.sync());
  const std::string bytes(kSectorBytes * 2, 'x');
  write(*file, kSectorBytes / 2, {bytes});
  int asked = 0;
  const auto after =
      disk.after_power_cut([&] { return ++asked == 2 ? Fate::kKept : Fate::kDropped; });
  CHECK(asked == 3);
  CHECK(after->contents("f") == std::string(kSectorBytes, '\0') + std::string(kSectorBytes, 'x'));
}

TEST_CASE("names are as safe as the directory's last sync") {
  MemoryDisk disk;
  disk.put("a", "1");
  disk.put("b", "2");
  REQUIRE(disk.rename("a", "c"));
  REQUIRE(disk.remove("b"));
  const auto kept = disk.after_power_cut([] { return Fate::kKept; });
  CHECK(names(*kept) == std::vector<std::string>{"c"});
  const auto dropped = disk.after_power_cut([] { return Fate::kDropped; });
  CHECK(names(*dropped) == std::vector<std::string>{"a", "b"});
  REQUIRE(disk.sync());
  const auto synced = disk.after_power_cut([] { return Fate::kDropped; });
  CHECK(names(*synced) == std::vector<std::string>{"c"});
  CHECK(synced->contents("c") == "1");
}

TEST_CASE("the nth call fails, and a sync that failed cannot be made good") {
  MemoryDisk disk;
  const auto file = file_of(disk.create("f"));
  REQUIRE(disk.sync());
  disk.fail_at(2);
  write(*file, 0, {"x"});
  CHECK_FALSE(file->sync());
  CHECK(file->sync());
  CHECK(disk.after_power_cut([] { return Fate::kDropped; })->contents("f").empty());
}

TEST_CASE("a full disk refuses an allocation and fails a write") {
  MemoryDisk disk;
  disk.set_capacity(100);
  const auto file = file_of(disk.create("f"));
  CHECK(file->allocate(90).value());
  CHECK_FALSE(file_of(disk.create("g"))->allocate(11).value());
  write(*file, 89, {"x"});
  const std::string_view long_part = "0123456789012345";
  CHECK_FALSE(file->write(89, {&long_part, 1}));
  REQUIRE(disk.remove("f"));
  CHECK(disk.used_bytes() == 0);
}

}  // namespace
}  // namespace xylem::test
