// Framing: where lines and bodies end, that it does not matter how the stream was cut, and how much
// memory a body may take before it is there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/parsed_stream.h"

namespace xylem::test {
namespace {

using Sizes = std::vector<std::size_t>;

std::string put(std::string_view body, std::string_view end = "\r\n") {
  return "put 0 0 1 " + std::to_string(body.size()) + "\r\n" + std::string(body) + std::string(end);
}

// Bytes in no pattern that a wrong offset would preserve.
std::string body_of(std::size_t bytes) {
  std::minstd_rand random(static_cast<std::uint32_t>(bytes) + 1);
  std::string body(bytes, ' ');
  for (char& byte : body) byte = static_cast<char>(random());
  return body;
}

// A line of `bytes` bytes with its CRLF.
std::string line_of(std::size_t bytes) { return std::string(bytes - 2, 'x') + "\r\n"; }

Items split_at(std::size_t point, std::string_view stream) {
  ParsedStream parsed;
  parsed.receive(stream.substr(0, point));
  parsed.receive_directly(stream.substr(point));
  return parsed.items();
}

const std::string kLongBody = body_of(5'000);

// Streams as clients send them, good and bad.
const std::vector<std::string> kStreams{
    "use foo\r\nput 0 0 60 5\r\nhello\r\nreserve\r\ndelete 1\r\nquit\r\nstats\r\n",
    "\r\n\r\nput\r\nput \r\nPUT 0 0 0 1\r\na\r\nlist-tubes\r\n",
    "put 0 0 1 1 x\r\nb\r\nput 0 0 1 1 \r\nb\r\n",
    "put 0 0 1 70000 x\r\n" + std::string(70'002, 'z') + "stats\r\n",
    "put 0 0 1 3\r\nabcd\r\nstats\r\n",
    "put 0 0 1 1\r\nabc\r\nstats\r\n",
    "put 0 0 1 0\r\n\r\nput 0 0 1 0\r\nxxput 0 0 1 2\r\n\r\n\r\nstats\r\n",
    put(std::string_view("a\0b\r\nc\r", 7)) + "touch 1\r\n",
    "use a\rb\r\nuse x\r\r\nuse x\nuse y\r\n\r\r\n\n\r\nstats\r\n",
    line_of(224) + "stats\r\n" + line_of(225) + "stats\r\n" + line_of(449) + "stats\r\n",
    std::string(223, 'x') + "\r" + std::string(223, 'y') + "\r\r\nstats\r\n",
    std::string("use a\0b\r\n\0\r\nstats\0\r\nstats\r\n", 27),
    put(kLongBody) + "stats\r\n" + put(kLongBody, "\n\r") + "stats\r\n" + put("short") +
        "stats\r\n",
};

}  // namespace

TEST_CASE("a conversation") {
  CHECK(items_of(kStreams[0]) ==
        Items{"use foo", "put 0 0 60 5", "body hello", "reserve", "delete 1", "quit"});
  CHECK(items_of(kStreams[1]) == Items{"UNKNOWN_COMMAND", "UNKNOWN_COMMAND", "UNKNOWN_COMMAND",
                                       "BAD_FORMAT", "UNKNOWN_COMMAND", "UNKNOWN_COMMAND",
                                       "list-tubes"});
}

TEST_CASE("a put that was refused for what follows its size does not swallow its body") {
  CHECK(items_of(kStreams[2]) == Items{"put 0 0 1 1, trailing", "UNKNOWN_COMMAND",
                                       "put 0 0 1 1, trailing", "UNKNOWN_COMMAND"});
}

TEST_CASE("a body that is too big is skipped whole, whatever it and its end are") {
  CHECK(items_of(kStreams[3]) == Items{"put 0 0 1 70000, too big", "skipped", "stats"});
  ParsedStream stream(10);
  stream.receive("put 0 0 1 11\r\n0123456789a\r");
  CHECK(stream.items() == Items{"put 0 0 1 11, too big"});
  stream.receive("x");
  CHECK(stream.items() == Items{"put 0 0 1 11, too big", "skipped"});
}

TEST_CASE("a body without CRLF takes exactly its size and two bytes") {
  CHECK(items_of(kStreams[4]) == Items{"put 0 0 1 3", "body without CRLF", "UNKNOWN_COMMAND"});
  CHECK(items_of(kStreams[5]) ==
        Items{"put 0 0 1 1", "body without CRLF", "UNKNOWN_COMMAND", "stats"});
  CHECK(items_of("put 0 0 1 3\r\nabc\n\r") == Items{"put 0 0 1 3", "body without CRLF"});
}

TEST_CASE("a body may be empty, and hold anything") {
  CHECK(items_of(kStreams[6]) == Items{"put 0 0 1 0", "body ", "put 0 0 1 0", "body without CRLF",
                                       "put 0 0 1 2", "body \r\n", "stats"});
  CHECK(items_of(kStreams[7]) ==
        Items{"put 0 0 1 7", std::string("body a\0b\r\nc\r", 12), "touch 1"});
}

TEST_CASE("the first CRLF ends a line, not the first CR") {
  CHECK(items_of(kStreams[8]) == Items{"BAD_FORMAT", "BAD_FORMAT", "BAD_FORMAT", "UNKNOWN_COMMAND",
                                       "UNKNOWN_COMMAND", "stats"});
}

TEST_CASE("a line has at most 224 bytes with its CRLF") {
  CHECK(items_of(line_of(224)) == Items{"UNKNOWN_COMMAND"});
  const std::string longest = "pause-tube " + std::string(200, 'n') + " 4294967295\r\n";
  CHECK(longest.size() == 224);
  CHECK(items_of(longest).front().starts_with("pause-tube nnn"));
  for (const std::size_t bytes : Sizes{225, 226, 447, 448, 449, 450, 672, 673, 674, 70'000}) {
    CAPTURE(bytes);
    CHECK(items_of(line_of(bytes) + "stats\r\n") == Items{"BAD_FORMAT", "stats"});
    CHECK(in_pieces_of(224, line_of(bytes) + "stats\r\n", 10) == Items{"BAD_FORMAT", "stats"});
    CHECK(in_pieces_of(bytes - 1, line_of(bytes) + "stats\r\n", 10) ==
          Items{"BAD_FORMAT", "stats"});
    CHECK(in_pieces_of(1, line_of(bytes) + "stats\r\n", 10) == Items{"BAD_FORMAT", "stats"});
  }
}

TEST_CASE("a line of list-jobs or move-jobs has at most 432 bytes") {
  const std::string name(200, 'n');
  const std::string page = "list-jobs " + name + " reserved 18446744073709551615 1000\r\n";
  const std::string move = "move-jobs " + name + " " + name + " delayed 4294967295\r\n";
  CHECK(move.size() == 432);
  for (const std::string& line : {page, move}) {
    CHECK(items_of(line).front().starts_with(line.substr(0, 200)));
    const std::string spaces(433 - line.size(), ' ');
    const std::string longer = line.substr(0, 10) + spaces + line.substr(10) + "stats\r\n";
    CHECK(items_of(longer) == Items{"BAD_FORMAT", "stats"});
    for (const std::size_t bytes : Sizes{1, 223, 224, 225, 431, 432}) {
      CAPTURE(bytes);
      CHECK(in_pieces_of(bytes, line + "stats\r\n", 10) == items_of(line + "stats\r\n"));
      CHECK(in_pieces_of(bytes, longer, 10) == Items{"BAD_FORMAT", "stats"});
    }
  }
}

TEST_CASE("a line that is too long is answered when its end is there, and is not kept") {
  ParsedStream stream;
  for (int i = 0; i < 1'000; ++i) stream.receive(std::string(100, 'x'));
  CHECK(stream.items().empty());
  CHECK(stream.left().empty());
  stream.receive("\r");
  CHECK(stream.left() == "\r");
  stream.receive("\n");
  CHECK(stream.items() == Items{"BAD_FORMAT"});
}

TEST_CASE("the limit of a body's size is inclusive, and may change between puts") {
  CHECK(items_of("put 0 0 1 65535\r\n") == Items{"put 0 0 1 65535"});
  CHECK(items_of("put 0 0 1 65536\r\n") == Items{"put 0 0 1 65536, too big"});
  ParsedStream stream(0);
  stream.receive(put("") + put("a"));
  stream.parser().set_most_job_bytes(1);
  stream.receive("put 0 0 1 1\r\n");
  stream.parser().set_most_job_bytes(0);
  stream.receive("b\r\n");
  CHECK(stream.items() ==
        Items{"put 0 0 1 0", "body ", "put 0 0 1 1, too big", "skipped", "put 0 0 1 1", "body b"});
}

TEST_CASE("a stream says the same wherever it is cut in two") {
  for (const std::string& stream : kStreams) {
    const Items whole = items_of(stream);
    CAPTURE(stream.substr(0, 60));
    const std::size_t step = stream.size() > 20'000 ? 997 : 1;
    for (std::size_t point = 0; point <= stream.size(); point += step) {
      CAPTURE(point);
      REQUIRE(split_at(point, stream) == whole);
    }
  }
}

TEST_CASE("a stream says the same in pieces of one size or another") {
  for (const std::string& stream : kStreams) {
    const Items whole = items_of(stream);
    CAPTURE(stream.substr(0, 60));
    for (const std::size_t bytes : Sizes{1, 2, 3, 7, 223, 224, 225, 4'098}) {
      CAPTURE(bytes);
      CHECK(in_pieces_of(bytes, stream, limits::kDefaultJobBytes) == whole);
    }
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(seed);
      CHECK(in_random_pieces(seed, stream, 1 + stream.size() / 4, limits::kDefaultJobBytes) ==
            whole);
    }
  }
}

TEST_CASE("bodies of every size that is a border, in one piece or many") {
  constexpr std::uint32_t kMost = 4'194'304;
  for (const std::size_t bytes : Sizes{4'094, 4'095, 4'096, 4'097, 4'098, 65'533, 65'534, 65'535,
                                       65'536, 65'537, 131'070, 131'072, 1'048'576, 1'048'577}) {
    CAPTURE(bytes);
    const std::string body = body_of(bytes);
    const std::string stream = put(body) + put(body, "xx") + "stats\r\n";
    PutBody expected{.body = body};
    std::string text = describe(expected);
    if (bytes > limits::kInlineBodyBytes) text += " in a buffer";
    const Items whole = items_of(stream, kMost);
    const std::string line = "put 0 0 1 " + std::to_string(bytes);
    CHECK(whole == Items{line, text, line, "body without CRLF", "stats"});
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      CHECK(in_random_pieces(seed, stream, 70'000, kMost) == whole);
    }
  }
}

TEST_CASE("a long body that is there at once is copied once, into a buffer of its size") {
  const std::string stream = put(body_of(300'000));
  std::string_view input = stream;
  Parser parser(limits::kMostJobBytes);
  parser.next(input);
  const Parser::Item item = parser.next(input);
  Buffer* const buffer = std::get<PutBody>(std::get<Command>(item)).buffer;
  CHECK(buffer->size() == 300'002);
  CHECK(buffer->room() == 0);
}

TEST_CASE("a put is at hand when the last byte of its body is there, and not before") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, std::size_t{70'000}}) {
    CAPTURE(bytes);
    const std::string stream = put(body_of(bytes));
    const std::size_t line_bytes = stream.find('\n') + 1;
    for (const std::size_t lacking : {std::size_t{1}, std::size_t{0}}) {
      Parser parser(limits::kMostJobBytes);
      std::string_view input = std::string_view(stream).substr(0, stream.size() - lacking);
      CHECK_FALSE(parser.put_at_hand(input));
      parser.next(input);
      CHECK(input.size() == stream.size() - lacking - line_bytes);
      CHECK(parser.put_at_hand(input).has_value() == (lacking == 0));
      if (lacking == 0) CHECK(parser.put_at_hand(input) == static_cast<std::uint32_t>(bytes));
      parser.next(input);
      CHECK_FALSE(parser.put_at_hand(input));
    }
  }
}

TEST_CASE("a body takes memory as it arrives, not as it was promised") {
  constexpr std::uint32_t kHuge = limits::kMostJobBytes;
  std::string_view input = "put 0 0 1 1073741824\r\nfew bytes";
  Parser parser(kHuge);
  parser.next(input);
  CHECK(std::holds_alternative<Parser::Incomplete>(parser.next(input)));
  CHECK(input.empty());
  CHECK(parser.body_space().size() == limits::kFirstBufferBytes - 9);
  for (std::size_t arrived = 65'536; arrived <= 1'048'576; arrived *= 2) {
    parser.body_arrived(parser.body_space().size());
    CHECK(std::holds_alternative<Parser::Incomplete>(parser.next(input)));
    CHECK(parser.body_space().size() == arrived);
  }
}

TEST_CASE("there is space for the body that is awaited and its CRLF, and no more") {
  ParsedStream stream;
  CHECK(stream.parser().body_space().empty());
  stream.receive("put 0 0 1 4096\r\n");
  CHECK(stream.parser().body_space().empty());
  stream.receive(std::string(4'096, 'x') + "\r\nput 0 0 1 5000\r\n");
  CHECK(stream.parser().body_space().size() == 5'002);
  stream.receive_directly(std::string(5'001, 'x'));
  CHECK(stream.parser().body_space().size() == 1);
  stream.receive_directly("x");
  CHECK(stream.parser().body_space().empty());
  CHECK(stream.items().back() == "body without CRLF");
}

TEST_CASE("a long body lives on with whoever took a share") {
  const std::string stream = put(kLongBody) + "stats\r\n";
  std::string_view input = stream;
  Parser parser(limits::kDefaultJobBytes);
  parser.next(input);
  BufferRef share;
  {
    const Parser::Item item = parser.next(input);
    share = BufferRef(std::get<PutBody>(std::get<Command>(item)).buffer);
  }
  parser.next(input);
  CHECK(share->view() == kLongBody + "\r\n");
}

}  // namespace xylem::test
