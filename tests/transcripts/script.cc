// Reading transcripts: a line is a directive, a comment or a step. README.md has the language; a
// new verb gets a sign in kSigns and a step in player.cc.

#include "script.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace xylem::transcript {
namespace {

struct VerbSign {
  std::string_view sign;
  Verb verb;
  bool takes_text;
};

// Longer signs stand before their prefixes.
constexpr VerbSign kSigns[] = {
    {">>", Verb::kSend, true},    {">", Verb::kSend, true},      {"<", Verb::kExpect, true},
    {"~", Verb::kBodyFind, true}, {":.", Verb::kBodyEnd, false}, {":", Verb::kBodyNext, true},
    {"-", Verb::kQuiet, false},   {".", Verb::kClosed, false},   {"|", Verb::kHalfClose, false},
    {"!", Verb::kClose, false},   {"+", Verb::kOpen, false},
};

bool is_expectation(Verb verb) {
  switch (verb) {
    case Verb::kExpect:
    case Verb::kBodyFind:
    case Verb::kBodyNext:
    case Verb::kBodyEnd:
    case Verb::kQuiet:
    case Verb::kClosed:
      return true;
    case Verb::kOpen:
    case Verb::kSend:
    case Verb::kHalfClose:
    case Verb::kClose:
    case Verb::kPass:
    case Verb::kDrain:
    case Verb::kStall:
      return false;
  }
  return false;
}

bool is_name_byte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// "1100ms" or "2s".
std::optional<std::chrono::milliseconds> parse_time(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [unit, failed] = std::from_chars(text.data(), end, count);
  const std::string_view rest(unit, static_cast<std::size_t>(end - unit));
  if (failed != std::errc() || count < 0) return std::nullopt;
  if (rest == "ms") return std::chrono::milliseconds(count);
  if (rest == "s") return std::chrono::seconds(count);
  return std::nullopt;
}

std::optional<WorldKind> parse_world(std::string_view word) {
  if (word == "virtual") return WorldKind::kVirtual;
  if (word == "xylemd") return WorldKind::kXylemd;
  if (word == "beanstalkd") return WorldKind::kBeanstalkd;
  return std::nullopt;
}

// Reads one conversation line by line.
class ScriptReader {
 public:
  ScriptReader(const std::string& name, std::vector<Mistake>& mistakes) : mistakes_(mistakes) {
    script_.name = name;
  }

  void line(std::string_view source, std::size_t number) {
    line_ = number;
    if (!source.empty() && (source.back() == ' ' || source.back() == '\t')) {
      return mistake("a space at the end of the line (write \\s)");
    }
    if (source.empty()) return;
    if (source.front() == '#') return comment(source.substr(1));
    if (auto step = parse_step(source)) add(std::move(*step));
  }

  Script finish() {
    if (mark_pending_) mistake("the mark is not followed by an expectation");
    script_.oracle_skips = std::any_of(marked_.begin(), marked_.end(),
                                       [](bool has_alternative) { return !has_alternative; });
    return std::move(script_);
  }

 private:
  void mistake(std::string why) {
    mistakes_.push_back({script_.name + ":" + std::to_string(line_), std::move(why)});
  }

  // "# word: rest" is a directive and must be known, if the word is one and not a capitalised one:
  // a sentence may begin with that. Anything else is a comment.
  void comment(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    const auto colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    if (colon == std::string_view::npos || word.find(' ') != std::string_view::npos) return;
    if (word.empty() || (word.front() >= 'A' && word.front() <= 'Z')) return;
    std::string_view rest = text.substr(colon + 1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    directive(word, rest);
  }

  void directive(std::string_view word, std::string_view rest) {
    if (word == "differs") {
      script_.differences.emplace_back(rest);
      mark();
    } else if (word == "1.12") {
      mark();
    } else if (word == "beanstalkd") {
      alternative(rest);
    } else if (word == "option") {
      option(rest);
    } else if (word == "runs") {
      runs(rest);
    } else {
      mistake("an unknown directive: " + std::string(word));
    }
  }

  void mark() {
    if (mark_pending_) mistake("two marks for one expectation");
    mark_pending_ = true;
  }

  void alternative(std::string_view source) {
    if (!after_marked_) return mistake("a beanstalkd: line that follows no marked expectation");
    auto step = parse_step(source);
    if (!step) return;
    if (!is_expectation(step->verb)) return mistake("a beanstalkd: line must be an expectation");
    step->audience = Audience::kOracle;
    marked_.back() = true;
    script_.steps.push_back(std::move(*step));
  }

  void option(std::string_view text) {
    const auto space = text.find(' ');
    if (!script_.steps.empty()) return mistake("an option after the first step");
    if (space == std::string_view::npos) return mistake("an option needs a value");
    script_.options.emplace_back(text.substr(0, space), text.substr(space + 1));
  }

  void runs(std::string_view text) {
    script_.runs.clear();
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      const auto world = parse_world(word);
      if (!world) return mistake("runs: takes virtual, xylemd, beanstalkd");
      script_.runs.push_back(*world);
    }
  }

  void add(Step step) {
    after_marked_ = mark_pending_;
    if (mark_pending_) {
      if (!is_expectation(step.verb)) mistake("the mark is not followed by an expectation");
      step.audience = Audience::kXylem;
      marked_.push_back(false);
      mark_pending_ = false;
    }
    script_.steps.push_back(std::move(step));
  }

  std::optional<Step> parse_step(std::string_view source) {
    Step step;
    step.line = line_;
    step.source = source;
    const bool good = source.front() == '+'          ? parse_pass(source, step)
                      : source.starts_with("! ")     ? parse_action(source.substr(2), step)
                      : is_name_byte(source.front()) ? parse_talk(source, step)
                                                     : false;
    if (good) return step;
    mistake("neither a step nor a comment: " + std::string(source));
    return std::nullopt;
  }

  bool parse_pass(std::string_view source, Step& step) {
    const auto time = parse_time(source.substr(1));
    step.verb = Verb::kPass;
    step.time = time.value_or(step.time);
    return time.has_value();
  }

  bool parse_action(std::string_view action, Step& step) {
    step.verb = Verb::kDrain;
    if (action == "drain") return true;
    if (!action.starts_with("stall ")) return false;
    const auto time = parse_time(action.substr(6));
    step.verb = Verb::kStall;
    step.time = time.value_or(step.time);
    return time.has_value();
  }

  bool parse_talk(std::string_view source, Step& step) {
    std::size_t end = 0;
    while (end < source.size() && is_name_byte(source[end])) ++end;
    step.connection = source.substr(0, end);
    source.remove_prefix(end);
    const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                    [&](const VerbSign& s) { return source.starts_with(s.sign); });
    if (sign == std::end(kSigns)) return false;
    source.remove_prefix(sign->sign.size());
    step.verb = sign->verb;
    if (!sign->takes_text) return source.empty();
    return parse_argument(source, sign->sign == ">", step);
  }

  bool parse_argument(std::string_view source, bool as_line, Step& step) {
    if (!source.empty() && source.front() != ' ') return false;
    if (!source.empty()) source.remove_prefix(1);
    std::string error;
    auto text = parse_text(as_line ? std::string(source) + "\\r\\n" : std::string(source), error);
    if (!text) {
      mistake(error);
      return false;
    }
    step.text = std::move(*text);
    if (step.verb != Verb::kSend || bytes_of(step.text)) return true;
    mistake("{#} and {*} cannot be sent");
    return false;
  }

  Script script_;
  std::vector<Mistake>& mistakes_;
  std::vector<bool> marked_;  // For each marked expectation: has it a beanstalkd: line?
  std::size_t line_ = 0;
  bool mark_pending_ = false;
  bool after_marked_ = false;
};

using Parts = std::vector<std::pair<std::size_t, std::string>>;

// The conversations of a file, each with the number of its first line. "=== title" begins another
// one.
Parts conversations_of(const std::string& file) {
  Parts parts = {{1, ""}};
  std::istringstream lines(file);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("=== ")) {
      parts.emplace_back(number + 1, "");
    } else {
      parts.back().second += line + '\n';
    }
  }
  return parts;
}

// The ```transcript blocks of a page, each with the number of its first line.
Parts blocks_of(const std::string& page) {
  Parts blocks;
  std::istringstream lines(page);
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!inside && line == "```transcript") {
      blocks.emplace_back(number + 1, "");
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().second += line + '\n';
    }
  }
  return blocks;
}

}  // namespace

Script parse_script(std::string_view text, const std::string& name, std::size_t first_line,
                    std::vector<Mistake>& mistakes) {
  ScriptReader reader(name, mistakes);
  for (std::size_t number = first_line; !text.empty(); ++number) {
    const auto end = text.find('\n');
    reader.line(text.substr(0, end), number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return reader.finish();
}

std::vector<Script> read_scripts(const std::string& path, std::vector<Mistake>& mistakes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    mistakes.push_back({path, "cannot be read"});
    return {};
  }
  std::ostringstream content;
  content << file.rdbuf();
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto parts =
      path.ends_with(".md") ? blocks_of(content.str()) : conversations_of(content.str());
  std::vector<Script> scripts;
  for (const auto& [line, text] : parts) {
    Script script = parse_script(text, name, line, mistakes);
    if (!script.steps.empty()) scripts.push_back(std::move(script));
  }
  return scripts;
}

}  // namespace xylem::transcript
