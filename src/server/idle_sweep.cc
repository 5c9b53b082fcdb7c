// The idle timeout is exact to the second, and a sweep is bounded: if more have been quiet for too
// long, the next goes on.

#include "server/idle_sweep.h"

#include <utility>

#include "server/server.h"
#include "xylem/check.h"

namespace xylem {
namespace {

constexpr std::uint64_t kSweepMs = 1'000;
constexpr int kSweepCount = 10'000;

}  // namespace

IdleSweep::IdleSweep(Server& server, uv_loop_t& loop, Log& log) : server_(server), log_(log) {
  timer_.data = this;
  CHECK(uv_timer_init(&loop, &timer_) == 0);
}

void IdleSweep::set_timeout(std::uint32_t seconds, std::span<Connection* const> connections,
                            Time now) {
  const std::uint32_t before = std::exchange(seconds_, seconds);
  if (before == 0 && seconds > 0) {
    for (Connection* connection : connections) {
      if (connection != nullptr) append(*connection, now);
    }
  }
  if (seconds == 0) {
    quietest_ = {};
    uv_timer_stop(&timer_);
    return;
  }
  const auto on_timer = [](uv_timer_t* handle) { static_cast<IdleSweep*>(handle->data)->sweep(); };
  CHECK(uv_timer_start(&timer_, on_timer, kSweepMs, kSweepMs) == 0);
}

// Waiting, in reserve or for the disk, is no idleness.
void IdleSweep::sweep() {
  server_.begin_turn();
  const Time now = server_.now();
  const Time since = now - xylem::seconds(seconds_);
  for (int i = 0; i < kSweepCount; ++i) {
    Connection* connection = quietest_.front();
    if (connection == nullptr || connection->active_at > since) return;
    if (connection->waits_for_server()) {
      touch(*connection, now);
    } else {
      log_.debug("client {}: idle for too long", index_of(connection->id()));
      connection->close();
    }
  }
}

void IdleSweep::shut() { uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr); }

}  // namespace xylem
