// Bodies of jobs by their place, for the second pass. They come mostly in the order of the files,
// but jobs that beanstalkd's compaction wrote again stand further on, so a few files are kept open,
// each with a window of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/binlog_index.h"
#include "storage/binlog_window.h"

namespace xylem::binlog {

class Bodies {
 public:
  // The path of a file by its number in the directory's list.
  using PathOf = std::function<std::string(std::size_t)>;
  explicit Bodies(PathOf path_of) : path_of_(std::move(path_of)) {}

  // Valid until the next call.
  [[nodiscard]] Result<std::string_view> body_of(const LivingJob& job);

 private:
  struct Open {
    std::size_t file;
    std::uint64_t used;  // counts calls; the least is closed first
    FileWindow window;
  };
  Result<FileWindow*> window_of(std::size_t file);

  PathOf path_of_;
  std::array<std::optional<Open>, 4> open_;
  std::uint64_t calls_ = 0;
};

}  // namespace xylem::binlog
