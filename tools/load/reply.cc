// The reply parser. The common case, a whole line inside one read, is parsed where it stands; only
// a line in pieces is copied.
#include "reply.h"

#include <algorithm>
#include <charconv>

#include "failure.h"

namespace xylem::load {

namespace {

constexpr std::size_t kMaxLine = 512;

// The number at the front of `text`, with the space before it; 0 if there is none.
std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = 0;
  if (text.empty() || text.front() != ' ') return 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

bool ReplyParser::next(std::string_view& input, Reply& reply) {
  if (!in_body_) {
    if (!take_line(input)) return false;
  }
  if (in_body_ && !take_body(input)) return false;
  reply = reply_;
  return true;
}

bool ReplyParser::take_line(std::string_view& input) {
  const std::size_t feed = input.find('\n');
  if (feed == std::string_view::npos) {
    started_line_.append(input);
    if (started_line_.size() > kMaxLine) fail("a reply line has no end: {:.40}", started_line_);
    input = {};
    return false;
  }
  const std::string_view end = input.substr(0, feed);
  input.remove_prefix(feed + 1);
  if (started_line_.empty()) {
    parse_line(end);
    return true;
  }
  pieced_line_ = started_line_.append(end);
  started_line_.clear();
  parse_line(pieced_line_);
  return true;
}

void ReplyParser::parse_line(std::string_view line) {
  if (!line.ends_with('\r')) fail("a reply line does not end with CRLF: {:.40}", line);
  line.remove_suffix(1);
  reply_ = Reply{.word = line.substr(0, line.find(' '))};
  std::string_view rest = line.substr(reply_.word.size());
  if (reply_.word == "RESERVED" || reply_.word == "FOUND") {
    reply_.word = reply_.word == "FOUND" ? "FOUND" : "RESERVED";  // outlives the input
    reply_.id = take_number(rest);
    reply_.body_bytes = take_number(rest);
    in_body_ = true;
  } else if (reply_.word == "OK") {
    reply_.word = "OK";
    reply_.body_bytes = take_number(rest);
    in_body_ = true;
  } else {
    reply_.id = take_number(rest);
  }
  body_left_ = reply_.body_bytes + 2;
  body_.clear();
}

bool ReplyParser::take_body(std::string_view& input) {
  const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, input.size()));
  if (keep_body_) body_.append(input.substr(0, taken));
  body_left_ -= taken;
  if (body_left_ == 0 && taken > 0 && input[taken - 1] != '\n') fail("a body has the wrong length");
  input.remove_prefix(taken);
  if (body_left_ > 0) return false;
  in_body_ = false;
  return true;
}

}  // namespace xylem::load
