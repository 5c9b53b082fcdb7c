// A client of a beanstalk server that sends a command and waits for its reply, and a job as the
// server shows it. After an error of the connection every reply is empty.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "xylem/core/ids.h"

namespace xylem::test {

// stats-job and the body.
struct Shown {
  std::map<std::string, std::string> stats;
  std::string body;

  [[nodiscard]] std::int64_t number(const std::string& key) const;
};

class Client {
 public:
  explicit Client(int connection) : connection_(connection) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Sends a line, with `body` behind it if there is one, and gives the reply's line.
  std::string ask(const std::string& line);
  std::string ask(const std::string& line, std::string_view body);
  // The id of the new job, 0 if there is none.
  JobId put(std::string_view body, std::uint32_t pri = 0, std::uint32_t delay = 0,
            std::uint32_t ttr = 60);
  // reserve-job; whether there was one to reserve.
  bool reserve(JobId id);
  // A job as it stands; without stats if there is none.
  Shown show(JobId id);
  // Every job up to `highest`.
  std::map<JobId, Shown> show_all(JobId highest);

 private:
  std::string line();
  std::string take(std::size_t count);
  bool more();

  int connection_;
  std::string unread_;
};

}  // namespace xylem::test
