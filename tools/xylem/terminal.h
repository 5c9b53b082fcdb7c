// Terminal: the full screen for as long as this lives, and the terminal as it was afterwards, also
// when a signal such as SIGSEGV or SIGABRT ends the process. Ctrl-C stays a signal; Ctrl-Z and
// Ctrl-\ are switched off meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xylem::tool {

enum class Key { kUp, kDown, kEnter, kBack, kOther };
struct KeyPress {
  Key key = Key::kOther;
  char letter = 0;
};

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] Size size() const;
  // Replaces what is shown, in one write; as many lines as the terminal has, each but the last
  // ended by \n. What is wider than the terminal is lost.
  void show(std::string_view screen) const;
  // A key that has been pressed; none if none has.
  [[nodiscard]] std::optional<KeyPress> key() const;
};

}  // namespace xylem::tool
