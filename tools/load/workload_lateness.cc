// Lateness: jobs delayed by one second are put at an even, jittered rate; workers wait for them.
//
//   put sent ........ INSERTED                  due = put sent + 1 s ........ RESERVED read
//   |-- round trip ---|                         |--------- lateness ---------|
//
// Both spans hold one way to the server, one wake-up and one way back, so their difference is what
// the server's timers add. The server's share of a core is taken at the same time. What the machine
// itself is late is told by a bare timer on the server's cores afterwards, while the server rests.
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include <deque>
#include <random>
#include <thread>
#include <unordered_map>

#include "bench.h"
#include "failure.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr auto kDelay = std::chrono::seconds{1};
constexpr std::size_t kWorkers = 4;
constexpr double kSeconds = 8;

// Half to one and a half of the mean, so that due times keep no step with any timer.
Duration random_gap(std::minstd_rand& random, double rate) {
  const double jitter = 0.5 + static_cast<double>(random()) / std::minstd_rand::max();
  return from_seconds(jitter / rate);
}

class Trickle {
 public:
  explicit Trickle(const Bench& bench)
      : bench_(bench),
        producer_(client_in(bench, kTube)),
        put_(put_command(0, 1, bench.options.body_bytes)) {
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers_.push_back(client_in(bench, kTube));
      workers_.back().send("reserve\r\n");
    }
  }

  /// Puts for that long, then waits for what is still to come due.
  void run(Duration duration) {
    const Time end = Clock::now() + duration;
    const Time give_up = end + kDelay + bench_.patience();
    Time next_put = Clock::now();
    while (Clock::now() < end || !due_.empty() || !sent_.empty()) {
      if (Clock::now() > give_up) fail("{} keeps due jobs back", bench_.address.text);
      if (Clock::now() >= next_put && next_put < end) {
        put();
        next_put += random_gap(random_, bench_.options.rate);
      }
      wait_until(next_put < end ? next_put : Clock::now() + std::chrono::milliseconds{50});
    }
  }

  [[nodiscard]] const Histogram& round_trips() const { return round_trips_; }
  [[nodiscard]] const Histogram& lateness() const { return lateness_; }

 private:
  void put() {
    sent_.push_back(Clock::now());
    producer_.send(put_);
  }

  void wait_until(Time when) {
    check_interrupted();
    std::vector<pollfd> events{{.fd = producer_.fd(), .events = POLLIN, .revents = 0}};
    for (const Client& worker : workers_) {
      events.push_back({.fd = worker.fd(), .events = POLLIN, .revents = 0});
    }
    const Duration left = std::max<Duration>(when - Clock::now(), Duration::zero());
    const timespec timeout = timespec_of(left);
    if (ppoll(events.data(), events.size(), &timeout, nullptr) <= 0) return;
    const Time now = Clock::now();
    if (events[0].revents != 0) on_readable(producer_, [&] { on_inserted(now); });
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Client& worker = workers_[i];
      if (events[i + 1].revents != 0) on_readable(worker, [&] { on_reply(worker, now); });
    }
  }

  // One read may bring several replies.
  template <typename Take>
  static void on_readable(Client& client, Take take) {
    do {
      take();
    } while (client.has_unread());
  }

  void on_inserted(Time now) {
    const Reply reply = producer_.read("INSERTED");
    round_trips_.record(static_cast<std::uint64_t>((now - sent_.front()).count()));
    due_[reply.id] = sent_.front() + kDelay;
    sent_.pop_front();
  }

  void on_reply(Client& worker, Time now) {
    const Reply reply = worker.read();
    if (reply.word == "DELETED") return;
    if (reply.word != "RESERVED") fail("{} answered {}", bench_.address.text, reply.word);
    const auto due = due_.find(reply.id);
    if (due == due_.end()) fail("{} sent a job twice", bench_.address.text);
    const Duration late = now - due->second;
    if (late < Duration::zero()) fail("{} sent a job before it was due", bench_.address.text);
    lateness_.record(static_cast<std::uint64_t>(late.count()));
    due_.erase(due);
    worker.send(fmt::format("delete {}\r\nreserve\r\n", reply.id));
  }

  const Bench& bench_;
  Client producer_;
  std::vector<Client> workers_;
  std::string put_;
  std::deque<Time> sent_;  // puts that are not answered yet
  std::unordered_map<std::uint64_t, Time> due_;
  Histogram round_trips_;
  Histogram lateness_;
  std::minstd_rand random_{1};
};

void share_cores(const Process& process) {
  cpu_set_t cores;
  if (process.seen() && sched_getaffinity(process.pid(), sizeof cores, &cores) == 0) {
    sched_setaffinity(0, sizeof cores, &cores);
  }
}

Histogram bare_timer(const Bench& bench, Duration duration) {
  Histogram lateness;
  std::thread([&] {
    share_cores(bench.process);
    prctl(PR_SET_TIMERSLACK, 1);  // as exact as a timerfd
    std::minstd_rand random{1};
    for (const Time end = Clock::now() + duration; Clock::now() < end;) {
      const Time due = Clock::now() + random_gap(random, bench.options.rate);
      sleep_until(due);
      lateness.record(static_cast<std::uint64_t>((Clock::now() - due).count()));
    }
  }).join();
  return lateness;
}

}  // namespace

Figures run_lateness(const Bench& bench) {
  Trickle trickle(bench);
  Meter meter(bench);
  trickle.run(from_seconds(bench.options.time_or(kSeconds)));
  meter.stop();
  const auto ms = [](std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; };
  const double round_trip = ms(trickle.round_trips().percentile(0.5));
  Figures figures{{"round-trip-p50", "ms", round_trip},
                  {"late-p50", "ms", ms(trickle.lateness().percentile(0.5))},
                  {"late-p50-more", "ms", ms(trickle.lateness().percentile(0.5)) - round_trip},
                  {"late-p99", "ms", ms(trickle.lateness().percentile(0.99))},
                  {"round-trip-p99", "ms", ms(trickle.round_trips().percentile(0.99))}};
  const Histogram bare = bare_timer(bench, from_seconds(bench.options.time_or(kSeconds)));
  figures.push_back({"timer-p99", "ms", ms(bare.percentile(0.99))});
  if (bench.process.seen()) {
    figures.push_back({"cpu-share", "%", 100 * seconds(meter.cpu()) / seconds(meter.wall())});
  }
  return figures;
}

}  // namespace xylem::load
