// The engine's face: each call sets the time and hands over to State. Matching follows every
// command, so that nobody waits beside a ready job (but for pending tubes).
#include "xylem/core/engine.h"

#include "state.h"

namespace xylem {

Engine::Engine(Options options) : state_(std::make_unique<State>(options)) {}
Engine::~Engine() = default;

ClientId Engine::connect(Time now) {
  state_->begin(now);
  return state_->connect();
}

void Engine::disconnect(ClientId id, Time now, Output& out) {
  state_->begin(now);
  state_->disconnect(state_->client(id), out);
  state_->match(out);
}

void Engine::half_close(ClientId id, Time now, Output& out) {
  state_->begin(now);
  state_->half_close(state_->client(id), out);
}

void Engine::execute(ClientId id, const Command& command, Time now, Output& out) {
  state_->begin(now);
  state_->execute(state_->client(id), command, out);
  state_->match(out);
}

void Engine::tick(Time now, Output& out) {
  state_->begin(now);
  state_->tick(now, out);
}

Time Engine::next_deadline() const { return state_->next_deadline(); }

void Engine::set_draining(bool draining) { state_->draining = draining; }
bool Engine::draining() const { return state_->draining; }

void Engine::apply(const Record& record, Time now, std::uint32_t segment) {
  state_->begin(now);
  state_->apply(record, segment);
}

EngineStats Engine::stats() const { return state_->stats(); }
void Engine::check() const { state_->check(); }

}  // namespace xylem
