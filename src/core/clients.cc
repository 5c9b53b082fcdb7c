// Clients come and go, and choose their tubes. Whoever lets go of a tube asks whether it is still
// needed, after the last use of the name that led to it.
#include <algorithm>

#include "state.h"

namespace xylem {
namespace {

// Watch lists up to here are searched as they stand.
constexpr std::size_t kShortList = 32;
constexpr std::size_t kNotWatched = static_cast<std::size_t>(-1);

std::size_t find_watch(const Client& client, const Tube* tube) {
  if (client.watch_index != nullptr) {
    const auto found = client.watch_index->find(tube);
    return found == client.watch_index->end() ? kNotWatched : found->second;
  }
  const auto found = std::ranges::find(client.watches, tube, &Watching::tube);
  return found == client.watches.end() ? kNotWatched
                                       : static_cast<std::size_t>(found - client.watches.begin());
}

void add_watch(Client& client, Tube& tube) {
  client.watches.push_back({{}, &tube, &client});
  ++tube.watching_count;
  if (client.watch_index != nullptr) {
    client.watch_index->emplace(&tube, client.watches.size() - 1);
  } else if (client.watches.size() > kShortList) {
    client.watch_index = std::make_unique<std::unordered_map<const Tube*, std::size_t>>();
    for (std::size_t i = 0; i < client.watches.size(); ++i) {
      client.watch_index->emplace(client.watches[i].tube, i);
    }
  }
}

// The last of the list takes the place of the one that goes (protocol.md, "list-tubes-watched").
void remove_watch(Client& client, std::size_t place) {
  Tube* tube = client.watches[place].tube;
  client.watches[place] = client.watches.back();
  if (client.watch_index != nullptr) {
    (*client.watch_index)[client.watches[place].tube] = place;
    client.watch_index->erase(tube);
  }
  client.watches.pop_back();
  --tube->watching_count;
}

}  // namespace

ClientId Engine::State::connect() {
  std::uint32_t index = static_cast<std::uint32_t>(clients.size());
  if (free_clients.empty()) {
    clients.emplace_back();
  } else {
    index = free_clients.top();
    free_clients.pop();
  }
  clients[index] = std::make_unique<Client>(ClientId{index}, ++last_client_number);
  Client& who = *clients[index];
  who.used = &default_tube;
  ++default_tube.using_count;
  add_watch(who, default_tube);
  ++connection_count;
  return who.id;
}

void Engine::State::disconnect(Client& who, Output& out) {
  CHECK(!who.gone);
  who.gone = true;
  --connection_count;
  if (who.producer) --producer_count;
  if (who.worker) --worker_count;
  if (who.waiting) {
    out.steps += who.watches.size();
    end_wait(who);
  }
  abandon_work(who, out);
  abort_upload(who, out);
  close(who, out);
}

// The first each time: the order shows in list-tubes.
bool Engine::State::let_go_of_tubes(Client& who, std::uint32_t& budget, Output& out) {
  for (; budget > 0 && !who.watches.empty(); --budget) {
    ++out.steps;
    Tube& tube = *who.watches.front().tube;
    remove_watch(who, 0);
    vanish_if_unneeded(tube, out);
  }
  if (!who.watches.empty()) return false;
  if (Tube* used = std::exchange(who.used, nullptr)) {
    --used->using_count;
    vanish_if_unneeded(*used, out);
  }
  return true;
}

void Engine::State::free_slot(Client& who) {
  disarm(waits, who.wait);
  const std::uint32_t index = index_of(who.id);
  clients[index].reset();
  free_clients.push(index);
}

void Engine::State::half_close(Client& who, Output& out) {
  who.half_closed = true;
  if (!who.waiting) return;
  end_wait(who);
  reply(out, who, ReplyWord::kTimedOut);
}

void Engine::State::use(Client& who, std::string_view name, Output& out) {
  Tube& tube = tubes.find_or_make(name);
  Tube& old = *std::exchange(who.used, &tube);
  ++tube.using_count;
  --old.using_count;
  vanish_if_unneeded(old, out);
  reply(out, who, ReplyWord::kUsing, 0, *tube.name);
}

void Engine::State::watch(Client& who, std::string_view name, Output& out) {
  Tube& tube = tubes.find_or_make(name);
  if (find_watch(who, &tube) == kNotWatched) add_watch(who, tube);
  reply(out, who, ReplyWord::kWatching, who.watches.size());
}

void Engine::State::ignore(Client& who, std::string_view name, Output& out) {
  Tube* tube = tubes.find(name);
  const std::size_t place = tube == nullptr ? kNotWatched : find_watch(who, tube);
  if (place != kNotWatched) {
    if (who.watches.size() == 1) return reply(out, who, ReplyWord::kNotIgnored);
    remove_watch(who, place);
    vanish_if_unneeded(*tube, out);
  }
  reply(out, who, ReplyWord::kWatching, who.watches.size());
}

}  // namespace xylem
