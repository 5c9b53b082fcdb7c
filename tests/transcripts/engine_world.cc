// The turn of the server, in the small: bytes to commands, commands to the engine, replies to
// bytes.

#include "engine_world.h"

#include <algorithm>
#include <charconv>

namespace xylem::transcript {
namespace {

constexpr Time kStart{std::chrono::duration_cast<Duration>(std::chrono::hours(1))};

bool owes_reply(const Command& command) {
  const auto* line = std::get_if<PutLine>(&command);
  return line == nullptr || line->fate == PutFate::kTrailing;
}

}  // namespace

std::string EngineWorld::start(const Options& options) {
  process_ = {.most_job_bytes = limits::kDefaultJobBytes,
              .pid = 1,
              .version = XYLEM_VERSION,
              .id = "0123456789abcdef",
              .hostname = "virtual",
              .os = "virtual",
              .platform = "virtual"};
  for (const auto& [name, value] : options) {
    if (name != "max-job-size") return "an option that is not known: " + name;
    std::from_chars(value.data(), value.data() + value.size(), process_.most_job_bytes);
  }
  now_ = kStart;
  peers_.clear();
  engine_ = std::make_unique<Engine>(Engine::Options{});
  return "";
}

std::string EngineWorld::stop() {
  engine_->check();
  engine_.reset();
  return "";
}

void EngineWorld::open(const std::string& connection) {
  tick_all_due();
  peers_.erase(connection);
  peers_.try_emplace(connection, engine_->connect(now_), process_.most_job_bytes);
}

void EngineWorld::send(const std::string& connection, std::string_view bytes) {
  now_ += Duration(1);
  peers_.at(connection).input += bytes;
  run_all();
}

void EngineWorld::half_close(const std::string& connection) {
  Peer& peer = peers_.at(connection);
  peer.half_closed = true;
  if (peer.ended) return;
  engine_->half_close(peer.id, now_, output_);
  deliver();
  run_all();
}

void EngineWorld::close(const std::string& connection) {
  finish(peers_.at(connection));
  peers_.erase(connection);
  run_all();
}

std::string EngineWorld::receive(const std::string& connection) { return arrived(connection); }

std::string EngineWorld::arrived(const std::string& connection) {
  settle();
  return std::exchange(peers_.at(connection).output, "");
}

bool EngineWorld::ended(const std::string& connection) { return peers_.at(connection).ended; }

void EngineWorld::settle() { run_all(); }

void EngineWorld::pass(std::chrono::milliseconds time) {
  const Time end = now_ + std::chrono::duration_cast<Duration>(time);
  run_all();
  while (engine_->next_deadline() <= end) {
    now_ = std::max(now_, engine_->next_deadline());
    run_all();
  }
  now_ = end;
}

void EngineWorld::stall(std::chrono::milliseconds time) {
  now_ += std::chrono::duration_cast<Duration>(time);
  run_all();
}

void EngineWorld::drain() { engine_->set_draining(true); }

// All that is due and all that was sent, until nothing is left to do at this moment.
void EngineWorld::run_all() {
  tick_all_due();
  for (auto& [name, peer] : peers_) run(peer);
  const bool more = engine_->next_deadline() <= now_;
  if (more) run_all();
}

void EngineWorld::run(Peer& peer) {
  while (!peer.ended && !peer.waiting && run_one(peer)) {
  }
}

// False if there is no complete command.
bool EngineWorld::run_one(Peer& peer) {
  std::string_view rest = peer.input;
  const Parser::Item item = peer.parser.next(rest);
  if (const auto* command = std::get_if<Command>(&item)) {
    tick_all_due();
    peer.waiting = owes_reply(*command);
    engine_->execute(peer.id, *command, now_, output_);
    deliver();
  } else if (const auto* refused = std::get_if<Parser::Refused>(&item)) {
    write_word(peer.output, refused->word);
  } else if (std::holds_alternative<Parser::Quit>(item) || peer.half_closed) {
    finish(peer);
  }
  peer.input.erase(0, peer.input.size() - rest.size());
  return !std::holds_alternative<Parser::Incomplete>(item);
}

void EngineWorld::finish(Peer& peer) {
  if (peer.ended) return;
  peer.ended = true;
  engine_->disconnect(peer.id, now_, output_);
  deliver();
}

void EngineWorld::tick_all_due() {
  while (engine_->next_deadline() <= now_) {
    engine_->tick(now_, output_);
    deliver();
  }
}

void EngineWorld::deliver() {
  for (const Reply& reply : output_.replies) {
    Peer* peer = find(reply.client);
    if (peer == nullptr) continue;
    if (reply.word == ReplyWord::kOk) append_lines(peer->parts, output_.details, process_);
    if (reply.goes_on) continue;
    peer->waiting = false;
    if (reply.word == ReplyWord::kOk) {
      write_block_head(peer->output, peer->parts);
      for (const std::string& each : std::exchange(peer->parts, {})) peer->output += each;
      peer->output += "\r\n";
    } else {
      write_reply(peer->output, reply);
      if (reply.buffer != nullptr) peer->output += reply.buffer->view();
    }
  }
  output_.clear();
}

EngineWorld::Peer* EngineWorld::find(ClientId id) {
  for (auto& [name, peer] : peers_) {
    if (!peer.ended && peer.id == id) return &peer;
  }
  return nullptr;
}

}  // namespace xylem::transcript
