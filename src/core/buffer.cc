// A Buffer and its bytes are one allocation: the head, then `capacity` bytes that nobody
// initialises. It is malloc's, because realloc makes a large one larger without copying it.
#include "xylem/core/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "xylem/check.h"

namespace xylem {

BufferRef::BufferRef(Buffer* buffer) : buffer_(buffer) {
  if (buffer_ != nullptr) ++buffer_->shares_;
}

BufferRef::~BufferRef() {
  if (buffer_ == nullptr || --buffer_->shares_ > 0) return;
  buffer_->~Buffer();
  std::free(buffer_);
}

BufferRef Buffer::make(std::uint32_t capacity) {
  void* memory = std::malloc(sizeof(Buffer) + capacity);
  CHECK(memory != nullptr);
  return BufferRef(new (memory) Buffer(capacity));
}

void Buffer::filled(std::uint32_t bytes) {
  CHECK(bytes <= room());
  size_ += bytes;
}

void Buffer::append(std::string_view bytes) {
  CHECK(bytes.size() <= room());
  if (bytes.empty()) return;
  std::memcpy(data() + size_, bytes.data(), bytes.size());
  size_ += static_cast<std::uint32_t>(bytes.size());
}

BufferRef with_capacity(BufferRef buffer, std::uint32_t capacity) {
  if (buffer->size() + buffer->room() >= capacity) return buffer;
  if (buffer->shares_ > 1) {
    BufferRef copy = Buffer::make(capacity);
    copy->append(buffer->view());
    return copy;
  }
  void* grown = std::realloc(static_cast<void*>(buffer.buffer_), sizeof(Buffer) + capacity);
  CHECK(grown != nullptr);
  buffer.buffer_ = static_cast<Buffer*>(grown);
  buffer.buffer_->capacity_ = capacity;
  return buffer;
}

}  // namespace xylem
