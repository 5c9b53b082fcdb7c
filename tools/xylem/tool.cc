// Output and connections. SIGPIPE is ignored, so that a closed pipe is an error of a write, told
// like any other.
#include "tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "text.h"

namespace xylem::tool {
namespace {

// What the handler writes; the only globals, since a handler has no other way. Without a pipe to
// hurry by, the second signal ends the process.
int interrupt_pipe[2] = {-1, -1};
int hurry_pipe[2] = {-1, -1};
std::atomic<bool> was_interrupted = false;  // lock-free; threads may be interrupted at once

constexpr std::array<int, 2> kInterrupts{SIGINT, SIGTERM};

void on_interrupt(int) {
  const int error = errno;
  const bool again = was_interrupted.exchange(true);
  // The first may be in another thread and not yet have come to its write.
  static_cast<void>(!write(interrupt_pipe[1], "x", 1));
  if (again) static_cast<void>(!write(hurry_pipe[1], "x", 1));
  if (again || hurry_pipe[1] < 0) {
    for (const int number : kInterrupts) std::signal(number, SIG_DFL);
  }
  errno = error;
}

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

// The id of a server is 16 hex digits, which may look like a number; that of a job is a number.
bool is_text(std::string_view key, std::string_view value) {
  constexpr std::array<std::string_view, 6> kTexts{"version",  "hostname", "os",
                                                   "platform", "name",     "tube"};
  return is_one_of(key, kTexts) || (key == "id" && value.size() == 16);
}

Json to_json(std::string_view key, const std::string& value) {
  if (!is_text(key, value)) {
    if (value == "true" || value == "false") return value == "true";
    if (const auto number = parse_number(value)) return *number;
    char* end = nullptr;
    const double fraction = std::strtod(value.c_str(), &end);
    if (!value.empty() && *end == '\0') return fraction;
  }
  return value;
}

}  // namespace

void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Tool::Tool() : terminal_(isatty(STDOUT_FILENO) == 1), error_terminal_(isatty(STDERR_FILENO) == 1) {
  std::signal(SIGPIPE, SIG_IGN);
  if (const char* named = std::getenv("XYLEM_SERVER"); named != nullptr && *named != '\0') {
    server = named;
  }
}

Result<client::Address> Tool::address() const { return client::parse_address(server); }

Result<Connection> Tool::connect_without_interrupts() const {
  Result<client::Address> to = address();
  if (!to) return to.error();
  return Connection::connect(to.value());
}

Result<Connection> Tool::connect(client::Options options) const {
  Result<client::Address> to = address();
  if (!to) return to.error();
  options.interrupt_fd = interrupt_fd_;
  return Connection::connect(to.value(), options);
}

void Tool::catch_interrupts() {
  if (interrupt_fd_ >= 0 || pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  interrupt_fd_ = interrupt_pipe[0];
  for (const int number : kInterrupts) std::signal(number, on_interrupt);
}

void Tool::catch_interrupts_twice() {
  if (hurry_fd_ < 0 && pipe2(hurry_pipe, O_CLOEXEC | O_NONBLOCK) == 0) hurry_fd_ = hurry_pipe[0];
  catch_interrupts();
}

bool Tool::interrupted() const {
  pollfd polled{interrupt_fd_, POLLIN, 0};
  return interrupt_fd_ >= 0 && poll(&polled, 1, 0) == 1;
}

void Tool::interrupt() const { static_cast<void>(!write(interrupt_pipe[1], "x", 1)); }

void Tool::print(std::string_view text) {
  if (output_failed_ || std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  output_failed_ = true;
  output_error_ = errno;
}

void Tool::print_json(const Json& value) { print(to_line(value) + "\n"); }

void Tool::confirm(std::string_view text) {
  if (terminal_ && !json) print(fmt::format("{}\n", text));
}

void Tool::complain(std::string_view text) {
  std::fflush(stdout);
  to_stderr(fmt::format("xylem: {}\n", text));
}

int Tool::finish(int exit_code) {
  // What CLI11 printed may have failed already.
  if (!output_failed_ && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    output_failed_ = true;
    output_error_ = errno;
  }
  if (!output_failed_) return exit_code;
  to_stderr(
      fmt::format("xylem: cannot write to standard output: {}\n", std::strerror(output_error_)));
  return kInOut;
}

std::string Tool::in_colour(std::string_view code, std::string_view text) const {
  const bool plain = !terminal_ || std::getenv("NO_COLOR") != nullptr;
  return plain ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Tool::complain_of_the_rest(std::string_view noun, std::uint64_t answered, std::uint64_t sent) {
  const auto span = [noun](std::uint64_t first, std::uint64_t last) {
    return first == last ? fmt::format("{} {}", noun, last)
                         : fmt::format("{}s {} to {}", noun, first, last);
  };
  if (sent == 0) return;
  std::string text = "of the input: ";
  if (answered > 0) text += span(1, answered) + " done; ";
  if (sent > answered) {
    text += span(answered + 1, sent) + " sent without an answer, put or not; ";
  }
  complain(text + "the rest not sent");
}

Error refusals(std::uint64_t count, const Error& first) {
  return {.text = fmt::format("{} refused; the first: {}", counted(count, "job"), first.text),
          .exit_code = kRefused};
}

Error refusal(const Reply& reply, std::string_view what) {
  if (reply.is("NOT_FOUND")) {
    return {.text = fmt::format("{}: not found", what), .exit_code = kNothing};
  }
  std::string_view why;
  if (reply.is("DRAINING")) why = " (it takes no new jobs)";
  if (reply.is("JOB_TOO_BIG")) why = " (stats has max-job-size)";
  if (reply.is("OUT_OF_MEMORY")) why = " (no memory, or the disk of its log is full)";
  if (reply.is("INTERNAL_ERROR")) why = " (see its log)";
  return {.text = fmt::format("{}: the server says {}{}", what, escaped(reply.line()), why),
          .exit_code = kRefused};
}

Result<bool> offers(Connection& connection, std::string_view command) {
  Result<Reply> caps = connection.ask("caps");
  if (!caps) return caps.error();
  if (!caps.value().is("OK")) return false;
  const std::vector<std::string> list = client::parse_list(caps.value().body);
  return std::ranges::find(list, command) != list.end();
}

Error not_offered(std::string_view command, std::string_view what_else) {
  return {.text = fmt::format("this server has no {} command{}", command, what_else),
          .exit_code = kRefused};
}

namespace {

// Any other word is a refusal.
Result<Reply> expected(Result<Reply> reply, std::string_view word, std::string_view what) {
  if (reply && !reply.value().is(word)) return refusal(reply.value(), what);
  return reply;
}

}  // namespace

Result<Reply> demand(Connection& connection, std::string_view line, std::string_view word,
                     std::string_view what) {
  return expected(connection.ask(line), word, what);
}

Result<Reply> demand_change(Connection& connection, std::string_view line, std::string_view word,
                            std::string_view what) {
  Result<Reply> reply = connection.ask(line);
  if (!reply) return perhaps_done(reply.error(), what);
  return expected(std::move(reply), word, what);
}

Error perhaps_done(const Error& error, std::string_view what) {
  return {.text = fmt::format("{}: {}; whether it was done is not known", what, error.text),
          .exit_code = error.exit_code};
}

Json to_json(const Map& map) {
  Json object = Json::object();
  for (const auto& [key, value] : map) object[key] = to_json(key, value);
  return object;
}

void set_bytes(Json& object, const std::string& key, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object[key] = bytes;
  } else {
    object[key + "_base64"] = to_base64(bytes);
  }
}

std::string to_line(const Json& value) {
  return escaped_json(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace xylem::tool
