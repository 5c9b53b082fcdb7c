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

// So much leaves in one turn, and then the others have theirs: about a millisecond of copying.
constexpr std::size_t kBytesPerTurn = 1'048'576;

class Parts {
 public:
  // Of what add() is given, the first `skip` bytes are left out, and all behind the next `most`.
  Parts(std::size_t skip, std::size_t most) : skip_(skip), most_(most) {}

  void add(std::string_view bytes) {
    const std::size_t skipped = std::min(skip_, bytes.size());
    skip_ -= skipped;
    bytes = bytes.substr(skipped, most_);
    if (bytes.empty()) return;
    most_ -= bytes.size();
    char* start = const_cast<char*>(bytes.data());  // sendmsg only reads it
    parts_[count_++] = {.iov_base = start, .iov_len = bytes.size()};
  }
  [[nodiscard]] bool full() const { return most_ == 0 || count_ + 2 > kParts; }

  ssize_t send(int socket) {
    if (count_ == 1) return ::send(socket, parts_[0].iov_base, parts_[0].iov_len, MSG_NOSIGNAL);
    msghdr message{};
    message.msg_iov = parts_.data();
    message.msg_iovlen = count_;
    return sendmsg(socket, &message, MSG_NOSIGNAL);
  }

 private:
  std::size_t skip_;
  std::size_t most_;
  std::array<iovec, kParts> parts_;
  std::size_t count_ = 0;
};

}  // namespace

std::string& OutBuffer::text() {
  const Segment& last = segments_.back();
  if (last.body || last.text.size() >= kSegmentBytes) segments_.emplace_back();
  return segments_.back().text;
}

void OutBuffer::append_text(std::string text) {
  count(text.size());
  segments_.push_back({.text = std::move(text), .body = {}});
}

void OutBuffer::append_body(BufferRef body) {
  if (segments_.back().body) segments_.emplace_back();
  count(body->size());
  segments_.back().body = std::move(body);
}

void OutBuffer::hold(std::uint64_t position) {
  if (!holds_.empty() && holds_.back().position == position) return;
  holds_.push_back({left_ + bytes_, position});
}

std::size_t OutBuffer::may_leave(std::uint64_t durable) {
  const auto held =
      std::ranges::find_if(holds_, [durable](const Hold& hold) { return hold.position > durable; });
  holds_.erase(holds_.begin(), held);
  return holds_.empty() ? bytes_ : holds_.front().leaving - left_;
}

OutBuffer::Outcome OutBuffer::send_to(int socket, std::uint64_t durable) {
  const std::size_t allowed = may_leave(durable);
  std::size_t leaving = std::min(allowed, kBytesPerTurn);
  const bool more = leaving < allowed;
  while (leaving > 0) {
    Parts parts(sent_, leaving);
    for (std::size_t i = first_; i < segments_.size() && !parts.full(); ++i) {
      parts.add(segments_[i].text);
      if (segments_[i].body) parts.add(segments_[i].body->view());
    }
    const ssize_t count = parts.send(socket);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? Outcome::kSome : Outcome::kFailed;
    sent(static_cast<std::size_t>(count));
    leaving -= static_cast<std::size_t>(count);
    if (leaving > 0) return Outcome::kSome;
  }
  if (more) return Outcome::kSome;
  return bytes_ == 0 ? Outcome::kAll : Outcome::kHeld;
}

void OutBuffer::sent(std::size_t bytes) {
  CHECK(bytes <= bytes_);
  bytes_ -= bytes;
  sum_ -= bytes;
  sent_ += bytes;
  left_ += bytes;
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
  if (spare_.empty()) return std::make_unique<OutBuffer>(owed_bytes_);
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
