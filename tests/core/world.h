// World: an engine with a clock to turn; every step is followed by check(). For tests that look at
// budgets, slices, records, the log or the exact moment of a timer.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "xylem/core/engine.h"

namespace xylem {

class World {
 public:
  explicit World(std::uint32_t budget = limits::kSlice)
      : engine({.budget = budget, .recording = true}) {}

  ClientId client() { return engine.connect(now); }

  const Reply* say(ClientId who, const Command& command) {
    out.clear();
    engine.execute(who, command, now, out);
    return after_call();
  }
  JobId put(ClientId who, std::uint32_t pri = 0, std::uint32_t delay = 0, std::uint32_t ttr = 60) {
    say(who, PutLine{.pri = pri, .delay = delay, .ttr = ttr, .body_bytes = 1});
    return say(who, PutBody{.body = "x"})->number;
  }
  const Reply* tick() {
    out.clear();
    engine.tick(now, out);
    return after_call();
  }
  // Several calls may share one Output.
  template <class Call>
  const std::vector<Record>& log(const Call& call) {
    out.clear();
    call(engine, out);
    after_call();
    return out.records;
  }
  void leave(ClientId who) {
    out.clear();
    engine.disconnect(who, now, out);
    after_call();
  }
  // Lets time pass to the next deadline, again and again, until `span` is over.
  std::vector<Reply> pass(Duration span) {
    std::vector<Reply> heard;
    const Time end = now + span;
    while (engine.next_deadline() <= end) {
      now = std::max(now, engine.next_deadline());
      tick();
      heard.insert(heard.end(), out.replies.begin(), out.replies.end());
    }
    now = end;
    return heard;
  }
  JobStats job(ClientId who, JobId id) {
    say(who, StatsJob{id});
    return std::get<JobStats>(out.details);
  }
  TubeStats tube(ClientId who, std::string_view name = "default") {
    say(who, StatsTube{name});
    return std::get<TubeStats>(out.details);
  }

  Engine engine;
  Output out;
  Time now{Duration(17'000'000'000'000)};

 private:
  const Reply* after_call() {
    engine.check();
    return out.replies.empty() ? nullptr : &out.replies.front();
  }
};

// Beside a World an engine that only hears the records of what one client of it says, as a recovery
// would.
class Shadow {
 public:
  Shadow(World& world, ClientId who) : world_(world), who_(who) {}

  void say(const Command& command) {
    world_.say(who_, command);
    for (const Record& record : world_.out.records) engine.apply(record, world_.now, 1);
  }
  void put(std::uint32_t pri, std::uint32_t delay) {
    say(PutLine{.pri = pri, .delay = delay, .ttr = 60, .body_bytes = 1});
    say(PutBody{.body = "x"});
  }

  Engine engine{{.budget = limits::kSlice, .recording = false}};

 private:
  World& world_;
  ClientId who_;
};

}  // namespace xylem
