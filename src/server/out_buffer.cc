// Gathers segments into iovecs, and takes off the front what the kernel took. A segment is given up
// as soon as it has left, so that a slow reader's memory goes as it reads.

#include "server/out_buffer.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "xylem/check.h"

namespace xylem {
namespace {

// A text this long is closed and another begun: memory of a slow reader goes as it reads. A string
// doubles, so with one reply more it takes up to twice this; that must stay below what malloc maps
// one by one (main.cc), since a map, its page faults and an unmap cost more than the replies.
constexpr std::size_t kSegmentBytes = 32'768;
// One system call sends this many parts: 32 long bodies with their lines.
constexpr std::size_t kParts = 64;
// What the pool keeps: room for the answers of a turn of many connections, and no more.
constexpr std::size_t kSpareBuffers = 1'024;
constexpr std::size_t kSpareBytes = 4'194'304;

class Parts {
 public:
  // Adds what stands in `bytes` behind the first `skip`, which is reduced by what was skipped.
  void add(std::string_view bytes, std::size_t& skip) {
    const std::size_t skipped = std::min(skip, bytes.size());
    skip -= skipped;
    if (skipped == bytes.size()) return;
    char* start = const_cast<char*>(bytes.data()) + skipped;  // sendmsg only reads it
    parts_[count_++] = {.iov_base = start, .iov_len = bytes.size() - skipped};
  }
  [[nodiscard]] bool full() const { return count_ + 2 > kParts; }

  ssize_t send(int socket) {
    if (count_ == 1) return ::send(socket, parts_[0].iov_base, parts_[0].iov_len, MSG_NOSIGNAL);
    msghdr message{};
    message.msg_iov = parts_.data();
    message.msg_iovlen = count_;
    return sendmsg(socket, &message, MSG_NOSIGNAL);
  }

 private:
  std::array<iovec, kParts> parts_;
  std::size_t count_ = 0;
};

}  // namespace

std::string& OutBuffer::text() {
  const Segment& last = segments_.back();
  if (last.body || last.text.size() >= kSegmentBytes) segments_.emplace_back();
  return segments_.back().text;
}

void OutBuffer::append_body(BufferRef body) {
  if (segments_.back().body) segments_.emplace_back();
  bytes_ += body->size();
  segments_.back().body = std::move(body);
}

OutBuffer::Outcome OutBuffer::send_to(int socket) {
  while (true) {
    Parts parts;
    std::size_t skip = sent_;
    for (std::size_t i = first_; i < segments_.size() && !parts.full(); ++i) {
      parts.add(segments_[i].text, skip);
      if (segments_[i].body) parts.add(segments_[i].body->view(), skip);
    }
    const ssize_t count = parts.send(socket);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? Outcome::kSome : Outcome::kFailed;
    sent(static_cast<std::size_t>(count));
    return bytes_ == 0 ? Outcome::kAll : Outcome::kSome;
  }
}

void OutBuffer::sent(std::size_t bytes) {
  CHECK(bytes <= bytes_);
  bytes_ -= bytes;
  sent_ += bytes;
  while (first_ < segments_.size() && sent_ >= segments_[first_].bytes()) {
    sent_ -= segments_[first_].bytes();
    if (bytes_ == 0) return reset();
    segments_[first_++] = {};
  }
  if (first_ > segments_.size() / 2) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

// Nothing is left: keeps the memory of one text, for the next replies.
void OutBuffer::reset() {
  segments_.resize(1);
  segments_.front().text.clear();
  segments_.front().body = {};
  first_ = sent_ = 0;
}

std::unique_ptr<OutBuffer> OutBufferPool::take() {
  if (spare_.empty()) return std::make_unique<OutBuffer>();
  std::unique_ptr<OutBuffer> buffer = std::move(spare_.back());
  spare_.pop_back();
  spare_bytes_ -= buffer->memory_bytes();
  return buffer;
}

void OutBufferPool::give(std::unique_ptr<OutBuffer> buffer) {
  CHECK(buffer->bytes() == 0);
  if (spare_.size() >= kSpareBuffers) return;
  if (spare_bytes_ + buffer->memory_bytes() > kSpareBytes) return;
  spare_bytes_ += buffer->memory_bytes();
  spare_.push_back(std::move(buffer));
}

}  // namespace xylem
