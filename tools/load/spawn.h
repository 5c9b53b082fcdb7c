// A server that this run starts, on an address of its own and bound to a core, and ends again by
// its pid: SIGTERM, and SIGKILL if it has not gone after three seconds. A workload may stop and
// start it meanwhile; each start has a pid of its own. If the generator itself dies, the kernel
// ends the server.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "address.h"
#include "clock.h"

namespace xylem::load {

class SpawnedServer {
 public:
  /// Runs `body` in a child process bound to core `cpu` and waits until somebody listens at the
  /// address, which must outlive this. Fails if the child ends or does not listen within ten
  /// seconds.
  SpawnedServer(std::string name, const Address& address, int cpu, std::function<void()> body);
  ~SpawnedServer();
  SpawnedServer(const SpawnedServer&) = delete;
  SpawnedServer& operator=(const SpawnedServer&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Ends it by this signal, or by SIGKILL if that takes more than three seconds.
  void stop(int signal);
  /// Starts it again, as it was started before; `patience` is for its listening.
  void start(Duration patience);

 private:
  void await_listening(Duration patience);

  std::string name_;
  const Address& address_;
  int cpu_;
  std::function<void()> body_;
  pid_t pid_ = 0;
};

/// The word of a command that stands for the folder of its log.
inline constexpr std::string_view kLogWord = "{log}";

/// Replaces this process by a command, in which kLogWord stands for the folder `log`, with
/// beanstalkd's letters for the address (-l and -p) behind it. All its output goes nowhere. Does
/// not return if the command exists.
void exec_server(const std::string& command, const Address& address, const std::string& log);

}  // namespace xylem::load
