// Reply: who must hear what, as a value. The engine makes it, protocol/writer turns it into bytes.
// Its views (and those of stats inside) live until the next call of the engine: write them out, or
// take a share of `buffer`, before that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "xylem/core/buffer.h"
#include "xylem/core/ids.h"
#include "xylem/core/stats.h"

namespace xylem {

// One per reply word, named like it. What a word carries:
enum class ReplyWord : std::uint8_t {
  kInserted,  // number: id
  kBuriedId,  // number: id ("BURIED <id>": a put that had to be buried)
  kJobTooBig,
  kBadFormat,
  kUnknownCommand,
  kExpectedCrlf,
  kDraining,
  kOutOfMemory,
  kInternalError,
  kUsing,     // text: tube
  kReserved,  // number: id, text: body, buffer
  kFound,     // number: id, text: body, buffer
  kTimedOut,
  kDeadlineSoon,
  kNotFound,
  kDeleted,
  kReleased,
  kBuried,
  kTouched,
  kKickedCount,  // number: jobs ("KICKED <count>")
  kKicked,
  kWatching,  // number: tubes
  kNotIgnored,
  kPaused,
  kOk,  // details: a statistic or a list
  // Of our own commands.
  kFlushed,  // number: jobs
  kMoved,    // number: jobs
  kReprioritized,
  kNotDraining,
};

// A list of tubes may be long, so it comes in parts: replies to the same client, each with the next
// of it, and all but the last with `goes_on`.

// Names, each followed by '\n', in the order of the list.
struct TubeList {
  std::string names;
  bool watched = false;  // the client's own list, not that of the server
};

// `list-jobs`: by id.
struct JobList {
  std::vector<ListedJob> jobs;
};
// `stats-tubes`: in the order of list-tubes.
struct TubeStatsList {
  std::vector<TubeStats> tubes;
};
// `caps`.
struct Capabilities {
  bool admin_commands = true;
};

using ReplyDetails = std::variant<std::monostate, EngineStats, JobStats, TubeStats, TubeList,
                                  JobList, TubeStatsList, Capabilities>;

struct Reply {
  ClientId client{};
  ReplyWord word = ReplyWord::kOk;
  std::uint64_t number = 0;
  std::string_view text{};
  // Holds `text` and the CRLF behind it, if the body is a long one; else null.
  Buffer* buffer = nullptr;
  // Not the whole answer: the details are a part of a list, and the next reply goes on with it.
  bool goes_on = false;
};

// Whether the reply says something of jobs or their tubes, so that it must wait until what it says
// is durable (design: "The gate"). The others say only what the client has just said, or that
// nothing came of it; they keep their place among the client's replies.
constexpr bool says_of_jobs(const Reply& reply, const ReplyDetails& details) {
  switch (reply.word) {
    case ReplyWord::kJobTooBig:
    case ReplyWord::kBadFormat:
    case ReplyWord::kUnknownCommand:
    case ReplyWord::kExpectedCrlf:
    case ReplyWord::kDraining:
    case ReplyWord::kOutOfMemory:
    case ReplyWord::kInternalError:
    case ReplyWord::kUsing:
    case ReplyWord::kTimedOut:
    case ReplyWord::kDeadlineSoon:
    case ReplyWord::kTouched:
    case ReplyWord::kWatching:
    case ReplyWord::kNotIgnored:
    case ReplyWord::kNotDraining:
      return false;
    case ReplyWord::kInserted:
    case ReplyWord::kBuriedId:
    case ReplyWord::kReserved:
    case ReplyWord::kFound:
    case ReplyWord::kNotFound:
    case ReplyWord::kDeleted:
    case ReplyWord::kReleased:
    case ReplyWord::kBuried:
    case ReplyWord::kKickedCount:
    case ReplyWord::kKicked:
    case ReplyWord::kPaused:
    case ReplyWord::kFlushed:
    case ReplyWord::kMoved:
    case ReplyWord::kReprioritized:
      return true;
    case ReplyWord::kOk: {
      const auto* const list = std::get_if<TubeList>(&details);
      const bool own = list != nullptr && list->watched;
      return !own && !std::holds_alternative<Capabilities>(details);
    }
  }
  return true;
}

}  // namespace xylem
