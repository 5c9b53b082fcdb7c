// xylemd: command line in, exit code out. Serving is the daemon's; what is done with a log instead
// of serving is told to the storage module from here.
//
// Exit codes are beanstalkd's: 0 told to stop, 1 any other failure, 5 usage, 10 log directory, 32
// to 34 user, 111 listen.

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>
#include <variant>

#include "server/clock.h"
#include "server/daemon.h"
#include "server/signals.h"
#include "server/user.h"
#include "xylem/config.h"
#include "xylem/core/command.h"
#include "xylem/storage/check_log.h"
#include "xylem/storage/import.h"
#include "xylem/storage/posix_disk.h"

namespace xylem {
namespace {

// The core's slabs and long bodies are mapped one by one, so that each goes back to the system when
// it is freed. Without this glibc raises the threshold at the first free and keeps them.
// The rest of the heap keeps a little at its end: giving it back and asking for it again in each
// turn would cost more than all the turn's commands.
void set_up_malloc() {
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
}

// Whoever starts us may have closed them. The next descriptor would have their number then, and
// what is printed would go to a client or into the log.
void open_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    // open() takes the lowest number that is free. If it fails there is nobody to tell.
    if (fcntl(descriptor, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDWR));
  }
}

// What cannot be written to standard error is dropped: the exit code tells too.
void print(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

int fail(const Error& error) {
  print(stderr, fmt::format("xylemd: {}\n", error.text));
  return error.exit_code;
}

// After what was asked for was printed: all of it must have got there.
int finish(int exit_code) {
  const bool flushed = std::fflush(stdout) == 0;
  return flushed && std::ferror(stdout) == 0 ? exit_code
                                             : fail(Error{"cannot write to standard output"});
}

int print_and_exit(const PrintAndExit& message) {
  print(message.to_stderr ? stderr : stdout, message.text);
  return finish(message.exit_code);
}

int serve(Run run, int argc, const char* const* argv) {
  Daemon daemon(std::move(run.config), argc, argv);
  return daemon.run();
}

int import(const ImportBinlog& order) {
  const Config& config = order.config;
  if (!config.user.empty()) {
    if (auto became = become_user(config.user); !became) return fail(became.error());
  }
  std::error_code none;
  if (std::filesystem::equivalent(order.from, config.log_directory, none)) {
    return fail(Error{fmt::format("{} is both -b and --import-binlog: name a new directory with -b",
                                  config.log_directory)});
  }
  auto into = open_locked(config.log_directory);
  if (!into) return fail(into.error());
  auto summary = import_binlogs(order.from, *into.value().files, config.log_segment_bytes,
                                config.most_job_bytes, wall_now());
  if (!summary) return fail(summary.error());
  for (const BinlogLine& line : lines_of(summary.value())) {
    print(line.warning ? stderr : stdout,
          fmt::format("{}{}\n", line.warning ? "warning: " : "", line.text));
  }
  return finish(0);
}

int check(const CheckLog& order) {
  auto directory = open_stopped(order.directory);
  if (!directory) return fail(directory.error());
  auto good = check_log(*directory.value().files, DumpFormat::kText, stdout);
  if (!good) return fail(good.error());
  return finish(good.value() ? 0 : 1);
}

int dump(const DumpLog& order) {
  auto directory = open_stopped(order.directory);
  if (!directory) return fail(directory.error());
  const DumpFormat format = order.as_json ? DumpFormat::kJson : DumpFormat::kText;
  auto dumped = dump_log(*directory.value().files, format, stdout);
  return dumped ? finish(0) : fail(dumped.error());
}

int run(int argc, const char* const* argv) {
  Invocation invocation = parse_invocation(argc, argv);
  if (!std::holds_alternative<Run>(invocation)) let_signals_go();
  return std::visit(overloaded{
                        [&](Run& order) { return serve(std::move(order), argc, argv); },
                        [](const PrintAndExit& message) { return print_and_exit(message); },
                        [](const ImportBinlog& order) { return import(order); },
                        [](const CheckLog& order) { return check(order); },
                        [](const DumpLog& order) { return dump(order); },
                    },
                    invocation);
}

}  // namespace
}  // namespace xylem

int main(int argc, char** argv) {
  xylem::hold_signals();
  xylem::open_standard_descriptors();
  xylem::set_up_malloc();
  return xylem::run(argc, argv);
}
