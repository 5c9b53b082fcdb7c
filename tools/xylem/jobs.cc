// delete, kick-job, bury, release and reprioritize: one or more jobs by id, one after the other.
// What could not be done is told job by job, and the worst of it is the exit code; the rest is done
// all the same.
//
// The protocol says NOT_FOUND both of a job that is not there and of one that a worker holds;
// stats-job tells them apart.
#include <fmt/format.h>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::parse_map;
using client::text_of;

struct ChangeOptions {
  std::vector<JobId> ids;
  std::optional<std::uint32_t> pri;
  std::uint32_t delay = 0;
};

// What is done to one job; the text of success is one word.
using Act = Result<std::string_view> (*)(Connection&, JobId, const ChangeOptions&);

// Why a job could not be had: it is gone, a worker has it, or it is in no state for this.
Error explain(Connection& connection, JobId id) {
  const std::string job = fmt::format("job {}", id);
  Result<Reply> reply = connection.ask(fmt::format("stats-job {}", id));
  if (!reply) return reply.error();
  if (!reply.value().is("OK")) return refusal(reply.value(), job);
  const Map stats = parse_map(reply.value().body);
  const std::string_view state = text_of(stats, "state");
  if (state == "reserved") {
    return {.text = job + ": refused, a worker holds it", .exit_code = kRefused};
  }
  return {.text = fmt::format("{}: nothing to do, it is {}", job, escaped(state)),
          .exit_code = kNothing};
}

Result<std::string_view> ask_for(Connection& connection, const std::string& line,
                                 std::string_view word, std::string_view done, JobId id) {
  Result<Reply> reply = connection.ask(line);
  if (!reply) return perhaps_done(reply.error(), fmt::format("job {}", id));
  if (reply.value().is(word)) return done;
  if (reply.value().is("NOT_FOUND")) return explain(connection, id);
  return refusal(reply.value(), fmt::format("job {}", id));
}

Result<std::string_view> delete_job(Connection& connection, JobId id, const ChangeOptions&) {
  return ask_for(connection, fmt::format("delete {}", id), "DELETED", "deleted", id);
}

Result<std::string_view> kick_job(Connection& connection, JobId id, const ChangeOptions&) {
  return ask_for(connection, fmt::format("kick-job {}", id), "KICKED", "kicked", id);
}

// The priority that the job is to have: a new one, or its own.
Result<std::uint32_t> pri_of(Connection& connection, JobId id, const ChangeOptions& options) {
  Result<Reply> stats =
      demand(connection, fmt::format("stats-job {}", id), "OK", fmt::format("job {}", id));
  if (!stats) return stats.error();
  const auto pri = static_cast<std::uint32_t>(number_of(parse_map(stats.value().body), "pri"));
  return options.pri.value_or(pri);
}

// Takes the job as a worker would, and gives it back by `line`. Both commands leave together: a job
// that was only taken would lose its delay when we are ended in between.
Result<std::string_view> take_and(Connection& connection, JobId id, const std::string& line,
                                  std::string_view word, std::string_view done) {
  connection.send(fmt::format("reserve-job {}", id));
  connection.send(line);
  const std::string job = fmt::format("job {}", id);
  Result<Reply> reserved = connection.receive();
  if (!reserved) return perhaps_done(reserved.error(), job);
  Result<Reply> reply = connection.receive();
  if (!reply) return perhaps_done(reply.error(), job);
  if (reserved.value().is("NOT_FOUND")) return explain(connection, id);
  if (!reserved.value().is("RESERVED")) return refusal(reserved.value(), job);
  if (!reply.value().is(word)) return refusal(reply.value(), job);
  return done;
}

Result<std::string_view> bury_job(Connection& connection, JobId id, const ChangeOptions& options) {
  Result<std::uint32_t> pri = pri_of(connection, id, options);
  if (!pri) return pri.error();
  return take_and(connection, id, fmt::format("bury {} {}", id, pri.value()), "BURIED", "buried");
}

Result<std::string_view> release_job(Connection& connection, JobId id,
                                     const ChangeOptions& options) {
  Result<std::uint32_t> pri = pri_of(connection, id, options);
  if (!pri) return pri.error();
  return take_and(connection, id, fmt::format("release {} {} {}", id, pri.value(), options.delay),
                  "RELEASED", "released");
}

// Another server than xylemd: taken, and put back where it was with the new priority.
Result<std::string_view> put_back(Connection& connection, JobId id, const ChangeOptions& options) {
  Result<Reply> reply =
      demand(connection, fmt::format("stats-job {}", id), "OK", fmt::format("job {}", id));
  if (!reply) return reply.error();
  const Map stats = parse_map(reply.value().body);
  if (text_of(stats, "state") == "buried") return bury_job(connection, id, options);
  ChangeOptions as = options;
  as.delay = static_cast<std::uint32_t>(number_of(stats, "time-left"));
  return release_job(connection, id, as);
}

Result<std::string_view> reprioritize_job(Connection& connection, JobId id,
                                          const ChangeOptions& options) {
  Result<bool> offered = offers(connection, "reprioritize");
  if (!offered) return offered.error();
  if (!offered.value()) return put_back(connection, id, options);
  return ask_for(connection, fmt::format("reprioritize {} {}", id, *options.pri), "REPRIORITIZED",
                 "reprioritized", id);
}

Result<int> act_on_each(Tool& tool, const ChangeOptions& options, Act act) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  int exit_code = kDone;
  Json list = Json::array();
  for (const JobId id : options.ids) {
    Result<std::string_view> done = act(connection.value(), id, options);
    const bool lost = !done && done.error().exit_code == kUnreachable;
    list.push_back({{"id", id}, {"result", done ? std::string(done.value()) : done.error().text}});
    if (done) {
      tool.confirm(fmt::format("job {} {}", id, done.value()));
    } else {
      tool.complain(done.error().text);
      exit_code = std::max(exit_code, done.error().exit_code);
    }
    if (lost) break;
  }
  if (tool.json) tool.print_json(list);
  return exit_code;
}

Run act_on(CommandLine& line, const std::shared_ptr<ChangeOptions>& options, Act act) {
  add_ids(line, options->ids);
  return [options, act](Tool& tool) { return act_on_each(tool, *options, act); };
}

Argument add_new_pri(CommandLine& line, const std::shared_ptr<ChangeOptions>& options,
                     const std::string& help) {
  return add_pri(line, help, [options](std::uint32_t pri) { options->pri = pri; });
}

}  // namespace

Run set_up_delete(CommandLine& line) {
  return act_on(line, std::make_shared<ChangeOptions>(), delete_job);
}

Run set_up_kick_job(CommandLine& line) {
  return act_on(line, std::make_shared<ChangeOptions>(), kick_job);
}

Run set_up_bury(CommandLine& line) {
  auto options = std::make_shared<ChangeOptions>();
  add_new_pri(line, options, "a new priority (as it was)");
  return act_on(line, options, bury_job);
}

Run set_up_release(CommandLine& line) {
  auto options = std::make_shared<ChangeOptions>();
  add_new_pri(line, options, "a new priority (as it was)");
  add_seconds(line, "-d,--delay", options->delay, "time until the job is ready (0)");
  return act_on(line, options, release_job);
}

Run set_up_reprioritize(CommandLine& line) {
  auto options = std::make_shared<ChangeOptions>();
  add_new_pri(line, options, "the new priority").required();
  return act_on(line, options, reprioritize_job);
}

}  // namespace xylem::tool
