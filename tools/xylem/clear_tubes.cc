// flush and move: what may take long, and must not be half-told. xylemd flushes a tube by one
// command; another server is flushed job by job. Moving goes in portions, so that after a Ctrl-C
// the count is exact.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;

struct Options {
  std::string tube;
  std::string to;
  std::string state;  // empty: ready, delayed and buried
  bool yes = false;
};

// So many jobs one move-jobs takes: a few milliseconds.
constexpr std::uint64_t kPortion = 10'000;

std::vector<std::string> states_of(const Options& options) {
  if (!options.state.empty()) return {options.state};
  return {"ready", "delayed", "buried"};
}

struct Count {
  std::uint64_t jobs = 0;
  std::optional<Error> stopped;  // why not all were reached
};

std::string told(const Options& options, std::uint64_t count, std::string_view verb) {
  const std::string to = options.to.empty() ? "" : " to " + options.to;
  return fmt::format("{} of {} {}{}", counted(count, "job"), options.tube, verb, to);
}

// Confirms the count, and tells it if something else than the work's end ended it.
Result<int> report(Tool& tool, const Options& options, const Count& count, std::string_view verb) {
  if (tool.json) {
    tool.print_json({{"tube", options.tube}, {std::string(verb), count.jobs}});
  } else if (!count.stopped) {
    tool.confirm(told(options, count.jobs, verb));
  }
  if (count.stopped) {
    return Error{
        .text = fmt::format("{}; then: {}", told(options, count.jobs, verb), count.stopped->text),
        .exit_code = count.stopped->exit_code};
  }
  return count.jobs > 0 ? kDone : kNothing;
}

Result<std::monostate> make_sure(const Options& options, std::uint64_t count) {
  if (options.yes) return std::monostate{};
  const Error no{.text = "nothing flushed; --yes says that it is meant", .exit_code = kUsage};
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return no;
  to_stderr(fmt::format("Delete {} of tube {}? [y/N] ", counted(count, "job"), options.tube));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes") return std::monostate{};
  return no;
}

// How many jobs the tube has in a state; none if there is no such tube.
Result<std::uint64_t> jobs_in(Connection& connection, const std::string& tube,
                              const std::vector<std::string>& states) {
  Result<Reply> reply = connection.ask("stats-tube " + tube);
  if (!reply) return reply.error();
  if (!reply.value().is("OK")) return refusal(reply.value(), "tube " + tube);
  const Map stats = client::parse_map(reply.value().body);
  std::uint64_t count = 0;
  for (const std::string& state : states) count += number_of(stats, "current-jobs-" + state);
  return count;
}

// One by one: the first job of the state is looked at and deleted, as often as there were jobs.
void flush_state(Tool& tool, Connection& connection, const Options& options,
                 const std::string& state, Count& count) {
  Result<std::uint64_t> there = jobs_in(connection, options.tube, {state});
  if (!there) {
    count.stopped = there.error();
    return;
  }
  Progress progress(tool, "deleted");
  for (std::uint64_t left = there.value(); left > 0; --left) {
    if (tool.interrupted()) count.stopped = interrupted();
    if (count.stopped) return;
    Result<Reply> first = connection.ask("peek-" + state);
    if (first && !first.value().is("FOUND")) return;
    Result<Reply> deleted =
        first ? connection.ask(fmt::format("delete {}", first.value().number())) : first;
    if (!deleted) {
      count.stopped = perhaps_done(deleted.error(), "the next");
      return;
    }
    if (deleted.value().is("DELETED")) ++count.jobs;
    progress.show(count.jobs);
  }
}

Count flush_one_by_one(Tool& tool, Connection& connection, const Options& options) {
  Count count;
  tool.complain("this server has no flush-tube command: deleting job by job, which is not atomic");
  Result<Reply> used = demand(connection, "use " + options.tube, "USING", "use");
  if (!used) count.stopped = used.error();
  for (const std::string& state : states_of(options)) {
    if (!count.stopped) flush_state(tool, connection, options, state, count);
  }
  return count;
}

Result<Count> flush_at_once(Connection& connection, const Options& options) {
  const std::string state = options.state.empty() ? "" : " " + options.state;
  Result<Reply> reply = demand_change(connection, "flush-tube " + options.tube + state, "FLUSHED",
                                      "tube " + options.tube);
  if (!reply) return reply.error();
  return Count{.jobs = reply.value().number(), .stopped = {}};
}

Result<int> flush(Tool& tool, const Options& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<std::uint64_t> there = jobs_in(connection.value(), options.tube, states_of(options));
  if (!there) return there.error();
  if (auto sure = make_sure(options, there.value()); !sure) return sure.error();
  tool.catch_interrupts();
  Result<bool> offered = offers(connection.value(), "flush-tube");
  if (!offered) return offered.error();
  Result<Count> count = offered.value() ? flush_at_once(connection.value(), options)
                                        : flush_one_by_one(tool, connection.value(), options);
  if (!count) return count.error();
  return report(tool, options, count.value(), "flushed");
}

// How many were moved; none if the tube has vanished meanwhile.
Result<std::uint64_t> move_portion(Connection& connection, const Options& options,
                                   const std::string& state, std::uint64_t count) {
  Result<Reply> reply =
      connection.ask(fmt::format("move-jobs {} {} {} {}", options.tube, options.to, state, count));
  if (!reply) return perhaps_done(reply.error(), fmt::format("the next {}", counted(count, "job")));
  if (reply.value().is("MOVED")) return reply.value().number();
  if (reply.value().is("NOT_FOUND")) return std::uint64_t{0};
  return refusal(reply.value(), "tube " + options.tube);
}

void move_state(Tool& tool, Connection& connection, const Options& options,
                const std::string& state, Count& count) {
  Result<std::uint64_t> there = jobs_in(connection, options.tube, {state});
  if (!there && there.error().exit_code != kNothing) count.stopped = there.error();
  Progress progress(tool, "moved");
  std::uint64_t left = there ? there.value() : 0;
  while (left > 0 && !count.stopped) {
    Result<std::uint64_t> moved =
        tool.interrupted() ? Result<std::uint64_t>(interrupted())
                           : move_portion(connection, options, state, std::min(left, kPortion));
    if (!moved) {
      count.stopped = moved.error();
    } else if (moved.value() == 0) {
      return;
    } else {
      count.jobs += moved.value();
      left -= std::min(left, moved.value());
      progress.show(count.jobs);
    }
  }
}

Result<int> move(Tool& tool, const Options& options) {
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect_without_interrupts();
  if (!connection) return connection.error();
  Result<bool> offered = offers(connection.value(), "move-jobs");
  if (!offered) return offered.error();
  if (!offered.value()) {
    return not_offered("move-jobs", "; xylem dump and load carry jobs to another tube or server");
  }
  Result<std::uint64_t> there = jobs_in(connection.value(), options.tube, states_of(options));
  if (!there) return there.error();
  Count count;
  for (const std::string& state : states_of(options)) {
    if (!count.stopped) move_state(tool, connection.value(), options, state, count);
  }
  return report(tool, options, count, "moved");
}

void add_state(CommandLine& line, Options& options) {
  line.add_option("--state", options.state, "ready, delayed or buried (all three)")
      .one_of({"ready", "delayed", "buried"})
      .type_name("STATE");
}

}  // namespace

Run set_up_flush(CommandLine& line) {
  auto options = std::make_shared<Options>();
  add_tube(line, options->tube);
  add_state(line, *options);
  line.add_flag("--yes", options->yes, "do not ask");
  return [options](Tool& tool) { return flush(tool, *options); };
}

Run set_up_move(CommandLine& line) {
  auto options = std::make_shared<Options>();
  add_tube(line, options->tube);
  line.add_option("NEW", options->to, "the tube to move to")
      .required()
      .check(check_tube)
      .type_name("");
  add_state(line, *options);
  return [options](Tool& tool) { return move(tool, *options); };
}

}  // namespace xylem::tool
