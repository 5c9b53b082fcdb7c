// The world of real sockets and real time: a server process, and blocking connections to it. Most
// of a conversation here is waiting, so many are played side by side.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "server_process.h"
#include "world.h"

namespace xylem::transcript {

class SocketWorld final : public World {
 public:
  // `clean_stop` demands that SIGTERM ends the server with status 0 (beanstalkd just dies of it).
  SocketWorld(std::string binary, bool clean_stop)
      : binary_(std::move(binary)), clean_stop_(clean_stop) {}
  ~SocketWorld() override;

  std::string start(const Options& options) override;
  std::string stop() override;

  void open(const std::string& connection) override;
  void send(const std::string& connection, std::string_view bytes) override;
  void half_close(const std::string& connection) override;
  void close(const std::string& connection) override;

  std::string receive(const std::string& connection) override;
  std::string arrived(const std::string& connection) override;
  bool ended(const std::string& connection) override;

  void settle() override;
  void pass(std::chrono::milliseconds time) override;
  void stall(std::chrono::milliseconds time) override;
  void drain() override;
  bool ran_late() const override;

 private:
  struct Socket {
    int fd = -1;
    bool ended = false;
  };

  std::string read(Socket& socket, std::chrono::milliseconds patience);

  std::string binary_;
  bool clean_stop_;
  std::unique_ptr<ServerProcess> server_;
  std::map<std::string, Socket> sockets_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::duration wanted_{0};  // Passed on purpose, or in waiting for nothing.
};

}  // namespace xylem::transcript
