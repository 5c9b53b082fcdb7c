// Buffer: the bytes of one long body, counted, so that a job, the replies that still send it and
// the records that still store it can share them. The count is a plain integer: buffers belong to
// the loop's thread. A complete body in a Buffer is followed by its CRLF, so that it is sent as it
// stands.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace xylem {

class Buffer;

// A share in a Buffer; the last share frees it. May be empty.
class BufferRef {
 public:
  BufferRef() = default;
  explicit BufferRef(Buffer* buffer);  // adds a share; null gives an empty one
  BufferRef(const BufferRef& other) : BufferRef(other.buffer_) {}
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef();

  [[nodiscard]] Buffer* get() const { return buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  friend BufferRef with_capacity(BufferRef buffer, std::uint32_t capacity);

  Buffer* buffer_ = nullptr;
};

class Buffer {
 public:
  // An empty buffer with room for `capacity` bytes.
  static BufferRef make(std::uint32_t capacity);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] char* data() { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::uint32_t room() const { return capacity_ - size_; }
  [[nodiscard]] std::string_view view() const { return {data(), size_}; }

  // `bytes` more were written at data() + size(); at most room().
  void filled(std::uint32_t bytes);
  // Copies `bytes` to the end; at most room().
  void append(std::string_view bytes);

 private:
  friend class BufferRef;
  friend BufferRef with_capacity(BufferRef buffer, std::uint32_t capacity);
  explicit Buffer(std::uint32_t capacity) : capacity_(capacity) {}
  ~Buffer() = default;

  std::uint32_t shares_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_;
};

// Room for at least `capacity` bytes in a buffer that has the same bytes; `buffer` itself if it has
// it. Without other shares it need not be copied.
BufferRef with_capacity(BufferRef buffer, std::uint32_t capacity);

}  // namespace xylem
