// CommandLine: the options of one subcommand. A thin cover of CLI11, whose headers cost each file
// that includes them many seconds to compile: only command_line.cc and main.cc do.
//
// What is wrong with an option is said by CLI11, with the option's name before it, and ends with
// the exit code for usage. What is added refers to the caller's variables, which must outlive the
// parsing.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace xylem::tool {

// What is wrong with a text, or nothing.
using Check = std::function<std::string(const std::string&)>;

// An option, a flag, or an argument that goes by its place.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  Argument required();
  Argument check(const Check& check);
  Argument one_of(const std::vector<std::string>& words);
  Argument excludes(Argument other);
  // What --help calls its value.
  Argument type_name(const std::string& name);

 private:
  CLI::Option* option_;
};

class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(&app) {}

  // A name without a dash is that of an argument that goes by its place.
  Argument add_option(const std::string& name, std::string& text, const std::string& help);
  Argument add_option(const std::string& name, std::vector<std::string>& texts,
                      const std::string& help);
  Argument add_option_function(const std::string& name,
                               const std::function<void(const std::string&)>& take,
                               const std::string& help);
  Argument add_option_function(const std::string& name,
                               const std::function<void(const std::vector<std::string>&)>& take,
                               const std::string& help);
  Argument add_flag(const std::string& name, bool& is_given, const std::string& help);
  Argument add_flag_function(const std::string& name, const std::function<void()>& take,
                             const std::string& help);
  // For options of which one at most may be given.
  CommandLine add_alternatives(const std::string& title);
  // Any words may follow; they come here, unread.
  void take_rest(std::vector<std::string>& words);
  // Once all is parsed: `what` was required unless `is_given`.
  void require(const std::string& what, const std::function<bool()>& is_given);

 private:
  CLI::App* app_;
};

// What a function that takes a text calls where a check could not tell. Does not return.
[[noreturn]] void refuse(const std::string& name, const std::string& why);

}  // namespace xylem::tool
