// One shared read buffer; all complete commands of a read are answered into the connection's
// buffer; at the end of the turn (uv_prepare) one uv_try_write for each connection that has
// something to say.
#include "floor.h"

#include <unistd.h>
#include <uv.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "failure.h"

namespace xylem::load {

namespace {

struct Floor;

union Stream {
  uv_handle_t handle;
  uv_stream_t stream;
  uv_tcp_t tcp;
  uv_pipe_t pipe;
};

struct Connection {
  Floor* floor = nullptr;
  Stream socket{};
  std::string started_line;  // a line of which the end has not arrived
  std::string out;
  std::string writing;  // what the socket did not take; lives until uv_write has sent it
  uv_write_t write{};
  std::size_t skip = 0;  // bytes of a body that are still to come
  bool dirty = false;
  bool blocked = false;  // while `writing` is on its way
};

struct Floor {
  uv_loop_t loop{};
  Stream listener{};
  uv_prepare_t end_of_turn{};
  bool tcp = true;
  std::array<char, std::size_t{64} * 1024> read_buffer{};
  std::vector<Connection*> dirty;
  std::string reserved;  // the constant answer to reserve, made for the last put's size
  std::size_t body_bytes = 0;
};

void check(int result, const char* what) {
  if (result < 0) fail("floor: {}: {}", what, uv_strerror(result));
}

void init_stream(Floor& floor, Stream& stream) {
  check(floor.tcp ? uv_tcp_init(&floor.loop, &stream.tcp)
                  : uv_pipe_init(&floor.loop, &stream.pipe, 0),
        "socket");
}

void set_body_bytes(Floor& floor, std::size_t bytes) {
  if (bytes == floor.body_bytes) return;
  floor.body_bytes = bytes;
  floor.reserved = fmt::format("RESERVED 1 {}\r\n{}\r\n", bytes, std::string(bytes, 'x'));
}

std::size_t last_number(std::string_view line) {
  const std::string_view text = line.substr(line.rfind(' ') + 1);
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string stats_reply() {
  const std::string body = fmt::format("---\npid: {}\n", getpid());
  return fmt::format("OK {}\r\n{}\r\n", body.size(), body);
}

// The line is without its CRLF.
void answer(Floor& floor, Connection& connection, std::string_view line) {
  if (line.starts_with("put ")) {
    set_body_bytes(floor, last_number(line));
    connection.skip = floor.body_bytes + 2;
    connection.out += "INSERTED 1\r\n";
  } else if (line.starts_with("reserve")) {
    connection.out += floor.reserved;
  } else if (line.starts_with("delete ")) {
    connection.out += "DELETED\r\n";
  } else if (line == "stats") {
    connection.out += stats_reply();
  } else if (line.starts_with("watch ") || line.starts_with("ignore ")) {
    connection.out += "WATCHING 1\r\n";
  } else {
    connection.out += "USING floor\r\n";
  }
}

void take_body(Connection& connection, std::string_view& input) {
  const std::size_t taken = std::min(connection.skip, input.size());
  connection.skip -= taken;
  input.remove_prefix(taken);
}

void take_line(Floor& floor, Connection& connection, std::string_view& input) {
  const std::size_t feed = input.find('\n');
  if (feed == std::string_view::npos) {
    connection.started_line.append(input);
    input = {};
    return;
  }
  std::string_view line = input.substr(0, feed);
  input.remove_prefix(feed + 1);
  if (!connection.started_line.empty()) line = connection.started_line.append(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  answer(floor, connection, line);
  connection.started_line.clear();
}

void close_connection(Connection& connection) {
  if (uv_is_closing(&connection.socket.handle) != 0) return;
  uv_close(&connection.socket.handle, [](uv_handle_t* handle) {
    const std::unique_ptr<Connection> closed(static_cast<Connection*>(handle->data));
    std::erase(closed->floor->dirty, closed.get());
  });
}

void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  auto& connection = *static_cast<Connection*>(stream->data);
  if (count < 0) {
    close_connection(connection);
    return;
  }
  std::string_view input(buffer->base, static_cast<std::size_t>(count));
  while (!input.empty()) {
    if (connection.skip > 0) {
      take_body(connection, input);
    } else {
      take_line(*connection.floor, connection, input);
    }
  }
  if (!connection.dirty && !connection.out.empty()) {
    connection.dirty = true;
    connection.floor->dirty.push_back(&connection);
  }
}

void lend_read_buffer(uv_handle_t* handle, std::size_t /*suggested*/, uv_buf_t* buffer) {
  Floor& floor = *static_cast<Connection*>(handle->data)->floor;
  *buffer = uv_buf_init(floor.read_buffer.data(), static_cast<unsigned>(floor.read_buffer.size()));
}

void flush(Connection& connection);

void on_written(uv_write_t* request, int /*status*/) {
  auto& connection = *static_cast<Connection*>(request->data);
  connection.blocked = false;
  if (uv_is_closing(&connection.socket.handle) == 0) flush(connection);
}

void write_rest(Connection& connection, std::size_t sent) {
  connection.writing.assign(connection.out, sent);
  connection.blocked = true;
  connection.write.data = &connection;
  const uv_buf_t rest =
      uv_buf_init(connection.writing.data(), static_cast<unsigned>(connection.writing.size()));
  check(uv_write(&connection.write, &connection.socket.stream, &rest, 1, on_written), "write");
}

void flush(Connection& connection) {
  if (connection.blocked || connection.out.empty()) return;
  const uv_buf_t all =
      uv_buf_init(connection.out.data(), static_cast<unsigned>(connection.out.size()));
  const int sent = uv_try_write(&connection.socket.stream, &all, 1);
  if (sent < 0 && sent != UV_EAGAIN) {
    close_connection(connection);
    return;
  }
  const auto sent_bytes = static_cast<std::size_t>(std::max(sent, 0));
  if (sent_bytes < connection.out.size()) write_rest(connection, sent_bytes);
  connection.out.clear();
}

void on_end_of_turn(uv_prepare_t* prepare) {
  Floor& floor = *static_cast<Floor*>(prepare->data);
  for (Connection* connection : floor.dirty) {
    connection->dirty = false;
    if (uv_is_closing(&connection->socket.handle) == 0) flush(*connection);
  }
  floor.dirty.clear();
}

void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto connection = std::make_unique<Connection>();
  connection->floor = static_cast<Floor*>(listener->data);
  init_stream(*connection->floor, connection->socket);
  connection->socket.handle.data = connection.get();
  Connection& accepted = *connection.release();  // its close callback deletes it
  if (uv_accept(listener, &accepted.socket.stream) < 0) {
    close_connection(accepted);
    return;
  }
  if (accepted.floor->tcp) uv_tcp_nodelay(&accepted.socket.tcp, 1);
  uv_read_start(&accepted.socket.stream, lend_read_buffer, on_read);
}

void listen(Floor& floor, const Address& address) {
  floor.tcp = !address.text.starts_with("unix:");
  init_stream(floor, floor.listener);
  floor.listener.handle.data = &floor;
  const auto* socket = reinterpret_cast<const sockaddr*>(&address.socket);
  check(floor.tcp ? uv_tcp_bind(&floor.listener.tcp, socket, 0)
                  : uv_pipe_bind(&floor.listener.pipe, address.text.substr(5).c_str()),
        "bind");
  check(uv_listen(&floor.listener.stream, 1024, on_connection), "listen");
}

}  // namespace

void serve_floor(const Address& address) {
  const auto floor = std::make_unique<Floor>();
  check(uv_loop_init(&floor->loop), "loop");
  set_body_bytes(*floor, 1);
  listen(*floor, address);
  check(uv_prepare_init(&floor->loop, &floor->end_of_turn), "prepare");
  floor->end_of_turn.data = floor.get();
  uv_prepare_start(&floor->end_of_turn, on_end_of_turn);
  uv_run(&floor->loop, UV_RUN_DEFAULT);
}

}  // namespace xylem::load
