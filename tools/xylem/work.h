// work: a command for each job. Every slot is a thread with a connection of its own, which reserves
// only while the slot is idle, so no job waits behind another that runs:
//
//   connect --> reserve ... RESERVED --> run the command, touch meanwhile --> delete
//      ^           |                                                    \---> release, or bury
//      |           | told to stop: half-close, take nothing more
//      +-- lost: try again, later each time
//
// A connection that is lost while the command runs takes the reservation with it: the command is
// let finish, and it is told that the job may run again. Told to hurry, a slot ends the command and
// leaves its job to the server, which makes it ready when the connection closes.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "child.h"
#include "tool.h"

namespace xylem::tool {

struct WorkOptions {
  std::vector<std::string> tubes;
  std::vector<std::string> command;
  unsigned slots = 1;
  unsigned most_tries = 10;
  std::uint32_t back_off = 1;               // seconds; doubles with each try
  std::chrono::milliseconds kill_after{0};  // 0: never
  BodyGoes body_goes = BodyGoes::kToInput;
};

// What is told of a job, as a line on standard error.
struct Told {
  JobId id = 0;
  std::string tube;
  std::uint64_t reserves = 0;
  int exit_code = 0;
  double seconds = 0;
  std::string result;
};

// Lines of several threads, each whole.
class Journal {
 public:
  explicit Journal(bool json) : json_(json) {}
  void tell(const Told& told);
  void tell(std::string_view text);

 private:
  void write(const std::string& line);

  bool json_;
  std::mutex writing_;
};

// Both become readable and stay so. The first: take no more jobs, and end when what runs has ended.
// The second: end it.
struct StopSigns {
  int stop_fd = -1;
  int hurry_fd = -1;
};

bool is_readable(int fd);

// One slot, until it is told to stop. `connection` is its first.
void serve_slot(const WorkOptions& options, Connection connection, StopSigns signs,
                Journal& journal);

// Watches the tubes, and nothing else. Gives up when told to stop.
Result<Connection> connect_worker(const client::Address& address, const WorkOptions& options,
                                  StopSigns signs);

}  // namespace xylem::tool
