// A key that is missing has the value that put takes without it; one that is there must be of its
// type. Keys that are for the reader (id, age, counters) are not looked at.
#include "load_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "listing.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

Result<std::string> text_in(const Json& line, const char* key, std::string otherwise = {}) {
  const auto found = line.find(key);
  if (found == line.end()) return otherwise;
  if (!found->is_string()) return Error{fmt::format("its {} is no text", key)};
  return found->get<std::string>();
}

Result<std::string> tube_in(const Json& line) {
  Result<std::string> tube = text_in(line, "tube");
  if (!tube) return tube;
  const std::string wrong = check_tube(tube.value());
  return wrong.empty() ? tube : Error{wrong};
}

Result<std::string> body_in(const Json& line) {
  const bool is_text = line.contains("body");
  if (is_text == line.contains("body_base64")) {
    return Error{fmt::format("has {} body {} body_base64", is_text ? "both" : "neither",
                             is_text ? "and" : "nor")};
  }
  if (is_text) return text_in(line, "body");
  Result<std::string> text = text_in(line, "body_base64");
  if (!text) return text;
  std::optional<std::string> bytes = from_base64(text.value());
  if (!bytes) return Error{"its body_base64 is no base64"};
  return std::move(*bytes);
}

Result<bool> is_buried(const Json& line) {
  Result<std::string> state = text_in(line, "state", "ready");
  if (!state) return state.error();
  if (std::ranges::find(kStates, state.value()) != kStates.end()) return state.value() == "buried";
  return Error{fmt::format("'{}' is no state of a job", escaped(state.value()))};
}

std::optional<std::uint32_t> number_in(const Json& line, const char* key, std::uint32_t otherwise) {
  const auto found = line.find(key);
  if (found == line.end()) return otherwise;
  if (!found->is_number_unsigned()) return std::nullopt;
  const auto number = found->get<std::uint64_t>();
  if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

Result<client::Put> put_in(const Json& line) {
  const client::Put usual;
  const auto pri = number_in(line, "pri", usual.pri);
  const auto delay = number_in(line, "delay", usual.delay);
  const auto ttr = number_in(line, "ttr", usual.ttr);
  if (!pri || !delay || !ttr) return Error{"pri, delay and ttr are numbers up to 4294967295"};
  return client::Put{.pri = *pri, .delay = *delay, .ttr = *ttr};
}

}  // namespace

Result<LoadedJob> parse_job(std::string_view text) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return Error{"is no JSON object"};
  Result<std::string> tube = tube_in(line);
  if (!tube) return tube.error();
  Result<std::string> body = body_in(line);
  if (!body) return body.error();
  Result<client::Put> put = put_in(line);
  if (!put) return put.error();
  Result<bool> buried = is_buried(line);
  if (!buried) return buried.error();
  return LoadedJob{.tube = std::move(tube).value(),
                   .body = std::move(body).value(),
                   .put = put.value(),
                   .buried = buried.value()};
}

}  // namespace xylem::tool
