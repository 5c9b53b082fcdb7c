// Bytes to replies. What answers on a port may be anything, so a line counts as a reply only if its
// word is one of the protocol's: an HTTP server is told apart by its first line.
//
// If the protocol gets a reply word, add it to kWords.
#include <algorithm>
#include <array>
#include <charconv>

#include "xylem/client.h"
#include "xylem/core/limits.h"

namespace xylem::client {
namespace {

constexpr std::array<std::string_view, 26> kWords = {
    "INSERTED",      "BURIED",          "RESERVED",    "DELETED",       "NOT_FOUND",
    "RELEASED",      "TOUCHED",         "KICKED",      "FOUND",         "OK",
    "USING",         "WATCHING",        "NOT_IGNORED", "PAUSED",        "TIMED_OUT",
    "DEADLINE_SOON", "EXPECTED_CRLF",   "JOB_TOO_BIG", "OUT_OF_MEMORY", "INTERNAL_ERROR",
    "BAD_FORMAT",    "UNKNOWN_COMMAND", "FLUSHED",     "MOVED",         "REPRIORITIZED",
    "NOT_DRAINING"};
constexpr std::string_view kDraining = "DRAINING";

// No line of the protocol is longer, replies included.
constexpr std::size_t kLongestLine = limits::kLineBytes;
// Lists of tubes may be longer than any job.
constexpr std::uint64_t kLongestBody = std::uint64_t{4} * limits::kMostJobBytes;

bool is_word(std::string_view word) {
  return word == kDraining || std::ranges::find(kWords, word) != kWords.end();
}

bool has_body(std::string_view word) {
  return word == "RESERVED" || word == "FOUND" || word == "OK";
}

// The last number of the argument is the size of the body.
std::optional<std::uint64_t> body_size(std::string_view argument) {
  const std::string_view last = argument.substr(argument.rfind(' ') + 1);
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), size);
  const bool whole = error == std::errc{} && end == last.data() + last.size() && !last.empty();
  return whole && size <= kLongestBody ? std::optional(size) : std::nullopt;
}

std::string printable(std::string_view line) {
  constexpr std::size_t kShown = 40;
  std::string text(line.substr(0, kShown));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '.');
  return text;
}

}  // namespace

std::uint64_t Reply::number() const {
  std::uint64_t number = 0;
  std::from_chars(argument.data(), argument.data() + argument.size(), number);
  return number;
}

std::string Reply::line() const { return argument.empty() ? word : word + " " + argument; }

// The next reply of what has arrived, if it is whole.
Result<std::optional<Reply>> Connection::take_reply() {
  const std::string_view arrived = std::string_view(in_).substr(in_at_);
  if (arrived.empty()) return std::optional<Reply>{};
  const std::string_view start = arrived.substr(0, kLongestLine);
  const std::size_t end = start.find("\r\n");
  const std::string_view line = start.substr(0, std::min(end, start.find('\n')));
  if (end == std::string_view::npos) {
    if (line.size() == start.size() && start.size() < kLongestLine) return std::optional<Reply>{};
    return no_server(line);
  }
  const std::string_view word = line.substr(0, line.find(' '));
  if (!is_word(word)) return no_server(line);
  const std::string_view argument = line.substr(std::min(line.size(), word.size() + 1));
  std::string_view body;
  std::size_t taken = end + 2;
  if (has_body(word)) {
    const std::optional<std::uint64_t> size = body_size(argument);
    if (!size) return no_server(line);
    if (arrived.size() < taken + *size + 2) return std::optional<Reply>{};
    body = arrived.substr(taken, *size);
    if (arrived.substr(taken + *size, 2) != "\r\n") return lost("sent a body of another length");
    taken += *size + 2;
  }
  in_at_ += taken;
  owed_ -= std::min<std::size_t>(owed_, 1);
  spoke_ = true;
  return std::optional(Reply{
      .word = std::string(word), .argument = std::string(argument), .body = std::string(body)});
}

Error Connection::no_server(std::string_view line) const {
  const std::string_view what =
      spoke_ ? " sent what is no reply: \"" : " does not speak the beanstalk protocol; it said \"";
  return {.text = to_string(address_) + std::string(what) + printable(line) + "\"",
          .exit_code = kUnreachable};
}

}  // namespace xylem::client
