// A Buffer and its bytes are one allocation: the head, then `capacity` bytes that nobody
// initialises.
#include "xylem/core/buffer.h"

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
  ::operator delete(buffer_);
}

BufferRef Buffer::make(std::uint32_t capacity) {
  void* memory = ::operator new(sizeof(Buffer) + capacity);
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
  BufferRef larger = Buffer::make(capacity);
  larger->append(buffer->view());
  return larger;
}

}  // namespace xylem
