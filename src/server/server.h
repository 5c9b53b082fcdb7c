// Server: the engine, its clients' connections, and the turn of the loop that ties them. One
// thread.
//
//       uv: poll         +--------------------------- one turn ---------------------------------+
//                        | the first event: now is read; if a deadline has come, engine.tick()  |
//     socket readable -->| Connection::read     bytes of one socket into the turn's read buffer |
//                        | Parser               bytes -> commands, all that are complete        |
//                        | Engine::execute      the decision -> Output                          |
//                        | Server::deliver      records -> journal; replies -> each client's    |
//                        |                      out buffer; dirty list                          |
//       uv: check        | resume list          commands that had to wait, cause now gone       |
//       uv: prepare      | roomless list        puts that may have room in the log now          |
//                        | Journal::end_turn    all records of the turn: one batch              |
//                        | Connection::flush    one write for each dirty connection             |
//                        +----------------------------------------------------------------------+
//       sleep until the next socket or the engine's deadline; not at all if work was left over
//
// Rules it keeps:
//  - The replies of one call of the engine are delivered before the next: their views die then.
//  - now is one moment for the whole turn.
//  - While the log is over its bound nothing goes on that would add to it: no command, and no tick.
//  - What is left over (a tick's budget, kCommandsPerTurn, kStepsPerTurn) is done in the next
//    turn, after the sockets had theirs; then the loop does not sleep.
//  - libuv may bring more events at once than a turn has steps for: then one turn ends and the next
//    begins between two of them.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "server/clock.h"
#include "server/connection.h"
#include "server/deadline_timer.h"
#include "server/idle_sweep.h"
#include "server/journal.h"
#include "server/log.h"
#include "server/out_buffer.h"
#include "server/process_info.h"
#include "server/seldom.h"
#include "server/start_state.h"
#include "xylem/config.h"
#include "xylem/core/engine.h"

namespace xylem {

class Server {
 public:
  // `possible_connections`: what the descriptors allow.
  Server(uv_loop_t& loop, const Config& config, StartState state,
         std::uint64_t possible_connections, Log& log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // --- For who runs it -------------------------------------------------------------------------
  void start();
  // A client has connected; `socket` is ours from now on. Over the limit it is closed at once.
  void add_client(int socket);
  // SIGHUP: takes over what can change.
  void configure(const Config& config);
  void drain();
  // No command is run any more; each connection closes when its replies have left.
  void finish_clients();
  // Closes the connections that are left; their replies are lost.
  void close_clients();
  [[nodiscard]] std::uint64_t connection_count() const { return connection_count_; }
  // No connection is left: brings what is recorded to disk. True when that is done.
  bool settle();
  // settle() must be done. The loop ends when nobody else has handles on it.
  void shut();

  // --- For connections and what else wakes the loop --------------------------------------------
  // Must be called at the begin of each event of the loop, before anything below.
  void begin_turn();
  // The same for an event of a client's socket. May begin another turn, and close any connection.
  void begin_event();
  [[nodiscard]] Time now() const { return now_.floor; }
  [[nodiscard]] Time now_ceil() const { return now_.ceil; }
  // Something was read, perhaps sent when the turn had long begun: what it sets may not end early.
  void note_arrival() { now_.ceil = clock_.read().ceil; }
  // How long ago that was.
  [[nodiscard]] Duration turn_age() const { return clock_.read().ceil - now_.ceil; }
  void execute(Connection& connection, const Command& command);
  void half_close(Connection& connection);
  void closed(Connection& connection);
  void mark_dirty(Connection& connection);
  void mark_active(Connection& connection) { idle_.touch(connection, now_.floor); }
  void resume_later(Connection& connection);
  // The share of a connection: limits::kCommandsPerTurn.
  [[nodiscard]] std::uint32_t commands_each() const;
  [[nodiscard]] std::size_t read_bytes_each() const;
  // Its output waits for the log: it is flushed again when that has gone on.
  void hold(Connection& connection);
  // It has something to read, but too much waits for the disk: it is told when it may read again.
  void stall(Connection& connection);
  // Before a put is executed, in each turn that it waits.
  [[nodiscard]] WriteAheadLog::Room room_for_put(std::uint32_t body_bytes) {
    return journal_ ? journal_->room_for_put(body_bytes) : WriteAheadLog::Room::kYes;
  }
  // There was not, yet: it is told to ask again at the end of each turn.
  void await_room(Connection& connection);
  [[nodiscard]] bool disk_is_behind() const { return journal_ && journal_->is_behind(); }
  // Replies that wait for this or less of the log may leave.
  [[nodiscard]] std::uint64_t released() const {
    return journal_ ? journal_->released() : Journal::kNothingWaits;
  }
  [[nodiscard]] bool log_has_failed() const { return journal_ && journal_->has_failed(); }
  // The journal's: more is durable, or it has failed.
  void log_went_on();
  // What has something left has the next turn.
  [[nodiscard]] bool spent() const { return steps_are_spent() || disk_is_behind(); }
  void count_steps(std::uint64_t steps) { steps_ += steps; }
  [[nodiscard]] uv_loop_t& loop() { return loop_; }
  [[nodiscard]] std::span<char> read_buffer() { return {read_buffer_.get(), kReadBufferBytes}; }
  [[nodiscard]] OutBufferPool& out_buffers() { return out_buffers_; }
  // What a connection may owe and have its commands run: less while all together owe much.
  [[nodiscard]] std::size_t out_buffer_limit() const {
    const bool much = out_buffers_.owed_bytes() / limits::kOutBuffersTogether > out_buffer_limit_;
    return much ? out_buffer_limit_ / limits::kOutBufferShare : out_buffer_limit_;
  }

 private:
  // As much as a connection may read ahead, so that what one read brought always has room there.
  static constexpr std::size_t kReadBufferBytes = limits::kReadAheadBytes;

  [[nodiscard]] bool steps_are_spent() const { return steps_ >= limits::kStepsPerTurn; }
  void tick();
  void end_turn();
  void serve_resume_list();
  void not_resuming(Connection& connection);
  bool serve_roomless();
  void write_log();
  void flush_dirty();
  // Delivers out_; a client other than `executing` may go on with what it has pending.
  void deliver(const Connection* executing);
  [[nodiscard]] bool log_is_over() const { return journal_ && journal_->is_over(); }
  [[nodiscard]] bool must_wait_for_log(const Reply& reply) const;
  [[nodiscard]] ProcessStats process_stats() const;
  void refuse(int socket);
  void give_up(int socket, ClientId id);

  uv_loop_t& loop_;
  Log& log_;
  TurnClock clock_;
  DeadlineTimer timer_;
  uv_prepare_t prepare_{};
  uv_check_t check_{};
  uv_idle_t stay_awake_{};

  std::unique_ptr<Engine> engine_owner_;
  Engine& engine_;
  std::optional<Journal> journal_;  // none: jobs are in memory only
  Output out_;
  Moment now_;
  bool in_turn_ = false;
  bool tick_is_due_ = false;  // at the begin of the turn, and not done yet
  std::uint64_t steps_ = 0;   // of this turn's events or, after them, of its resume list
  Time started_at_;
  ProcessInfo process_;

  std::unique_ptr<char[]> read_buffer_;
  OutBufferPool out_buffers_;
  std::vector<Connection*> connections_;  // by index_of(id); null: no such client
  List<Connection, &Connection::dirty_links> dirty_;
  List<Connection, &Connection::resume_links> resume_;
  std::uint32_t resuming_count_ = 0;
  List<Connection, &Connection::held_links> held_;
  List<Connection, &Connection::stalled_links> stalled_;
  List<Connection, &Connection::roomless_links> roomless_;
  IdleSweep idle_;

  std::uint64_t possible_connections_;
  std::uint64_t most_connections_ = 0;
  std::uint64_t connection_count_ = 0;
  std::uint64_t refused_count_ = 0;
  Seldom refusals_;
  std::uint32_t most_job_bytes_ = 0;
  bool admin_commands_ = true;
  std::size_t out_buffer_limit_ = 0;
};

}  // namespace xylem
