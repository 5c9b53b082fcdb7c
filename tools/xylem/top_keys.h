// Keys: the keyboard of top, read in a thread of its own, so that q is heard while top waits for a
// server that does not answer. q, and a terminal that is gone, end every wait of the tool's as a
// signal does; all other keys wait for next().
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "terminal.h"
#include "tool.h"

namespace xylem::tool {

class Keys {
 public:
  // Both must outlive it; the tool must catch interrupts.
  static Result<std::unique_ptr<Keys>> hear(const Terminal& terminal, Tool& tool);
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // The next key, in the order in which they were pressed; none if none is pressed until then, or
  // when it is time to go.
  [[nodiscard]] std::optional<KeyPress> next(std::chrono::steady_clock::time_point until) const;
  [[nodiscard]] bool quit() const { return quit_; }

 private:
  Keys(const Terminal& terminal, Tool& tool, int reading, int writing);
  void listen();

  const Terminal& terminal_;
  Tool& tool_;
  // Of a pipe of KeyPress. The end for reading is closed to end the thread.
  int reading_;
  int writing_;
  std::atomic<bool> quit_ = false;
  std::jthread thread_;
};

}  // namespace xylem::tool
