// The path of bytes through one connection, from top to bottom: events, reading, running,
// answering, sending, ending.

#include "server/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "server/server.h"
#include "xylem/check.h"

namespace xylem {
namespace {

// A put's line has no reply if its body is still to come.
bool owes_reply(const Command& command) {
  const auto* line = std::get_if<PutLine>(&command);
  return line == nullptr || line->fate == PutFate::kTrailing;
}

// Whether it is worth not to copy the text.
bool is_long(const ReplyDetails& details) {
  const auto* jobs = std::get_if<JobList>(&details);
  return jobs != nullptr && jobs->jobs.size() > 100;
}

// Bytes that nobody read would make close() a reset, which could overtake our last replies.
void discard_input(int socket, std::span<char> space) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    if (recv(socket, space.data(), space.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace

Connection::Connection(Server& server, int socket, ClientId id, std::uint32_t most_job_bytes)
    : server_(server), socket_(socket), id_(id), parser_(most_job_bytes) {}

Connection* Connection::open(Server& server, int socket, ClientId id,
                             std::uint32_t most_job_bytes) {
  auto* connection = new Connection(server, socket, id, most_job_bytes);
  if (uv_poll_init(&server.loop(), &connection->poll_, socket) != 0) {
    delete connection;
    return nullptr;
  }
  connection->poll_.data = connection;
  connection->update_events();
  return connection;
}

void Connection::on_event(int status, int events) {
  server_.begin_event();
  if (closed_) return;
  if (status < 0) return close();
  // Another turn may have begun since they were asked for.
  events &= wanted_events();
  if ((events & UV_WRITABLE) != 0) {  // its client reads
    server_.mark_active(*this);
    server_.mark_dirty(*this);
  }
  if ((events & UV_DISCONNECT) != 0) half_close();
  if ((events & UV_READABLE) != 0) {
    if (server_.disk_is_behind()) {
      stall();
    } else {
      read();
    }
  }
  if (!closed_) update_events();
}

// Behind room for what is pending, so that both can be run as one; a long body's bytes go to the
// body.
void Connection::read() {
  server_.count_steps(limits::kStepsPerEvent);
  const std::span<char> body = pending_.empty() ? parser_.body_space() : std::span<char>{};
  std::span<char> rest = server_.read_buffer().subspan(pending_.size());
  rest = rest.first(std::min(rest.size(), server_.read_bytes_each()));
  ssize_t count = 0;
  if (body.empty()) {
    count = recv(socket_, rest.data(), rest.size(), 0);
  } else {
    const std::array<iovec, 2> parts{{{.iov_base = body.data(), .iov_len = body.size()},
                                      {.iov_base = rest.data(), .iov_len = rest.size()}}};
    count = readv(socket_, parts.data(), 2);
  }
  if (count < 0) {
    if (errno != EAGAIN && errno != EINTR) close();
    return;
  }
  if (count == 0) return on_end_of_input();
  server_.note_arrival();
  server_.mark_active(*this);
  const auto bytes = static_cast<std::size_t>(count);
  const std::size_t in_body = std::min(bytes, body.size());
  if (in_body > 0) parser_.body_arrived(in_body);
  take({rest.data(), bytes - in_body});
}

void Connection::stall() {
  if (std::exchange(stalled_, true)) return;
  server_.stall(*this);
}

void Connection::go_on() {
  stalled_ = false;
  update_events();
}

// Runs what was read, in place, if that is possible. Only what is left over is copied.
void Connection::take(std::string_view fresh) {
  if (is_resuming || !may_run()) {
    pending_.append(fresh);
    return;
  }
  const std::span<char> buffer = server_.read_buffer();
  pending_.copy(buffer.data(), pending_.size());
  std::string_view input{buffer.data(), pending_.size() + fresh.size()};
  run(input);
  keep(input);
}

// `left` was not run. An empty string of its own gives memory back, which clear() would keep.
void Connection::keep(std::string_view left) {
  pending_ = left.empty() || ending_ ? std::string() : std::string(left);
}

// Who has nothing to run or to hear is gone at once, before the turn goes on to others.
void Connection::on_end_of_input() {
  input_ended_ = true;
  if (pending_.empty() && !waiting_ && !is_resuming && !awaits_room_ && !out_) return close();
  half_close();
  server_.resume_later(*this);
}

void Connection::half_close() {
  if (half_closed_) return;
  half_closed_ = true;
  server_.half_close(*this);
}

void Connection::resume() {
  std::string_view input = pending_;
  run(input);
  keep(input);
  update_events();
}

void Connection::run(std::string_view& input) {
  std::uint32_t left = server_.commands_each();
  while (may_run()) {
    if (left-- == 0 || server_.spent()) return server_.resume_later(*this);
    using Room = WriteAheadLog::Room;
    const auto put = parser_.put_at_hand(input);
    const Room room = put ? server_.room_for_put(*put) : Room::kYes;
    if (room == Room::kNotYet) return await_room();
    Parser::Item item = parser_.next(input);
    if (room == Room::kNo) std::get<PutBody>(std::get<Command>(item)).has_room = false;
    if (!perform(item)) return;
  }
}

void Connection::await_room() {
  awaits_room_ = true;
  server_.await_room(*this);
}

void Connection::ask_for_room() {
  awaits_room_ = false;
  resume();
}

template <class Write>
void Connection::say(Write write) {
  if (!out_) out_ = server_.out_buffers().take();
  std::string& text = out_->text();
  const std::size_t before = text.size();
  write(text);
  out_->appended(before);
  server_.mark_dirty(*this);
}

// False: there is no complete command.
bool Connection::perform(Parser::Item& item) {
  if (auto* command = std::get_if<Command>(&item)) {
    waiting_ = owes_reply(*command);
    server_.execute(*this, *command);
    return true;
  }
  if (const auto* refused = std::get_if<Parser::Refused>(&item)) {
    say([refused](std::string& text) { write_word(text, refused->word); });
    return true;
  }
  if (std::holds_alternative<Parser::Quit>(item) || input_ended_) finish();
  return false;
}

void Connection::hold(std::uint64_t position) {
  if (ending_) return;
  if (!out_) out_ = server_.out_buffers().take();
  out_->hold(position);
}

void Connection::answer(const Reply& reply) {
  if (ending_) return;
  CHECK(waiting_);
  waiting_ = false;
  say([&reply](std::string& text) { write_reply(text, reply); });
  if (reply.buffer != nullptr) out_->append_body(BufferRef(reply.buffer));
}

void Connection::answer(const ReplyDetails& details, const ProcessStats& process) {
  if (ending_) return;
  CHECK(waiting_);
  waiting_ = false;
  if (!parts_ && !is_long(details)) {
    return say([&](std::string& text) { write_details(text, details, process); });
  }
  answer_in_part(details);
  Lines lines = std::move(*std::exchange(parts_, nullptr));
  say([&lines](std::string& text) { write_block_head(text, lines); });
  for (std::string& each : lines) out_->append_text(std::move(each));
  say([](std::string& text) { text.append("\r\n"); });
}

void Connection::answer_in_part(const ReplyDetails& details) {
  if (ending_) return;
  if (!parts_) parts_ = std::make_unique<Lines>();
  append_lines(*parts_, details, {});
}

void Connection::flush() {
  if (out_) {
    using Outcome = OutBuffer::Outcome;
    const Outcome outcome = out_->send_to(socket_, server_.released());
    if (outcome == Outcome::kFailed) return close();
    if (outcome == Outcome::kHeld && server_.log_has_failed()) return close();
    if (outcome == Outcome::kHeld) server_.hold(*this);
    send_stuck_ = outcome == Outcome::kSome;
    if (outcome == Outcome::kAll) server_.out_buffers().give(std::move(out_));
  }
  if (ending_ && !out_) {
    discard_input(socket_, server_.read_buffer());
    return close();
  }
  if (has_more() && may_run()) server_.resume_later(*this);
  update_events();
}

void Connection::finish() {
  ending_ = true;
  server_.mark_dirty(*this);
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  ending_ = true;
  uv_poll_stop(&poll_);
  ::close(socket_);
  out_.reset();
  server_.closed(*this);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_),
           [](uv_handle_t* handle) { delete static_cast<Connection*>(handle->data); });
}

bool Connection::is_over_limit() const {
  return out_ && out_->bytes() > server_.out_buffer_limit();
}

bool Connection::may_run() const {
  return !waiting_ && !ending_ && !awaits_room_ && !is_over_limit();
}

int Connection::wanted_events() const {
  const bool reads = !input_ended_ && !ending_ && !stalled_ && !is_resuming && !is_over_limit() &&
                     pending_.size() < limits::kReadAheadBytes;
  int events = reads ? UV_READABLE : 0;
  if (!reads && waiting_ && !half_closed_) events |= UV_DISCONNECT;
  if (send_stuck_) events |= UV_WRITABLE;
  return events;
}

// libuv's uv_poll_start is two system calls even when nothing changes, so nothing is asked for
// twice.
void Connection::update_events() {
  const int events = wanted_events();
  if (events == polled_events_) return;
  polled_events_ = events;
  const auto on_event = [](uv_poll_t* handle, int status, int fired) {
    static_cast<Connection*>(handle->data)->on_event(status, fired);
  };
  CHECK(uv_poll_start(&poll_, events, on_event) == 0);
}

}  // namespace xylem
