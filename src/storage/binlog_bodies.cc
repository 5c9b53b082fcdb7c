// The files that are open for bodies: the one that was used longest ago makes room for another. A
// body that the first pass saw and the second cannot read is an error, never a shorter body.
#include "storage/binlog_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace xylem::binlog {

Result<std::string_view> Bodies::body_of(const LivingJob& job) {
  Result<FileWindow*> window = window_of(job.body.file);
  if (!window) return window.error();
  const std::string_view body = window.value()->view(job.body.offset, job.body_bytes);
  if (body.size() == job.body_bytes) return body;
  return Error{fmt::format("{}: the body of job {} at byte {} cannot be read again",
                           path_of_(job.body.file), job.id, job.body.offset)};
}

Result<FileWindow*> Bodies::window_of(std::size_t file) {
  ++calls_;
  const auto used = [](const std::optional<Open>& open) { return open ? open->used : 0; };
  const auto is_it = [&](const std::optional<Open>& open) { return open && open->file == file; };
  auto place = std::ranges::find_if(open_, is_it);
  if (place == open_.end()) {
    place = std::ranges::min_element(open_, {}, used);
    place->reset();
    Result<FileWindow> window = FileWindow::open(path_of_(file));
    if (!window) return window.error();
    place->emplace(Open{file, calls_, std::move(window).value()});
  }
  (*place)->used = calls_;
  return &(*place)->window;
}

}  // namespace xylem::binlog
