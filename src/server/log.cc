// spdlog set up: level and format. spdlog does not escape what it logs, so the text in a JSON line
// is written by a formatter of our own; a client's bytes never end a line or a string.

#include "server/log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <iterator>
#include <memory>
#include <string>
#include <string_view>

namespace xylem {
namespace {

void append_escaped(spdlog::memory_buf_t& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
}

class JsonText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    append_escaped(out, {message.payload.data(), message.payload.size()});
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonText>();
  }
};

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kTrace:
      return spdlog::level::trace;
  }
  return spdlog::level::info;
}

std::unique_ptr<spdlog::pattern_formatter> formatter_for(LogFormat format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonText>('*');
  formatter->set_pattern(format == LogFormat::kJson
                             ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":"%*"})"
                             : "%Y-%m-%dT%H:%M:%S.%eZ %l: %v");
  return formatter;
}

}  // namespace

Log make_log(const Config& config) {
  Log log("xylemd", std::make_shared<spdlog::sinks::stderr_sink_st>());
  configure(log, config);
  return log;
}

void configure(Log& log, const Config& config) {
  log.set_level(level_of(config.log_level));
  log.set_formatter(formatter_for(config.log_format));
  log.flush_on(spdlog::level::trace);
}

}  // namespace xylem
