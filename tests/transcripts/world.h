// The world in which a conversation is played: a server and the connections to it.
//
// There are two: real sockets to a process (socket_world.h) and the engine in this process with
// virtual time (engine_world.h). The player knows only this interface, so all runners read a
// transcript alike.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xylem::transcript {

using Options = std::vector<std::pair<std::string, std::string>>;

class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;

  // Starts a fresh server. The answer is empty, or says why it does not run.
  [[nodiscard]] virtual std::string start(const Options& options) = 0;
  // Ends the server. The answer is empty, or says what was wrong with its end.
  [[nodiscard]] virtual std::string stop() = 0;

  virtual void open(const std::string& connection) = 0;
  virtual void send(const std::string& connection, std::string_view bytes) = 0;
  virtual void half_close(const std::string& connection) = 0;
  virtual void close(const std::string& connection) = 0;

  // What came since the last call. Waits for the first byte, but not for ever: empty means that
  // nothing comes.
  [[nodiscard]] virtual std::string receive(const std::string& connection) = 0;
  // What has come by now, after the server has dealt with all that it got.
  [[nodiscard]] virtual std::string arrived(const std::string& connection) = 0;
  // Has the server closed this connection? Waits a little for it.
  [[nodiscard]] virtual bool ended(const std::string& connection) = 0;

  // Returns when the server has dealt with all that it got.
  virtual void settle() = 0;
  virtual void pass(std::chrono::milliseconds time) = 0;
  virtual void stall(std::chrono::milliseconds time) = 0;
  virtual void drain() = 0;

  // Has more time passed than the conversation wanted? Then a failure may be the machine's.
  [[nodiscard]] virtual bool ran_late() const { return false; }
};

}  // namespace xylem::transcript
