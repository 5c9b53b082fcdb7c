// The engine and the twin are told the same and compared. How bytes become steps is in
// simulation_steps.cc, what happens to the log in simulation_log.cc.
#include "simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "text.h"

namespace xylem::simulation {
namespace {

std::string body_of(JobId id, std::uint32_t bytes) {
  std::string body = fmt::format("job-{}-", id);
  body.resize(bytes, static_cast<char>('a' + id % 26));
  return body;
}

// The timer wheels end at 2^48 ticks, and the longest delay is less than 2^46.
constexpr Time kLastTime{Duration(std::int64_t{3} << 46)};

// A long body stands in a buffer, with its CRLF, and only a long one.
bool in_its_place(std::string_view body, const Buffer* buffer) {
  if (body.size() <= limits::kInlineBodyBytes) return buffer == nullptr;
  return buffer != nullptr && buffer->view() == std::string(body) + "\r\n";
}

}  // namespace

void Simulation::connect() {
  const ClientId expected = twin_.next_client_id();
  const ClientId id = engine_->connect(now_);
  write(fmt::format("{}+", name_of(id)));
  demand(id == expected, "the lowest free client id");
  twin_.connect(id);
  output_.clear();
  compare();
}

void Simulation::close(const Client& client, bool half) {
  const ClientId id = client.id;
  write(fmt::format("{}{}", name_of(id), half ? '|' : '!'));
  output_.clear();
  if (half) {
    engine_->half_close(id, execution_time(), output_);
    twin_.half_close(id, execution_time());
  } else {
    engine_->disconnect(id, execution_time(), output_);
    twin_.disconnect(id, execution_time());
  }
  compare();
}

// By the signal, or by the command.
void Simulation::drain() {
  if (const Client* client = now_step_[3] < 128 ? nullptr : pick_idle()) {
    if (twin_.draining) return tell(client->id, "undrain", Undrain{});
    return tell(client->id, "drain", Drain{});
  }
  write("! drain");
  twin_.draining = !twin_.draining;
  engine_->set_draining(twin_.draining);
  demand(engine_->draining() == twin_.draining, "draining as told");
}

// `line` is what stands behind "A>" in a transcript.
void Simulation::tell(ClientId who, std::string_view line, const Command& command) {
  write(fmt::format("{}{}{}", name_of(who), line.starts_with('>') ? "" : "> ", line));
  output_.clear();
  engine_->execute(who, command, execution_time(), output_);
  twin_.execute(who, command, execution_time());
  compare();
}

void Simulation::finish_put(const Client& client) {
  const ClientId who = client.id;
  if (client.skipping_upload)
    return tell(who, fmt::format(">> {{x*{}}}\\r\\n", kTooBigBytes), PutSkipped{});
  const std::string body = body_of(client.upload->id, client.upload_bytes);
  const bool terminated = now_step_[2] != 0;
  const bool has_room = now_step_[2] != 1;
  const std::string line = fmt::format(">> {}{}", body_text(body), terminated ? "\\r\\n" : "xx");
  if (body.size() <= limits::kInlineBodyBytes) {
    return tell(who, line, PutBody{.body = body, .terminated = terminated, .has_room = has_room});
  }
  const BufferRef buffer = Buffer::make(static_cast<std::uint32_t>(body.size() + 2));
  buffer->append(body);
  buffer->append(terminated ? "\r\n" : "xx");
  tell(who, line,
       PutBody{.body = buffer->view().substr(0, body.size()),
               .buffer = buffer.get(),
               .terminated = terminated,
               .has_room = has_room});
}

// A tick's time is rounded down, that of a command up.
Time Simulation::execution_time() const {
  const std::uint32_t ahead = ahead_ < 2 ? ahead_ : now_step_[6] % 2U;
  return now_ + Duration(ahead);
}

void Simulation::pass_to(Time time) {
  if (time <= now_ || time > kLastTime) return;
  const std::int64_t ticks = (time - now_).count();
  write(fmt::format("+{}ms", ticks / 10));
  if (ticks % 10 != 0) write(fmt::format("# and {} ticks", ticks % 10));
  now_ = time;
}

void Simulation::tick_if_due() {
  if (engine_->next_deadline() <= now_) tick();
}

void Simulation::tick() {
  output_.clear();
  last_tick_ = now_;
  engine_->tick(now_, output_);
  twin_.tick(now_);
  compare();
}

// The engine may wake for nothing, but not for ever.
void Simulation::settle() {
  for (int i = 0; engine_->next_deadline() <= now_; ++i) {
    demand(i < 10'000, "what is due gets done");
    tick();
  }
  demand(twin_.next_deadline() > now_, "all that is due is done");
}

void Simulation::compare() {
  std::vector<std::string> lines;
  for (const Reply& reply : output_.replies) {
    lines.push_back(text_of(reply, output_.details));
    demand(in_its_place(reply.text, reply.buffer), "a body stands where it should");
  }
  compare_lines("replies", twin_.replies, lines);
  lines.clear();
  for (const Record& record : output_.records) {
    lines.push_back(text_of(record));
    history_.push_back(std::make_unique<KeptRecord>(record, segment_));
    if (std::holds_alternative<FlushRecord>(record)) history_.back()->flushed = twin_.last_flushed;
  }
  compare_lines("records", twin_.records, lines);
  for (const std::string& reply : twin_.replies) write(reply);
  const EngineStats expected = twin_.stats();
  const EngineStats said = engine_->stats();
  if (said != expected) {
    demand(false, fmt::format("statistics: the twin's\n  {}\nthe engine's\n  {}", text_of(expected),
                              text_of(said)));
  }
  compare_log();
  const auto [due, expected_due] = std::pair(engine_->next_deadline(), twin_.next_deadline());
  if (due > expected_due) {
    demand(false, fmt::format("next_deadline() is late: {} for {}", due.time_since_epoch().count(),
                              expected_due.time_since_epoch().count()));
  }
  // Recomputing everything costs as much as there is.
  if (twin_.jobs.size() < 64 || step_count_ % 16 == 0) engine_->check();
}

void Simulation::compare_lines(std::string_view what, const std::vector<std::string>& expected,
                               const std::vector<std::string>& said) {
  if (said == expected) return;
  std::string both = fmt::format("{}: the twin's", what);
  for (const std::string& line : expected) both += "\n  " + line;
  both += "\nthe engine's";
  for (const std::string& line : said) both += "\n  " + line;
  demand(false, both);
}

void Simulation::demand(bool holds, std::string_view what) {
  if (holds) return;
  std::FILE* to = transcript_ != nullptr ? transcript_ : stderr;
  fmt::print(to, "# not so, in step {} at {}: {}\n", step_count_, now_.time_since_epoch().count(),
             what);
  std::fflush(to);
  std::abort();
}

void Simulation::write(std::string_view line) {
  if (transcript_ == nullptr) return;
  fmt::print(transcript_, "{}\n", line);
  std::fflush(transcript_);
}

}  // namespace xylem::simulation
