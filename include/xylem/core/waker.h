// Waker: a timer of the engine. Each tube has one for its next promotion and one for the end of its
// pause, each client one for the first ttr that runs out and one for the end of its wait. They
// stand in two wheels: expiries (the first three) and waits.
//
// A waker may be armed too early, never too late: what it stood for may have gone in the meantime.
// So arming is cheap and disarming is left undone: a waker that fires early is armed again for what
// its owner needs by then. The tick makes sure that a waker which it acts upon has the exact key.
#pragma once

#include <cstdint>

#include "xylem/core/list.h"
#include "xylem/core/time.h"

namespace xylem {

struct Client;
struct Tube;

enum class WakerKind : std::uint8_t { kPromotion, kPauseEnd, kTtr, kWait };

struct Waker {
  Waker(Tube& owner, WakerKind its_kind) : tube(&owner), kind(its_kind) {}
  Waker(Client& owner, WakerKind its_kind) : client(&owner), kind(its_kind) {}

  union {
    Links<Waker> links{};
    std::uint32_t heap_position;
  };
  // The key: deadline, then tube's number and job's id; for kWait the client's number and 0.
  Time deadline_at{};
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  union {
    Tube* tube;
    Client* client;
  };
  WakerKind kind;
  bool armed = false;
};

[[nodiscard]] inline bool earlier(const Waker& a, const Waker& b) {
  if (a.deadline_at != b.deadline_at) return a.deadline_at < b.deadline_at;
  if (a.major != b.major) return a.major < b.major;
  return a.minor < b.minor;
}

}  // namespace xylem
