// A beanstalk server as a child process on a free port of 127.0.0.1: xylemd or beanstalkd, which
// take the same options.
//
// The port is held by a bound socket that never listens, so that no other test is given it
// meanwhile. The process is ended in the destructor at the latest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace xylem::transcript {

class ServerProcess {
 public:
  ServerProcess() = default;
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  // Starts `binary -l 127.0.0.1 -p PORT arguments...` and waits until it listens. Empty, or why
  // not.
  [[nodiscard]] std::string start(const std::string& binary, std::vector<std::string> arguments);
  // SIGTERM. `clean` demands exit status 0. Empty, or what was wrong and what the process printed.
  [[nodiscard]] std::string stop(bool clean);

  // Returns when nothing is on its way to the process and it sleeps, that is, has dealt with what
  // it got. Bounded by two seconds.
  void settle() const;
  void signal(int number) const;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // A new connection, a descriptor that the caller closes; -1 if there is none to be had.
  [[nodiscard]] int connect() const;

 private:
  [[nodiscard]] bool hold_port();
  [[nodiscard]] bool spawn(const std::string& binary, const std::vector<std::string>& arguments);
  [[nodiscard]] bool listening() const;
  [[nodiscard]] bool anything_on_the_way() const;
  [[nodiscard]] bool gone();
  [[nodiscard]] std::string output() const;

  pid_t pid_ = -1;
  int status_ = 0;
  int port_holder_ = -1;
  int output_ = -1;  // An unlinked file with stdout and stderr.
  std::uint16_t port_ = 0;
};

}  // namespace xylem::transcript
