// The table of commands and the shapes of their arguments. A command is found by prefix, not by
// word: "reservex" is a reserve with a bad argument, "quitx" quits, "put" without a space is
// unknown. Clients can see the difference, so it is beanstalkd's.
#include "protocol/grammar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>

namespace xylem {
namespace {

using Item = Parser::Item;

constexpr std::uint32_t kLongestTimeout = 2'147'483'647;

Item refused(ReplyWord word) { return Parser::Refused{word}; }
Item bad_format() { return refused(ReplyWord::kBadFormat); }

// UINT, taken off the front of `rest`: any number of spaces, then digits, at most the type's
// maximum.
template <class Number>
bool take_number(std::string_view& rest, Number& number) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, number);
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  return error == std::errc();
}

// What stands behind the prefix must be exactly these numbers.
template <class... Numbers>
bool are_numbers(std::string_view rest, Numbers&... numbers) {
  return (take_number(rest, numbers) && ...) && rest.empty();
}

template <class C>
Item bare(std::string_view rest) {
  return rest.empty() ? Item(C{}) : bad_format();
}

template <class C>
Item with_id(std::string_view rest) {
  C command;
  return are_numbers(rest, command.id) ? Item(command) : bad_format();
}

template <class C>
Item with_tube(std::string_view rest) {
  return is_tube_name(rest) ? Item(C{rest}) : bad_format();
}

Item put(std::string_view rest) {
  PutLine line;
  const bool parsed = take_number(rest, line.pri) && take_number(rest, line.delay) &&
                      take_number(rest, line.ttr) && take_number(rest, line.body_bytes);
  if (!parsed) return bad_format();
  if (!rest.empty()) line.fate = PutFate::kTrailing;
  return line;
}

// Whatever follows the number is ignored.
Item reserve_with_timeout(std::string_view rest) {
  ReserveWithTimeout command;
  const bool parsed = take_number(rest, command.seconds) && command.seconds <= kLongestTimeout;
  return parsed ? Item(command) : bad_format();
}

Item release(std::string_view rest) {
  Release command;
  return are_numbers(rest, command.id, command.pri, command.delay) ? Item(command) : bad_format();
}

Item bury(std::string_view rest) {
  Bury command;
  return are_numbers(rest, command.id, command.pri) ? Item(command) : bad_format();
}

// The bound is what C's strtoul makes of it, cut to 32 bits: white space of any kind, a sign (minus
// counts down from 2^64), digits, and whatever follows is ignored.
Item kick(std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n\v\f\r"), rest.size()));
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::uint64_t bound = 0;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), bound);
  if (result.ec != std::errc()) return bad_format();
  return Kick{static_cast<std::uint32_t>(negative ? 0 - bound : bound)};
}

// The longest run of `belongs`, taken off the front of `rest` behind any number of spaces.
template <class Belongs>
std::string_view take_word(std::string_view& rest, Belongs belongs) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const auto* const end = std::ranges::find_if_not(rest, belongs);
  const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(word.size());
  return word;
}

std::string_view take_tube(std::string_view& rest) { return take_word(rest, is_tube_name_char); }

// The name is the longest run of name characters; no space is needed before it.
Item pause_tube(std::string_view rest) {
  PauseTube command{.tube = take_tube(rest)};
  const bool parsed = !command.tube.empty() && are_numbers(rest, command.delay);
  return parsed ? Item(command) : bad_format();
}

// A state by its name, or "all"; false if it is none of them.
bool take_states(std::string_view& rest, std::optional<JobState>& state) {
  const std::string_view word = take_word(rest, [](char c) { return c != ' '; });
  for (const JobState each :
       {JobState::kReady, JobState::kDelayed, JobState::kReserved, JobState::kBuried}) {
    if (word == name_of(each)) state = each;
  }
  return state.has_value() || word == "all";
}

Item list_jobs(std::string_view rest) {
  ListJobs command;
  command.tube = take_tube(rest);
  const bool parsed = is_tube_name(command.tube) && take_states(rest, command.state) &&
                      are_numbers(rest, command.after, command.count);
  return parsed ? Item(command) : bad_format();
}

template <bool kAdminCommands>
Item caps(std::string_view rest) {
  return rest.empty() ? Item(Caps{kAdminCommands}) : bad_format();
}

Item flush_tube(std::string_view rest) {
  FlushTube command;
  command.tube = take_tube(rest);
  bool parsed = is_tube_name(command.tube);
  if (!rest.empty()) parsed = parsed && take_states(rest, command.state) && rest.empty();
  parsed = parsed && command.state != JobState::kReserved;
  return parsed ? Item(command) : bad_format();
}

Item move_jobs(std::string_view rest) {
  MoveJobs command;
  command.from = take_tube(rest);
  command.to = take_tube(rest);
  std::optional<JobState> state;
  const bool parsed = is_tube_name(command.from) && is_tube_name(command.to) &&
                      take_states(rest, state) && state && *state != JobState::kReserved &&
                      are_numbers(rest, command.count);
  if (!parsed) return bad_format();
  command.state = *state;
  return command;
}

Item reprioritize(std::string_view rest) {
  Reprioritize command;
  return are_numbers(rest, command.id, command.pri) ? Item(command) : bad_format();
}

Item quit(std::string_view) { return Parser::Quit{}; }

// A command of beanstalkd's is any line that begins like it. Ours are whole words, so that no line
// that beanstalkd knows means something else; `admin` ones can be switched off.
enum class Kind : std::uint8_t { kBeanstalkds, kOurs, kAdmin };

struct Prefix {
  std::string_view text;
  Item (*parse)(std::string_view rest);
  Kind kind = Kind::kBeanstalkds;

  [[nodiscard]] bool fits(std::string_view line, bool admin_commands) const {
    if (!line.starts_with(text) || (kind == Kind::kAdmin && !admin_commands)) return false;
    const bool ended =
        text.ends_with(' ') || line.size() == text.size() || line[text.size()] == ' ';
    return kind == Kind::kBeanstalkds || ended;
  }
};

// The first prefix that fits wins. Prefixes with the same first letter stand together.
constexpr std::array kPrefixes{
    Prefix{"put ", put},
    Prefix{"peek ", with_id<Peek>},
    Prefix{"peek-ready", bare<PeekReady>},
    Prefix{"peek-delayed", bare<PeekDelayed>},
    Prefix{"peek-buried", bare<PeekBuried>},
    Prefix{"peek-reserved", bare<PeekReserved>, Kind::kOurs},
    Prefix{"pause-tube", pause_tube},
    Prefix{"reserve-with-timeout ", reserve_with_timeout},
    Prefix{"reserve-job ", with_id<ReserveJob>},
    Prefix{"reserve", bare<Reserve>},
    Prefix{"release ", release},
    Prefix{"reprioritize ", reprioritize, Kind::kAdmin},
    Prefix{"delete ", with_id<Delete>},
    Prefix{"drain", bare<Drain>, Kind::kAdmin},
    Prefix{"bury ", bury},
    Prefix{"kick ", kick},
    Prefix{"kick-job ", with_id<KickJob>},
    Prefix{"touch ", with_id<Touch>},
    Prefix{"stats-job ", with_id<StatsJob>},
    Prefix{"stats-tube ", with_tube<StatsTube>},
    Prefix{"stats-tubes", bare<StatsTubes>, Kind::kOurs},
    Prefix{"stats", bare<Stats>},
    Prefix{"use ", with_tube<Use>},
    Prefix{"undrain", bare<Undrain>, Kind::kAdmin},
    Prefix{"watch ", with_tube<Watch>},
    Prefix{"ignore ", with_tube<Ignore>},
    Prefix{"list-tubes-watched", bare<ListTubesWatched>},
    Prefix{"list-tube-used", bare<ListTubeUsed>},
    Prefix{"list-tubes", bare<ListTubes>},
    Prefix{"list-jobs ", list_jobs, Kind::kOurs},
    Prefix{"flush-tube ", flush_tube, Kind::kAdmin},
    Prefix{"move-jobs ", move_jobs, Kind::kAdmin},
    Prefix{"caps", caps<true>, Kind::kAdmin},
    Prefix{"caps", caps<false>, Kind::kOurs},
    Prefix{"quit", quit},
};

constexpr std::size_t kLetters = 256;
constexpr std::size_t letter_of(std::string_view text) {
  return static_cast<unsigned char>(text.front());
}

// Where the prefixes of a first letter begin; the end of the table if there are none.
constexpr auto kFirstPrefix = [] {
  std::array<std::uint8_t, kLetters> first{};
  first.fill(kPrefixes.size());
  for (std::size_t i = kPrefixes.size(); i-- > 0;) {
    first[letter_of(kPrefixes[i].text)] = static_cast<std::uint8_t>(i);
  }
  return first;
}();

}  // namespace

Item parse_line(std::string_view line, bool admin_commands) {
  if (line.find('\0') != std::string_view::npos) return bad_format();
  if (line.empty()) return refused(ReplyWord::kUnknownCommand);
  for (std::size_t i = kFirstPrefix[letter_of(line)]; i < kPrefixes.size(); ++i) {
    const Prefix& prefix = kPrefixes[i];
    if (prefix.fits(line, admin_commands)) return prefix.parse(line.substr(prefix.text.size()));
    if (letter_of(prefix.text) != letter_of(line)) break;
  }
  return refused(ReplyWord::kUnknownCommand);
}

}  // namespace xylem
