// Every reply, to the byte: one row for each word, and what carries a body both short and long. The
// statistics have a test of their own.
#include "xylem/protocol/writer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace xylem::test {
namespace {

constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();

Reply reply(ReplyWord word, std::uint64_t number = 0, std::string_view text = {}) {
  return {.word = word, .number = number, .text = text};
}

std::string written(const Reply& what) {
  std::string out;
  write_reply(out, what);
  return out;
}

struct WordLine {
  ReplyWord word;
  std::string_view line;
};

// Words that carry nothing.
const std::vector<WordLine> kBareWords{
    {ReplyWord::kJobTooBig, "JOB_TOO_BIG\r\n"},
    {ReplyWord::kBadFormat, "BAD_FORMAT\r\n"},
    {ReplyWord::kUnknownCommand, "UNKNOWN_COMMAND\r\n"},
    {ReplyWord::kExpectedCrlf, "EXPECTED_CRLF\r\n"},
    {ReplyWord::kDraining, "DRAINING\r\n"},
    {ReplyWord::kOutOfMemory, "OUT_OF_MEMORY\r\n"},
    {ReplyWord::kInternalError, "INTERNAL_ERROR\r\n"},
    {ReplyWord::kTimedOut, "TIMED_OUT\r\n"},
    {ReplyWord::kDeadlineSoon, "DEADLINE_SOON\r\n"},
    {ReplyWord::kNotFound, "NOT_FOUND\r\n"},
    {ReplyWord::kDeleted, "DELETED\r\n"},
    {ReplyWord::kReleased, "RELEASED\r\n"},
    {ReplyWord::kBuried, "BURIED\r\n"},
    {ReplyWord::kTouched, "TOUCHED\r\n"},
    {ReplyWord::kKicked, "KICKED\r\n"},
    {ReplyWord::kNotIgnored, "NOT_IGNORED\r\n"},
    {ReplyWord::kPaused, "PAUSED\r\n"},
};

}  // namespace

TEST_CASE("words that carry nothing") {
  for (const auto& [word, line] : kBareWords) {
    CHECK(written(reply(word)) == line);
    std::string out;
    write_word(out, word);
    CHECK(out == line);
  }
}

TEST_CASE("words that carry a number") {
  CHECK(written(reply(ReplyWord::kInserted, 1)) == "INSERTED 1\r\n");
  CHECK(written(reply(ReplyWord::kInserted, kU64Max)) == "INSERTED 18446744073709551615\r\n");
  CHECK(written(reply(ReplyWord::kBuriedId, 7)) == "BURIED 7\r\n");
  CHECK(written(reply(ReplyWord::kKickedCount)) == "KICKED 0\r\n");
  CHECK(written(reply(ReplyWord::kWatching, 2)) == "WATCHING 2\r\n");
}

TEST_CASE("USING carries a name, at most 200 bytes") {
  CHECK(written(reply(ReplyWord::kUsing, 0, "default")) == "USING default\r\n");
  const std::string name(200, 'n');
  CHECK(written(reply(ReplyWord::kUsing, 0, name)) == "USING " + name + "\r\n");
}

TEST_CASE("RESERVED and FOUND carry a job") {
  const std::string_view body("a\0b\r\n", 5);
  CHECK(written(reply(ReplyWord::kReserved, 3, body)) ==
        "RESERVED 3 5\r\n" + std::string(body) + "\r\n");
  CHECK(written(reply(ReplyWord::kFound, kU64Max)) == "FOUND 18446744073709551615 0\r\n\r\n");
}

TEST_CASE("a body in a buffer is left to the caller") {
  const std::string body(5'000, 'x');
  const BufferRef buffer = Buffer::make(5'002);
  buffer->append(body + "\r\n");
  const Reply found{.word = ReplyWord::kReserved,
                    .number = 3,
                    .text = buffer->view().substr(0, body.size()),
                    .buffer = buffer.get()};
  CHECK(written(found) == "RESERVED 3 5000\r\n");
}

TEST_CASE("replies are appended") {
  std::string out = "DELETED\r\n";
  write_reply(out, reply(ReplyWord::kInserted, 12));
  write_word(out, ReplyWord::kNotFound);
  write_details(out, TubeList{"default\n"}, {});
  CHECK(out == "DELETED\r\nINSERTED 12\r\nNOT_FOUND\r\nOK 14\r\n---\n- default\n\r\n");
}

}  // namespace xylem::test
