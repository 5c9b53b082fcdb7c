// How bytes become steps: what the settings mean, which operation a step is, and which client, job,
// tube and numbers it is about.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "simulation.h"
#include "text.h"

namespace xylem::simulation {
namespace {

// About three in eight are 0: what is rare or absent lets others come together.
std::uint8_t weight(std::uint8_t byte) {
  return byte < 96 ? std::uint8_t{0} : static_cast<std::uint8_t>(byte - 95);
}

template <std::size_t kCount>
std::size_t choose(const std::array<std::uint8_t, kCount>& weights, std::uint32_t number) {
  std::uint32_t sum = 0;
  for (const std::uint8_t each : weights) sum += each;
  std::uint32_t at = sum == 0 ? 0 : number % sum;
  std::size_t choice = 0;
  while (choice + 1 < kCount && at >= weights[choice]) at -= weights[choice++];
  return choice;
}

}  // namespace

Simulation::Simulation(std::span<const std::uint8_t> bytes, std::FILE* transcript)
    : bytes_(bytes), transcript_(transcript), twin_(1) {
  std::array<std::uint8_t, kSettingsBytes> settings{};
  const std::size_t given = std::min(bytes.size(), kSettingsBytes);
  std::ranges::copy(bytes.first(given), settings.begin());
  bytes_ = bytes.subspan(given);
  read_settings(settings);
  engine_ = std::make_unique<Engine>(Engine::Options{.budget = budget_, .recording = true});
  engine_->set_segment(segment_);
  twin_ = Twin(budget_);
}

void Simulation::read_settings(std::span<const std::uint8_t> bytes) {
  std::size_t at = 0;
  for (std::uint8_t& each : op_weights_) each = weight(bytes[at++]);
  for (std::uint8_t& each : span_weights_) each = weight(bytes[at++]);
  for (std::uint8_t& each : pass_weights_) each = weight(bytes[at++]);
  // A world without these is dull, and these are dull in themselves.
  for (const Op op : {kConnect, kPut, kReserve}) op_weights_[op] |= 64U;
  for (const Op op : {kUse, kWatch, kReserveWithTimeout, kPass}) op_weights_[op] |= 16U;
  for (const Op op : {kPeek, kPeekReady, kPeekDelayed, kPeekBuried, kStats, kStatsJob, kStatsTube,
                      kListTubeUsed, kListTubesWatched, kCaps, kListJobs, kPeekReserved,
                      kStatsTubes, kTick, kDisconnect, kHalfClose}) {
    op_weights_[op] /= 4;
  }
  for (const Op op : {kBeginSegment, kLogAgain, kRetireSegment, kMoveJobs, kFlushTube})
    op_weights_[op] /= 4;
  for (const Op op : {kRebuild, kDrain, kChangeLog}) op_weights_[op] /= 32;
  constexpr std::array<std::uint32_t, 4> kBudgets{1, 3, limits::kSlice, 2};
  budget_ = kBudgets[bytes[at++] % kBudgets.size()];
  most_clients_ = 1 + bytes[at++] % 12U;
  tube_count_ = 1 + bytes[at++] % 8U;
  constexpr std::array<std::uint32_t, 4> kPris{1, 3, 20, 256};
  pri_count_ = kPris[bytes[at++] % kPris.size()];
  ahead_ = bytes[at++] % 3U;
  constexpr std::array<std::uint32_t, 4> kBodies{5, 40, 200, 2 * limits::kInlineBodyBytes};
  longest_body_ = kBodies[bytes[at++] % kBodies.size()];
  write(fmt::format("# option: max-job-size {}\n# budget {}", kTooBigBytes - 1, budget_));
}

void Simulation::run() {
  while (!bytes_.empty()) {
    now_step_ = {};
    const std::size_t given = std::min(bytes_.size(), kStepBytes);
    std::ranges::copy(bytes_.first(given), now_step_.begin());
    bytes_ = bytes_.subspan(given);
    ++step_count_;
    step();
  }
  engine_->check();
}

Simulation::Op Simulation::choose_op() const {
  return static_cast<Op>(choose(op_weights_, now_step_[0] * 256U + now_step_[1]));
}

void Simulation::step() {
  const Op op = choose_op();
  switch (op) {
    case kPass:
      return pass();
    case kTick:
      return now_step_[2] < 64 ? settle() : tick();
    case kRebuild:
      return rebuild();
    case kChangeLog:
      return change_log();
    case kBeginSegment:
      return begin_segment();
    case kLogAgain:
      return log_one_again();
    case kRetireSegment:
      return retire_segment();
    default:
      break;
  }
  // A turn of the server begins with a tick and may execute much.
  const bool same_turn = now_ == last_tick_ && now_step_[7] % 2 == 0;
  if (!same_turn) tick_if_due();
  if (op == kConnect) {
    if (twin_.clients.size() < most_clients_) connect();
  } else if (op == kDisconnect || op == kHalfClose) {
    if (const Client* client = pick_client()) close(*client, op == kHalfClose);
  } else if (op == kDrain) {
    drain();
  } else if (op == kFinishPut) {
    if (const Client* client = pick_uploading()) finish_put(*client);
  } else if (const Client* client = pick_idle()) {
    command(op, *client);
  } else if (twin_.clients.size() < most_clients_) {
    connect();
  } else {
    pass();  // all wait for something
  }
}

void Simulation::pass() {
  const std::uint32_t number = now_step_[2] * 256U + now_step_[3];
  switch (static_cast<Pass>(choose(pass_weights_, now_step_[4] * 7U))) {
    case kToNext:
    case kPasses:
      if (twin_.next_deadline() != kNever) pass_to(twin_.next_deadline());
      break;
    case kToWake:
      if (engine_->next_deadline() != kNever) pass_to(engine_->next_deadline());
      break;
    case kTicks:
      pass_to(now_ + Duration(number % 64));
      break;
    case kAroundSeconds:
      pass_to(now_ + seconds(number % 3) + Duration(number / 3 % 3) - Duration(1));
      break;
    case kSeconds:
      pass_to(now_ + Duration(number));
      break;
    case kLong:
      pass_to(now_ + seconds(number % 2'000));
      break;
  }
  tick_if_due();
}

// A client that is not yet gone.
const Client* Simulation::pick_client() const {
  const std::size_t count = twin_.clients.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Client& client = twin_.clients[(now_step_[2] + i) % count];
    if (!client.gone) return &client;
  }
  return nullptr;
}

const Client* Simulation::pick_idle() const {
  const std::size_t count = twin_.clients.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Client& client = twin_.clients[(now_step_[2] + i) % count];
    if (client.idle()) return &client;
  }
  return nullptr;
}

const Client* Simulation::pick_uploading() const {
  const std::size_t count = twin_.clients.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Client& client = twin_.clients[(now_step_[2] + i) % count];
    if (client.upload || client.skipping_upload) return &client;
  }
  return nullptr;
}

std::uint32_t Simulation::make_pri(std::uint8_t byte) const {
  const std::uint32_t pri = byte % pri_count_;
  // Around the border of urgent, and the greatest.
  return pri % 4 == 0   ? pri
         : pri % 4 == 3 ? std::numeric_limits<std::uint32_t>::max() - pri
                        : 1'020 + pri;
}

std::uint32_t Simulation::make_span(std::uint8_t byte) const {
  switch (static_cast<Span>(choose(span_weights_, byte * 7U))) {
    case kNone:
    case kSpans:
      break;
    case kOne:
      return 1;
    case kTwo:
      return 2;
    case kFew:
      return 3 + byte % 7U;
    case kMany:
      return 1'000U + byte * 50U;
    case kMost:
      return std::numeric_limits<std::uint32_t>::max() - byte % 2U;
  }
  return 0;
}

std::string Simulation::make_tube(std::uint8_t byte) const {
  const std::uint32_t number = byte % tube_count_;
  return number == 0 ? "default" : fmt::format("tube-{}", number);
}

// Mostly one that the client has reserved, or any that there is; now and then none.
JobId Simulation::make_job(const Client& client) const {
  const std::uint32_t number = now_step_[4] * 256U + now_step_[5];
  if (twin_.jobs.empty() || now_step_[3] < 16) return number % (twin_.next_id + 2);
  if (now_step_[3] >= 160) return twin_.jobs[number % twin_.jobs.size()].id;
  std::vector<JobId> own;
  for (const Job& job : twin_.jobs) {
    if (job.owner == client.serial) own.push_back(job.id);
  }
  return own.empty() ? twin_.jobs[number % twin_.jobs.size()].id : own[number % own.size()];
}

void Simulation::command(Op op, const Client& client) {
  const ClientId who = client.id;
  const std::string tube = make_tube(now_step_[3]);
  const JobId id = make_job(client);
  const std::uint32_t pri = make_pri(now_step_[6]);
  const std::uint32_t span = make_span(now_step_[7]);
  switch (op) {
    case kPut:
      return put(client);
    case kUse:
      return tell(who, fmt::format("use {}", tube), Use{tube});
    case kReserve:
      return tell(who, "reserve", Reserve{});
    case kReserveWithTimeout:
      return tell(who, fmt::format("reserve-with-timeout {}", span), ReserveWithTimeout{span});
    case kReserveJob:
      return tell(who, fmt::format("reserve-job {}", id), ReserveJob{id});
    case kDelete:
      return tell(who, fmt::format("delete {}", id), Delete{id});
    case kRelease:
      return tell(who, fmt::format("release {} {} {}", id, pri, span), Release{id, pri, span});
    case kBury:
      return tell(who, fmt::format("bury {} {}", id, pri), Bury{id, pri});
    case kTouch:
      return tell(who, fmt::format("touch {}", id), Touch{id});
    case kWatch:
      return tell(who, fmt::format("watch {}", tube), Watch{tube});
    case kIgnore:
      return tell(who, fmt::format("ignore {}", tube), Ignore{tube});
    case kPeek:
      return tell(who, fmt::format("peek {}", id), Peek{id});
    case kPeekReady:
      return tell(who, "peek-ready", PeekReady{});
    case kPeekDelayed:
      return tell(who, "peek-delayed", PeekDelayed{});
    case kPeekBuried:
      return tell(who, "peek-buried", PeekBuried{});
    case kKick: {
      const std::uint32_t bound =
          now_step_[3] < 128 ? now_step_[3] % 8U : now_step_[3] * 1'000'000U;
      return tell(who, fmt::format("kick {}", bound), Kick{bound});
    }
    case kKickJob:
      return tell(who, fmt::format("kick-job {}", id), KickJob{id});
    case kStats:
      return tell(who, "stats", Stats{});
    case kStatsJob:
      return tell(who, fmt::format("stats-job {}", id), StatsJob{id});
    case kStatsTube:
      return tell(who, fmt::format("stats-tube {}", tube), StatsTube{tube});
    case kListTubes:
      return tell(who, "list-tubes", ListTubes{});
    case kListTubeUsed:
      return tell(who, "list-tube-used", ListTubeUsed{});
    case kListTubesWatched:
      return tell(who, "list-tubes-watched", ListTubesWatched{});
    case kPauseTube: {
      const std::string name = now_step_[4] < 8 ? "-" + tube : tube;
      return tell(who, fmt::format("pause-tube {} {}", name, span), PauseTube{name, span});
    }
    case kCaps:
      return tell(who, "caps", Caps{});
    case kListJobs:
      return list_jobs(client, tube);
    case kMoveJobs:
    case kFlushTube:
      return move_or_flush(op, client, tube);
    case kReprioritize:
      return tell(who, fmt::format("reprioritize {} {}", id, pri), Reprioritize{id, pri});
    case kPeekReserved:
      return tell(who, "peek-reserved", PeekReserved{});
    case kStatsTubes:
      return tell(who, "stats-tubes", StatsTubes{});
    default:
      return;
  }
}

void Simulation::list_jobs(const Client& client, const std::string& tube) {
  constexpr std::array<std::optional<JobState>, 5> kStates{
      std::nullopt, JobState::kReady, JobState::kDelayed, JobState::kReserved, JobState::kBuried};
  const ListJobs list{
      .tube = tube,
      .state = kStates[now_step_[4] % kStates.size()],
      .after = now_step_[5] == 255 ? std::numeric_limits<JobId>::max() : now_step_[5] % 16U,
      .count = now_step_[6] < 128 ? now_step_[6] % 8U : 10'000U};
  tell(client.id,
       fmt::format("list-jobs {} {} {} {}", tube, list.state ? name_of(*list.state) : "all",
                   list.after, list.count),
       list);
}

void Simulation::move_or_flush(Op op, const Client& client, const std::string& tube) {
  constexpr std::array<std::optional<JobState>, 4> kStates{JobState::kReady, JobState::kDelayed,
                                                           JobState::kBuried, std::nullopt};
  if (op == kFlushTube) {
    const FlushTube flush{.tube = tube, .state = kStates[now_step_[4] % 4U]};
    const std::string state = flush.state ? fmt::format(" {}", name_of(*flush.state)) : "";
    return tell(client.id, fmt::format("flush-tube {}{}", tube, state), flush);
  }
  const std::string to = make_tube(now_step_[5]);
  const MoveJobs move{.from = tube,
                      .to = to,
                      .state = *kStates[now_step_[4] % 3U],
                      .count = now_step_[6] < 128 ? now_step_[6] % 8U : now_step_[6] * 1'000U};
  tell(client.id, fmt::format("move-jobs {} {} {} {}", tube, to, name_of(move.state), move.count),
       move);
}

// A quarter of the bodies come later.
void Simulation::put(const Client& client) {
  const ClientId who = client.id;
  const std::uint8_t kind = now_step_[3];
  PutLine line{.pri = make_pri(now_step_[6]),
               .delay = make_span(now_step_[7]),
               .ttr = make_span(now_step_[4]),
               .body_bytes = now_step_[5] * (longest_body_ + 1) / 256};
  if (kind < 8) {
    line.fate = PutFate::kTooBig;
    line.body_bytes = kTooBigBytes;
  }
  if (kind == 8) line.fate = PutFate::kTrailing;
  tell(who,
       fmt::format(">> put {} {} {} {}{}\\r\\n", line.pri, line.delay, line.ttr, line.body_bytes,
                   line.fate == PutFate::kTrailing ? " x" : ""),
       line);
  if (line.fate != PutFate::kTrailing && kind < 192) finish_put(client);
}

}  // namespace xylem::simulation
