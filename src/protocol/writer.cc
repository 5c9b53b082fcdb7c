// The reply words and what they carry. Clients compare bytes: nothing here may change, and no word
// of ours may begin with an old one, since some clients compare only the beginning.
#include "xylem/protocol/writer.h"

#include <array>
#include <charconv>
#include <cstddef>

#include "xylem/check.h"

namespace xylem {
namespace {

// By ReplyWord: what stands before the first value, or the whole line.
constexpr std::array<std::string_view, 29> kLines{
    "INSERTED ",
    "BURIED ",
    "JOB_TOO_BIG\r\n",
    "BAD_FORMAT\r\n",
    "UNKNOWN_COMMAND\r\n",
    "EXPECTED_CRLF\r\n",
    "DRAINING\r\n",
    "OUT_OF_MEMORY\r\n",
    "INTERNAL_ERROR\r\n",
    "USING ",
    "RESERVED ",
    "FOUND ",
    "TIMED_OUT\r\n",
    "DEADLINE_SOON\r\n",
    "NOT_FOUND\r\n",
    "DELETED\r\n",
    "RELEASED\r\n",
    "BURIED\r\n",
    "TOUCHED\r\n",
    "KICKED ",
    "KICKED\r\n",
    "WATCHING ",
    "NOT_IGNORED\r\n",
    "PAUSED\r\n",
    "OK ",
    "FLUSHED ",
    "MOVED ",
    "REPRIORITIZED\r\n",
    "NOT_DRAINING\r\n",
};
static_assert(kLines.size() == static_cast<std::size_t>(ReplyWord::kNotDraining) + 1);

constexpr std::string_view line_of(ReplyWord word) {
  return kLines[static_cast<std::size_t>(word)];
}

// A short line, built on the stack so that it costs `out` one append.
class Line {
 public:
  explicit Line(ReplyWord word) { text(line_of(word)); }

  Line& text(std::string_view text) {
    end_ += text.copy(end_, text.size());
    return *this;
  }
  Line& number(std::uint64_t number) {
    end_ = std::to_chars(end_, bytes_.data() + bytes_.size(), number).ptr;
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), end_}; }

 private:
  // The longest: "RESERVED " and two numbers of 20 digits.
  std::array<char, 64> bytes_;
  char* end_ = bytes_.data();
};

void write_number(std::string& out, const Reply& reply) {
  out += Line(reply.word).number(reply.number).text("\r\n").view();
}

void write_job(std::string& out, const Reply& reply) {
  Line line(reply.word);
  line.number(reply.number).text(" ").number(reply.text.size()).text("\r\n");
  out += line.view();
  if (reply.buffer != nullptr) return;
  out += reply.text;
  out += "\r\n";
}

void write_tube(std::string& out, const Reply& reply) {
  out += line_of(reply.word);
  out += reply.text;
  out += "\r\n";
}

}  // namespace

void write_word(std::string& out, ReplyWord word) {
  CHECK(line_of(word).ends_with('\n'));
  out += line_of(word);
}

void write_reply(std::string& out, const Reply& reply) {
  switch (reply.word) {
    case ReplyWord::kInserted:
    case ReplyWord::kBuriedId:
    case ReplyWord::kKickedCount:
    case ReplyWord::kWatching:
    case ReplyWord::kFlushed:
    case ReplyWord::kMoved:
      return write_number(out, reply);
    case ReplyWord::kReserved:
    case ReplyWord::kFound:
      return write_job(out, reply);
    case ReplyWord::kUsing:
      return write_tube(out, reply);
    case ReplyWord::kJobTooBig:
    case ReplyWord::kBadFormat:
    case ReplyWord::kUnknownCommand:
    case ReplyWord::kExpectedCrlf:
    case ReplyWord::kDraining:
    case ReplyWord::kOutOfMemory:
    case ReplyWord::kInternalError:
    case ReplyWord::kTimedOut:
    case ReplyWord::kDeadlineSoon:
    case ReplyWord::kNotFound:
    case ReplyWord::kDeleted:
    case ReplyWord::kReleased:
    case ReplyWord::kBuried:
    case ReplyWord::kTouched:
    case ReplyWord::kKicked:
    case ReplyWord::kNotIgnored:
    case ReplyWord::kPaused:
    case ReplyWord::kOk:
    case ReplyWord::kReprioritized:
    case ReplyWord::kNotDraining:
      return write_word(out, reply.word);
  }
  CHECK(false);
}

}  // namespace xylem
