// A server that says what the test tells it to: it listens on a unix socket, takes one connection,
// waits for the first bytes, sends its script in the pieces given, and closes (or holds its tongue
// until the test ends).
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/temporary_folder.h"
#include "xylem/client.h"

namespace xylem::client {

class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> pieces, bool closes = true)
      : pieces_(std::move(pieces)), closes_(closes) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address().path.copy(name.sun_path, sizeof name.sun_path - 1);
    bind(listener_, reinterpret_cast<const sockaddr*>(&name), sizeof name);
    listen(listener_, 1);
    thread_ = std::thread([this] { play(); });
  }

  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);  // an accept that still waits ends
    thread_.join();
    if (peer_ >= 0) close(peer_);
    close(listener_);
  }

  [[nodiscard]] Address address() const { return {.path = folder_.path() + "/socket"}; }

 private:
  void play() {
    peer_ = accept(listener_, nullptr, nullptr);
    char ignored[4'096];
    if (peer_ < 0 || read(peer_, ignored, sizeof ignored) <= 0) return;
    for (const std::string& piece : pieces_) {
      if (::send(peer_, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (closes_) shutdown(peer_, SHUT_RDWR);
  }

  std::vector<std::string> pieces_;
  bool closes_;
  test::TemporaryFolder folder_;
  int listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int peer_ = -1;
  std::thread thread_;
};

}  // namespace xylem::client
