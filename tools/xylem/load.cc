// load: puts what dump wrote. It goes in batches, each answered whole before the next begins, and
// an interruption is heeded between two batches only: so what is told of a load is exact, and no
// job is left on its way to being buried. The jobs of a batch leave while later lines of it are
// read, so that the server works meanwhile.
//
// A buried job is put with the longest delay, then taken by reserve-job and buried: no worker ever
// sees it.
#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <span>
#include <unordered_map>

#include "input.h"
#include "listing.h"
#include "load_line.h"
#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

struct LoadOptions {
  bool skip_existing = false;
};

struct ReadJob {
  LoadedJob what;
  std::uint64_t line = 0;  // of the input
  bool after_use = false;  // a reply to `use` comes before its own
};

// Put with the longest delay, and still to be buried.
struct ToBury {
  JobId id = 0;
  std::uint32_t pri = 0;
  std::uint64_t line = 0;
};

constexpr std::size_t kBatchJobs = 1'000;
constexpr std::size_t kBatchBytes = 8 << 20;
// Of a batch, so many leave at once.
constexpr std::size_t kJobsAtOnce = 100;

std::string line_of_input(std::uint64_t number) {
  return fmt::format("line {} of the input", number);
}

// What is in the tubes already: how many jobs of each body.
class Existing {
 public:
  [[nodiscard]] bool knows(const std::string& tube) const { return bodies_.contains(tube); }

  // Looks into the tube.
  Result<std::monostate> read(Connection& connection, const std::string& tube) {
    auto& bodies = bodies_[tube];
    for (JobId after = 0;;) {
      Result<std::vector<Map>> page = list_page(connection, tube, "all", after, kPage);
      if (!page) return page.error();
      auto done = with_bodies(connection, page.value(),
                              [&bodies](const Map&, const auto& body) { ++bodies[hash(body)]; });
      if (!done || page.value().size() < kPage) return done;
      after = client::number_of(page.value().back(), "id");
    }
  }

  // Whether the tube, which it knows, has such a job; each is counted once.
  bool take(const LoadedJob& job) {
    std::size_t& count = bodies_[job.tube][hash(job.body)];
    if (count == 0) return false;
    --count;
    return true;
  }

 private:
  static std::size_t hash(std::string_view body) { return std::hash<std::string_view>{}(body); }

  std::unordered_map<std::string, std::unordered_map<std::size_t, std::size_t>> bodies_;
};

struct Tally {
  std::uint64_t loaded = 0;
  std::uint64_t skipped = 0;
  std::uint64_t refused = 0;
  std::uint64_t unanswered = 0;
  std::uint64_t lines_done = 0;  // that far everything is answered, or was skipped
  std::uint64_t lines_sent = 0;
  std::vector<JobId> put_not_buried;
  std::optional<Error> first_refusal;
};

class Loader {
 public:
  Loader(Tool& tool, Connection& connection, const LoadOptions& options)
      : tool_(tool), connection_(connection), options_(options) {}

  Result<std::monostate> load(Input& input) {
    Progress progress(tool_, "loaded");
    for (std::uint64_t number = 1;; ++number) {
      Result<std::optional<std::string_view>> text = input.next();
      if (!text) return after_the_rest(text.error());
      if (!text.value()) return finish_batch();
      if (text.value()->empty()) continue;
      Result<LoadedJob> job = parse_job(*text.value());
      if (!job) return after_the_rest(bad_line(number, job.error()));
      auto added = add({std::move(job).value(), number});
      if (!added) return added;
      progress.show(tally_.loaded, input.part_taken());
    }
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  static Error bad_line(std::uint64_t number, const Error& why) {
    return {.text = fmt::format("{}: {}", line_of_input(number), why.text), .exit_code = kInOut};
  }

  // The jobs before the one that ends the load are loaded.
  Result<std::monostate> after_the_rest(const Error& error) {
    auto done = finish_batch();
    if (!done) return done;
    return error;
  }

  Result<std::monostate> add(ReadJob job) {
    if (options_.skip_existing) {
      auto known = get_to_know(job.what.tube);
      if (!known) return known;
    }
    tally_.lines_sent = job.line;
    if (options_.skip_existing && existing_.take(job.what)) {
      ++tally_.skipped;
      return std::monostate{};
    }
    auto sent = send(std::move(job));
    if (!sent || (batch_.size() < kBatchJobs && batch_bytes_ < kBatchBytes)) return sent;
    auto done = finish_batch();
    if (done && tool_.interrupted()) return interrupted();
    return done;
  }

  // The replies to what was sent come before what is asked for here.
  Result<std::monostate> get_to_know(const std::string& tube) {
    if (existing_.knows(tube)) return std::monostate{};
    auto done = finish_batch();
    return done ? existing_.read(connection_, tube) : done;
  }

  Result<std::monostate> send(ReadJob job) {
    const LoadedJob& what = job.what;
    job.after_use = what.tube != tube_;
    if (job.after_use) connection_.send("use " + (tube_ = what.tube));
    client::Put as = what.put;
    if (what.buried) as.delay = std::numeric_limits<std::uint32_t>::max();
    connection_.send_put(what.body, as);
    batch_bytes_ += what.body.size();
    batch_.push_back(std::move(job));
    if (batch_.size() % kJobsAtOnce != 0) return std::monostate{};
    auto flushed = connection_.flush();
    if (!flushed) unanswered(batch_);
    return flushed;
  }

  Result<std::monostate> finish_batch() {
    std::vector<ToBury> to_bury;
    auto put = hear_batch(to_bury);
    if (!put) {
      not_buried(to_bury);
      return put;
    }
    tally_.lines_done = tally_.lines_sent;
    return bury(to_bury);
  }

  Result<std::monostate> hear_batch(std::vector<ToBury>& to_bury) {
    const std::vector<ReadJob> batch = std::exchange(batch_, {});
    batch_bytes_ = 0;
    for (std::size_t at = 0; at < batch.size(); ++at) {
      Result<Reply> reply = connection_.receive();
      if (reply && batch[at].after_use) reply = connection_.receive();
      if (!reply) {
        unanswered(std::span(batch).subspan(at));
        return reply.error();
      }
      if (!reply.value().is("INSERTED")) {
        refuse(refusal(reply.value(), line_of_input(batch[at].line)));
      } else if (batch[at].what.buried) {
        to_bury.push_back({reply.value().number(), batch[at].what.put.pri, batch[at].line});
      } else {
        ++tally_.loaded;
      }
    }
    return std::monostate{};
  }

  Result<std::monostate> bury(const std::vector<ToBury>& jobs) {
    for (const ToBury& job : jobs) {
      connection_.send(fmt::format("reserve-job {}", job.id));
      connection_.send(fmt::format("bury {} {}", job.id, job.pri));
    }
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      Result<Reply> reply = connection_.receive();
      if (reply) reply = connection_.receive();
      if (!reply) {
        not_buried(std::span(jobs).subspan(at));
        return reply.error();
      }
      if (reply.value().is("BURIED")) {
        ++tally_.loaded;
      } else {
        refuse(refusal(reply.value(), fmt::format("{}: to bury job {}",
                                                  line_of_input(jobs[at].line), jobs[at].id)));
      }
    }
    return std::monostate{};
  }

  // Nobody knows what came of these, the last that were sent.
  void unanswered(std::span<const ReadJob> jobs) {
    tally_.unanswered += jobs.size();
    tally_.lines_done = jobs.front().line - 1;
  }

  void not_buried(std::span<const ToBury> jobs) {
    for (const ToBury& job : jobs) tally_.put_not_buried.push_back(job.id);
  }

  void refuse(const Error& why) {
    ++tally_.refused;
    if (!tally_.first_refusal) tally_.first_refusal = why;
  }

  Tool& tool_;
  Connection& connection_;
  const LoadOptions& options_;
  Existing existing_;
  Tally tally_;
  std::string tube_;
  std::vector<ReadJob> batch_;
  std::size_t batch_bytes_ = 0;
};

// `broken`: an error ended it.
void report(Tool& tool, const Tally& tally, bool broken) {
  if (tool.json) {
    tool.print_json({{"loaded", tally.loaded},
                     {"skipped", tally.skipped},
                     {"refused", tally.refused},
                     {"unanswered", tally.unanswered},
                     {"put-not-buried", tally.put_not_buried},
                     {"lines-done", tally.lines_done},
                     {"lines-sent", tally.lines_sent}});
  } else {
    const std::string skipped =
        tally.skipped > 0 ? fmt::format(", {} skipped", tally.skipped) : std::string();
    tool.print(fmt::format("{} loaded{}; ids, ages and counters start anew\n",
                           counted(tally.loaded, "job"), skipped));
  }
  if (broken) tool.complain_of_the_rest("line", tally.lines_done, tally.lines_sent);
  if (!tally.put_not_buried.empty()) {
    tool.complain(fmt::format("{} put, with a delay of 4294967295 s, and perhaps not buried: {}",
                              counted(tally.put_not_buried.size(), "job"),
                              ranges(tally.put_not_buried)));
  }
}

Result<int> load(Tool& tool, const LoadOptions& options) {
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect_without_interrupts();
  if (!connection) return connection.error();
  if (options.skip_existing) {
    Result<bool> offered = offers(connection.value(), "list-jobs");
    if (!offered) return offered.error();
    if (!offered.value()) return not_offered("list-jobs", ", which --skip-existing needs");
  }
  Loader loader(tool, connection.value(), options);
  Input input(STDIN_FILENO, '\n', tool.interrupt_fd());
  const auto done = loader.load(input);
  const Tally& tally = loader.tally();
  report(tool, tally, !done);
  if (!done) return done.error();
  if (tally.refused > 0) return refusals(tally.refused, *tally.first_refusal);
  return tally.loaded > 0 ? kDone : kNothing;
}

}  // namespace

Run set_up_load(CommandLine& line) {
  auto options = std::make_shared<LoadOptions>();
  line.add_flag("--skip-existing", options->skip_existing,
                "leave out as many jobs of a body as the tube has already");
  return [options](Tool& tool) { return load(tool, *options); };
}

}  // namespace xylem::tool
