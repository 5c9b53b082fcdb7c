// A folder for one server's log, on a real disk, gone at the end; and the sync floor of that disk:
// small appends, each with its fdatasync, one after another. No server that syncs each reply by
// itself is above the floor; one that lets many replies share a sync is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace xylem::load {

class LogFolder {
 public:
  /// Fails if `parent` is in memory: a sync there costs nothing and says nothing.
  explicit LogFolder(const std::string& parent);
  /// Removes the folder and waits until the disk has nothing left to write, so that the next server
  /// does not pay for this one.
  ~LogFolder();
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  /// What the server is given.
  [[nodiscard]] const std::filesystem::path& path() const { return log_; }
  /// What its files take on disk, by blocks.
  [[nodiscard]] std::uint64_t disk_bytes() const;
  /// Waits until the disk has nothing left to write.
  void settle() const;
  /// Appends 200 bytes and syncs, for a quarter of a second; returns how often in a second.
  [[nodiscard]] double syncs_per_second() const;

 private:
  std::filesystem::path own_;
  std::filesystem::path log_;
};

}  // namespace xylem::load
