// Command: what a client asks, as a value. The parser makes it from bytes, the simulation makes it
// up, the engine executes it. Every string_view points into the caller's memory and lives as long
// as the call that it is passed to.
//
// What is not here: lines that the parser refuses (UNKNOWN_COMMAND, BAD_FORMAT) and quit. They
// change nothing in the engine and are answered by the connection.
//
// If you add a command, also: protocol.md, protocol/parser.cc, core/execute.cc, the twin in
// tests/simulation, and its counter in core/stats.h if it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "xylem/core/buffer.h"
#include "xylem/core/ids.h"
#include "xylem/core/stats.h"

namespace xylem {

// A put reaches the engine twice (design: "a put reaches the engine twice"). PutLine comes when the
// line is complete and, if `fate` is kBodyFollows, takes the id; then comes PutBody. kTooBig: the
// body is skipped, then comes PutSkipped. kTrailing: something stood behind the size; answered at
// once.
enum class PutFate : std::uint8_t { kBodyFollows, kTooBig, kTrailing };

struct PutLine {
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  std::uint32_t body_bytes = 0;
  PutFate fate = PutFate::kBodyFollows;
};

// The body, complete, without its CRLF. If `buffer` is not null the body stands in it, followed by
// CRLF, and the engine takes a share; else the bytes are copied (at most limits::kInlineBodyBytes).
// `terminated` is false if what followed the body was not CRLF. `has_room` is false if the log has
// none for this put's record: it is refused as all are while the log is full.
struct PutBody {
  std::string_view body;
  Buffer* buffer = nullptr;
  bool terminated = true;
  bool has_room = true;
};

// The body of a put that was too big has been skipped.
struct PutSkipped {};

struct Use {
  std::string_view tube;
};
struct Reserve {};
struct ReserveWithTimeout {
  std::uint32_t seconds = 0;
};
struct ReserveJob {
  JobId id = 0;
};
struct Delete {
  JobId id = 0;
};
struct Release {
  JobId id = 0;
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
};
struct Bury {
  JobId id = 0;
  std::uint32_t pri = 0;
};
struct Touch {
  JobId id = 0;
};
struct Watch {
  std::string_view tube;
};
struct Ignore {
  std::string_view tube;
};
struct Peek {
  JobId id = 0;
};
struct PeekReady {};
struct PeekDelayed {};
struct PeekBuried {};
struct Kick {
  std::uint32_t bound = 0;
};
struct KickJob {
  JobId id = 0;
};
struct Stats {};
struct StatsJob {
  JobId id = 0;
};
struct StatsTube {
  std::string_view tube;
};
struct ListTubes {};
struct ListTubeUsed {};
struct ListTubesWatched {};
// `tube` consists of name characters only, but may be too long or begin with '-': the command is
// counted before that is found (protocol.md, "pause-tube").
struct PauseTube {
  std::string_view tube;
  std::uint32_t delay = 0;
};

// Commands of our own (protocol.md, "Commands of our own").

// Asks which of them there are; the parser knows (Parser::set_admin_commands).
struct Caps {
  bool admin = true;
};
// `state`: none means any. At most `count` jobs of ids above `after`.
struct ListJobs {
  std::string_view tube;
  std::optional<JobState> state;
  JobId after = 0;
  std::uint32_t count = 0;
};
// `state`: none means ready, delayed and buried, else one of these.
struct FlushTube {
  std::string_view tube;
  std::optional<JobState> state;
};
// The first `count` in the order of `state`, which is not reserved.
struct MoveJobs {
  std::string_view from;
  std::string_view to;
  JobState state = JobState::kReady;
  std::uint32_t count = 0;
};
struct Reprioritize {
  JobId id = 0;
  std::uint32_t pri = 0;
};
struct PeekReserved {};
struct Drain {};
struct Undrain {};
struct StatsTubes {};

using Command =
    std::variant<PutLine, PutBody, PutSkipped, Use, Reserve, ReserveWithTimeout, ReserveJob, Delete,
                 Release, Bury, Touch, Watch, Ignore, Peek, PeekReady, PeekDelayed, PeekBuried,
                 Kick, KickJob, Stats, StatsJob, StatsTube, ListTubes, ListTubeUsed,
                 ListTubesWatched, PauseTube, Caps, ListJobs, FlushTube, MoveJobs, Reprioritize,
                 PeekReserved, Drain, Undrain, StatsTubes>;

// The other constructor of visitors: std::visit(overloaded{...}, command).
template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
// clang 14 (the fuzzers) does not deduce this by itself.
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace xylem
