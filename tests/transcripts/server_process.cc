// Starting, watching and ending a server process. Readiness and idleness are read from /proc,
// because a connection made to find out would show in the server's statistics.

#include "server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace xylem::transcript {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStartPatience{10'000};
constexpr milliseconds kStopPatience{5'000};
constexpr milliseconds kSettlePatience{2'000};
// A client that waits is not read: what it has sent meanwhile would be waited for in vain.
constexpr milliseconds kUnreadPatience{150};
constexpr int kCalmLooks = 2;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

// The letter after the command name in /proc/PID/stat: S is asleep, T is stopped.
char state_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto bracket = line.rfind(')');
  return bracket == std::string::npos || bracket + 2 >= line.size() ? 'X' : line[bracket + 2];
}

}  // namespace

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  if (port_holder_ >= 0) ::close(port_holder_);
  if (output_ >= 0) ::close(output_);
}

std::string ServerProcess::start(const std::string& binary, std::vector<std::string> arguments) {
  if (!hold_port()) return "no free port";
  arguments.insert(arguments.begin(), {"-l", "127.0.0.1", "-p", std::to_string(port_)});
  if (!spawn(binary, arguments)) return binary + " cannot be run";
  const auto until = steady_clock::now() + kStartPatience;
  while (!listening()) {
    if (gone()) return binary + " ended at its start: " + output();
    if (steady_clock::now() > until) return binary + " does not listen: " + output();
    std::this_thread::sleep_for(milliseconds(2));
  }
  return "";
}

std::string ServerProcess::stop(bool clean) {
  if (pid_ > 0 && !gone()) ::kill(pid_, SIGTERM);
  const auto until = steady_clock::now() + kStopPatience;
  while (!gone()) {
    if (steady_clock::now() > until) return "the server does not stop: " + output();
    std::this_thread::sleep_for(milliseconds(1));
  }
  const bool exited_well = WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  const bool terminated = WIFSIGNALED(status_) && WTERMSIG(status_) == SIGTERM;
  if (exited_well || (terminated && !clean)) return "";
  return "the server ended with wait status " + std::to_string(status_) + ": " + output();
}

// In each look the table comes first: what has left it has been read, so the process is awake until
// it is done with it.
void ServerProcess::settle() const {
  const auto begun = steady_clock::now();
  for (int calm = 0; calm < kCalmLooks;) {
    std::this_thread::sleep_for(milliseconds(1));
    const auto passed = steady_clock::now() - begun;
    if (passed > kSettlePatience) return;
    const bool on_the_way = passed < kUnreadPatience && anything_on_the_way();
    calm = !on_the_way && state_of(pid_) == 'S' ? calm + 1 : 0;
  }
}

// Looks for bytes that have not been acknowledged or read, for ends of connections that the server
// has not seen, and for connections that it has not accepted.
bool ServerProcess::anything_on_the_way() const {
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  int open_here = 0;
  int open_there = 0;
  while (std::getline(table, line)) {
    unsigned local = 0, remote = 0, state = 0, unsent = 0, unread = 0;
    if (std::sscanf(line.c_str(), " %*d: %*x:%x %*x:%x %x %x:%x", &local, &remote, &state, &unsent,
                    &unread) != 5) {
      continue;
    }
    if (local == port_ && (unread > 0 || state == TCP_CLOSE_WAIT)) return true;
    if (remote == port_ && (unsent > 0 || state == TCP_FIN_WAIT1)) return true;
    if (remote == port_ && state == TCP_ESTABLISHED) ++open_here;
    if (local == port_ && state == TCP_ESTABLISHED) ++open_there;
  }
  return open_here != open_there;
}

void ServerProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int ServerProcess::connect() const {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port_);
  if (fd >= 0 && ::connect(fd, generic(address), sizeof address) != 0) {
    ::close(fd);
    return -1;
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

bool ServerProcess::hold_port() {
  port_holder_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(port_holder_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(0);
  if (::bind(port_holder_, generic(address), sizeof address) != 0) return false;
  socklen_t size = sizeof address;
  if (::getsockname(port_holder_, static_cast<sockaddr*>(static_cast<void*>(&address)), &size) !=
      0) {
    return false;
  }
  port_ = ntohs(address.sin_port);
  return true;
}

bool ServerProcess::spawn(const std::string& binary, const std::vector<std::string>& arguments) {
  char path[] = "/tmp/xylem-server-XXXXXX";
  output_ = ::mkostemp(path, O_CLOEXEC);
  ::unlink(path);
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), binary);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output_, 1);
  ::posix_spawn_file_actions_adddup2(&actions, output_, 2);
  const int failed =
      ::posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) pid_ = -1;
  return failed == 0;
}

// Is there a socket in state 0A (listening) on our port?
bool ServerProcess::listening() const {
  std::array<char, 40> wanted{};
  std::snprintf(wanted.data(), wanted.size(), "0100007F:%04X 00000000:0000 0A",
                static_cast<unsigned>(port_));
  std::ifstream table("/proc/net/tcp");
  std::ostringstream text;
  text << table.rdbuf();
  const std::string local = wanted.data();
  return text.str().find(local) != std::string::npos;
}

bool ServerProcess::gone() {
  if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

std::string ServerProcess::output() const {
  std::string text(4096, '\0');
  const ssize_t size = ::pread(output_, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.empty() ? "it printed nothing" : text;
}

}  // namespace xylem::transcript
