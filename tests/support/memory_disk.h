// MemoryDisk: a directory in memory that knows what was synced. Only that survives a power cut for
// sure; the fate of every other change is the test's choice, sector by sector, name by name.
//
//     a file's bytes and length   are safe after File::sync()
//     a name (created, renamed,   is safe after Directory::sync(), and not before: syncing a file
//     removed)                    says nothing of its name
//
// After a failed sync of a file nothing that was not safe by then ever becomes so, whatever later
// syncs say: that is how the kernel is, and a retry must not pass a test.
//
// Safe for several threads, like the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/storage/file.h"

namespace xylem::test {

// What a power cut does to a change that was not synced. A name or a length that is garbled is
// dropped.
enum class Fate { kKept, kDropped, kGarbled };
using ChooseFate = std::function<Fate()>;

inline constexpr std::size_t kSectorBytes = 512;

class MemoryDisk final : public Directory {
 public:
  MemoryDisk();
  ~MemoryDisk() override;

  // The disk after a power cut now; `choose` is asked for each sector of each write that was not
  // synced, each change of length, and each name. This disk goes on as if nothing had happened.
  [[nodiscard]] std::unique_ptr<MemoryDisk> after_power_cut(const ChooseFate& choose);
  // A copy of all that is there, as if synced: what kill -9 leaves.
  [[nodiscard]] std::unique_ptr<MemoryDisk> after_kill();

  // Calls of files and directory so far.
  [[nodiscard]] std::uint64_t operation_count() const { return operation_count_; }
  // The nth call from now on, counted from 1, is an I/O error.
  void fail_at(std::uint64_t nth) { failing_operation_ = operation_count_ + nth; }
  // Called before each call; it may use the functions of this group, not files.
  void before_each(std::function<void()> hook) { hook_ = std::move(hook); }

  // Bytes of all files together that there is room for; more is a full disk.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t used_bytes() const;
  [[nodiscard]] std::uint64_t sync_count() const { return sync_count_; }  // of files

  // A file's bytes; there must be such a file.
  [[nodiscard]] const std::string& contents(std::string_view name) const;
  // Makes the file, or what it holds, as if synced.
  void put(std::string_view name, std::string bytes);
  [[nodiscard]] bool has(std::string_view name) const { return names_.contains(std::string(name)); }

  [[nodiscard]] std::string path_of(std::string_view name) const override;
  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<File>> open(std::string_view name) override;
  Result<std::unique_ptr<File>> create(std::string_view name) override;
  Result<Done> rename(std::string_view from, std::string_view to) override;
  Result<Done> remove(std::string_view name) override;
  Result<Done> sync() override;

 private:
  struct Node;
  class OpenFile;
  using Names = std::map<std::string, Node*>;
  // From or to may be empty: created, removed.
  struct NameChange {
    std::string from;
    std::string to;
    Node* node;
  };

  // The error if this call is the one that fails.
  std::optional<Error> begin(std::string_view what, std::string_view name);
  void change(std::string_view from, std::string_view to, Node* node);
  static void apply(Names& names, const NameChange& change);
  Node& make_node();
  [[nodiscard]] bool has_room(const Node& node, std::uint64_t bytes) const;

  mutable std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Names names_;
  Names safe_names_;
  std::vector<NameChange> unsafe_changes_;
  std::uint64_t operation_count_ = 0;
  std::uint64_t failing_operation_ = 0;
  std::uint64_t sync_count_ = 0;
  std::optional<std::uint64_t> capacity_;
  std::function<void()> hook_;
};

}  // namespace xylem::test
