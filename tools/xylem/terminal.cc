// Plain escape sequences that every terminal of today has: the alternate screen, a hidden cursor,
// no wrapping of lines (a terminal may take a character as wider than we do), home, and clear to
// the end of line and screen. What is needed to undo them is global, since a signal handler has no
// other way to it.
#include "terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace xylem::tool {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::initializer_list<int> kFatal{SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
                                            SIGILL,  SIGHUP,  SIGQUIT};

termios as_it_was{};

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void restore() {
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &as_it_was);
  put(kLeave);
}

void on_fatal(int number) {
  restore();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &as_it_was);
  for (const int number : kFatal) std::signal(number, on_fatal);
  std::signal(SIGTSTP, SIG_IGN);  // stopped, it would leave the screen to the shell as it is
  termios raw = as_it_was;
  raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  put(kEnter);
}

Terminal::~Terminal() {
  restore();
  for (const int number : kFatal) std::signal(number, SIG_DFL);
}

Size Terminal::size() const {
  winsize window{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0;
  return known ? Size{window.ws_row, window.ws_col} : Size{};
}

void Terminal::show(std::string_view screen) const {
  // Cleared before it is written: behind a full line the cursor stands on its last character.
  constexpr std::string_view kClear = "\x1b[K";
  std::string text = fmt::format("\x1b[H{}", kClear);
  for (const char c : screen) {
    text += c;
    if (c == '\n') text += fmt::format("\r{}", kClear);
  }
  put(text);
}

std::optional<KeyPress> Terminal::key() const {
  pollfd polled{STDIN_FILENO, POLLIN, 0};
  char bytes[8] = {};
  if (poll(&polled, 1, 0) != 1) return std::nullopt;
  const ssize_t count = read(STDIN_FILENO, bytes, 1);
  if (count != 1) return std::nullopt;
  if (bytes[0] == '\r' || bytes[0] == '\n') return KeyPress{Key::kEnter};
  if (bytes[0] == 0x7f || bytes[0] == '\b') return KeyPress{Key::kBack};
  if (bytes[0] != '\x1b') return KeyPress{Key::kOther, bytes[0]};
  if (poll(&polled, 1, 20) != 1 || read(STDIN_FILENO, bytes, 2) != 2) return KeyPress{Key::kBack};
  if (bytes[1] == 'A') return KeyPress{Key::kUp};
  return KeyPress{bytes[1] == 'B' ? Key::kDown : Key::kOther};
}

}  // namespace xylem::tool
