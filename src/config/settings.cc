// Words to values, and one source of settings laid over another: the command line over the file
// over the defaults. Addresses get their port only then, since -p is a source's word for all of
// them.
#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace xylem {
namespace {

template <class T, std::size_t kCount>
std::optional<T> named(const std::array<std::pair<const char*, T>, kCount>& names,
                       const std::string& word) {
  for (const auto& [name, value] : names) {
    if (word == name) return value;
  }
  return std::nullopt;
}

// What `over` has, else what `under` has, else what stands in `target` already.
template <class T>
void choose(T& target, const std::optional<T>& under, const std::optional<T>& over) {
  target = over.value_or(under.value_or(std::move(target)));
}

LogLevel raised(LogLevel level, std::uint32_t steps) {
  const auto highest = static_cast<std::uint32_t>(LogLevel::kTrace);
  return static_cast<LogLevel>(std::min(static_cast<std::uint32_t>(level) + steps, highest));
}

}  // namespace

std::optional<LogLevel> log_level_named(const std::string& word) {
  constexpr std::array<std::pair<const char*, LogLevel>, 5> kNames{{{"error", LogLevel::kError},
                                                                    {"warning", LogLevel::kWarning},
                                                                    {"info", LogLevel::kInfo},
                                                                    {"debug", LogLevel::kDebug},
                                                                    {"trace", LogLevel::kTrace}}};
  return named(kNames, word);
}

std::optional<SyncPolicy> sync_policy_named(const std::string& word) {
  constexpr std::array<std::pair<const char*, SyncPolicy>, 3> kNames{
      {{"always", SyncPolicy::kAlways},
       {"interval", SyncPolicy::kInterval},
       {"never", SyncPolicy::kNoSync}}};
  return named(kNames, word);
}

std::optional<LogFormat> log_format_named(const std::string& word) {
  constexpr std::array<std::pair<const char*, LogFormat>, 2> kNames{
      {{"text", LogFormat::kText}, {"json", LogFormat::kJson}}};
  return named(kNames, word);
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t low,
                                          std::uint64_t high) {
  std::uint64_t value = 0;
  const char* const all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, value);
  if (error != std::errc{} || end != all || value < low || value > high) return std::nullopt;
  return value;
}

std::string must_be_number(std::uint64_t low, std::uint64_t high) {
  return fmt::format("must be a whole number from {} to {}", low, high);
}

std::uint32_t clamp_job_bytes(std::uint64_t bytes, std::vector<std::string>& notices) {
  if (bytes <= limits::kMostJobBytes) return static_cast<std::uint32_t>(bytes);
  notices.push_back(
      fmt::format("max-job-size {} is too large; using {}", bytes, limits::kMostJobBytes));
  return limits::kMostJobBytes;
}

std::uint64_t clamp_segment_bytes(std::uint64_t bytes, std::vector<std::string>& notices) {
  const std::uint64_t good =
      std::clamp(bytes, limits::kLeastSegmentBytes, limits::kMostSegmentBytes);
  if (good != bytes) notices.push_back(fmt::format("segment-size {}: using {}", bytes, good));
  return good;
}

// Or the name of a service, which begins with a letter. A number that is too large would be cut to
// 16 bits.
bool is_port(std::string_view port) { return port[0] >= 'A' || parse_number(port, 0, 65'535); }

Result<ListenAddress> parse_listen_address(const std::string& text, const std::string& port) {
  if (text.starts_with("unix:")) {
    const std::string path = text.substr(5);
    if (path.empty()) return Error{fmt::format("'{}' names no path", text)};
    return ListenAddress{UnixAddress{path}};
  }
  if (parse_number(text, 1, 65'535)) {
    return Error{fmt::format("'{}' is a port and names no host: write 127.0.0.1:{}", text, text)};
  }
  TcpAddress address{.host = text, .port = port};
  std::size_t colon = std::string::npos;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    const bool closed =
        end != std::string::npos && (end + 1 == text.size() || text[end + 1] == ':');
    if (!closed) return Error{fmt::format("'{}' has no ']' where it should", text)};
    address.host = text.substr(1, end - 1);
    if (end + 1 < text.size()) colon = end + 1;
  } else if (std::ranges::count(text, ':') == 1) {
    colon = text.find(':');
    address.host = text.substr(0, colon);
  }
  if (colon != std::string::npos) address.port = text.substr(colon + 1);
  if (address.host.empty() || address.port.empty()) {
    return Error{fmt::format("'{}' is not HOST, HOST:PORT, [V6]:PORT or unix:PATH", text)};
  }
  if (!is_port(address.port)) {
    return Error{fmt::format("'{}' is no port: a number from 0 to 65535", address.port)};
  }
  return ListenAddress{address};
}

Result<Config> merge(const Settings& under, const Settings& over) {
  Config config;
  const std::string port = over.port.value_or(under.port.value_or(TcpAddress{}.port));
  std::vector<std::string> listen = over.listen.empty() ? under.listen : over.listen;
  if (listen.empty()) listen.emplace_back("127.0.0.1");
  config.listen.clear();
  for (const std::string& text : listen) {
    Result<ListenAddress> address = parse_listen_address(text, port);
    if (!address) return Error{fmt::format("listen: {}", address.error().text), 5};
    config.listen.push_back(std::move(address).value());
  }
  choose(config.user, under.user, over.user);
  choose(config.admin_commands, under.admin_commands, over.admin_commands);
  choose(config.most_job_bytes, under.most_job_bytes, over.most_job_bytes);
  choose(config.most_connections, under.most_connections, over.most_connections);
  choose(config.idle_timeout_seconds, under.idle_timeout_seconds, over.idle_timeout_seconds);
  choose(config.out_buffer_bytes, under.out_buffer_bytes, over.out_buffer_bytes);
  choose(config.log_directory, under.log_directory, over.log_directory);
  choose(config.log_sync, under.log_sync, over.log_sync);
  choose(config.log_interval_ms, under.log_interval_ms, over.log_interval_ms);
  choose(config.log_segment_bytes, under.log_segment_bytes, over.log_segment_bytes);
  choose(config.log_level, under.log_level, over.log_level);
  choose(config.log_format, under.log_format, over.log_format);
  config.log_level = raised(config.log_level, over.verbosity);
  config.notices = under.notices;
  config.notices.insert(config.notices.end(), over.notices.begin(), over.notices.end());
  return config;
}

}  // namespace xylem
