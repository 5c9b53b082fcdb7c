// A pipe joins the two threads: a KeyPress goes through it whole, and next() can wait for it and
// for an interrupt at once. When nobody takes the keys and it is full, further ones are dropped.
#include "top_keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace xylem::tool {

Result<std::unique_ptr<Keys>> Keys::hear(const Terminal& terminal, Tool& tool) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{.text = fmt::format("cannot make a pipe: {}", std::strerror(errno)),
                 .exit_code = kInOut};
  }
  return std::unique_ptr<Keys>(new Keys(terminal, tool, ends[0], ends[1]));
}

Keys::Keys(const Terminal& terminal, Tool& tool, int reading, int writing)
    : terminal_(terminal), tool_(tool), reading_(reading), writing_(writing), thread_([this] {
        listen();
      }) {}

Keys::~Keys() {
  close(reading_);
  thread_.join();
  close(writing_);
}

std::optional<KeyPress> Keys::next(std::chrono::steady_clock::time_point until) const {
  pollfd polled[2] = {{reading_, POLLIN, 0}, {tool_.interrupt_fd(), POLLIN, 0}};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int count = poll(polled, 2, std::max(static_cast<int>(left.count()), 0));
    if (count < 0) continue;
    if (count == 0 || polled[1].revents != 0) return std::nullopt;
    KeyPress press;
    if (read(reading_, &press, sizeof press) == sizeof press) return press;
  }
}

void Keys::listen() {
  pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {writing_, 0, 0}};
  for (;;) {
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[1].revents != 0) return;
    const bool gone = (polled[0].revents & (POLLHUP | POLLERR)) != 0;
    const std::optional<KeyPress> press = gone ? std::nullopt : terminal_.key();
    if (gone || (press && press->letter == 'q')) {
      quit_ = true;
      return tool_.interrupt();
    }
    if (press) static_cast<void>(!write(writing_, &*press, sizeof *press));
  }
}

}  // namespace xylem::tool
