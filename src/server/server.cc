// The turn. The engine is called from here and nowhere else, and each call is followed by
// deliver(): what an Output says is valid until the next call.

#include "server/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "server/descriptors.h"
#include "xylem/check.h"

namespace xylem {
namespace {

template <class Handle>
void close_handle(Handle& handle) {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
}

}  // namespace

Server::Server(uv_loop_t& loop, const Config& config, StartState state,
               std::uint64_t possible_connections, Log& log)
    : loop_(loop),
      log_(log),
      clock_(state.clock),
      timer_(*this, clock_),
      engine_owner_(std::move(state.engine)),
      engine_(*engine_owner_),
      now_(clock_.read()),
      started_at_(now_.floor),
      read_buffer_(std::make_unique<char[]>(kReadBufferBytes)),
      idle_(*this, loop, log),
      possible_connections_(possible_connections) {
  prepare_.data = check_.data = stay_awake_.data = this;
  CHECK(uv_prepare_init(&loop_, &prepare_) == 0);
  CHECK(uv_check_init(&loop_, &check_) == 0);
  CHECK(uv_idle_init(&loop_, &stay_awake_) == 0);
  if (state.log) journal_.emplace(*this, loop_, engine_, std::move(*state.log), config, log_);
  configure(config);
}

void Server::start() {
  const auto on_prepare = [](uv_prepare_t* handle) {
    static_cast<Server*>(handle->data)->end_turn();
  };
  const auto on_check = [](uv_check_t* handle) {
    static_cast<Server*>(handle->data)->serve_resume_list();
  };
  CHECK(uv_prepare_start(&prepare_, on_prepare) == 0);
  CHECK(uv_check_start(&check_, on_check) == 0);
  timer_.start(loop_);
}

void Server::begin_turn() {
  if (in_turn_) return;
  in_turn_ = true;
  steps_ = 0;
  now_ = clock_.read();
  tick_is_due_ = engine_.next_deadline() <= now_.floor;
  if (tick_is_due_ && !log_is_over()) tick();
}

void Server::begin_event() {
  if (in_turn_ && steps_are_spent()) {
    serve_resume_list();
    end_turn();
  }
  begin_turn();
}

void Server::tick() {
  tick_is_due_ = false;
  out_.clear();
  engine_.tick(now_.floor, out_);
  deliver(nullptr);
}

void Server::execute(Connection& connection, const Command& command) {
  if (tick_is_due_) tick();
  out_.clear();
  engine_.execute(connection.id(), command, now_.ceil, out_);
  steps_ += 1 + out_.steps;
  if (std::holds_alternative<Drain>(command)) log_.info("drain: put is refused from now on");
  if (std::holds_alternative<Undrain>(command)) log_.info("undrain: put is taken again");
  deliver(&connection);
}

void Server::half_close(Connection& connection) {
  out_.clear();
  engine_.half_close(connection.id(), now_.ceil, out_);
  deliver(nullptr);
}

void Server::deliver(const Connection* executing) {
  if (journal_) journal_->append(out_.records);
  for (const Reply& reply : out_.replies) {
    Connection* connection = connections_[index_of(reply.client)];
    CHECK(connection != nullptr);
    if (reply.goes_on) {
      connection->answer_in_part(out_.details);
      continue;
    }
    if (must_wait_for_log(reply)) connection->hold(journal_->position());
    if (reply.word != ReplyWord::kOk) {
      connection->answer(reply);
    } else if (std::holds_alternative<EngineStats>(out_.details)) {
      connection->answer(out_.details, process_stats());
    } else {
      connection->answer(out_.details, {});
    }
    if (connection != executing && connection->has_more()) resume_later(*connection);
  }
}

// The gate (design.md): nobody hears of a state of jobs that a crash would undo. When the engine
// knows that the log has failed it changes nothing any more, and what is asked then is answered.
bool Server::must_wait_for_log(const Reply& reply) const {
  return journal_ && !journal_->has_given_up() && journal_->holds() &&
         says_of_jobs(reply, out_.details);
}

// Those that are on the list now, as far as the steps reach; who comes on it meanwhile has the next
// turn. The events before have had steps of their own, so neither can starve the other.
void Server::serve_resume_list() {
  begin_turn();
  steps_ = 0;
  const Connection* last = resume_.back();
  while (!resume_.empty() && !spent()) {
    Connection* connection = resume_.front();
    not_resuming(*connection);
    const bool is_last = connection == last;
    connection->resume();
    if (is_last) return;
  }
}

void Server::end_turn() {
  begin_turn();  // the first turn of all begins here
  bool recorded = false;
  if (journal_) {
    serve_roomless();
    write_log();
    recorded = serve_roomless();  // what was written does not wait any more
  }
  flush_dirty();
  in_turn_ = false;
  const Time deadline = engine_.next_deadline();
  const bool has_more =
      recorded || (!resume_.empty() && !disk_is_behind()) || (journal_ && journal_->has_more());
  if (!has_more && log_is_over()) {
    uv_idle_stop(&stay_awake_);  // the disk is at work, and wakes it
  } else if (!has_more && deadline > now_.floor) {
    uv_idle_stop(&stay_awake_);
    timer_.arm(deadline);
  } else {
    uv_idle_start(&stay_awake_, [](uv_idle_t*) {});
  }
}

// Each asks once; who has to ask again comes on the list anew. Whether any was served.
bool Server::serve_roomless() {
  bool any = false;
  const Connection* last = roomless_.back();
  while (!roomless_.empty()) {
    Connection* connection = roomless_.pop_front();
    const bool is_last = connection == last;
    connection->ask_for_room();
    any = any || !connection->awaits_room();
    if (is_last) break;
  }
  return any;
}

void Server::write_log() {
  constexpr Duration kSoon = std::chrono::milliseconds(1);
  const bool alone = connection_count_ <= 1 && engine_.next_deadline() > now_.floor + kSoon;
  journal_->end_turn(alone);
  if (disk_is_behind()) return;
  while (Connection* connection = stalled_.pop_front()) connection->go_on();
}

void Server::log_went_on() {
  while (Connection* connection = held_.pop_front()) {
    connection->is_held = false;
    mark_dirty(*connection);
  }
}

// A connection that fails here closes, which may give replies to others: they come on the list.
void Server::flush_dirty() {
  while (Connection* connection = dirty_.pop_front()) {
    connection->is_dirty = false;
    connection->flush();
  }
}

void Server::mark_dirty(Connection& connection) {
  if (connection.is_dirty) return;
  connection.is_dirty = true;
  dirty_.push_back(connection);
}

void Server::resume_later(Connection& connection) {
  if (connection.is_resuming) return;
  connection.is_resuming = true;
  resume_.push_back(connection);
  ++resuming_count_;
}

void Server::not_resuming(Connection& connection) {
  if (!std::exchange(connection.is_resuming, false)) return;
  resume_.erase(connection);
  --resuming_count_;
}

std::uint32_t Server::commands_each() const {
  return std::max(limits::kCommandsPerTurn / (1 + resuming_count_), limits::kLeastCommandsPerTurn);
}

std::size_t Server::read_bytes_each() const {
  return std::max(kReadBufferBytes / (1 + resuming_count_), limits::kLeastReadBytes);
}

void Server::hold(Connection& connection) {
  if (connection.is_held) return;
  connection.is_held = true;
  held_.push_back(connection);
}

void Server::stall(Connection& connection) { stalled_.push_back(connection); }

void Server::await_room(Connection& connection) { roomless_.push_back(connection); }

void Server::add_client(int socket) {
  if (connection_count_ >= most_connections_) return refuse(socket);
  ++connection_count_;
  const ClientId id = engine_.connect(now_.ceil);
  if (connections_.size() <= index_of(id)) connections_.resize(index_of(id) + 1);
  Connection* connection = Connection::open(*this, socket, id, most_job_bytes_);
  if (connection == nullptr) return give_up(socket, id);
  connections_[index_of(id)] = connection;
  connection->set_admin_commands(admin_commands_);
  idle_.add(*connection, now_.floor);
  log_.debug("client {}: connected", index_of(id));
}

void Server::refuse(int socket) {
  ::close(socket);
  ++refused_count_;
  if (const std::uint64_t count = refusals_.happened(now_.floor)) {
    log_.warn("{} connections refused; {} are open, the limit is {}", count, connection_count_,
              most_connections_);
  }
}

// The kernel has no room for one more socket to be watched.
void Server::give_up(int socket, ClientId id) {
  --connection_count_;
  out_.clear();
  engine_.disconnect(id, now_.ceil, out_);
  refuse(socket);
}

void Server::closed(Connection& connection) {
  --connection_count_;
  if (connection.is_dirty) dirty_.erase(connection);
  not_resuming(connection);
  if (connection.is_held) held_.erase(connection);
  if (connection.is_stalled()) stalled_.erase(connection);
  if (connection.awaits_room()) roomless_.erase(connection);
  idle_.remove(connection);
  connections_[index_of(connection.id())] = nullptr;
  log_.debug("client {}: closed", index_of(connection.id()));
  out_.clear();
  engine_.disconnect(connection.id(), now_.ceil, out_);
  steps_ += out_.steps;
  deliver(nullptr);
}

void Server::configure(const Config& config) {
  most_job_bytes_ = config.most_job_bytes;
  out_buffer_limit_ = config.out_buffer_bytes;
  most_connections_ = connection_limit(config.most_connections, possible_connections_);
  if (most_connections_ < config.most_connections) {
    log_.warn("max-connections: {} is more than descriptors allow, taking {}",
              config.most_connections, most_connections_);
  }
  admin_commands_ = config.admin_commands;
  for (Connection* connection : connections_) {
    if (connection == nullptr) continue;
    connection->set_most_job_bytes(most_job_bytes_);
    connection->set_admin_commands(admin_commands_);
  }
  idle_.set_timeout(config.idle_timeout_seconds, connections_, now_.floor);
  if (journal_) journal_->configure(config);
}

void Server::drain() { engine_.set_draining(true); }

void Server::finish_clients() {
  begin_turn();
  for (Connection* connection : connections_) {
    if (connection != nullptr) connection->finish();
  }
}

void Server::close_clients() {
  begin_turn();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (connections_[i] != nullptr) connections_[i]->close();
  }
}

bool Server::settle() {
  CHECK(connection_count_ == 0);
  return !journal_ || journal_->settle();
}

void Server::shut() {
  if (journal_) journal_->shut();
  close_handle(prepare_);
  close_handle(check_);
  close_handle(stay_awake_);
  idle_.shut();
  timer_.shut();
}

ProcessStats Server::process_stats() const {
  const auto uptime = static_cast<std::uint64_t>(whole_seconds(now_.floor - started_at_));
  ProcessStats stats = process_.stats(uptime);
  stats.most_job_bytes = most_job_bytes_;
  stats.most_connections = most_connections_;
  stats.refused_connections = refused_count_;
  if (journal_) stats.log = journal_->stats();
  return stats;
}

}  // namespace xylem
