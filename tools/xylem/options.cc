// Options that several subcommands have, each with its name, its check, and what --help says of it,
// so that they are the same everywhere.
#include <fmt/format.h>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

constexpr std::chrono::milliseconds kLongestInterval = std::chrono::hours(24);

Check is_within(NumberRange range) {
  return [range](const std::string& text) {
    const std::optional<std::uint64_t> number = parse_number(text);
    if (number && *number >= range.least && *number <= range.most) return std::string();
    return fmt::format("'{}' is no number from {} to {}", escaped(text), range.least, range.most);
  };
}

template <class Parsed>
Parsed checked(const std::string& name, Result<Parsed> parsed) {
  if (!parsed) refuse(name, parsed.error().text);
  return parsed.value();
}

}  // namespace

std::string check_tube(const std::string& tube) {
  if (is_tube_name(tube)) return "";
  return fmt::format(
      "'{}' is no tube name: 1 to 200 of letters, digits and -+/;.$_(), and no '-' in front",
      escaped(tube));
}

Argument add_tube(CommandLine& line, std::string& tube) {
  return line.add_option("TUBE", tube, "the tube").required().check(check_tube).type_name("");
}

Argument add_tube_option(CommandLine& line, std::string& tube) {
  return line.add_option("-t,--tube", tube, "the tube").check(check_tube).type_name("TUBE");
}

Argument add_number(CommandLine& line, const std::string& name, const std::string& help,
                    NumberRange range, std::function<void(std::uint64_t)> take) {
  const auto take_text = [take = std::move(take)](const std::string& text) {
    take(*parse_number(text));
  };
  return line.add_option_function(name, take_text, help).check(is_within(range));
}

Argument add_ids(CommandLine& line, std::vector<JobId>& ids) {
  const auto take = [&ids](const std::vector<std::string>& words) {
    for (const std::string& word : words) ids.push_back(*parse_number(word));
  };
  return line.add_option_function("ID", take, "job ids")
      .required()
      .check(is_within(kAnyId))
      .type_name("");
}

Argument add_pri(CommandLine& line, const std::string& help,
                 std::function<void(std::uint32_t)> take) {
  const auto take_number = [take = std::move(take)](std::uint64_t pri) {
    take(static_cast<std::uint32_t>(pri));
  };
  return add_number(line, "-p,--pri", help, kAnyPri, take_number).type_name("PRI");
}

Argument add_seconds(CommandLine& line, const std::string& name, std::uint32_t& seconds,
                     const std::string& help) {
  const auto take = [name, &seconds](const std::string& text) {
    seconds = checked(name, parse_seconds(text));
  };
  return line.add_option_function(name, take, help).type_name("TIME");
}

Argument add_time(CommandLine& line, const std::string& name, std::chrono::milliseconds& time,
                  const std::string& help) {
  const auto take = [name, &time](const std::string& text) {
    time = checked(name, parse_time(text));
  };
  return line.add_option_function(name, take, help).type_name("TIME");
}

Argument add_interval(CommandLine& line, std::chrono::milliseconds& time, std::string_view usual) {
  return add_time(line, "--interval", time, fmt::format("how often to look ({})", usual))
      .check([](const std::string& text) {
        Result<std::chrono::milliseconds> parsed = parse_time(text);
        if (!parsed) return parsed.error().text;
        const bool fits = parsed.value().count() > 0 && parsed.value() <= kLongestInterval;
        return fits ? "" : fmt::format("'{}' is not between 1ms and 1d", escaped(text));
      });
}

std::optional<JobId> TubeOrJob::id() const {
  return tube.empty() ? parse_number(word) : std::nullopt;
}

void add_tube_or_job(CommandLine& line, TubeOrJob& either, bool required) {
  const auto check = [](const std::string& word) {
    const bool all_digits = word.find_first_not_of("0123456789") == std::string::npos;
    return all_digits && !word.empty() ? is_within(kAnyId)(word) : check_tube(word);
  };
  const Argument word =
      line.add_option("TUBE|JOB-ID", either.word, "a tube, or a job if it is all digits")
          .check(check)
          .type_name("");
  add_tube_option(line, either.tube).excludes(word);
  if (required) {
    line.require("a tube or a job id", [&either] { return either.is_given(); });
  }
}

}  // namespace xylem::tool
