// The loop of top: look, draw, and wait for a key or the next look. A server that goes away is said
// on the last line and tried again at every look; what was seen last stays on the screen.
#include "top.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "listing.h"
#include "subcommand.h"
#include "text.h"
#include "tubes.h"

namespace xylem::tool {
namespace {

using client::text_of;
using Clock = std::chrono::steady_clock;

struct Options {
  std::chrono::milliseconds interval{1'000};
};

// The pause that the key p begins.
constexpr int kPauseSeconds = 3'600;
constexpr std::uint32_t kJobsShown = 200;

class Top {
 public:
  Top(Tool& tool, const Options& options, Connection connection)
      : tool_(tool), options_(options), connection_(std::move(connection)) {
    picture_.server = client::to_string(connection_->address());
  }

  Result<int> run() {
    if (auto done = look(); !done) return done.error();
    const Terminal terminal;
    while (!tool_.interrupted()) {
      terminal.show(draw(picture_, terminal.size()));
      const Clock::time_point next = Clock::now() + options_.interval;
      if (!await_keys(terminal, next)) return kDone;
      look_again();
    }
    return kInterrupted;
  }

 private:
  Result<std::monostate> look() {
    if (!has_stats_tubes_) {
      Result<bool> offered = offers(*connection_, "stats-tubes");
      if (!offered) return offered.error();
      has_stats_tubes_ = offered.value();
    }
    Result<Reply> stats = demand(*connection_, "stats", "OK", "stats");
    if (!stats) return stats.error();
    Result<std::vector<Map>> tubes = fetch_tubes(*connection_, *has_stats_tubes_);
    if (!tubes) return tubes.error();
    rates_.take(picture_, client::parse_map(stats.value().body), std::move(tubes).value());
    return picture_.tube.empty() ? std::monostate{} : look_into_tube();
  }

  Result<std::monostate> look_into_tube() {
    picture_.jobs.clear();
    if (!*has_stats_tubes_) {
      picture_.message = "this server has no list-jobs command; escape goes back";
      return std::monostate{};
    }
    Result<std::vector<Map>> page = list_page(*connection_, picture_.tube, "all", 0, kJobsShown);
    if (!page) return page.error();
    return with_bodies(*connection_, page.value(), [this](const Map& row, const auto& body) {
      picture_.jobs.push_back(row);
      picture_.jobs.back().emplace_back("excerpt", body.substr(0, 200));
    });
  }

  // Like look(), but a failure is shown, not returned.
  void look_again() {
    picture_.message.clear();
    if (!connection_) {
      Result<Connection> connection = tool_.connect();
      if (!connection) return lose(connection.error());
      connection_ = std::move(connection).value();
      has_stats_tubes_.reset();
    }
    if (auto done = look(); !done) lose(done.error());
  }

  void lose(const Error& why) {
    connection_.reset();
    picture_.message = why.text + "; trying again";
  }

  // False when it is time to go.
  bool await_keys(const Terminal& terminal, Clock::time_point until) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return true;
      pollfd polled[2] = {{STDIN_FILENO, POLLIN, 0}, {tool_.interrupt_fd(), POLLIN, 0}};
      poll(polled, 2, static_cast<int>(left));
      if (polled[1].revents != 0) return true;
      if ((polled[0].revents & (POLLHUP | POLLERR)) != 0) return false;
      const std::optional<KeyPress> key = terminal.key();
      if (!key) continue;
      if (key->letter == 'q') return false;
      press(*key);
      terminal.show(draw(picture_, terminal.size()));
    }
  }

  void press(const KeyPress& press) {
    const std::size_t count = picture_.tube.empty() ? picture_.tubes.size() : picture_.jobs.size();
    if (press.key == Key::kUp && picture_.selected > 0) --picture_.selected;
    if (press.key == Key::kDown && picture_.selected + 1 < count) ++picture_.selected;
    if (press.key == Key::kEnter) enter(selected_tube());
    if (press.key == Key::kBack) enter("");
    if (press.letter == 's') {
      picture_.sort = (picture_.sort + 1) % std::size(kSorts);
      sort_rows(picture_);
    }
    if (press.letter == 'p') toggle_pause();
    if (press.letter == 'k') kick();
  }

  std::string selected_tube() const {
    const bool there = picture_.tube.empty() && picture_.selected < picture_.tubes.size();
    return there ? std::string(text_of(picture_.tubes[picture_.selected].stats, "name")) : "";
  }

  void enter(const std::string& tube) {
    if (tube.empty() && picture_.tube.empty()) return;
    if (!tube.empty() || !picture_.tube.empty()) picture_.selected = 0;
    picture_.tube = picture_.tube.empty() ? tube : "";
    if (!picture_.tube.empty() && connection_) {
      if (auto done = look_into_tube(); !done) lose(done.error());
    }
  }

  void toggle_pause() {
    const std::string tube = selected_tube();
    if (tube.empty()) return;
    const Map& stats = picture_.tubes[picture_.selected].stats;
    const int seconds = client::number_of(stats, "pause-time-left") > 0 ? 0 : kPauseSeconds;
    command({fmt::format("pause-tube {} {}", tube, seconds)},
            seconds > 0 ? tube + " paused for an hour" : tube + " resumed");
  }

  void kick() {
    const std::string tube = selected_tube();
    if (tube.empty()) return;
    command({"use " + tube, "kick 4294967295", "use default"}, tube + " kicked");
  }

  void command(const std::vector<std::string>& lines, const std::string& done) {
    picture_.message = done;
    for (const std::string& line : lines) {
      if (!connection_) return;
      Result<Reply> reply = connection_->ask(line);
      if (!reply) lose(reply.error());
    }
  }

  Tool& tool_;
  const Options& options_;
  std::optional<Connection> connection_;
  std::optional<bool> has_stats_tubes_;
  Rates rates_;
  Picture picture_;
};

Result<int> top(Tool& tool, const Options& options) {
  if (!tool.to_terminal() || isatty(STDIN_FILENO) == 0) {
    return Error{.text = "top needs a terminal; xylem tubes prints the same once",
                 .exit_code = kUsage};
  }
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  return Top(tool, options, std::move(connection).value()).run();
}

}  // namespace

Run set_up_top(CommandLine& line) {
  auto options = std::make_shared<Options>();
  add_interval(line, options->interval, "1s");
  return [options](Tool& tool) { return top(tool, *options); };
}

}  // namespace xylem::tool
