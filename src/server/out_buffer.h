// OutBuffer: what one connection still has to say, in order: text, and long bodies that are shared
// with their jobs and never copied.
//
//     segments:  [ text | body ] [ text | body ] [ text ]   <- replies are appended here
//                ^ sent_ bytes of the first one have left
//
// A reply that waits for the log is held (design: "The gate"): neither it nor what stands behind it
// leaves before the log is durable up to its position.
//
// Connections that have nothing to say own no OutBuffer: it comes from the pool and goes back there
// with its memory, so that a thousand connections in turn use the memory of one. The pool knows the
// sum of what all its buffers owe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "xylem/core/buffer.h"

namespace xylem {

class OutBuffer {
 public:
  // kSome: the socket takes no more. kHeld: what is left waits for the log.
  enum class Outcome { kAll, kSome, kHeld, kFailed };

  // `sum`, which outlives it, is kept right by what it owes.
  explicit OutBuffer(std::size_t& sum) : sum_(sum) {}
  ~OutBuffer() { sum_ -= bytes_; }
  OutBuffer(const OutBuffer&) = delete;
  OutBuffer& operator=(const OutBuffer&) = delete;

  // Where to append the bytes of a reply. Valid until the next call; call appended() after it.
  std::string& text();
  // Text was appended; it had `before` bytes then.
  void appended(std::size_t before) { count(segments_.back().text.size() - before); }
  // For a text that is too long to be copied.
  void append_text(std::string text);
  // All of `body` goes behind the text; a share is kept until it has been sent.
  void append_body(BufferRef body);

  // What is appended from now on waits for this position of the log; positions never fall.
  void hold(std::uint64_t position);

  // Bytes that have not left.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Memory that an empty buffer keeps for its next replies.
  [[nodiscard]] std::size_t memory_bytes() const { return segments_.front().text.capacity(); }

  // Writes to a non-blocking socket, as much as it takes of what need not wait any more: the log is
  // durable up to `durable`. kFailed: errno says why.
  Outcome send_to(int socket, std::uint64_t durable);

 private:
  struct Segment {
    std::string text;
    BufferRef body;
    [[nodiscard]] std::size_t bytes() const { return text.size() + (body ? body->size() : 0); }
  };

  // What stands behind the first `leaving` bytes that were ever appended waits for `position`.
  struct Hold {
    std::uint64_t leaving;
    std::uint64_t position;
  };

  void count(std::size_t bytes) {
    bytes_ += bytes;
    sum_ += bytes;
  }
  [[nodiscard]] std::size_t may_leave(std::uint64_t durable);
  void sent(std::size_t bytes);
  void reset();

  std::size_t& sum_;
  std::vector<Segment> segments_{1};
  std::size_t first_ = 0;  // segments before it are empty
  std::size_t sent_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t left_ = 0;  // bytes that ever left
  std::vector<Hold> holds_;
};

class OutBufferPool {
 public:
  std::unique_ptr<OutBuffer> take();
  // Must be empty.
  void give(std::unique_ptr<OutBuffer> buffer);

  // What all buffers owe that were taken; a body that several share counts for each.
  [[nodiscard]] std::size_t owed_bytes() const { return owed_bytes_; }

 private:
  std::size_t owed_bytes_ = 0;
  std::vector<std::unique_ptr<OutBuffer>> spare_;
  std::size_t spare_bytes_ = 0;
};

}  // namespace xylem
