// Which files of a directory are read as beanstalkd's binlogs, in which order, and who may have the
// directory meanwhile.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/binlog_import.h"
#include "storage/binlog_maker.h"
#include "support/temporary_folder.h"
#include "xylem/storage/binlog.h"

namespace xylem::test {
namespace {

constexpr Time kNow{Duration(17'000'001'000'000)};

using Ids = std::vector<JobId>;

TEST_CASE("versions may be mixed, and files are read by number") {
  const TemporaryFolder folder;
  folder.write("binlog.10", MadeFile(7).brief({.id = 1, .pri = 10}));
  folder.write("binlog.9", MadeFile(5).full("t", {.id = 1, .pri = 9}, "a\r\n"));
  const Imported got = import_folder(folder.path(), kNow);
  REQUIRE(got.ids() == Ids{1});
  CHECK(got.jobs[0].record.pri == 10);
  CHECK(got.jobs[0].record.ttr == 60);
}

TEST_CASE("only binlog.N is read, and numbers that are missing are told") {
  const TemporaryFolder folder;
  const auto file = [](JobId id) { return MadeFile().full("t", {.id = id}, "a\r\n"); };
  folder.write("binlog.2", file(2));
  folder.write("binlog.4", file(4));
  folder.write("binlog.9", file(9));
  const std::vector<std::string> others{"binlog.",   "binlog.1.bak", "binlog.07", "binlog.-1",
                                        "binlog.+3", "binlog. 3",    "xbinlog.3", "binlog.3x"};
  for (const std::string& name : others) folder.write(name, file(100));
  std::filesystem::create_directory(folder.path() + "/binlog.7");
  const Imported got = import_folder(folder.path(), kNow);
  CHECK(got.ids() == Ids{2, 4, 9});
  REQUIRE(got.summary.gaps.size() == 2);
  CHECK(got.summary.gaps[0].first == 3);
  CHECK(got.summary.gaps[0].last == 3);
  CHECK(got.summary.gaps[1].first == 5);
  CHECK(got.summary.gaps[1].last == 8);
}

TEST_CASE("bodies come from more files than are kept open") {
  const TemporaryFolder folder;
  constexpr JobId kFiles = 20;
  for (JobId id = 1; id <= kFiles; ++id) {
    const std::string body = "body " + std::to_string(id) + "\r\n";
    MadeFile file;
    if (id == 1) {
      for (JobId first = 1; first <= kFiles; ++first) file.full("t", {.id = first}, "old\r\n");
    }
    // Newer bodies stand in the opposite order.
    file.full("t", {.id = kFiles + 1 - id}, body);
    folder.write("binlog." + std::to_string(id), file);
  }
  const Imported got = import_folder(folder.path(), kNow);
  REQUIRE(got.jobs.size() == kFiles);
  for (JobId id = 1; id <= kFiles; ++id) {
    CHECK(got.jobs[id - 1].record.id == id);
    CHECK(got.jobs[id - 1].body == "body " + std::to_string(kFiles + 1 - id));
  }
}

TEST_CASE("a directory without binlogs is an error") {
  const TemporaryFolder folder;
  CHECK(import_folder(folder.path(), kNow).error == folder.path() + ": has no binlog.N to import");
  const std::string nowhere = folder.path() + "/nowhere";
  CHECK(import_folder(nowhere, kNow).error ==
        nowhere + ": cannot be read: No such file or directory");
}

// What `work` returns in a process of its own.
template <class Work>
int in_child(Work work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool lock_for_writing(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_SETLK, &lock) == 0;
}

TEST_CASE("a directory that a server uses is refused, and nothing is handed out") {
  const TemporaryFolder folder;
  folder.write("lock", "");
  folder.write("binlog.1", MadeFile().full("t", {.id = 1}, "a\r\n"));
  int ready[2], done[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(done) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte = lock_for_writing(folder.path() + "/lock") ? 'y' : 'n';
    const bool told = ::write(ready[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) == 1;
    ::_exit(told ? 0 : 1);
  }
  char byte = 'n';
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  REQUIRE(byte == 'y');
  const Imported refused = import_folder(folder.path(), kNow);
  CHECK(refused.error == folder.path() + ": is in use by process " + std::to_string(pid) +
                             ": stop beanstalkd first");
  CHECK(refused.jobs.empty());
  CHECK(::write(done[1], &byte, 1) == 1);
  ::waitpid(pid, nullptr, 0);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) ::close(fd);
  CHECK(import_folder(folder.path(), kNow).ids() == Ids{1});
}

TEST_CASE("no server can start in the directory while it is read") {
  const TemporaryFolder folder;
  folder.write("lock", "");
  folder.write("binlog.1", MadeFile().full("t", {.id = 1}, "a\r\n"));
  const auto can_lock = [&] {
    return in_child([&] { return lock_for_writing(folder.path() + "/lock") ? 1 : 0; });
  };
  int meanwhile = -1;
  const Result<BinlogSummary> summary =
      read_binlogs(folder.path(), 100, kNow, [&](const PutRecord&) { meanwhile = can_lock(); });
  CHECK(summary.ok());
  CHECK(meanwhile == 0);
  CHECK(can_lock() == 1);
}

TEST_CASE("a lock that the process holds itself is left alone") {
  const TemporaryFolder folder;
  folder.write("lock", "");
  folder.write("binlog.1", MadeFile().full("t", {.id = 1}, "a\r\n"));
  const std::string lock = folder.path() + "/lock";
  const int result = in_child([&] {
    if (!lock_for_writing(lock)) return 1;
    int taken = 0;
    const Result<BinlogSummary> summary = read_binlogs(
        folder.path(), 100, kNow, [&](const PutRecord&) { ++taken; }, BinlogLock::kIsOurs);
    if (!summary || taken != 1) return 2;
    return in_child([&] { return lock_for_writing(lock) ? 1 : 0; }) == 0 ? 0 : 3;
  });
  CHECK(result == 0);
}

}  // namespace
}  // namespace xylem::test
