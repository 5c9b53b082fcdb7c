// A server that this run starts, on an address of its own and bound to a core, and ends again by
// its pid: SIGTERM, and SIGKILL if it has not gone after three seconds. If the generator itself
// dies, the kernel ends the server.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "address.h"

namespace xylem::load {

class SpawnedServer {
 public:
  /// Runs `body` in a child process bound to core `cpu` and waits until somebody listens at the
  /// address. Fails if the child ends or does not listen within ten seconds.
  SpawnedServer(const std::string& name, const Address& address, int cpu,
                const std::function<void()>& body);
  ~SpawnedServer();
  SpawnedServer(const SpawnedServer&) = delete;
  SpawnedServer& operator=(const SpawnedServer&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void await_listening(const std::string& name, const Address& address);
  void end();

  pid_t pid_ = 0;
};

/// Replaces this process by a command with beanstalkd's letters for the address (-l and -p) behind
/// it. All its output goes nowhere. Does not return if the command exists.
void exec_server(const std::string& command, const Address& address);

}  // namespace xylem::load
