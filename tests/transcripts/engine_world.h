// The world of virtual time: engine, parser and writer in this process, no sockets, no clock.
//
// It is the server without libuv. Time passes by pass() and by one tick for each send; every
// deadline on the way is visited, so a timer fires at its moment exactly. settle() has nothing to
// wait for.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "world.h"
#include "xylem/core/engine.h"
#include "xylem/protocol/parser.h"
#include "xylem/protocol/writer.h"

namespace xylem::transcript {

class EngineWorld final : public World {
 public:
  std::string start(const Options& options) override;
  std::string stop() override;

  void open(const std::string& connection) override;
  void send(const std::string& connection, std::string_view bytes) override;
  void half_close(const std::string& connection) override;
  void close(const std::string& connection) override;

  std::string receive(const std::string& connection) override;
  std::string arrived(const std::string& connection) override;
  bool ended(const std::string& connection) override;

  void settle() override;
  void pass(std::chrono::milliseconds time) override;
  void stall(std::chrono::milliseconds time) override;
  void drain() override;

 private:
  struct Peer {
    Peer(ClientId client, std::uint32_t most_job_bytes) : id(client), parser(most_job_bytes) {}

    ClientId id;
    Parser parser;
    std::string input;   // Sent and not yet executed.
    std::string output;  // Answered and not yet received.
    Lines parts;         // Of an answer that is not whole yet.
    bool waiting = false;
    bool half_closed = false;
    bool ended = false;
  };

  void run_all();
  void run(Peer& peer);
  bool run_one(Peer& peer);
  void finish(Peer& peer);
  void tick_all_due();
  void deliver();
  [[nodiscard]] Peer* find(ClientId id);

  std::unique_ptr<Engine> engine_;
  std::map<std::string, Peer> peers_;
  Output output_;
  ProcessStats process_;
  Time now_{};
};

}  // namespace xylem::transcript
