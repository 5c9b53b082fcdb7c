// The floor's file stands beside the folder that the server has, in the same parent, so that no
// server sees a file that it does not know. It is new each time: an append of 200 bytes to a file
// that grows, which is what a log does that allocates nothing ahead.
#include "log_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>

#include "address.h"
#include "clock.h"
#include "failure.h"

namespace xylem::load {

namespace {

constexpr std::size_t kAppendBytes = 200;
constexpr auto kFloorTime = std::chrono::milliseconds{250};

bool in_memory(const std::string& folder) {
  struct statfs about {};
  if (statfs(folder.c_str(), &about) != 0) fail_errno("look at " + folder);
  return about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC;
}

}  // namespace

LogFolder::LogFolder(const std::string& parent) {
  if (in_memory(parent)) fail("{} is in memory: name a folder on a disk (--log-folder)", parent);
  std::string name = (std::filesystem::absolute(parent) / "xylem-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail_errno("create a folder for a log in " + parent);
  own_ = name;
  log_ = own_ / "log";
  std::filesystem::create_directory(log_);
}

LogFolder::~LogFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(own_, ignored);
  settle();
}

void LogFolder::settle() const {
  const Fd parent(open(own_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) syncfs(parent.get());
}

std::uint64_t LogFolder::disk_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(log_)) {
    struct stat about {};  // a file that has gone since counts nothing
    if (stat(file.path().c_str(), &about) == 0) {
      bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
    }
  }
  return bytes;
}

double LogFolder::syncs_per_second() const {
  const std::filesystem::path path = own_ / "floor";
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (file.get() < 0) fail_errno("create " + path.string());
  const std::array<char, kAppendBytes> bytes{};
  const Time start = Clock::now();
  std::uint64_t count = 0;
  for (; Clock::now() - start < kFloorTime; ++count) {
    if (write(file.get(), bytes.data(), bytes.size()) < 0) fail_errno("write " + path.string());
    if (fdatasync(file.get()) != 0) fail_errno("sync " + path.string());
  }
  const double rate = static_cast<double>(count) / seconds(Clock::now() - start);
  unlink(path.c_str());
  return rate;
}

}  // namespace xylem::load
