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
#include <unordered_map>

#include "input.h"
#include "listing.h"
#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

struct Options {
  bool skip_existing = false;
};

struct Job {
  std::string tube;
  std::string body;
  client::Put put = {};
  bool buried = false;
  bool after_use = false;  // a reply to `use` comes before its own
};

constexpr std::size_t kBatchJobs = 1'000;
constexpr std::size_t kBatchBytes = 8 << 20;
// Of a batch, so many leave at once.
constexpr std::size_t kJobsAtOnce = 100;

Error bad_line(std::uint64_t number, std::string_view why) {
  return {.text = fmt::format("line {} of the input: {}", number, why), .exit_code = kInOut};
}

std::optional<std::uint32_t> number_in(const Json& line, const char* key, std::uint32_t otherwise) {
  const auto found = line.find(key);
  if (found == line.end()) return otherwise;
  if (!found->is_number_unsigned()) return std::nullopt;
  const auto number = found->get<std::uint64_t>();
  if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

std::string text_in(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<Job> parse_job(std::string_view text, std::uint64_t number) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return bad_line(number, "is no JSON object");
  Job job{.tube = text_in(line, "tube"), .body = text_in(line, "body")};
  if (const std::string wrong = check_tube(job.tube); !wrong.empty()) {
    return bad_line(number, wrong);
  }
  if (line.contains("body_base64")) {
    std::optional<std::string> bytes = from_base64(text_in(line, "body_base64"));
    if (!bytes) return bad_line(number, "its body_base64 is no base64");
    job.body = std::move(*bytes);
  } else if (!line.contains("body")) {
    return bad_line(number, "has neither body nor body_base64");
  }
  const auto pri = number_in(line, "pri", job.put.pri);
  const auto delay = number_in(line, "delay", 0);
  const auto ttr = number_in(line, "ttr", job.put.ttr);
  if (!pri || !delay || !ttr) {
    return bad_line(number, "pri, delay and ttr are numbers up to 4294967295");
  }
  job.put = {.pri = *pri, .delay = *delay, .ttr = *ttr};
  job.buried = text_in(line, "state") == "buried";
  return job;
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
      if (page.value().empty()) return std::monostate{};
      after = client::number_of(page.value().back(), "id");
      auto done = with_bodies(connection, page.value(),
                              [&bodies](const Map&, const auto& body) { ++bodies[hash(body)]; });
      if (!done) return done;
    }
  }

  // Whether the tube, which it knows, has such a job; each is counted once.
  bool take(const Job& job) {
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
  std::uint64_t put_not_buried = 0;
  std::optional<Error> first_refusal;
};

class Loader {
 public:
  Loader(Tool& tool, Connection& connection, const Options& options)
      : tool_(tool), connection_(connection), options_(options) {}

  Result<std::monostate> load(Input& input) {
    Progress progress(tool_, "loaded");
    for (std::uint64_t number = 1;; ++number) {
      Result<std::optional<std::string_view>> text = input.next();
      if (!text) return after_the_rest(text.error());
      if (!text.value()) return finish_batch();
      if (text.value()->empty()) continue;
      Result<Job> job = parse_job(*text.value(), number);
      if (!job) return after_the_rest(job.error());
      auto added = add(std::move(job).value());
      if (!added) return added;
      progress.show(tally_.loaded, input.part_taken());
    }
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  // The jobs before the one that ends the load are loaded.
  Result<std::monostate> after_the_rest(const Error& error) {
    auto done = finish_batch();
    if (!done) return done;
    return error;
  }

  Result<std::monostate> add(Job job) {
    if (options_.skip_existing) {
      auto known = get_to_know(job.tube);
      if (!known) return known;
      if (existing_.take(job)) {
        ++tally_.skipped;
        return std::monostate{};
      }
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

  Result<std::monostate> send(Job job) {
    job.after_use = job.tube != tube_;
    if (job.after_use) connection_.send("use " + (tube_ = job.tube));
    client::Put as = job.put;
    if (job.buried) as.delay = std::numeric_limits<std::uint32_t>::max();
    connection_.send_put(job.body, as);
    batch_bytes_ += job.body.size();
    batch_.push_back(std::move(job));
    if (batch_.size() % kJobsAtOnce != 0) return std::monostate{};
    auto flushed = connection_.flush();
    if (!flushed) tally_.unanswered += batch_.size();
    return flushed;
  }

  Result<std::monostate> finish_batch() {
    std::vector<std::pair<JobId, std::uint32_t>> to_bury;
    auto put = hear_batch(to_bury);
    if (!put) {
      tally_.put_not_buried += to_bury.size();
      return put;
    }
    return bury(to_bury);
  }

  Result<std::monostate> hear_batch(std::vector<std::pair<JobId, std::uint32_t>>& to_bury) {
    const std::vector<Job> batch = std::exchange(batch_, {});
    batch_bytes_ = 0;
    for (std::size_t at = 0; at < batch.size(); ++at) {
      Result<Reply> reply = connection_.receive();
      if (reply && batch[at].after_use) reply = connection_.receive();
      if (!reply) {
        tally_.unanswered += batch.size() - at;
        return reply.error();
      }
      if (!reply.value().is("INSERTED")) {
        refuse(refusal(reply.value(), "put"));
      } else if (batch[at].buried) {
        to_bury.emplace_back(reply.value().number(), batch[at].put.pri);
      } else {
        ++tally_.loaded;
      }
    }
    return std::monostate{};
  }

  Result<std::monostate> bury(const std::vector<std::pair<JobId, std::uint32_t>>& jobs) {
    for (const auto& [id, pri] : jobs) {
      connection_.send(fmt::format("reserve-job {}", id));
      connection_.send(fmt::format("bury {} {}", id, pri));
    }
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      Result<Reply> reply = connection_.receive();
      if (reply) reply = connection_.receive();
      if (!reply) {
        tally_.put_not_buried += jobs.size() - at;
        return reply.error();
      }
      if (reply.value().is("BURIED")) {
        ++tally_.loaded;
      } else {
        refuse(refusal(reply.value(), "bury"));
      }
    }
    return std::monostate{};
  }

  void refuse(const Error& why) {
    ++tally_.refused;
    if (!tally_.first_refusal) tally_.first_refusal = why;
  }

  Tool& tool_;
  Connection& connection_;
  const Options& options_;
  Existing existing_;
  Tally tally_;
  std::string tube_;
  std::vector<Job> batch_;
  std::size_t batch_bytes_ = 0;
};

void report(Tool& tool, const Tally& tally) {
  if (tool.json) {
    tool.print_json({{"loaded", tally.loaded},
                     {"skipped", tally.skipped},
                     {"refused", tally.refused},
                     {"unanswered", tally.unanswered},
                     {"put-not-buried", tally.put_not_buried}});
    return;
  }
  const std::string skipped =
      tally.skipped > 0 ? fmt::format(", {} skipped", tally.skipped) : std::string();
  tool.print(fmt::format("{} loaded{}; ids, ages and counters start anew\n",
                         counted(tally.loaded, "job"), skipped));
  tool.complain_of_unanswered(tally.unanswered);
  if (tally.put_not_buried > 0) {
    tool.complain(fmt::format("{} put, with a delay of 4294967295 s, and perhaps not buried",
                              counted(tally.put_not_buried, "job")));
  }
}

Result<int> load(Tool& tool, const Options& options) {
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
  report(tool, tally);
  if (!done) return done.error();
  if (tally.refused > 0) return refusals(tally.refused, *tally.first_refusal);
  return tally.loaded > 0 ? kDone : kNothing;
}

}  // namespace

Run set_up_load(CommandLine& line) {
  auto options = std::make_shared<Options>();
  line.add_flag("--skip-existing", options->skip_existing,
                "leave out jobs whose tube has one of the same body");
  return [options](Tool& tool) { return load(tool, *options); };
}

}  // namespace xylem::tool
