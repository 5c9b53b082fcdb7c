// xylemd: command line in, exit code out. All the rest is the daemon's.
//
// Exit codes are beanstalkd's: 0 told to stop, 1 any other failure, 5 usage, 33 and 34 user, 111
// listen.

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <variant>

#include "server/daemon.h"
#include "xylem/config.h"

namespace {

// The core's slabs and long bodies are mapped one by one, so that each goes back to the system when
// it is freed. Without this glibc raises the threshold at the first free and keeps them.
// The rest of the heap keeps a little at its end: giving it back and asking for it again in each
// turn would cost more than all the turn's commands.
void set_up_malloc() {
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
}

int print(const xylem::PrintAndExit& message) {
  fmt::print(message.to_stderr ? stderr : stdout, "{}", message.text);
  return message.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  set_up_malloc();
  xylem::Invocation invocation = xylem::parse_invocation(argc, argv);
  if (const auto* message = std::get_if<xylem::PrintAndExit>(&invocation)) return print(*message);
  xylem::Daemon daemon(std::move(std::get<xylem::Run>(invocation).config), argc, argv);
  const auto ended = daemon.run();
  if (ended) return 0;
  fmt::print(stderr, "xylemd: {}\n", ended.error().text);
  return ended.error().exit_code;
}
