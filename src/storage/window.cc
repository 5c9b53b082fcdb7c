// The window moves to what is asked for and keeps what it already has of it. It is allocated when
// it is first needed.
#include "storage/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "xylem/check.h"

namespace xylem {

Result<std::uint64_t> Window::measure() {
  auto size = file_.size();
  if (size) file_bytes_ = size.value();
  return size;
}

Result<std::string_view> Window::refill(std::uint64_t at) {
  if (at >= file_bytes_) return std::string_view();
  if (memory_.size < room()) memory_ = {std::make_unique_for_overwrite<char[]>(room()), room()};
  std::size_t kept = 0;
  if (at >= start_ && at < start_ + held_) {
    kept = held_ - static_cast<std::size_t>(at - start_);
    std::memmove(bytes(), bytes() + (held_ - kept), kept);
  }
  start_ = at;
  held_ = kept;
  const std::uint64_t wanted = std::min<std::uint64_t>(room(), file_bytes_ - at);
  if (kept < wanted) {
    auto got = file_.read(at + kept, {bytes() + kept, static_cast<std::size_t>(wanted) - kept});
    if (!got) return got.error();
    held_ += got.value();
    if (held_ < wanted) file_bytes_ = start_ + held_;
  }
  return std::string_view(bytes(), held_);
}

Result<Done> Window::read(std::uint64_t at, std::span<char> into) {
  std::size_t done = 0;
  if (at >= start_ && at < start_ + held_) {
    const std::string_view held(bytes(), held_);
    done = held.copy(into.data(), into.size(), static_cast<std::size_t>(at - start_));
  }
  if (done == into.size()) return Done{};
  auto got = file_.read(at + done, into.subspan(done));
  if (!got) return got.error();
  if (got.value() == into.size() - done) return Done{};
  return Error{fmt::format("a file of {} bytes has become shorter while it was read", file_bytes_)};
}

}  // namespace xylem
