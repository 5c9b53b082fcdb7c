// The YAML file. yaml-cpp is included here and nowhere else, and its exceptions end here. A key is
// either in the table below or an error: a mistyped key must not be a silent default.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <sstream>

#include "config/settings.h"

namespace xylem {
namespace {

// What a setter says is wrong with a value: half a sentence, or nothing.
using Complaint = std::string;

// Where in the file, for a person who opens it in an editor.
Error at(const std::string& path, const YAML::Mark& mark, const std::string& what) {
  return Error{fmt::format("{}:{}: {}", path, mark.line + 1, what), 5};
}

Error unreadable(const std::string& path) {
  return Error{fmt::format("{}: cannot be read", path), 5};
}

template <class T>
Complaint set_number(const YAML::Node& node, T low, T high, std::optional<T>& target) {
  const auto number =
      node.IsScalar() ? parse_number(node.Scalar(), low, high) : std::optional<std::uint64_t>{};
  if (!number) return must_be_number(low, high);
  target = static_cast<T>(*number);
  return {};
}

Complaint set_listen(const YAML::Node& node, Settings& settings) {
  const auto add = [&](const YAML::Node& item) -> Complaint {
    if (!item.IsScalar()) return "must be an address, or a list of addresses";
    Result<ListenAddress> address = parse_listen_address(item.Scalar(), TcpAddress{}.port);
    if (!address) return address.error().text;
    settings.listen.push_back(item.Scalar());
    return {};
  };
  if (!node.IsSequence()) return add(node);
  if (node.size() == 0) return "names no address";
  for (const YAML::Node& item : node) {
    if (Complaint complaint = add(item); !complaint.empty()) return complaint;
  }
  return {};
}

struct Key {
  const char* name;  // in dotted form
  Complaint (*set)(const YAML::Node& node, Settings& settings);
};

constexpr Key kKeys[] = {
    {"listen", set_listen},
    {"user",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       if (!node.IsScalar()) return "must be a user's name";
       s.user = node.Scalar();
       return {};
     }},
    {"admin-commands",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       bool on = false;
       if (!node.IsScalar() || !YAML::convert<bool>::decode(node, on)) return "must be on or off";
       s.admin_commands = on;
       return {};
     }},
    {"limits.max-job-size",
     [](const YAML::Node& node, Settings& s) {
       return set_number(node, 0U, limits::kMostJobBytes, s.most_job_bytes);
     }},
    {"limits.max-connections",
     [](const YAML::Node& node, Settings& s) {
       return set_number(node, 0U, kAnyU32, s.most_connections);
     }},
    {"limits.idle-timeout",
     [](const YAML::Node& node, Settings& s) {
       return set_number(node, 0U, kAnyU32, s.idle_timeout_seconds);
     }},
    {"limits.out-buffer",
     [](const YAML::Node& node, Settings& s) {
       return set_number(node, kLeastOutBuffer, kMostOutBuffer, s.out_buffer_bytes);
     }},
    {"log.dir",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       if (!node.IsScalar()) return "must be a directory's path";
       s.log_directory = node.Scalar();
       return {};
     }},
    {"log.sync",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       if (node.IsScalar()) s.log_sync = sync_policy_named(node.Scalar());
       return s.log_sync ? "" : "must be always, interval or never";
     }},
    {"log.interval", [](const YAML::Node& node,
                        Settings& s) { return set_number(node, 1U, kAnyU32, s.log_interval_ms); }},
    {"log.segment-size",
     [](const YAML::Node& node, Settings& s) {
       return set_number(node, limits::kLeastSegmentBytes, limits::kMostSegmentBytes,
                         s.log_segment_bytes);
     }},
    {"logging.level",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       if (node.IsScalar()) s.log_level = log_level_named(node.Scalar());
       return s.log_level ? "" : "must be error, warning, info, debug or trace";
     }},
    {"logging.format",
     [](const YAML::Node& node, Settings& s) -> Complaint {
       if (node.IsScalar()) s.log_format = log_format_named(node.Scalar());
       return s.log_format ? "" : "must be text or json";
     }},
};

const Key* find_key(const std::string& name) {
  for (const Key& key : kKeys) {
    if (name == key.name) return &key;
  }
  return nullptr;
}

bool is_section(const std::string& name) {
  return name == "limits" || name == "log" || name == "logging";
}

// Reads the keys of a map whose own name is `prefix`, with its dot.
Result<Settings> read_map(const std::string& path, const std::string& prefix, const YAML::Node& map,
                          Settings settings) {
  std::vector<std::string> seen;
  for (const auto& entry : map) {
    const std::string name = prefix + entry.first.as<std::string>();
    const YAML::Mark mark = entry.first.Mark();
    if (std::ranges::find(seen, name) != seen.end()) {
      return at(path, mark, fmt::format("key '{}' stands twice", name));
    }
    seen.push_back(name);
    if (prefix.empty() && is_section(name)) {
      if (!entry.second.IsMap() && !entry.second.IsNull()) {
        return at(path, mark, fmt::format("'{}' must hold keys", name));
      }
      Result<Settings> section = read_map(path, name + ".", entry.second, std::move(settings));
      if (!section) return section;
      settings = std::move(section).value();
      continue;
    }
    const Key* key = find_key(name);
    if (key == nullptr) return at(path, mark, fmt::format("unknown key '{}'", name));
    if (Complaint complaint = key->set(entry.second, settings); !complaint.empty()) {
      return at(path, mark, fmt::format("key '{}': {}", name, complaint));
    }
  }
  return settings;
}

}  // namespace

Result<Settings> read_file(const std::string& path) {
  // Not by YAML::LoadFile, which leaks when a file opens but cannot be read, as a directory does.
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  file.peek();  // bad() then, if it cannot be read
  if (!file.is_open() || file.bad()) return unreadable(path);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text.str());
    if (documents.empty()) return Settings{};
    if (documents.size() > 1) {
      return at(path, documents[1].Mark(), "a second document: all keys stand in one");
    }
    const YAML::Node& root = documents.front();
    if (root.IsNull()) return Settings{};
    if (!root.IsMap()) return at(path, root.Mark(), "must hold keys");
    return read_map(path, "", root, Settings{});
  } catch (const YAML::Exception& wrong) {
    return at(path, wrong.mark, wrong.msg);
  }
}

}  // namespace xylem
