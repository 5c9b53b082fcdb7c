// Tool: what every subcommand is given: the server to talk to, and the way to say things. Results
// go to standard output, complaints and progress to standard error; what only pleases a person
// (confirmations, colour, bars) is left out where nobody watches.
//
// Standard output is checked: after the first write that fails the rest is dropped, and the process
// ends with one line and kInOut.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "exit_codes.h"
#include "xylem/client.h"

namespace xylem::tool {

// Keys stay in the order in which they were set.
using Json = nlohmann::ordered_json;
using client::Connection;
using client::Map;
using client::Reply;

// Standard error; what cannot be written there is dropped, since nobody is left to tell.
void to_stderr(std::string_view text);

class Tool {
 public:
  std::string server = "127.0.0.1:11300";
  bool json = false;
  // For work: the words behind "--".
  std::vector<std::string> command;

  Tool();

  Result<client::Address> address() const;
  Result<Connection> connect(client::Options options = {}) const;
  // One that no interrupt ends in the middle of a command: what came of that would not be known.
  Result<Connection> connect_without_interrupts() const;
  // From here on SIGINT and SIGTERM end every wait with kInterrupted, so that what was done so far
  // can be told, instead of ending the process. A second one ends it.
  void catch_interrupts();
  // Instead: a second one does not end the process either, but makes hurry_fd() readable. A third
  // ends it.
  void catch_interrupts_twice();
  [[nodiscard]] bool interrupted() const;
  // Ends every wait, from any thread, as such a signal does.
  void interrupt() const;
  [[nodiscard]] int interrupt_fd() const { return interrupt_fd_; }
  [[nodiscard]] int hurry_fd() const { return hurry_fd_; }

  void print(std::string_view text);
  void print_json(const Json& value);
  // For a person: only if standard output is a terminal and nobody asked for JSON.
  void confirm(std::string_view text);
  // One line, escaped already, on standard error: "xylem: TEXT".
  void complain(std::string_view text);
  // Where to go on with an input of many jobs, a `noun` each, that was not put to its end: so many
  // are answered, so many were sent.
  void complain_of_the_rest(std::string_view noun, std::uint64_t answered, std::uint64_t sent);
  // False once standard output has failed.
  [[nodiscard]] bool can_print() const { return !output_failed_; }
  // Ends the output: `exit_code`, or kInOut with a complaint if some of it was lost.
  int finish(int exit_code);

  [[nodiscard]] bool to_terminal() const { return terminal_; }
  [[nodiscard]] bool errors_to_terminal() const { return error_terminal_; }
  // The text in a colour of ANSI ("1" bold, "31" red), if a person watches and NO_COLOR is not set.
  [[nodiscard]] std::string in_colour(std::string_view code, std::string_view text) const;

 private:
  bool terminal_;
  bool error_terminal_;
  bool output_failed_ = false;
  int output_error_ = 0;
  int interrupt_fd_ = -1;
  int hurry_fd_ = -1;
};

// A reply that is not the one hoped for, as an error: `what` was asked, and how the server put it.
// NOT_FOUND has kNothing, the rest kRefused.
Error refusal(const Reply& reply, std::string_view what);

// So many jobs were refused, the first of them for this reason.
Error refusals(std::uint64_t count, const Error& first);

// Whether the server has a command of xylemd's own. Any server may be asked.
Result<bool> offers(Connection& connection, std::string_view command);
// For a command that has no stand-in: "WHAT needs ...".
Error not_offered(std::string_view command, std::string_view what_else);

// One command whose reply must have this word.
Result<Reply> demand(Connection& connection, std::string_view line, std::string_view word,
                     std::string_view what);

// The same for one that changes something: if no reply comes, the error says that it may be done.
Result<Reply> demand_change(Connection& connection, std::string_view line, std::string_view word,
                            std::string_view what);
// What ended the wait for a reply to `what`.
Error perhaps_done(const Error& error, std::string_view what);

// Values as JSON has them: numbers, true and false, the rest as text.
Json to_json(const Map& map);
// {"body": TEXT}, or {"body_base64": TEXT} where it is not UTF-8; so for any other key.
void set_bytes(Json& object, const std::string& key, std::string_view bytes);
// One line, without its end, that may go to a terminal.
std::string to_line(const Json& value);

}  // namespace xylem::tool
