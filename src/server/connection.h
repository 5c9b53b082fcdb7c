// Connection: one client's socket. Bytes in, commands to the server; replies in, bytes out.
//
//                   readable                  reply is owed, or output over its limit
//     socket --> read buffer of the turn --> parser --> execute --------+
//                                ^                                      v
//                                +-- resume list <-- pending_ (what was read, but not run)
//
//     open --------> ending: quit, or all of the input is done, or the server stops
//      |               |  all output has left
//      +-- error ------+-------------> closed; dies in its handle's close callback
//
// It keeps these rules:
//  - A client has one command at a time; what it sent behind a command that owes its reply waits in
//    pending_, at most limits::kReadAheadBytes of it. The rest stays in the kernel.
//  - An idle connection owns no buffer: it reads into the turn's, writes from the pool's.
//  - One write a turn (flush), whatever was said.
//  - A put that has no room in the log yet is not run, nor what it sent behind it.
//  - A reply that waits for the log holds back what stands behind it; commands go on being run.
//  - The end of the input ends nothing: what was read is run and answered first.
//
// A uv_poll_t instead of a uv_tcp_t: it serves TCP and unix sockets alike, is smaller, and lets a
// read go straight into a long body and a write be gathered from shared ones.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/out_buffer.h"
#include "xylem/core/command.h"
#include "xylem/core/ids.h"
#include "xylem/core/list.h"
#include "xylem/core/reply.h"
#include "xylem/core/time.h"
#include "xylem/protocol/parser.h"
#include "xylem/protocol/writer.h"

namespace xylem {

class Server;

class Connection {
 public:
  // Begins to read. `socket` is non-blocking and is ours from now on. Lives until the close
  // callback. Null if the kernel cannot watch one more socket; the socket is still the caller's
  // then.
  static Connection* open(Server& server, int socket, ClientId id, std::uint32_t most_job_bytes);

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] ClientId id() const { return id_; }
  // Whether a command owes its reply.
  [[nodiscard]] bool waiting() const { return waiting_; }
  // Whether it is quiet because of the server: a reply, a turn, room or a sync is still to come.
  [[nodiscard]] bool waits_for_server() const {
    return waiting_ || is_resuming || is_held || stalled_ || awaits_room_;
  }
  // Whether there is something to run when the reply has come. A long body is read straight into
  // the parser: when it is complete, nothing of it is pending.
  [[nodiscard]] bool has_more() const {
    return input_ended_ || !pending_.empty() || parser_.put_at_hand({});
  }

  // What it says from now on waits for this position of the log.
  void hold(std::uint64_t position);
  // The reply to its command: any word but kOk, or the details of an OK.
  void answer(const Reply& reply);
  void answer(const ReplyDetails& details, const ProcessStats& process);
  // A part of a long list, before the answer that is its last.
  void answer_in_part(const ReplyDetails& details);
  // Runs what is pending, if nothing stands in its way. The server calls it from the resume list.
  void resume();
  // A put of its may have room in the log now: runs it, or asks once more.
  void ask_for_room();
  // It was stalled, and may read again.
  void go_on();
  [[nodiscard]] bool is_stalled() const { return stalled_; }
  [[nodiscard]] bool awaits_room() const { return awaits_room_; }
  // Sends what it has to say. The server calls it at the end of the turn, from the dirty list.
  void flush();
  // Runs no command any more; closes when all output has left.
  void finish();
  // Closes now; what was not sent is lost. The object lives until the loop comes round.
  void close();
  void set_most_job_bytes(std::uint32_t bytes) { parser_.set_most_job_bytes(bytes); }
  void set_admin_commands(bool on) { parser_.set_admin_commands(on); }

  // The server's: membership in its lists.
  Links<Connection> dirty_links;
  Links<Connection> resume_links;
  Links<Connection> idle_links;
  Links<Connection> held_links;
  Links<Connection> stalled_links;
  Links<Connection> roomless_links;
  bool is_dirty = false;
  bool is_resuming = false;
  bool is_held = false;
  Time active_at{};  // of the idle list

 private:
  Connection(Server& server, int socket, ClientId id, std::uint32_t most_job_bytes);
  ~Connection() = default;

  void on_event(int status, int events);
  void read();
  void take(std::string_view fresh);
  void keep(std::string_view left);
  void stall();
  void on_end_of_input();
  void half_close();

  void run(std::string_view& input);
  void await_room();
  bool perform(Parser::Item& item);
  // Appends what `write(text)` appends to its argument.
  template <class Write>
  void say(Write write);

  [[nodiscard]] bool is_over_limit() const;
  [[nodiscard]] bool may_run() const;
  [[nodiscard]] int wanted_events() const;
  void update_events();

  Server& server_;
  uv_poll_t poll_{};
  int socket_;
  ClientId id_;
  Parser parser_;
  std::string pending_;
  std::unique_ptr<OutBuffer> out_;  // null: nothing to say
  std::unique_ptr<Lines> parts_;    // of an answer that is not whole yet
  int polled_events_ = 0;
  bool waiting_ = false;
  bool input_ended_ = false;  // the peer has said its last
  bool half_closed_ = false;  // the engine knows that it will
  bool send_stuck_ = false;   // the socket took not all
  bool stalled_ = false;      // not read: too much waits for the disk
  bool awaits_room_ = false;  // its next command is a put that may not fit into the log
  bool ending_ = false;
  bool closed_ = false;
};

}  // namespace xylem
