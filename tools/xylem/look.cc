// stats, peek and wait: single looks that change nothing. A word of digits is a job id; -t names a
// tube whatever it looks like.
#include <fmt/format.h>
#include <poll.h>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::parse_map;

Result<int> show_stats(Tool& tool, const TubeOrJob& what) {
  std::string line = "stats";
  std::string named = "stats";
  if (what.id()) {
    line = fmt::format("stats-job {}", *what.id());
    named = fmt::format("job {}", *what.id());
  } else if (what.is_given()) {
    line = "stats-tube " + what.tube_name();
    named = "tube " + what.tube_name();
  }
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> reply = demand(connection.value(), line, "OK", named);
  if (!reply) return reply.error();
  const Map map = parse_map(reply.value().body);
  if (tool.json) {
    tool.print_json(to_json(map));
  } else {
    for (const auto& [key, value] : map) {
      tool.print(fmt::format("{}: {}\n", escaped(key), escaped(value)));
    }
  }
  return kDone;
}

struct PeekOptions {
  TubeOrJob what;
  std::string state = "ready";
};

void print_job(Tool& tool, JobId id, std::string_view body) {
  if (tool.json) {
    Json object{{"id", id}};
    set_bytes(object, "body", body);
    tool.print_json(object);
  } else if (tool.to_terminal()) {
    const std::string head = fmt::format("job {}, {}", id, counted(body.size(), "byte"));
    tool.print(fmt::format("{}\n{}\n", tool.in_colour("1", head), escaped(body)));
  } else {
    tool.print(body);
  }
}

Result<int> peek(Tool& tool, const PeekOptions& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  std::string line;
  std::string named;
  if (options.what.id()) {
    line = fmt::format("peek {}", *options.what.id());
    named = fmt::format("job {}", *options.what.id());
  } else {
    const std::string& tube = options.what.tube_name();
    Result<Reply> used = demand(connection.value(), "use " + tube, "USING", "use");
    if (!used) return used.error();
    line = "peek-" + options.state;
    named = fmt::format("{} job of tube {}", options.state, tube);
  }
  Result<Reply> reply = demand(connection.value(), line, "FOUND", named);
  if (!reply) return reply.error();
  print_job(tool, reply.value().number(), reply.value().body);
  return kDone;
}

// A server that answers has this long for it, however short the time that is left.
constexpr std::chrono::milliseconds kLeastPatience{1'000};

struct WaitOptions {
  std::string tube;
  bool empty = false;
  std::chrono::milliseconds timeout = kForEver;
  std::chrono::milliseconds interval{500};
};

// How many jobs a tube has that are not buried; none if there is no such tube.
Result<std::uint64_t> jobs_left(Connection& connection, const std::string& tube,
                                std::chrono::milliseconds patience) {
  connection.send("stats-tube " + tube);
  Result<Reply> reply = connection.receive(patience);
  if (!reply) return reply.error();
  if (reply.value().is("NOT_FOUND")) return std::uint64_t{0};
  if (!reply.value().is("OK")) return refusal(reply.value(), "tube " + tube);
  const Map map = parse_map(reply.value().body);
  return number_of(map, "current-jobs-ready") + number_of(map, "current-jobs-delayed") +
         number_of(map, "current-jobs-reserved");
}

using Clock = std::chrono::steady_clock;

// Rounded up, so that the time is over when nothing is left.
std::chrono::milliseconds time_left(Clock::time_point start, std::chrono::milliseconds time) {
  return std::chrono::ceil<std::chrono::milliseconds>(start + std::min(time, kForEver) -
                                                      Clock::now());
}

// What a connection would wait for anyhow, but no longer than is left.
std::chrono::milliseconds bounded(std::chrono::milliseconds usual, std::chrono::milliseconds left) {
  return std::min(usual, std::max(left, kLeastPatience));
}

Result<int> wait(Tool& tool, const WaitOptions& options) {
  const Clock::time_point start = Clock::now();
  tool.catch_interrupts();
  const client::Options usual;
  Result<Connection> connection =
      tool.connect({.connect_timeout = bounded(usual.connect_timeout, options.timeout)});
  if (!connection) return connection.error();
  for (;;) {
    Result<std::uint64_t> left =
        jobs_left(connection.value(), options.tube,
                  bounded(usual.reply_timeout, time_left(start, options.timeout)));
    if (!left) return left.error();
    if (left.value() == 0) {
      tool.confirm(fmt::format("{} is empty", options.tube));
      return kDone;
    }
    if (tool.interrupted() || time_left(start, options.timeout).count() <= 0) {
      return Error{
          .text = fmt::format("tube {} still has {}", options.tube, counted(left.value(), "job")),
          .exit_code = tool.interrupted() ? kInterrupted : kNothing};
    }
    const auto pause = std::min(options.interval, time_left(start, options.timeout));
    pollfd polled{tool.interrupt_fd(), POLLIN, 0};
    poll(&polled, 1, static_cast<int>(pause.count()));
  }
}

}  // namespace

Run set_up_stats(CommandLine& line) {
  auto what = std::make_shared<TubeOrJob>();
  add_tube_or_job(line, *what, false);
  return [what](Tool& tool) { return show_stats(tool, *what); };
}

Run set_up_peek(CommandLine& line) {
  auto options = std::make_shared<PeekOptions>();
  add_tube_or_job(line, options->what, true);
  CommandLine states = line.add_alternatives("states");
  for (const std::string state : {"ready", "reserved", "delayed", "buried"}) {
    states.add_flag_function(
        "--" + state, [options, state] { options->state = state; },
        "the first " + state + " job of the tube");
  }
  return [options](Tool& tool) { return peek(tool, *options); };
}

Run set_up_wait(CommandLine& line) {
  auto options = std::make_shared<WaitOptions>();
  add_tube(line, options->tube);
  line.add_flag("--empty", options->empty, "until no job is ready, delayed or reserved").required();
  add_time(line, "--timeout", options->timeout,
           "give up after this time, with exit code 1; 0: look once");
  add_interval(line, options->interval, "500ms");
  return [options](Tool& tool) { return wait(tool, *options); };
}

}  // namespace xylem::tool
