// Client: what the engine knows of one connection. It uses one tube, watches at least one, holds
// the jobs that it has reserved, and does one thing at a time: nothing, the upload of a body, a
// wait in reserve, or a long command.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "xylem/core/heap.h"
#include "xylem/core/ids.h"
#include "xylem/core/job.h"
#include "xylem/core/list.h"
#include "xylem/core/reply.h"
#include "xylem/core/tube.h"
#include "xylem/core/waker.h"

namespace xylem {

// Where a reserved job stands in its client's heap.
struct ReservedJob {
  Time deadline_at{};
  Job* job = nullptr;

  [[nodiscard]] bool before(const ReservedJob& other) const {
    return deadline_at != other.deadline_at ? deadline_at < other.deadline_at
                                            : earlier(*job, *other.job);
  }
  void moved_to(std::uint32_t position) const { job->holding.position = position; }
};

// A put between its line and its body: the id is taken and the tube kept alive, but there is no
// job.
struct Upload {
  JobId id = 0;
  Tube* tube = nullptr;
  Time created_at{};
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
};

// Long commands, and how far they are. At most `left` more jobs are kicked, of state `from`.
struct KickWork {
  JobState from = JobState::kBuried;
  std::uint32_t left = 0;
  std::uint32_t done = 0;
};
// At most `left` more jobs are moved; both tubes are kept by their move_count.
struct MoveWork {
  Tube* from = nullptr;
  Tube* to = nullptr;
  JobState state = JobState::kReady;
  std::uint32_t left = 0;
  std::uint32_t done = 0;
};
// What is due in the tube is promoted first, if `state` is given.
struct FlushWork {
  std::uint64_t walk = 0;  // keeps the tube's memory
  Tube* tube = nullptr;
  std::optional<JobState> state;
};
// The tubes that were there at the start, or those that the client watches, in their order; those
// that vanish meanwhile are skipped.
struct ListTubesWork {
  std::uint64_t walk = 0;  // keeps the tubes' memory
  std::vector<Tube*> tubes;
  std::size_t done = 0;
  bool watched = false;
};
// The wheel is still looking for its first job.
struct PeekDelayedWork {};
// Of the tube that the client uses; the lowest id so far was not it.
struct PeekReservedWork {
  JobId after = 0;
};
struct ListJobsWork {
  std::uint64_t walk = 0;  // keeps the tube's memory
  const Tube* tube = nullptr;
  std::optional<JobState> state;
  JobId after = 0;
  std::uint32_t left = 0;
  JobList list;
};
struct StatsTubesWork {
  std::uint64_t walk = 0;
  std::vector<Tube*> tubes;
  std::size_t done = 0;
};
// The client is gone; it lets go of its tubes, and its jobs become ready.
struct CloseWork {};

using Work = std::variant<KickWork, MoveWork, FlushWork, ListTubesWork, PeekDelayedWork,
                          PeekReservedWork, ListJobsWork, StatsTubesWork, CloseWork>;

struct Client {
  Client(ClientId its_id, std::uint64_t its_number)
      : id(its_id),
        number(its_number),
        ttr(*this, WakerKind::kTtr),
        wait(*this, WakerKind::kWait) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ClientId id;
  std::uint64_t number;  // counts connections; orders clients
  Tube* used = nullptr;
  std::vector<Watching> watches;  // in the order of list-tubes-watched
  // Where each tube stands in `watches`, kept only for long lists.
  std::unique_ptr<std::unordered_map<const Tube*, std::size_t>> watch_index;
  Heap<ReservedJob> reserved;
  Waker ttr;
  Waker wait;
  Time wait_until = kNever;
  std::optional<Upload> upload;
  std::unique_ptr<Work> work;
  Links<Client> work_links{};
  bool producer = false;
  bool worker = false;
  bool waiting = false;
  bool half_closed = false;
  bool gone = false;

  // When its first reserved job comes within the safety margin; kNever if it holds none.
  [[nodiscard]] Time margin_at() const {
    return reserved.empty() ? kNever : reserved.top().deadline_at - limits::kSafetyMargin;
  }
};

}  // namespace xylem
