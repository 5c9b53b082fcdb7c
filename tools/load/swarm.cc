// The loop: level-triggered, one read for each event, writes at once when a batch begins. EPOLLOUT
// is asked for only while a socket is full.
#include "swarm.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>

#include "failure.h"

namespace xylem::load {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

// The greeting: one batch, whatever the replies.
class Greeting final : public Script {
 public:
  Greeting(std::string_view commands, std::uint64_t reply_count, std::size_t connection_count)
      : batch_{commands, reply_count}, said_(connection_count) {}

  Batch next(std::size_t connection, Time /*now*/) override {
    if (said_[connection]) return Batch{};
    said_[connection] = true;
    return batch_;
  }
  void on_reply(std::size_t /*connection*/, const Reply& /*reply*/) override {}

 private:
  Batch batch_;
  std::vector<bool> said_;
};

}  // namespace

Swarm::Swarm(const Address& address, std::size_t connection_count)
    : address_(address), epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(kBufferBytes) {
  for (std::size_t index = 0; index < connection_count; ++index) {
    check_interrupted();
    connections_.emplace_back(connect_to(address));
    const int fd = connections_.back().fd.get();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    watch(index, EPOLL_CTL_ADD, false);
  }
}

void Swarm::watch(std::size_t index, int operation, bool room) {
  connections_[index].awaits_room = room;
  epoll_event event{};
  event.events = room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = index;
  if (epoll_ctl(epoll_.get(), operation, connections_[index].fd.get(), &event) != 0) {
    fail_errno("epoll_ctl");
  }
}

void Swarm::greet(std::string_view commands, std::uint64_t reply_count) {
  Greeting greeting(commands, reply_count, size());
  run(greeting);
}

Tally Swarm::run(Script& script, Duration patience) {
  Tally tally;
  const Time start = Clock::now();
  active_ = size();
  for (std::size_t index = 0; index < size(); ++index) start_batch(index, script, Clock::now());
  std::array<epoll_event, 256> events{};
  Time last_event = start;
  while (active_ > 0) {
    check_interrupted();
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 100);
    if (count > 0) {
      last_event = Clock::now();
    } else if (Clock::now() - last_event > patience) {
      fail("{} has not answered for {} s", address_.text, seconds(patience));
    }
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if ((event.events & EPOLLOUT) != 0) send_rest(event.data.u64);
      if ((event.events & ~static_cast<unsigned>(EPOLLOUT)) != 0) {
        receive(event.data.u64, script, tally);
      }
    }
  }
  tally.elapsed = Clock::now() - start;
  return tally;
}

void Swarm::start_batch(std::size_t index, Script& script, Time now) {
  const Batch batch = script.next(index, now);
  if (batch.reply_count == 0) {
    --active_;
    return;
  }
  Connection& connection = connections_[index];
  connection.unsent = batch.bytes;
  connection.replies_left = batch.reply_count;
  connection.sent_at = now;
  send_rest(index);
}

void Swarm::send_rest(std::size_t index) {
  Connection& connection = connections_[index];
  while (!connection.unsent.empty()) {
    const ssize_t sent =
        send(connection.fd.get(), connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) fail_errno("write to " + address_.text);
    if (sent < 0) break;
    connection.unsent.remove_prefix(static_cast<std::size_t>(sent));
  }
  const bool room = !connection.unsent.empty();
  if (room != connection.awaits_room) watch(index, EPOLL_CTL_MOD, room);
}

void Swarm::receive(std::size_t index, Script& script, Tally& tally) {
  Connection& connection = connections_[index];
  const ssize_t count = read(connection.fd.get(), buffer_.data(), buffer_.size());
  if (count < 0 && errno == EAGAIN) return;
  if (count < 0) fail_errno("read from " + address_.text);
  if (count == 0) fail("{} closed a connection", address_.text);
  const Time now = Clock::now();
  const auto latency = static_cast<std::uint64_t>((now - connection.sent_at).count());
  std::string_view input(buffer_.data(), static_cast<std::size_t>(count));
  Reply reply;
  while (connection.parser.next(input, reply)) {
    if (connection.replies_left == 0) fail("{} sent a reply too many", address_.text);
    script.on_reply(index, reply);
    tally.latency.record(latency);
    ++tally.replies;
    --connection.replies_left;
  }
  if (connection.replies_left == 0) start_batch(index, script, now);
}

}  // namespace xylem::load
