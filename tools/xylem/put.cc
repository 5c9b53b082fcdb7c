// put: one job, or one a line of standard input. Lines are pipelined; when the input pauses, what
// was read is put and confirmed before it is waited for again, so that `tail -f | xylem put
// --lines` delays nothing.
#include <fmt/format.h>
#include <unistd.h>

#include "input.h"
#include "pipeline.h"
#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

struct PutOptions {
  std::string tube = "default";
  client::Put put;
  bool lines = false;
  bool null = false;
  std::string body = "-";
};

Result<int> put_one(Tool& tool, const PutOptions& options) {
  Result<std::string> body = std::string(options.body);
  if (options.body == "-") body = read_file("-");
  if (options.body.starts_with('@')) body = read_file(options.body.substr(1));
  if (!body) return body.error();
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> used = demand(connection.value(), "use " + options.tube, "USING", "use");
  if (!used) return used.error();
  Result<Reply> reply = connection.value().put(body.value(), options.put);
  if (!reply) return perhaps_done(reply.error(), "put");
  if (!reply.value().is("INSERTED")) return refusal(reply.value(), "put");
  const std::uint64_t id = reply.value().number();
  tool.json ? tool.print_json({{"id", id}, {"tube", options.tube}})
            : tool.print(fmt::format("{}\n", id));
  return kDone;
}

// What came of many puts. Replies come in the order of the lines.
struct PutTally {
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  std::uint64_t put = 0;
  std::uint64_t first_id = 0;
  std::uint64_t last_id = 0;
  std::optional<Error> refused;  // the first
  bool stop = false;             // the rest would be refused too
  bool stopped = false;          // there was a rest, which was not sent

  void take(const Reply& reply) {
    ++answered;
    if (reply.is("INSERTED")) {
      last_id = reply.number();
      if (++put == 1) first_id = last_id;
      return;
    }
    if (!refused) refused = refusal(reply, fmt::format("job {} of the input", answered));
    stop = stop || !reply.is("JOB_TOO_BIG");
  }
};

Result<std::monostate> put_each(Tool& tool, const PutOptions& options, Connection& connection,
                                Input& input, PutTally& tally) {
  Pipeline pipeline(connection, [&tally](Reply&& reply) { tally.take(reply); });
  Progress progress(tool, "put");
  for (;;) {
    if (input.would_wait()) {
      if (auto done = pipeline.drain(); !done) return done;
    }
    Result<std::optional<std::string_view>> record = input.next();
    if (!record) return record.error();
    if (!record.value()) return pipeline.drain();
    if (tally.stop) {
      tally.stopped = true;
      return pipeline.drain();
    }
    connection.send_put(*record.value(), options.put);
    ++tally.sent;
    if (auto done = pipeline.went(); !done) return done;
    progress.show(tally.put, input.part_taken());
  }
}

// Other producers' ids may stand between ours.
std::string ids_of(const PutTally& tally) {
  if (tally.put == 0) return "";
  const bool all = tally.last_id - tally.first_id + 1 == tally.put;
  return fmt::format(", ids {}{} to {}", all ? "" : "within ", tally.first_id, tally.last_id);
}

// `broken`: an error ended it.
void report_put(Tool& tool, const PutTally& tally, bool broken) {
  if (tool.json) {
    tool.print_json({{"put", tally.put},
                     {"first-id", tally.first_id},
                     {"last-id", tally.last_id},
                     {"refused", tally.answered - tally.put},
                     {"unanswered", tally.sent - tally.answered}});
  } else {
    tool.print(fmt::format("{} put{}\n", counted(tally.put, "job"), ids_of(tally)));
  }
  if (broken || tally.stopped) tool.complain_of_the_rest("job", tally.answered, tally.sent);
}

Result<int> put_many(Tool& tool, const PutOptions& options) {
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> used = demand(connection.value(), "use " + options.tube, "USING", "use");
  if (!used) return used.error();
  Input input(STDIN_FILENO, options.null ? '\0' : '\n', tool.interrupt_fd());
  PutTally tally;
  const Result<std::monostate> done = put_each(tool, options, connection.value(), input, tally);
  report_put(tool, tally, !done);
  if (!done) return done.error();
  if (tally.refused) return refusals(tally.answered - tally.put, *tally.refused);
  return tally.put > 0 ? kDone : kNothing;
}

}  // namespace

Run set_up_put(CommandLine& line) {
  auto options = std::make_shared<PutOptions>();
  add_tube_option(line, options->tube);
  add_pri(line, "priority: 0 is the most urgent (1024)",
          [options](std::uint32_t pri) { options->put.pri = pri; });
  add_seconds(line, "-d,--delay", options->put.delay, "time until the job is ready (0)");
  add_seconds(line, "--ttr", options->put.ttr, "time that a worker has for it (60s)");
  Argument lines = line.add_flag("--lines", options->lines, "a job of each line of standard input");
  Argument null = line.add_flag("--null", options->null, "a job of each text that a NUL byte ends");
  const Argument body =
      line.add_option("BODY", options->body, "the body; - or none: standard input; @FILE")
          .type_name("");
  lines.excludes(body).excludes(null);
  null.excludes(body);
  return [options](Tool& tool) {
    const bool many = options->lines || options->null;
    return many ? put_many(tool, *options) : put_one(tool, *options);
  };
}

}  // namespace xylem::tool
