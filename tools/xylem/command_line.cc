// What each call means to CLI11. An option belongs to its App, which outlives the parsing, so an
// Argument may be copied.
#include "command_line.h"

#include <CLI/CLI.hpp>

namespace xylem::tool {

Argument Argument::required() {
  option_->required();
  return *this;
}

Argument Argument::check(const Check& check) {
  option_->check(check);
  return *this;
}

Argument Argument::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Argument Argument::excludes(Argument other) {
  option_->excludes(other.option_);
  return *this;
}

Argument Argument::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument CommandLine::add_option(const std::string& name, std::string& text,
                                 const std::string& help) {
  return Argument(*app_->add_option(name, text, help));
}

Argument CommandLine::add_option(const std::string& name, std::vector<std::string>& texts,
                                 const std::string& help) {
  return Argument(*app_->add_option(name, texts, help));
}

Argument CommandLine::add_option_function(const std::string& name,
                                          const std::function<void(const std::string&)>& take,
                                          const std::string& help) {
  return Argument(*app_->add_option_function<std::string>(name, take, help));
}

Argument CommandLine::add_option_function(
    const std::string& name, const std::function<void(const std::vector<std::string>&)>& take,
    const std::string& help) {
  return Argument(*app_->add_option_function<std::vector<std::string>>(name, take, help));
}

Argument CommandLine::add_flag(const std::string& name, bool& is_given, const std::string& help) {
  return Argument(*app_->add_flag(name, is_given, help));
}

Argument CommandLine::add_flag_function(const std::string& name, const std::function<void()>& take,
                                        const std::string& help) {
  return Argument(*app_->add_flag_callback(name, take, help));
}

CommandLine CommandLine::add_alternatives(const std::string& title) {
  CLI::Option_group* group = app_->add_option_group(title);
  group->require_option(0, 1);
  return CommandLine(*group);
}

void CommandLine::take_rest(std::vector<std::string>& words) {
  app_->prefix_command();
  app_->callback([app = app_, &words] { words = app->remaining(); });
}

void CommandLine::require(const std::string& what, const std::function<bool()>& is_given) {
  app_->callback([what, is_given] {
    if (!is_given()) throw CLI::RequiredError(what);
  });
}

void refuse(const std::string& name, const std::string& why) {
  throw CLI::ValidationError(name, why);
}

}  // namespace xylem::tool
