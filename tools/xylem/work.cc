// The command line of work, the threads, and what they tell. The first connection of every slot is
// made before any job is taken: a wrong address ends it at once, later losses do not.
#include "work.h"

#include <fmt/format.h>

#include <thread>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

Error wrong_usage(std::string text) { return {.text = std::move(text), .exit_code = kUsage}; }

// What CLI11 cannot check.
Result<std::monostate> take_command(WorkOptions& options, std::vector<std::string> command) {
  if (command.empty()) return wrong_usage("write xylem work TUBE... -- COMMAND [ARG...]");
  options.command = std::move(command);
  const std::string& name = options.command.front();
  if (!is_command(name)) {
    return wrong_usage(fmt::format("there is no command '{}'", escaped(name)));
  }
  const bool hole = std::ranges::any_of(options.command, [](const std::string& word) {
    return word.find("{}") != std::string::npos;
  });
  if (hole && options.body_goes == BodyGoes::kToInput) options.body_goes = BodyGoes::kIntoArguments;
  return std::monostate{};
}

Result<int> work(Tool& tool, WorkOptions& options) {
  if (auto taken = take_command(options, tool.command); !taken) return taken.error();
  tool.catch_interrupts_twice();
  const StopSigns signs{tool.interrupt_fd(), tool.hurry_fd()};
  Result<client::Address> address = tool.address();
  if (!address) return address.error();
  Journal journal(tool.json);
  std::vector<Connection> connections;
  for (unsigned i = 0; i < options.slots; ++i) {
    Result<Connection> connection = connect_worker(address.value(), options, signs);
    if (!connection) return connection.error();
    connections.push_back(std::move(connection).value());
  }
  std::vector<std::jthread> threads;
  for (Connection& connection : connections) {
    threads.emplace_back([&options, &journal, signs, mine = std::move(connection)]() mutable {
      serve_slot(options, std::move(mine), signs, journal);
    });
  }
  threads.clear();
  if (is_readable(signs.hurry_fd)) {
    return Error{.text = "told twice to stop: what still ran was ended", .exit_code = kInterrupted};
  }
  return kDone;
}

}  // namespace

Result<Connection> connect_worker(const client::Address& address, const WorkOptions& options,
                                  StopSigns signs) {
  Result<Connection> connection = Connection::connect(address, {.interrupt_fd = signs.stop_fd});
  if (!connection) return connection;
  const bool wants_default = std::ranges::find(options.tubes, "default") != options.tubes.end();
  for (const std::string& tube : options.tubes) {
    Result<Reply> reply = demand(connection.value(), "watch " + tube, "WATCHING", "watch");
    if (!reply) return reply.error();
  }
  if (wants_default) return connection;
  Result<Reply> reply = demand(connection.value(), "ignore default", "WATCHING", "ignore");
  if (!reply) return reply.error();
  return connection;
}

void Journal::tell(const Told& told) {
  if (json_) {
    const Json line{
        {"job", told.id},         {"tube", told.tube},       {"reserves", told.reserves},
        {"exit", told.exit_code}, {"seconds", told.seconds}, {"result", told.result}};
    return write(to_line(line) + "\n");
  }
  write(fmt::format("job {} ({}): exit {} after {:.2f} s, {}\n", told.id, escaped(told.tube),
                    told.exit_code, told.seconds, told.result));
}

void Journal::tell(std::string_view text) {
  write(json_ ? to_line({{"message", text}}) + "\n" : fmt::format("xylem: {}\n", text));
}

void Journal::write(const std::string& line) {
  const std::lock_guard lock(writing_);
  to_stderr(line);
}

Run set_up_work(CommandLine& line) {
  auto options = std::make_shared<WorkOptions>();
  line.add_option("TUBE", options->tubes, "the tubes; behind them: -- COMMAND [ARG...]")
      .required()
      .check(check_tube)
      .type_name("");
  add_number(line, "-j,--jobs", "how many at a time (1)", {1, 1'000}, [options](std::uint64_t n) {
    options->slots = static_cast<unsigned>(n);
  }).type_name("N");
  add_number(line, "--max-tries", "bury a job that has failed so often (10)", {1, 1'000'000},
             [options](std::uint64_t n) { options->most_tries = static_cast<unsigned>(n); })
      .type_name("N");
  add_seconds(line, "--back-off", options->back_off, "delay after the first failure; doubles (1s)");
  add_time(line, "--kill-after", options->kill_after, "end a command that takes longer");
  line.add_flag_function(
      "--file", [options] { options->body_goes = BodyGoes::kIntoFile; },
      "the body in a file: {} in the arguments, or the last of them, is its path");
  return [options](Tool& tool) { return work(tool, *options); };
}

}  // namespace xylem::tool
