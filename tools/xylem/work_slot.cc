// One slot of work, as one thread sees it: plain waits, one after the other. What it waits for is
// always two things at once: what it is about, and the word to stop.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>

#include "text.h"
#include "work.h"

namespace xylem::tool {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstRetry{100};
constexpr milliseconds kLastRetry{30'000};
// After SIGTERM a command has this long before SIGKILL.
constexpr milliseconds kGrace{5'000};
constexpr std::uint32_t kLongestBackOff = 3'600;

struct Job {
  JobId id = 0;
  std::string body;
  Map stats;
  bool lost = false;  // the reservation is
};

// Which of the two became readable first; neither when the time is up.
enum class Woken : std::uint8_t { kFirst, kSecond, kNeither };
Woken wait_for(int first, int second, milliseconds time) {
  pollfd polled[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  while (poll(polled, 2, static_cast<int>(time.count())) < 0 && errno == EINTR) {
  }
  if (polled[0].revents != 0) return Woken::kFirst;
  return polled[1].revents != 0 ? Woken::kSecond : Woken::kNeither;
}

bool told_to_stop(int stop_fd) { return wait_for(stop_fd, -1, milliseconds{0}) == Woken::kFirst; }

class Slot {
 public:
  Slot(const WorkOptions& options, Connection connection, int stop_fd, Journal& journal)
      : options_(options),
        connection_(std::move(connection)),
        stop_fd_(stop_fd),
        journal_(journal) {}

  void serve() {
    while (!told_to_stop(stop_fd_)) {
      Result<std::optional<Job>> job = reserve();
      if (!job) {
        if (!reconnect(job.error())) return;
      } else if (job.value()) {
        run(*job.value());
      }
    }
  }

 private:
  // A job; none if told to stop, or if it was gone again.
  Result<std::optional<Job>> reserve() {
    connection_.send("reserve");
    for (;;) {
      Result<std::optional<Reply>> reply = connection_.receive_now();
      if (!reply) return reply.error();
      if (reply.value()) return described(std::move(*reply.value()));
      if (wait_for(connection_.fd(), stop_fd_, milliseconds{-1}) == Woken::kSecond) {
        connection_.half_close();  // a job that comes now goes back when the connection closes
        return std::optional<Job>{};
      }
    }
  }

  Result<std::optional<Job>> described(Reply&& reserved) {
    if (!reserved.is("RESERVED")) return std::optional<Job>{};
    Job job{.id = reserved.number(), .body = std::move(reserved.body), .stats = {}};
    Result<Reply> stats = connection_.ask(fmt::format("stats-job {}", job.id));
    if (!stats) return stats.error();
    if (!stats.value().is("OK")) return std::optional<Job>{};
    job.stats = client::parse_map(stats.value().body);
    return std::optional(std::move(job));
  }

  // False if told to stop meanwhile.
  bool reconnect(Error why) {
    for (milliseconds pause = kFirstRetry;; pause = std::min(pause * 2, kLastRetry)) {
      journal_.tell(fmt::format("{}; trying again in {:.1f} s", why.text,
                                static_cast<double>(pause.count()) / 1'000));
      if (wait_for(stop_fd_, -1, pause) == Woken::kFirst) return false;
      Result<Connection> connection = connect_worker(connection_.address(), options_);
      if (connection) {
        connection_ = std::move(connection).value();
        return true;
      }
      why = connection.error();
    }
  }

  void run(Job& job) {
    const Clock::time_point start = Clock::now();
    Told told{.id = job.id,
              .tube = std::string(client::text_of(job.stats, "tube")),
              .reserves = client::number_of(job.stats, "reserves"),
              .result = {}};
    Result<Child> child =
        Child::start(options_.command, job.body, options_.body_goes,
                     {fmt::format("XYLEM_JOB_ID={}", job.id), "XYLEM_TUBE=" + told.tube,
                      fmt::format("XYLEM_PRI={}", client::text_of(job.stats, "pri")),
                      fmt::format("XYLEM_RESERVES={}", told.reserves)});
    if (child) {
      watch_over(child.value(), job, start);
      told.exit_code = child.value().wait();
    } else {
      told.exit_code = 127;
      journal_.tell(child.error().text);
    }
    told.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    told.result = settle(job, told);
    journal_.tell(told);
  }

  // Until the command has ended: touches the job, and ends what takes too long.
  void watch_over(const Child& child, Job& job, Clock::time_point start) {
    const milliseconds ttr{1'000 * client::number_of(job.stats, "ttr")};
    Clock::time_point touch_at = start + ttr / 2;
    const bool bounded = options_.kill_after.count() > 0;
    Clock::time_point kill_at = bounded ? start + options_.kill_after : Clock::time_point::max();
    int number = SIGTERM;
    for (;;) {
      const Clock::time_point next = job.lost ? kill_at : std::min(touch_at, kill_at);
      const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
      const std::int64_t bound = std::clamp<std::int64_t>(left, 0, 3'600'000);
      if (wait_for(child.fd(), job.lost ? -1 : connection_.fd(), milliseconds{bound}) ==
          Woken::kFirst) {
        return;
      }
      const Clock::time_point now = Clock::now();
      if (now >= kill_at) {
        child.kill(std::exchange(number, SIGKILL));
        kill_at = now + kGrace;
      }
      if (job.lost) continue;
      if (now >= touch_at) {
        touch(job);
        touch_at = now + ttr / 2;
      } else if (now < kill_at) {
        notice_loss(job);
      }
    }
  }

  void touch(Job& job) {
    Result<Reply> reply = connection_.ask(fmt::format("touch {}", job.id));
    if (reply && reply.value().is("TOUCHED")) return;
    job.lost = true;
    journal_.tell(fmt::format("job {}: {}; it may run again", job.id,
                              reply ? "its ttr ran out" : reply.error().text));
  }

  // Nothing is owed, so what can be read is the end of the connection.
  void notice_loss(Job& job) {
    const Result<std::optional<Reply>> nothing = connection_.receive_now();
    if (nothing) return;
    job.lost = true;
    journal_.tell(fmt::format("job {}: {}; it may run again", job.id, nothing.error().text));
  }

  // What becomes of the job.
  std::string settle(const Job& job, const Told& told) {
    if (job.lost) return "lost";
    const std::string_view pri = client::text_of(job.stats, "pri");
    if (told.exit_code == 0) return ask(fmt::format("delete {}", job.id), "DELETED", "deleted");
    if (told.reserves >= options_.most_tries) {
      return ask(fmt::format("bury {} {}", job.id, pri), "BURIED", "buried");
    }
    const std::uint32_t delay = delay_after(told.reserves);
    return ask(fmt::format("release {} {} {}", job.id, pri, delay), "RELEASED",
               fmt::format("released for {} s", delay));
  }

  std::string ask(const std::string& line, std::string_view word, std::string done) {
    Result<Reply> reply = connection_.ask(line);
    if (!reply) return "lost";
    if (reply.value().is(word)) return done;
    if (reply.value().is("NOT_FOUND")) return "lost: its ttr ran out";
    return escaped(reply.value().line());
  }

  // The first delay, doubled for every try after the first.
  [[nodiscard]] std::uint32_t delay_after(std::uint64_t reserves) const {
    std::uint64_t delay = options_.back_off;
    for (std::uint64_t i = 1; i < reserves && delay < kLongestBackOff; ++i) delay *= 2;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(delay, std::max(kLongestBackOff, options_.back_off)));
  }

  const WorkOptions& options_;
  Connection connection_;
  int stop_fd_;
  Journal& journal_;
};

}  // namespace

void serve_slot(const WorkOptions& options, Connection connection, int stop_fd, Journal& journal) {
  Slot(options, std::move(connection), stop_fd, journal).serve();
}

}  // namespace xylem::tool
