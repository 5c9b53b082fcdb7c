// The bytes of the client: blocking, one command at a time. A reply is a line, and a body behind it
// where the caller knows that one follows.
#include "storage/binlog/client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

namespace xylem::test {
namespace {

// The number in the last word.
std::uint64_t last_number(const std::string& reply) {
  const auto space = reply.rfind(' ');
  return space == std::string::npos ? 0 : std::strtoull(reply.c_str() + space, nullptr, 10);
}

}  // namespace

std::int64_t Shown::number(const std::string& key) const {
  const auto entry = stats.find(key);
  return entry == stats.end() ? -1 : std::strtoll(entry->second.c_str(), nullptr, 10);
}

Client::~Client() { ::close(connection_); }

std::string Client::ask(const std::string& line) {
  const std::string bytes = line + "\r\n";
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(connection_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return {};
    sent += static_cast<std::size_t>(count);
  }
  return this->line();
}

std::string Client::ask(const std::string& line, std::string_view body) {
  return ask(line + "\r\n" + std::string(body));
}

JobId Client::put(std::string_view body, std::uint32_t pri, std::uint32_t delay,
                  std::uint32_t ttr) {
  std::ostringstream line;
  line << "put " << pri << ' ' << delay << ' ' << ttr << ' ' << body.size();
  const std::string reply = ask(line.str(), body);
  return reply.starts_with("INSERTED ") ? last_number(reply) : 0;
}

bool Client::reserve(JobId id) {
  const std::string reply = ask("reserve-job " + std::to_string(id));
  if (!reply.starts_with("RESERVED ")) return false;
  take(last_number(reply));
  return true;
}

Shown Client::show(JobId id) {
  Shown shown;
  const std::string stats = ask("stats-job " + std::to_string(id));
  if (!stats.starts_with("OK ")) return shown;
  std::istringstream text(take(last_number(stats)));
  for (std::string line; std::getline(text, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos) shown.stats[line.substr(0, colon)] = line.substr(colon + 2);
  }
  const std::string found = ask("peek " + std::to_string(id));
  if (found.starts_with("FOUND ")) shown.body = take(last_number(found));
  return shown;
}

std::map<JobId, Shown> Client::show_all(JobId highest) {
  std::map<JobId, Shown> all;
  for (JobId id = 1; id <= highest; ++id) {
    Shown shown = show(id);
    if (!shown.stats.empty()) all.emplace(id, std::move(shown));
  }
  return all;
}

std::string Client::line() {
  while (unread_.find("\r\n") == std::string::npos) {
    if (!more()) return {};
  }
  const auto end = unread_.find("\r\n");
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

std::string Client::take(std::size_t count) {
  while (unread_.size() < count + 2) {
    if (!more()) return {};
  }
  std::string body = unread_.substr(0, count);
  unread_.erase(0, count + 2);
  return body;
}

bool Client::more() {
  std::array<char, 65'536> bytes;
  const ssize_t count = ::recv(connection_, bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  unread_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace xylem::test
