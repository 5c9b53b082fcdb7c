// The loop of top: look, draw, and wait for a key or the next look. A server that goes away is said
// on the last line and tried again at every look; what was seen last stays on the screen. A key
// acts on what the screen showed as selected when it was pressed, and what came of it is what the
// server answered.
#include "top.h"

#include <fmt/format.h>
#include <unistd.h>

#include "listing.h"
#include "subcommand.h"
#include "text.h"
#include "top_keys.h"
#include "tubes.h"

namespace xylem::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct TopOptions {
  std::chrono::milliseconds interval{1'000};
};

// The pause that the key p begins.
constexpr int kPauseSeconds = 3'600;
constexpr std::uint32_t kJobsShown = 200;
constexpr std::size_t kBodyBytesShown = 2'048;
constexpr std::chrono::seconds kMessageStays{3};

// What one look at the server finds.
struct Look {
  Map stats;
  std::vector<Map> tubes;
  std::string tube;  // whose jobs these are
  std::vector<Map> jobs;
};

class Top {
 public:
  Top(Tool& tool, const TopOptions& options, Connection connection)
      : tool_(tool), options_(options), connection_(std::move(connection)) {
    picture_.server = client::to_string(connection_->address());
  }

  Result<int> run() {
    Result<Look> first = look();
    if (!first) return first.error();
    take(std::move(first).value());
    const Terminal terminal;
    Result<std::unique_ptr<Keys>> heard = Keys::hear(terminal, tool_);
    if (!heard) return heard.error();
    const Keys& keys = *heard.value();
    while (!tool_.interrupted()) {
      terminal.show(draw(picture_, terminal.size()));
      press_keys(terminal, keys, Clock::now() + options_.interval);
      if (!tool_.interrupted()) look_again(terminal, keys);
    }
    return keys.quit() ? kDone : kInterrupted;
  }

 private:
  Result<Look> look() {
    if (!has_stats_tubes_) {
      Result<bool> offered = offers(*connection_, "stats-tubes");
      if (!offered) return offered.error();
      has_stats_tubes_ = offered.value();
    }
    Result<Reply> stats = demand(*connection_, "stats", "OK", "stats");
    if (!stats) return stats.error();
    Result<std::vector<Map>> tubes = fetch_tubes(*connection_, *has_stats_tubes_);
    if (!tubes) return tubes.error();
    Result<std::vector<Map>> jobs = look_into(picture_.tube);
    if (!jobs) return jobs.error();
    return Look{client::parse_map(stats.value().body), std::move(tubes).value(), picture_.tube,
                std::move(jobs).value()};
  }

  Result<std::vector<Map>> look_into(const std::string& tube) {
    std::vector<Map> jobs;
    if (tube.empty() || !*has_stats_tubes_) return jobs;
    Result<std::vector<Map>> page = list_page(*connection_, tube, "all", 0, kJobsShown);
    if (!page) return page.error();
    auto done = with_bodies(*connection_, page.value(), [&](const Map& row, const auto& body) {
      jobs.push_back(row);
      jobs.back().emplace_back("excerpt", body.substr(0, kBodyBytesShown));
    });
    if (!done) return done.error();
    return jobs;
  }

  void take(Look look) {
    rates_.take(picture_, std::move(look.stats), std::move(look.tubes));
    picture_.lists_jobs = *has_stats_tubes_;
    if (look.tube == picture_.tube) take_jobs(picture_, std::move(look.jobs));
  }

  // Like look(), but a failure is shown, not returned. Keys that were pressed meanwhile were meant
  // for what the screen showed, so they come before what was found is taken.
  void look_again(const Terminal& terminal, const Keys& keys) {
    Result<Look> found = connect_and_look();
    if (Clock::now() >= message_until_) picture_.message.clear();
    if (!found) lose(found.error());
    press_keys(terminal, keys, Clock::now());
    if (found) take(std::move(found).value());
  }

  Result<Look> connect_and_look() {
    if (!connection_) {
      Result<Connection> connection = tool_.connect();
      if (!connection) return connection.error();
      connection_ = std::move(connection).value();
      has_stats_tubes_.reset();
    }
    return look();
  }

  void lose(const Error& why) {
    connection_.reset();
    picture_.message = why.text + "; trying again";
    message_until_ = {};
  }

  // Says it for long enough to be read.
  void say(std::string text) {
    picture_.message = std::move(text);
    message_until_ = Clock::now() + kMessageStays;
  }

  void press_keys(const Terminal& terminal, const Keys& keys, Clock::time_point until) {
    while (const std::optional<KeyPress> key = keys.next(until)) {
      press(*key);
      terminal.show(draw(picture_, terminal.size()));
    }
  }

  void press(const KeyPress& press) {
    if (press.key == Key::kUp) move_selection(picture_, -1);
    if (press.key == Key::kDown) move_selection(picture_, 1);
    if (press.key == Key::kBack) picture_.tube.clear();
    if (press.letter == 's') {
      picture_.sort = (picture_.sort + 1) % std::size(kSorts);
      sort_rows(picture_);
    }
    if (!picture_.tube.empty() || picture_.tubes.empty()) return;
    if (press.key == Key::kEnter) tell(enter(picture_.selected_tube.name));
    if (press.letter == 'p') tell(toggle_pause(picture_.selected_tube.name, is_paused()));
    if (press.letter == 'k') tell(kick(picture_.selected_tube.name));
  }

  bool is_paused() const {
    const Map& stats = picture_.tubes[picture_.selected_tube.row].stats;
    return client::number_of(stats, "pause-time-left") > 0;
  }

  // What came of a key: a text for the last line, or why not. A refusal leaves the connection.
  void tell(Result<std::string> outcome) {
    if (outcome) return say(std::move(outcome).value());
    const int code = outcome.error().exit_code;
    if (code != kNothing && code != kRefused) connection_.reset();
    say(outcome.error().text);
  }

  // The tube may be gone since it was shown, and `use` would make it again.
  Result<Reply> find(const std::string& tube) {
    if (!connection_) {
      return Error{.text = "not connected: nothing was done", .exit_code = kNothing};
    }
    return demand(*connection_, "stats-tube " + tube, "OK", tube);
  }

  Result<std::string> enter(const std::string& tube) {
    if (Result<Reply> found = find(tube); !found) return found.error();
    Result<std::vector<Map>> jobs = look_into(tube);
    if (!jobs) return jobs.error();
    picture_.tube = tube;
    picture_.selected_job = {};
    take_jobs(picture_, std::move(jobs).value());
    return std::string();
  }

  Result<std::string> toggle_pause(const std::string& tube, bool is_paused) {
    if (Result<Reply> found = find(tube); !found) return found.error();
    const std::string line = fmt::format("pause-tube {} {}", tube, is_paused ? 0 : kPauseSeconds);
    Result<Reply> paused = demand_change(*connection_, line, "PAUSED", tube);
    if (!paused) return paused.error();
    return tube + (is_paused ? " resumed" : " paused for an hour");
  }

  Result<std::string> kick(const std::string& tube) {
    if (Result<Reply> found = find(tube); !found) return found.error();
    Result<Reply> used = demand(*connection_, "use " + tube, "USING", tube);
    if (!used) return used.error();
    Result<Reply> kicked = connection_->ask("kick 4294967295");
    if (!kicked) return perhaps_done(kicked.error(), tube);
    // Whatever came of it, this connection must not keep the tube alive.
    Result<Reply> left = demand(*connection_, "use default", "USING", "use");
    if (!left) return left.error();
    if (!kicked.value().is("KICKED")) return refusal(kicked.value(), tube);
    return fmt::format("{}: {} kicked", tube, counted(kicked.value().number(), "job"));
  }

  Tool& tool_;
  const TopOptions& options_;
  std::optional<Connection> connection_;
  std::optional<bool> has_stats_tubes_;
  Rates rates_;
  Picture picture_;
  Clock::time_point message_until_{};
};

Result<int> top(Tool& tool, const TopOptions& options) {
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
  auto options = std::make_shared<TopOptions>();
  add_interval(line, options->interval, "1s");
  return [options](Tool& tool) { return top(tool, *options); };
}

}  // namespace xylem::tool
