// One write a tenth of a second; in between, show() costs a look at the clock, and without a
// terminal not even that.
#include "progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "text.h"

namespace xylem::tool {
namespace {

constexpr std::chrono::milliseconds kStep{100};
constexpr std::size_t kBarWidth = 30;

std::string bar(double part) {
  const double within = std::clamp(part, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(within * static_cast<double>(kBarWidth));
  return fmt::format("  [{:<{}}] {:3.0f} %", std::string(full, '='), kBarWidth, within * 100);
}

}  // namespace

Progress::Progress(const Tool& tool, std::string verb, bool beside_output)
    : watched_(tool.errors_to_terminal() && !tool.json && !beside_output),
      verb_(std::move(verb)),
      next_(start_ + kStep) {}

Progress::~Progress() {
  if (shown_) to_stderr("\r\x1b[K");
}

void Progress::show(std::uint64_t done, std::optional<double> part) {
  if (!watched_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kStep;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  to_stderr(fmt::format("\r{} {}, {}/s{}\x1b[K", counted(done, "job"), verb_, short_number(rate),
                        part ? bar(*part) : ""));
  shown_ = true;
}

}  // namespace xylem::tool
