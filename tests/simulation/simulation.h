// The simulation: bytes become a history of clients, commands and passing time; the engine and its
// naive twin both live through it, and after every step they must have said the same, in the same
// order, and the engine must be sound. A difference prints itself and aborts.
//
// The first kSettingsBytes bytes are the settings of a run (swarm testing: a run without deletes,
// with one tube, or with a budget of 1 finds what an even mix hides); each step takes kStepBytes
// more. So a step can be cut out of a history, and the rest keeps its meaning as far as can be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twin.h"
#include "xylem/core/buffer.h"
#include "xylem/core/engine.h"

namespace xylem::simulation {

inline constexpr std::size_t kSettingsBytes = 96;
inline constexpr std::size_t kStepBytes = 8;

// What max-job-size would be, and one more.
inline constexpr std::uint32_t kTooBigBytes = 10'001;

// A record of which the views point into itself.
struct KeptRecord {
  KeptRecord(const Record& from, std::uint32_t its_segment);
  KeptRecord(const KeptRecord&) = delete;
  KeptRecord& operator=(const KeptRecord&) = delete;

  Record record;
  std::uint32_t segment;
  std::string tube;
  std::string body;
  BufferRef buffer;
  std::vector<JobId> flushed;  // by a FlushRecord, as the twin knows
};

class Simulation {
 public:
  // With a `transcript` all that happens is written there, in the language of tests/transcripts.
  explicit Simulation(std::span<const std::uint8_t> bytes, std::FILE* transcript = nullptr);

  // Until the bytes are used up.
  void run();

 private:
  enum Op : std::uint8_t {
    kConnect,
    kDisconnect,
    kHalfClose,
    kPut,
    kFinishPut,
    kUse,
    kReserve,
    kReserveWithTimeout,
    kReserveJob,
    kDelete,
    kRelease,
    kBury,
    kTouch,
    kWatch,
    kIgnore,
    kPeek,
    kPeekReady,
    kPeekDelayed,
    kPeekBuried,
    kKick,
    kKickJob,
    kStats,
    kStatsJob,
    kStatsTube,
    kListTubes,
    kListTubeUsed,
    kListTubesWatched,
    kPauseTube,
    kDrain,
    kPass,
    kTick,
    kRebuild,
    kChangeLog,
    kBeginSegment,
    kLogAgain,
    kRetireSegment,
    kCaps,
    kListJobs,
    kReprioritize,
    kPeekReserved,
    kStatsTubes,
    kMoveJobs,
    kFlushTube,
    kOps
  };
  // Seconds of delays, ttrs, pauses and timeouts.
  enum Span : std::uint8_t { kNone, kOne, kTwo, kFew, kMany, kMost, kSpans };
  // How far time passes.
  enum Pass : std::uint8_t { kToNext, kToWake, kTicks, kAroundSeconds, kSeconds, kLong, kPasses };
  using Step = std::array<std::uint8_t, kStepBytes>;

  void read_settings(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Op choose_op() const;
  void step();

  // Steps.
  void command(Op op, const Client& client);
  void put(const Client& client);
  void finish_put(const Client& client);
  void list_jobs(const Client& client, const std::string& tube);
  void move_or_flush(Op op, const Client& client, const std::string& tube);
  void connect();
  void close(const Client& client, bool half);
  void drain();
  void pass();
  void rebuild();
  void change_log();
  void begin_segment();
  void log_one_again();
  void log_oldest_again();
  void retire_segment();

  // Telling both.
  void tell(ClientId who, std::string_view line, const Command& command);
  void tick();
  void tick_if_due();
  void settle();
  void look_at_all();
  void pass_to(Time time);
  [[nodiscard]] Time execution_time() const;

  // What the step's bytes name.
  [[nodiscard]] std::uint32_t make_pri(std::uint8_t byte) const;
  [[nodiscard]] std::uint32_t make_span(std::uint8_t byte) const;
  [[nodiscard]] std::string make_tube(std::uint8_t byte) const;
  [[nodiscard]] JobId make_job(const Client& client) const;
  [[nodiscard]] const Client* pick_client() const;
  [[nodiscard]] const Client* pick_idle() const;
  [[nodiscard]] const Client* pick_uploading() const;

  void compare();
  void compare_log();
  void compare_lines(std::string_view what, const std::vector<std::string>& expected,
                     const std::vector<std::string>& said);
  void demand(bool holds, std::string_view what);
  void write(std::string_view line);

  std::span<const std::uint8_t> bytes_;
  std::FILE* transcript_;

  std::array<std::uint8_t, kOps> op_weights_{};
  std::array<std::uint8_t, kSpans> span_weights_{};
  std::array<std::uint8_t, kPasses> pass_weights_{};
  std::uint32_t budget_ = 1;
  std::uint32_t most_clients_ = 1;
  std::uint32_t tube_count_ = 1;
  std::uint32_t pri_count_ = 1;
  std::uint32_t ahead_ = 0;  // 0: execute at the tick's time, 1: a tick ahead, 2: either
  std::uint32_t longest_body_ = 0;

  Step now_step_{};
  std::uint64_t step_count_ = 0;
  Time now_{Duration(17'000'000'000'000)};
  Time last_tick_{};
  std::unique_ptr<Engine> engine_;
  Twin twin_;
  Output output_;

  // The log: all records of the segments that are there, and what the segments' headers say.
  struct Mark {
    JobId last_id = 0;
    std::uint64_t last_bury_order = 0;
  };
  std::vector<std::unique_ptr<KeptRecord>> history_;
  std::uint32_t segment_ = 1;
  std::uint32_t oldest_segment_ = 1;
  std::map<std::uint32_t, Mark> marks_;  // as of the beginning of each segment
  std::unique_ptr<Twin> at_failure_;     // when the log failed, if it has
};

}  // namespace xylem::simulation
