// The bytes of long bodies: room, shares, growth. Under the address sanitizer a share too few or
// too many is a use after free or a leak.
#include "xylem/core/buffer.h"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>

namespace xylem {

TEST_CASE("a new buffer is empty and has room") {
  const BufferRef buffer = Buffer::make(10);
  CHECK(buffer->size() == 0);
  CHECK(buffer->room() == 10);
  CHECK(buffer->view().empty());
  CHECK(Buffer::make(0)->room() == 0);
}

TEST_CASE("a buffer fills from its end") {
  const BufferRef buffer = Buffer::make(10);
  buffer->append("abc");
  buffer->append("");
  std::memcpy(buffer->data() + buffer->size(), "defg", 4);
  buffer->filled(4);
  CHECK(buffer->view() == "abcdefg");
  CHECK(buffer->room() == 3);
  buffer->append("\r\n!");
  CHECK(buffer->view() == "abcdefg\r\n!");
  CHECK(buffer->room() == 0);
}

TEST_CASE("the bytes live until the last share is gone") {
  BufferRef first = Buffer::make(3);
  first->append("abc");
  BufferRef second = first;
  const BufferRef third(first.get());
  first = BufferRef();
  CHECK_FALSE(first);
  CHECK(second->view() == "abc");
  second = std::move(first);
  CHECK(third->view() == "abc");
}

TEST_CASE("a share moves without another") {
  BufferRef from = Buffer::make(1);
  Buffer* const buffer = from.get();
  BufferRef to = std::move(from);
  CHECK(to.get() == buffer);
  BufferRef& same = to;
  to = same;
  CHECK(to.get() == buffer);
  CHECK_FALSE(BufferRef(nullptr));
}

TEST_CASE("with_capacity keeps the buffer that is large enough") {
  const BufferRef buffer = Buffer::make(10);
  buffer->append("abc");
  CHECK(with_capacity(buffer, 0).get() == buffer.get());
  CHECK(with_capacity(buffer, 10).get() == buffer.get());
}

TEST_CASE("with_capacity copies to a larger buffer, and others keep theirs") {
  const BufferRef buffer = Buffer::make(10);
  buffer->append("abc");
  const BufferRef larger = with_capacity(buffer, 11);
  CHECK(larger.get() != buffer.get());
  CHECK(larger->view() == "abc");
  CHECK(larger->room() == 8);
  larger->append(std::string(8, 'x'));
  CHECK(buffer->view() == "abc");
}

}  // namespace xylem
