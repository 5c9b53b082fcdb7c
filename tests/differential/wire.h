// One connection to a server, read reply by reply. Reading waits, but never for ever: a reply that
// does not come in time is no reply.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace xylem::differential {

// A reply: its line without CRLF, and the body that belongs to RESERVED, FOUND and OK, without its
// CRLF.
struct Reply {
  std::string line;
  std::string body;

  bool operator==(const Reply&) const = default;
};

class Wire {
 public:
  // Owns the descriptor.
  explicit Wire(int fd) : fd_(fd) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  void send(std::string_view bytes) const;
  void half_close() const;
  // The next reply; nothing if it does not come in time, or if what comes is none.
  [[nodiscard]] std::optional<Reply> read(std::chrono::milliseconds patience);
  // Has the server closed, with nothing left to read?
  [[nodiscard]] bool at_end(std::chrono::milliseconds patience);
  [[nodiscard]] int fd() const { return fd_; }

 private:
  [[nodiscard]] bool fill(std::size_t size, std::chrono::milliseconds patience);

  int fd_;
  std::string inbox_;
};

}  // namespace xylem::differential
