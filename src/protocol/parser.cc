// Framing: where a line or a body ends, at whatever points the stream was cut. No state is kept
// about a part of a line or of a short body, since the caller passes it again; a long body is
// gathered here.
#include "xylem/protocol/parser.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "protocol/grammar.h"
#include "xylem/check.h"
#include "xylem/core/limits.h"

namespace xylem {
namespace {

constexpr std::string_view kCrlf = "\r\n";

std::string_view take(std::string_view& input, std::size_t bytes) {
  const std::string_view front = input.substr(0, bytes);
  input.remove_prefix(front.size());
  return front;
}

// No line of beanstalkd's begins like one of the long ones.
std::size_t most_bytes(std::string_view line) {
  const bool is_long = line.starts_with("list-jobs ") || line.starts_with("move-jobs ");
  return is_long ? limits::kLongLineBytes : limits::kLineBytes;
}

PutLine* put_line_of(Parser::Item& item) {
  auto* const command = std::get_if<Command>(&item);
  return command == nullptr ? nullptr : std::get_if<PutLine>(command);
}

}  // namespace

Parser::Item Parser::next(std::string_view& input) {
  switch (state_) {
    case State::kLine:
      return next_line(input);
    case State::kShortBody:
      return next_short_body(input);
    case State::kLongBody:
      return next_long_body(input);
    case State::kSkip:
      return next_skipped(input);
    case State::kDiscard:
      return next_discarded(input);
  }
  CHECK(false);
}

Parser::Item Parser::next_line(std::string_view& input) {
  if (buffer_) buffer_ = BufferRef();
  const std::size_t most = most_bytes(input);
  const std::size_t end = input.substr(0, most).find(kCrlf);
  if (end != std::string_view::npos) {
    Item item = parse_line(take(input, end + kCrlfBytes).substr(0, end), admin_commands_);
    if (PutLine* const put = put_line_of(item)) begin_put(*put);
    return item;
  }
  if (input.size() < most) return Incomplete{};
  state_ = State::kDiscard;
  return next_discarded(input);
}

// A CR at the end stays in `input`: its LF may be on the way.
Parser::Item Parser::next_discarded(std::string_view& input) {
  const std::size_t end = input.find(kCrlf);
  if (end == std::string_view::npos) {
    take(input, input.size() - (input.ends_with('\r') ? 1 : 0));
    return Incomplete{};
  }
  take(input, end + kCrlfBytes);
  state_ = State::kLine;
  return Refused{ReplyWord::kBadFormat};
}

// Too big is decided before what follows the size is looked at.
void Parser::begin_put(PutLine& put) {
  if (put.body_bytes > most_job_bytes_) {
    put.fate = PutFate::kTooBig;
    skip_bytes_ = std::uint64_t{put.body_bytes} + kCrlfBytes;
    state_ = State::kSkip;
  } else if (put.fate == PutFate::kBodyFollows) {
    body_bytes_ = put.body_bytes;
    state_ = body_bytes_ <= limits::kInlineBodyBytes ? State::kShortBody : State::kLongBody;
  }
}

Parser::Item Parser::next_skipped(std::string_view& input) {
  const std::string_view skipped = take(input, std::min<std::uint64_t>(skip_bytes_, input.size()));
  skip_bytes_ -= skipped.size();
  if (skip_bytes_ > 0) return Incomplete{};
  state_ = State::kLine;
  return PutSkipped{};
}

Parser::Item Parser::next_short_body(std::string_view& input) {
  const std::size_t bytes = body_bytes_ + kCrlfBytes;
  if (input.size() < bytes) return Incomplete{};
  return end_put(take(input, bytes));
}

Parser::Item Parser::next_long_body(std::string_view& input) {
  const std::string_view arrived = take(input, lacking_bytes());
  make_room(static_cast<std::uint32_t>(arrived.size()));
  buffer_->append(arrived);
  if (lacking_bytes() > 0) return Incomplete{};
  return end_put(buffer_->view());
}

Parser::Item Parser::end_put(std::string_view body_and_crlf) {
  state_ = State::kLine;
  return PutBody{.body = body_and_crlf.substr(0, body_bytes_),
                 .buffer = buffer_.get(),
                 .terminated = body_and_crlf.ends_with(kCrlf)};
}

std::span<char> Parser::body_space() {
  if (state_ != State::kLongBody || lacking_bytes() == 0) return {};
  make_room(1);
  return {buffer_->data() + buffer_->size(), buffer_->room()};
}

void Parser::body_arrived(std::size_t bytes) {
  CHECK(state_ == State::kLongBody && bytes <= lacking_bytes());
  buffer_->filled(static_cast<std::uint32_t>(bytes));
}

// For `bytes` more of a long body. The buffer is at most twice as long as what has arrived, beyond
// a first kFirstBufferBytes, and never longer than the body with its CRLF.
void Parser::make_room(std::uint32_t bytes) {
  const std::uint32_t most = body_bytes_ + kCrlfBytes;
  if (!buffer_)
    buffer_ = Buffer::make(std::clamp(bytes, std::min(limits::kFirstBufferBytes, most), most));
  if (buffer_->room() >= bytes) return;
  const std::uint32_t size = buffer_->size();
  buffer_ = with_capacity(std::move(buffer_), std::min(std::max(2 * size, size + bytes), most));
}

}  // namespace xylem
