// Real sockets for the player. Waiting is bounded: a reply that does not come within seconds does
// not come.

#include "socket_world.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace xylem::transcript {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatience{5'000};

// Conversations leave 200 ms around each deadline.
constexpr milliseconds kLate{150};

// The options of a transcript as the letters that both servers know.
std::vector<std::string> arguments_of(const Options& options) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : options) {
    arguments.push_back(name == "max-job-size" ? "-z" : "--" + name);
    arguments.push_back(value);
  }
  return arguments;
}

}  // namespace

SocketWorld::~SocketWorld() {
  for (auto& [name, socket] : sockets_) ::close(socket.fd);
}

std::string SocketWorld::start(const Options& options) {
  server_ = std::make_unique<ServerProcess>();
  auto why = server_->start(binary_, arguments_of(options));
  begun_ = steady_clock::now();
  return why;
}

std::string SocketWorld::stop() {
  for (auto& [name, socket] : sockets_) ::close(socket.fd);
  sockets_.clear();
  return server_->stop(clean_stop_);
}

void SocketWorld::open(const std::string& connection) {
  sockets_[connection] = {.fd = server_->connect()};
}

void SocketWorld::send(const std::string& connection, std::string_view bytes) {
  const int fd = sockets_[connection].fd;
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void SocketWorld::half_close(const std::string& connection) {
  ::shutdown(sockets_[connection].fd, SHUT_WR);
}

void SocketWorld::close(const std::string& connection) {
  ::close(sockets_[connection].fd);
  sockets_.erase(connection);
}

std::string SocketWorld::read(Socket& socket, milliseconds patience) {
  pollfd waiting{.fd = socket.fd, .events = POLLIN, .revents = 0};
  std::string bytes(std::size_t{1} << 16, '\0');
  if (socket.ended) return "";
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) {
    wanted_ += patience;
    return "";
  }
  const ssize_t size = ::recv(socket.fd, bytes.data(), bytes.size(), 0);
  socket.ended = size <= 0;
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

std::string SocketWorld::receive(const std::string& connection) {
  return read(sockets_[connection], kPatience);
}

std::string SocketWorld::arrived(const std::string& connection) {
  settle();
  std::string all;
  for (;;) {
    const std::string more = read(sockets_[connection], milliseconds(0));
    if (more.empty()) return all;
    all += more;
  }
}

bool SocketWorld::ended(const std::string& connection) {
  Socket& socket = sockets_[connection];
  return socket.ended || (read(socket, kPatience).empty() && socket.ended);
}

void SocketWorld::settle() { server_->settle(); }

void SocketWorld::pass(milliseconds time) {
  wanted_ += time;
  std::this_thread::sleep_for(time);
}

void SocketWorld::stall(milliseconds time) {
  wanted_ += time;
  server_->signal(SIGSTOP);
  std::this_thread::sleep_for(time);
  server_->signal(SIGCONT);
}

void SocketWorld::drain() { server_->signal(SIGUSR1); }

bool SocketWorld::ran_late() const { return steady_clock::now() - begun_ - wanted_ > kLate; }

}  // namespace xylem::transcript
