// OutBuffer against a real socket that takes little at a time: every byte leaves once and in order,
// whatever the mixture of text and shared bodies, and memory is given up as it leaves.

#include "server/out_buffer.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace xylem {
namespace {

constexpr std::uint64_t kNothingWaits = std::numeric_limits<std::uint64_t>::max();

// Two ends of a stream; the writing end is non-blocking and its buffer small.
class Pair {
 public:
  Pair() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()) == 0);
    const int small = 8'192;
    setsockopt(ends_[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  }
  ~Pair() {
    close(ends_[0]);
    close_reader();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] int writer() const { return ends_[0]; }
  void close_reader() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  std::string read_all() {
    std::string all;
    std::array<char, 4'096> part;
    ssize_t count = 0;
    while ((count = read(ends_[1], part.data(), part.size())) > 0) {
      all.append(part.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

void append(OutBuffer& buffer, std::string_view text) {
  std::string& out = buffer.text();
  const std::size_t before = out.size();
  out.append(text);
  buffer.appended(before);
}

BufferRef body_of(std::string_view bytes) {
  BufferRef body = Buffer::make(static_cast<std::uint32_t>(bytes.size()));
  body->append(bytes);
  return body;
}

// Sends until all has left; gives what arrived.
std::string drain(OutBuffer& buffer, Pair& pair) {
  std::string arrived;
  OutBuffer::Outcome outcome = OutBuffer::Outcome::kSome;
  while (outcome == OutBuffer::Outcome::kSome) {
    outcome = buffer.send_to(pair.writer(), kNothingWaits);
    REQUIRE(outcome != OutBuffer::Outcome::kFailed);
    arrived += pair.read_all();
  }
  return arrived;
}

TEST_CASE("text and bodies leave in the order in which they were appended") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  append(buffer, "one ");
  append(buffer, "two ");
  buffer.append_body(body_of("three "));
  buffer.append_body(body_of("four "));
  append(buffer, "five");
  CHECK(buffer.bytes() == 23);
  CHECK(drain(buffer, pair) == "one two three four five");
  CHECK(buffer.bytes() == 0);
  append(buffer, "again");
  CHECK(drain(buffer, pair) == "again");
}

TEST_CASE("a long text is taken over whole, in its place") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  append(buffer, "one ");
  buffer.append_text(std::string(100'000, '2'));
  buffer.append_text(" three ");
  append(buffer, "four");
  CHECK(buffer.bytes() == 100'015);
  CHECK(drain(buffer, pair) == "one " + std::string(100'000, '2') + " three four");
  append(buffer, "again");
  CHECK(drain(buffer, pair) == "again");
}

TEST_CASE("a reply that waits for the log holds back what stands behind it, and no more") {
  using Outcome = OutBuffer::Outcome;
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  append(buffer, "one ");
  buffer.hold(7);
  append(buffer, "two ");
  buffer.append_body(body_of("body "));
  buffer.hold(7);
  append(buffer, "three ");
  buffer.hold(9);
  append(buffer, "four");
  CHECK(buffer.send_to(pair.writer(), 6) == Outcome::kHeld);
  CHECK(pair.read_all() == "one ");
  CHECK(buffer.send_to(pair.writer(), 6) == Outcome::kHeld);
  CHECK(pair.read_all().empty());
  CHECK(buffer.send_to(pair.writer(), 8) == Outcome::kHeld);
  CHECK(pair.read_all() == "two body three ");
  CHECK(buffer.bytes() == 4);
  CHECK(buffer.send_to(pair.writer(), 9) == Outcome::kAll);
  CHECK(pair.read_all() == "four");
  buffer.hold(10);
  append(buffer, "five");
  CHECK(buffer.send_to(pair.writer(), 9) == Outcome::kHeld);
  CHECK(buffer.send_to(pair.writer(), 10) == Outcome::kAll);
  CHECK(pair.read_all() == "five");
}

TEST_CASE("a socket that takes little at a time gets every byte once") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const std::string text(static_cast<std::size_t>(i * 37 % 500), static_cast<char>('a' + i % 26));
    const std::string body(static_cast<std::size_t>(i * 101 % 9'000),
                           static_cast<char>('A' + i % 26));
    append(buffer, text);
    expected += text;
    if (i % 3 == 0) {
      buffer.append_body(body_of(body));
      expected += body;
    }
  }
  CHECK(buffer.bytes() == expected.size());
  CHECK(buffer.send_to(pair.writer(), kNothingWaits) == OutBuffer::Outcome::kSome);
  CHECK(buffer.bytes() < expected.size());
  CHECK(drain(buffer, pair) == expected);
}

TEST_CASE("appending goes on while earlier bytes are stuck") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  std::string expected;
  std::string arrived;
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = std::to_string(i) + std::string(200, '.');
    append(buffer, text);
    expected += text;
    REQUIRE(buffer.send_to(pair.writer(), kNothingWaits) != OutBuffer::Outcome::kFailed);
    if (i % 7 == 0) arrived += pair.read_all();
  }
  arrived += drain(buffer, pair);
  CHECK(arrived == expected);
}

TEST_CASE("a body is shared, and let go when it has left") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  BufferRef body = body_of(std::string(100'000, 'x'));
  const char* bytes = body->data();
  buffer.append_body(body);
  body = {};
  CHECK(bytes[99'999] == 'x');
  CHECK(drain(buffer, pair) == std::string(100'000, 'x'));
}

TEST_CASE("a reader that is gone is an error") {
  Pair pair;
  std::size_t sum = 0;
  OutBuffer buffer(sum);
  append(buffer, "hello");
  pair.close_reader();
  CHECK(buffer.send_to(pair.writer(), kNothingWaits) == OutBuffer::Outcome::kFailed);
  CHECK(errno == EPIPE);
}

TEST_CASE("a text is closed before malloc would map its memory by itself") {
  constexpr std::size_t kMapped = 128 * 1024;  // see main.cc
  for (const std::size_t body_bytes : {100U, 1'000U, 4'095U, 4'096U}) {
    CAPTURE(body_bytes);
    std::size_t sum = 0;
    OutBuffer buffer(sum);
    while (buffer.bytes() < 2 * kMapped) {
      std::string& out = buffer.text();
      const std::size_t before = out.size();
      out.append("FOUND 1 4096\r\n").append(body_bytes, 'x').append("\r\n");
      buffer.appended(before);
    }
    CHECK(buffer.memory_bytes() < kMapped);
  }
}

TEST_CASE("the pool knows what all its buffers owe") {
  OutBufferPool pool;
  Pair pair;
  std::unique_ptr<OutBuffer> one = pool.take();
  std::unique_ptr<OutBuffer> two = pool.take();
  append(*one, std::string(1'000, '1'));
  one->append_text(std::string(200, '1'));
  two->append_body(body_of("three"));
  CHECK(pool.owed_bytes() == 1'205);
  two.reset();
  CHECK(pool.owed_bytes() == 1'200);
  drain(*one, pair);
  CHECK(pool.owed_bytes() == 0);
  pool.give(std::move(one));
}

TEST_CASE("the pool gives memory again, and keeps a bounded part of it") {
  OutBufferPool pool;
  Pair pair;
  std::unique_ptr<OutBuffer> buffer = pool.take();
  append(*buffer, std::string(1'000, 'x'));
  drain(*buffer, pair);
  const OutBuffer* first = buffer.get();
  pool.give(std::move(buffer));
  buffer = pool.take();
  CHECK(buffer.get() == first);
  CHECK(buffer->memory_bytes() >= 1'000);
  CHECK(buffer->bytes() == 0);

  append(*buffer, std::string(8'000'000, 'x'));
  drain(*buffer, pair);
  pool.give(std::move(buffer));
  CHECK(pool.take()->memory_bytes() < 1'000);
}

}  // namespace
}  // namespace xylem
