// Replies from bytes, as they arrive in any pieces. A reply is a line, and for RESERVED, FOUND and
// OK a body behind it, which is counted and checked for its CRLF but not looked at: only
// `keep_body` (for stats) collects it.
//
//   RESERVED 17 100 CRLF  <100 bytes>  CRLF        INSERTED 17 CRLF        NOT_FOUND CRLF
//   `word`   `id` `body_bytes`                     `word`   `id`           `word`
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace xylem::load {

struct Reply {
  std::string_view word;         // lives until the next byte is fed
  std::uint64_t id = 0;          // the first number of the line, 0 if there is none
  std::uint64_t body_bytes = 0;  // the size of the body, 0 if there is none
};

class ReplyParser {
 public:
  explicit ReplyParser(bool keep_body = false) : keep_body_(keep_body) {}

  /// Takes bytes off the front of `input` up to the end of the next reply. True: `reply` is whole;
  /// false: all of `input` was taken and more is needed. Fails on what cannot be a reply.
  bool next(std::string_view& input, Reply& reply);

  /// The body of the reply that next() returned last, if bodies are kept.
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  bool take_line(std::string_view& input);
  bool take_body(std::string_view& input);
  void parse_line(std::string_view line);

  bool keep_body_;
  bool in_body_ = false;
  Reply reply_;
  std::string started_line_;     // a line of which the end has not arrived
  std::string pieced_line_;      // the last line that arrived in pieces: reply_.word may point here
  std::uint64_t body_left_ = 0;  // with its CRLF
  std::string body_;
};

}  // namespace xylem::load
