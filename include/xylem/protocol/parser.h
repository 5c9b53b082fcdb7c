// Parser: the bytes of one connection in, commands out. It knows framing and grammar (protocol.md,
// "Stream" and "Arguments") and nothing of sockets, jobs or tubes.
//
//            +-------------------- line ended, anything else ------------------+
//            v                                                                 |
//     +------------+  put, size ok   +------+  size + 2 bytes: PutBody         |
//     |    line    | --------------> | body | ---------------------------------+
//     +------------+                 +------+                                  |
//       |  |  put, too big           +------+  size + 2 bytes: PutSkipped      |
//       |  +-----------------------> | skip | ---------------------------------+
//       |  too many without CRLF     +---------+  CRLF: BAD_FORMAT             |
//       +--------------------------> | discard | ------------------------------+
//                                    +---------+
//
// A line ends with CRLF; a lone CR or LF is a character like any other (beanstalkd differs).
// Whatever a line says, only `quit` ends the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "xylem/core/buffer.h"
#include "xylem/core/command.h"
#include "xylem/core/reply.h"

namespace xylem {

class Parser {
 public:
  struct Incomplete {};
  struct Quit {};
  // A line that is no command: kUnknownCommand or kBadFormat.
  struct Refused {
    ReplyWord word = ReplyWord::kBadFormat;
  };
  using Item = std::variant<Incomplete, Refused, Quit, Command>;

  explicit Parser(std::uint32_t most_job_bytes) : most_job_bytes_(most_job_bytes) {}

  // Takes the first item off the front of `input`. Views in a command point into `input`'s bytes
  // or, for a long body, into a buffer that the parser holds until the next call. On Incomplete,
  // what is left in `input` (less than a line, or a part of a short body: at most kInlineBodyBytes
  // + 1 bytes) must be passed again in front of the bytes that follow.
  Item next(std::string_view& input);

  // While a long body is arriving: where its next bytes may be read to directly, never more than
  // the body and its CRLF still lack; else empty. Valid until the next call.
  std::span<char> body_space();
  // `bytes` were read to body_space(); then call next(), also with empty input.
  void body_arrived(std::size_t bytes);

  // The length of the body if the next item is a PutBody: its last byte has arrived.
  [[nodiscard]] std::optional<std::uint32_t> put_at_hand(std::string_view input) const;

  // SIGHUP may change the limit; it holds for lines that are read after this.
  void set_most_job_bytes(std::uint32_t bytes) { most_job_bytes_ = bytes; }
  // Whether the commands that change many jobs or the server (protocol.md, "Commands of our own")
  // are commands. So is this.
  void set_admin_commands(bool on) { admin_commands_ = on; }

 private:
  static constexpr std::uint32_t kCrlfBytes = 2;
  enum class State : std::uint8_t { kLine, kShortBody, kLongBody, kSkip, kDiscard };

  Item next_line(std::string_view& input);
  Item next_short_body(std::string_view& input);
  Item next_long_body(std::string_view& input);
  Item next_skipped(std::string_view& input);
  Item next_discarded(std::string_view& input);

  void begin_put(PutLine& put);
  Item end_put(std::string_view body_and_crlf);
  // Of the body that is awaited and its CRLF.
  [[nodiscard]] std::uint32_t lacking_bytes() const {
    return body_bytes_ + kCrlfBytes - (buffer_ ? buffer_->size() : 0);
  }
  void make_room(std::uint32_t bytes);

  std::uint32_t most_job_bytes_;
  bool admin_commands_ = true;
  State state_ = State::kLine;
  std::uint32_t body_bytes_ = 0;  // of the body that is awaited
  std::uint64_t skip_bytes_ = 0;  // still to be skipped
  BufferRef buffer_;              // a long body so far; once handed out, until the next call
};

inline std::optional<std::uint32_t> Parser::put_at_hand(std::string_view input) const {
  if (state_ != State::kShortBody && state_ != State::kLongBody) return std::nullopt;
  if (input.size() < lacking_bytes()) return std::nullopt;
  return body_bytes_;
}

}  // namespace xylem
