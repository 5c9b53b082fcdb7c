// Batches that are the same for all connections are made once and sent from where they stand; only
// deletes and puts of random priority are written for each batch.
#include "scripts.h"

#include <algorithm>
#include <iterator>

#include "bench.h"
#include "failure.h"

namespace xylem::load {

namespace {

constexpr std::string_view kReserve = "reserve\r\n";

std::string repeat(std::string_view text, std::uint64_t count) {
  std::string all;
  for (std::uint64_t i = 0; i < count; ++i) all += text;
  return all;
}

void append_delete(std::uint64_t id, std::string& out) {
  fmt::format_to(std::back_inserter(out), "delete {}\r\n", id);
}

void expect(const Reply& reply, std::string_view word) {
  if (reply.word != word) fail("the server answered {}, not {}", reply.word, word);
}

}  // namespace

PutScript::PutScript(const Options& options, std::uint64_t count, Time end)
    : options_(options),
      left_(count),
      end_(end),
      put_(put_command(0, 0, options.body_bytes)),
      full_batch_(repeat(put_, options.pipeline)),
      batches_(options.connections),
      ids_(options.connections) {
  tail_ = put_.substr(std::string_view("put 0").size());
}

Batch PutScript::next(std::size_t connection, Time now) {
  const std::uint64_t count = now < end_ ? std::min(options_.pipeline, left_) : 0;
  left_ -= count;
  if (!options_.random_priority) {
    return {std::string_view(full_batch_).substr(0, count * put_.size()), count};
  }
  std::string& batch = batches_[connection];
  batch.clear();
  append_random_puts(count, batch);
  return {batch, count};
}

void PutScript::append_random_puts(std::uint64_t count, std::string& out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(out), "put {}", random_());
    out += tail_;
  }
}

void PutScript::on_reply(std::size_t connection, const Reply& reply) {
  expect(reply, "INSERTED");
  ids_[connection].push_back(reply.id);
}

DeleteScript::DeleteScript(const Options& options, std::vector<std::vector<std::uint64_t>> ids)
    : options_(options), ids_(std::move(ids)), batches_(ids_.size()) {
  for (auto& list : ids_) std::ranges::reverse(list);  // taken from the end
}

Batch DeleteScript::next(std::size_t connection, Time /*now*/) {
  auto& ids = ids_[connection];
  std::string& batch = batches_[connection];
  batch.clear();
  const std::uint64_t count = std::min<std::uint64_t>(options_.pipeline, ids.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    append_delete(ids.back(), batch);
    ids.pop_back();
  }
  return {batch, count};
}

void DeleteScript::on_reply(std::size_t /*connection*/, const Reply& reply) {
  expect(reply, "DELETED");
}

CycleScript::CycleScript(const Options& options, bool with_puts, std::uint64_t count, Time end)
    : options_(options),
      with_puts_(with_puts),
      left_(count),
      end_(end),
      puts_(with_puts ? repeat(put_command(0, 0, options.body_bytes), options.pipeline) : ""),
      reserves_(repeat(kReserve, options.pipeline)),
      workers_(options.connections) {}

Batch CycleScript::next(std::size_t connection, Time now) {
  Worker& worker = workers_[connection];
  switch (worker.phase) {
    case Phase::kIdle:
      return begin_round(worker, now);
    case Phase::kPut:
      return send_reserves(worker);
    case Phase::kReserve:
      worker.phase = Phase::kDelete;
      return {worker.deletes, worker.depth};
    case Phase::kDelete:
      deleted_ += worker.depth;
      return begin_round(worker, now);
  }
  return {};
}

Batch CycleScript::begin_round(Worker& worker, Time now) {
  worker.phase = Phase::kIdle;
  worker.depth = now < end_ ? std::min(options_.pipeline, left_) : 0;
  left_ -= worker.depth;
  if (worker.depth == 0) return {};
  if (!with_puts_) return send_reserves(worker);
  worker.phase = Phase::kPut;
  const std::size_t put_bytes = puts_.size() / options_.pipeline;
  return {std::string_view(puts_).substr(0, worker.depth * put_bytes), worker.depth};
}

Batch CycleScript::send_reserves(Worker& worker) {
  worker.phase = Phase::kReserve;
  worker.deletes.clear();
  return {std::string_view(reserves_).substr(0, worker.depth * kReserve.size()), worker.depth};
}

void CycleScript::on_reply(std::size_t connection, const Reply& reply) {
  Worker& worker = workers_[connection];
  switch (worker.phase) {
    case Phase::kIdle:
      fail("the server sent a reply too many");
    case Phase::kPut:
      return expect(reply, "INSERTED");
    case Phase::kReserve:
      expect(reply, "RESERVED");
      if (reply.body_bytes != options_.body_bytes) fail("a job came back with another body");
      return append_delete(reply.id, worker.deletes);
    case Phase::kDelete:
      return expect(reply, "DELETED");
  }
}

}  // namespace xylem::load
