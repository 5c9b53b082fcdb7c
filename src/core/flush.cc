// flush-tube. The containers of the flushed states are cut off the tube whole, so a million jobs
// are gone at once: their memory is freed in slices, by ticks. Until then a flushed job stands in
// the index of ids and knows that it is dead: the tube's flush_count was lower when it entered its
// state than at the tube's last flush of that state. It points to its tube, so the tube's memory
// stays as long, even if the tube has vanished and another has its name.
//
// The count has 16 bits and never wraps. It begins anew when no job of the tube is left, dead or
// alive; a tube that is never without one for 65,535 flushes has no number left to tell its dead
// by, and from then on a flush frees what it cuts off before it answers: right, but not at once.
#include <algorithm>

#include "state.h"

namespace xylem {
namespace {

constexpr std::array kFlushable{JobState::kReady, JobState::kDelayed, JobState::kBuried};

std::string packed(const std::vector<JobId>& ids) {
  std::string bytes;
  bytes.reserve(ids.size() * 8);
  for (JobId id : ids) {
    for (int i = 0; i < 8; ++i, id >>= 8U) bytes.push_back(static_cast<char>(id & 0xFFU));
  }
  return bytes;
}

}  // namespace

Job* Flushed::take() {
  Job* job = ready.front();
  if (job != nullptr) {
    ready.erase(*job);
  } else if (job = buried.pop_front(); job == nullptr && delayed != nullptr) {
    job = delayed->any();
    if (job != nullptr) delayed->cancel(*job);
  }
  return job;
}

std::uint64_t Engine::State::flush(Tube& tube, std::optional<JobState> state, Output& out) {
  const std::uint64_t count = tube.jobs_in(state);
  if (count == 0) return 0;
  const bool names_reserved =
      options.recording && state.value_or(JobState::kReady) == JobState::kReady;
  record(out, FlushRecord{.tube = *tube.name,
                          .state = state,
                          .at = now,
                          .reserved = names_reserved ? reserved_in(tube) : PackedIds{}});
  const bool is_numbered = !tube.is_out_of_flushes();
  if (is_numbered) ++tube.flush_count;
  Flushed cut;
  for (const JobState each : kFlushable) {
    if (!state || *state == each) cut_off(tube, each, cut);
  }
  if (is_numbered) {
    cut.walk = tubes.begin_walk();
    flushed.push_back(std::move(cut));
  } else {
    while (!cut.empty()) free_one(cut);
  }
  return count;
}

// All clients are looked through, since a tube does not know who holds its jobs.
PackedIds Engine::State::reserved_in(const Tube& tube) {
  std::vector<JobId> ids;
  for (const auto& client : clients) {
    if (ids.size() == tube.reserved_count) break;
    if (client == nullptr) continue;
    for (std::uint32_t i = 0; i < client->reserved.size(); ++i) {
      const Job& job = *client->reserved.at(i).job;
      if (job.tube == &tube) ids.push_back(job.id);
    }
  }
  std::ranges::sort(ids);
  flushed_reserved = packed(ids);
  return {flushed_reserved};
}

void Engine::State::free_flushed() {
  for (std::uint32_t n = 0; n < options.budget && !flushed.empty(); ++n) {
    Flushed& first = flushed.front();
    Tube& tube = free_one(first);
    if (!first.empty()) continue;
    tubes.end_walk(first.walk);
    flushed.pop_front();
    const bool any_left = !flushed.empty() || tube.reserved_count + tube.jobs_in({}) != 0;
    if (!any_left) tube.number_flushes_anew();
  }
}

Tube& Engine::State::free_one(Flushed& cut) {
  Job& job = *cut.take();
  Tube& tube = *job.tube;
  remove_dead(job);
  return tube;
}

}  // namespace xylem
