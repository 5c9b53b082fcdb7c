// One slot of work, as one thread sees it: plain waits, one after the other. What it waits for is
// always two things at once: what it is about, and the word to stop.
//
// A reply that does not come breaks the connection for good: if it came later, it would be taken
// for that of another command.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
// Once told to stop, a reply is waited for no longer than this.
constexpr milliseconds kLastPatience{5'000};
constexpr std::uint32_t kLongestBackOff = 3'600;

struct Job {
  JobId id = 0;
  std::string body;
  Map stats;
  bool lost = false;        // the reservation is
  bool given_back = false;  // its command was ended, since we are to hurry
};

// Which of these became readable, by its place; kNone when the time is up. -1 is no descriptor.
constexpr int kNone = -1;
int wait_for(std::array<int, 3> fds, milliseconds time) {
  std::array<pollfd, 3> polled{};
  std::ranges::transform(fds, polled.begin(), [](int fd) { return pollfd{fd, POLLIN, 0}; });
  while (poll(polled.data(), polled.size(), static_cast<int>(time.count())) < 0 && errno == EINTR) {
  }
  const auto woken =
      std::ranges::find_if(polled, [](const pollfd& each) { return each.revents != 0; });
  return woken == polled.end() ? kNone : static_cast<int>(woken - polled.begin());
}

class Slot {
 public:
  Slot(const WorkOptions& options, Connection connection, StopSigns signs, Journal& journal)
      : options_(options), connection_(std::move(connection)), signs_(signs), journal_(journal) {}

  void serve() {
    while (!is_readable(signs_.stop_fd)) {
      if (broken_ && !reconnect()) return;
      Result<std::optional<Job>> job = reserve();
      if (!job) {
        broken_ = job.error();
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
      if (reply.value()) {
        // Another slot may just have given it back, since it was told to stop.
        if (is_readable(signs_.stop_fd)) return std::optional<Job>{};
        return described(std::move(*reply.value()));
      }
      if (wait_for({connection_.fd(), signs_.stop_fd, -1}, milliseconds{-1}) == 1) {
        connection_.half_close();  // a job that comes now goes back when the connection closes
        return std::optional<Job>{};
      }
    }
  }

  Result<std::optional<Job>> described(Reply&& reserved) {
    if (!reserved.is("RESERVED")) return refusal(reserved, "reserve");
    Job job{.id = reserved.number(), .body = std::move(reserved.body), .stats = {}};
    Result<Reply> stats = ask(fmt::format("stats-job {}", job.id));
    if (!stats) return stats.error();
    if (!stats.value().is("OK")) return std::optional<Job>{};
    job.stats = client::parse_map(stats.value().body);
    return std::optional(std::move(job));
  }

  // False if told to stop meanwhile.
  bool reconnect() {
    for (milliseconds pause = kFirstRetry;; pause = std::min(pause * 2, kLastRetry)) {
      journal_.tell(fmt::format("{}; trying again in {:.1f} s", broken_->text,
                                static_cast<double>(pause.count()) / 1'000));
      if (wait_for({signs_.stop_fd, -1, -1}, pause) != kNone) return false;
      Result<Connection> connection = connect_worker(connection_.address(), options_, signs_);
      if (is_readable(signs_.stop_fd)) return false;
      if (connection) {
        connection_ = std::move(connection).value();
        broken_.reset();
        return true;
      }
      broken_ = connection.error();
    }
  }

  Result<Reply> ask(const std::string& line) {
    if (broken_) return *broken_;
    connection_.send(line);
    Result<Reply> reply = await_reply();
    if (!reply) broken_ = reply.error();
    return reply;
  }

  Result<Reply> await_reply() {
    milliseconds patience = client::Options{}.reply_timeout;
    for (bool stopping = false;;) {
      Result<std::optional<Reply>> reply = connection_.receive_now();
      if (!reply) return reply.error();
      if (reply.value()) return std::move(*reply.value());
      switch (wait_for({connection_.fd(), stopping ? -1 : signs_.stop_fd, -1}, patience)) {
        case 1:
          stopping = true;
          patience = kLastPatience;
          break;
        case kNone:
          return Error{
              .text = fmt::format("{} does not answer", client::to_string(connection_.address())),
              .exit_code = kUnreachable};
        default:
          break;
      }
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

  // Until the command has ended: touches the job, and ends what takes too long, or all when told to
  // hurry.
  void watch_over(const Child& child, Job& job, Clock::time_point start) {
    const milliseconds ttr{1'000 * client::number_of(job.stats, "ttr")};
    Clock::time_point touch_at = start + ttr / 2;
    const bool bounded = options_.kill_after.count() > 0;
    Clock::time_point kill_at =
        bounded ? start + std::min(options_.kill_after, kForEver) : Clock::time_point::max();
    int number = SIGTERM;
    for (;;) {
      const Clock::time_point next = job.lost ? kill_at : std::min(touch_at, kill_at);
      const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
      const std::int64_t bound = std::clamp<std::int64_t>(left, 0, 3'600'000);
      const int woken = wait_for(
          {child.fd(), job.given_back ? -1 : signs_.hurry_fd, job.lost ? -1 : connection_.fd()},
          milliseconds{bound});
      if (woken == 0) return;
      const Clock::time_point now = Clock::now();
      if (woken == 1) {
        job.given_back = true;
        kill_at = now;
      }
      if (now >= kill_at) {
        child.kill(std::exchange(number, SIGKILL));
        kill_at = now + kGrace;
      }
      if (job.lost) continue;
      if (now >= touch_at) {
        touch(job);
        touch_at = now + ttr / 2;
      } else if (woken == 2) {
        notice_loss(job);
      }
    }
  }

  void touch(Job& job) {
    Result<Reply> reply = ask(fmt::format("touch {}", job.id));
    if (reply && reply.value().is("TOUCHED")) return;
    job.lost = true;
    journal_.tell(fmt::format("job {}: {}; it may run again", job.id,
                              reply ? "its ttr ran out" : reply.error().text));
  }

  // Nothing is owed, so what can be read is the end of the connection.
  void notice_loss(Job& job) {
    const Result<std::optional<Reply>> nothing = connection_.receive_now();
    if (nothing) return;
    broken_ = nothing.error();
    job.lost = true;
    journal_.tell(fmt::format("job {}: {}; it may run again", job.id, nothing.error().text));
  }

  // What becomes of the job.
  std::string settle(const Job& job, const Told& told) {
    if (job.lost) return "lost";
    const std::string_view pri = client::text_of(job.stats, "pri");
    if (told.exit_code == 0) return settle(fmt::format("delete {}", job.id), "DELETED", "deleted");
    if (job.given_back) return "given back";
    if (told.reserves >= options_.most_tries) {
      return settle(fmt::format("bury {} {}", job.id, pri), "BURIED", "buried");
    }
    const std::uint32_t delay = delay_after(told.reserves);
    return settle(fmt::format("release {} {} {}", job.id, pri, delay), "RELEASED",
                  fmt::format("released for {} s", delay));
  }

  std::string settle(const std::string& line, std::string_view word, std::string done) {
    Result<Reply> reply = ask(line);
    if (!reply) return "lost: " + reply.error().text;
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
  std::optional<Error> broken_;  // why the connection is of no more use
  StopSigns signs_;
  Journal& journal_;
};

}  // namespace

bool is_readable(int fd) { return wait_for({fd, -1, -1}, milliseconds{0}) != kNone; }

void serve_slot(const WorkOptions& options, Connection connection, StopSigns signs,
                Journal& journal) {
  Slot(options, std::move(connection), signs, journal).serve();
}

}  // namespace xylem::tool
