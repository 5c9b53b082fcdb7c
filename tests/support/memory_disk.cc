// A file is its bytes as they are, its bytes as they are safe, and the changes between the two. A
// power cut plays the changes onto the safe bytes again, as far as fate allows.
#include "support/memory_disk.h"

#include <fmt/format.h>

#include <algorithm>

namespace xylem::test {
namespace {

// A change of a file that is not safe yet: bytes written, or a new length.
struct Change {
  std::uint64_t at = 0;
  std::string bytes;
  bool is_length = false;
};

void play(std::string& contents, const Change& change) {
  if (change.is_length) return contents.resize(change.at);
  if (change.bytes.empty()) return;
  contents.resize(std::max<std::size_t>(contents.size(), change.at + change.bytes.size()));
  contents.replace(change.at, change.bytes.size(), change.bytes);
}

std::string garbled(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(byte * 5 + 0x5b);
  return bytes;
}

// The change cut at sectors; a length is one piece.
std::vector<Change> pieces(const Change& change) {
  if (change.is_length) return {change};
  std::vector<Change> pieces;
  std::uint64_t done = 0;
  while (done < change.bytes.size()) {
    const std::uint64_t at = change.at + done;
    const std::uint64_t size =
        std::min(kSectorBytes - at % kSectorBytes, change.bytes.size() - done);
    pieces.push_back({at, change.bytes.substr(done, size)});
    done += size;
  }
  return pieces;
}

void suffer(std::string& contents, const Change& change, const ChooseFate& choose) {
  for (Change& piece : pieces(change)) {
    const Fate fate = choose();
    if (fate == Fate::kDropped || (fate == Fate::kGarbled && piece.is_length)) continue;
    if (fate == Fate::kGarbled) piece.bytes = garbled(std::move(piece.bytes));
    play(contents, piece);
  }
}

}  // namespace

struct MemoryDisk::Node {
  std::string contents;
  std::string safe;
  std::vector<Change> unsafe;
  bool sync_failed = false;

  void change(Change what) {
    play(contents, what);
    unsafe.push_back(std::move(what));
  }
};

class MemoryDisk::OpenFile final : public File {
 public:
  OpenFile(MemoryDisk& disk, Node& node, std::string name)
      : disk_(disk), node_(node), name_(std::move(name)) {}

  Result<std::uint64_t> size() override {
    const std::lock_guard lock(disk_.mutex_);
    if (auto error = disk_.begin("look at", name_)) return *error;
    return node_.contents.size();
  }

  Result<std::size_t> read(std::uint64_t at, std::span<char> into) override {
    const std::lock_guard lock(disk_.mutex_);
    if (auto error = disk_.begin("read", name_)) return *error;
    if (at >= node_.contents.size()) return std::size_t{0};
    return node_.contents.copy(into.data(), into.size(), at);
  }

  Result<Done> write(std::uint64_t at, std::span<const std::string_view> parts) override {
    const std::lock_guard lock(disk_.mutex_);
    if (auto error = disk_.begin("write", name_)) return *error;
    Change change{at, {}};
    for (const std::string_view part : parts) change.bytes += part;
    if (!disk_.has_room(node_, at + change.bytes.size())) {
      return Error{fmt::format("cannot write {}: no space left", name_)};
    }
    node_.change(std::move(change));
    return Done{};
  }

  Result<Done> sync() override {
    const std::lock_guard lock(disk_.mutex_);
    ++disk_.sync_count_;
    if (auto error = disk_.begin("sync", name_)) {
      node_.sync_failed = true;
      return *error;
    }
    if (node_.sync_failed) return Done{};
    for (const Change& change : node_.unsafe) play(node_.safe, change);
    node_.unsafe.clear();
    return Done{};
  }

  Result<bool> allocate(std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    if (auto error = disk_.begin("allocate", name_)) return *error;
    if (bytes <= node_.contents.size()) return true;
    if (!disk_.has_room(node_, bytes)) return false;
    node_.change({bytes, {}, true});
    return true;
  }

  Result<Done> truncate(std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    if (auto error = disk_.begin("cut", name_)) return *error;
    node_.change({bytes, {}, true});
    return Done{};
  }

 private:
  MemoryDisk& disk_;
  Node& node_;
  std::string name_;
};

MemoryDisk::MemoryDisk() = default;
MemoryDisk::~MemoryDisk() = default;

std::unique_ptr<MemoryDisk> MemoryDisk::after_power_cut(const ChooseFate& choose) {
  const std::lock_guard lock(mutex_);
  Names names = safe_names_;
  for (const NameChange& change : unsafe_changes_) {
    if (choose() == Fate::kKept) apply(names, change);
  }
  auto disk = std::make_unique<MemoryDisk>();
  for (const auto& [name, node] : names) {
    std::string contents = node->safe;
    for (const Change& change : node->unsafe) suffer(contents, change, choose);
    disk->put(name, std::move(contents));
  }
  return disk;
}

std::unique_ptr<MemoryDisk> MemoryDisk::after_kill() {
  const std::lock_guard lock(mutex_);
  auto disk = std::make_unique<MemoryDisk>();
  for (const auto& [name, node] : names_) disk->put(name, node->contents);
  return disk;
}

std::uint64_t MemoryDisk::used_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [name, node] : names_) bytes += node->contents.size();
  return bytes;
}

bool MemoryDisk::has_room(const Node& node, std::uint64_t bytes) const {
  if (!capacity_ || bytes <= node.contents.size()) return true;
  return used_bytes() - node.contents.size() + bytes <= *capacity_;
}

const std::string& MemoryDisk::contents(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return names_.at(std::string(name))->contents;
}

void MemoryDisk::put(std::string_view name, std::string bytes) {
  const std::lock_guard lock(mutex_);
  Node& node = make_node();
  node.safe = bytes;
  node.contents = std::move(bytes);
  names_[std::string(name)] = &node;
  safe_names_[std::string(name)] = &node;
}

std::optional<Error> MemoryDisk::begin(std::string_view what, std::string_view name) {
  if (hook_) hook_();
  if (++operation_count_ != failing_operation_) return std::nullopt;
  return Error{fmt::format("cannot {} {}: planned I/O error", what, name)};
}

std::string MemoryDisk::path_of(std::string_view name) const { return std::string(name); }

Result<std::vector<std::string>> MemoryDisk::list() {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("list", "the directory")) return *error;
  std::vector<std::string> names;
  for (const auto& [name, node] : names_) names.push_back(name);
  return names;
}

Result<std::unique_ptr<File>> MemoryDisk::open(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("open", name)) return *error;
  const auto found = names_.find(std::string(name));
  if (found == names_.end()) return Error{fmt::format("cannot open {}: no such file", name)};
  return std::unique_ptr<File>(new OpenFile(*this, *found->second, found->first));
}

Result<std::unique_ptr<File>> MemoryDisk::create(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("create", name)) return *error;
  if (has(name)) return Error{fmt::format("cannot create {}: file exists", name)};
  Node& node = make_node();
  change({}, name, &node);
  return std::unique_ptr<File>(new OpenFile(*this, node, std::string(name)));
}

Result<Done> MemoryDisk::rename(std::string_view from, std::string_view to) {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("rename", from)) return *error;
  if (!has(from)) return Error{fmt::format("cannot rename {}: no such file", from)};
  change(from, to, names_.at(std::string(from)));
  return Done{};
}

Result<Done> MemoryDisk::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("remove", name)) return *error;
  if (!has(name)) return Error{fmt::format("cannot remove {}: no such file", name)};
  change(name, {}, nullptr);
  return Done{};
}

Result<Done> MemoryDisk::sync() {
  const std::lock_guard lock(mutex_);
  if (auto error = begin("sync", "the directory")) return *error;
  safe_names_ = names_;
  unsafe_changes_.clear();
  return Done{};
}

void MemoryDisk::change(std::string_view from, std::string_view to, Node* node) {
  unsafe_changes_.push_back({std::string(from), std::string(to), node});
  apply(names_, unsafe_changes_.back());
}

void MemoryDisk::apply(Names& names, const NameChange& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.node;
}

MemoryDisk::Node& MemoryDisk::make_node() {
  nodes_.push_back(std::make_unique<Node>());
  return *nodes_.back();
}

}  // namespace xylem::test
