// Configuration: the command line as beanstalkd's users write it, and ours; the YAML file, and that
// a mistake in it names file, line and key.
#include "xylem/config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace xylem {
namespace {

Invocation invoke(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "xylemd");
  return parse_invocation(static_cast<int>(arguments.size()), arguments.data());
}

Config config_of(const std::vector<const char*>& arguments) {
  const Invocation invocation = invoke(arguments);
  REQUIRE(std::holds_alternative<Run>(invocation));
  return std::get<Run>(invocation).config;
}

PrintAndExit printed(const std::vector<const char*>& arguments) {
  const Invocation invocation = invoke(arguments);
  REQUIRE(std::holds_alternative<PrintAndExit>(invocation));
  return std::get<PrintAndExit>(invocation);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("without options: this machine only, beanstalkd's port and sizes") {
  const Config config = config_of({});
  REQUIRE(config.listen.size() == 1);
  CHECK(config.listen[0] == ListenAddress{TcpAddress{"127.0.0.1", "11300"}});
  CHECK(config.most_job_bytes == 65'535);
  CHECK(config.log_level == LogLevel::kInfo);
  CHECK(config.notices.empty());
}

TEST_CASE("letters with their argument apart or attached, and bundled") {
  CHECK(config_of({"-p1234"}).listen[0] == ListenAddress{TcpAddress{"127.0.0.1", "1234"}});
  CHECK(config_of({"-p", "1234"}).listen[0] == ListenAddress{TcpAddress{"127.0.0.1", "1234"}});
  CHECK(config_of({"-llocalhost"}).listen[0] == ListenAddress{TcpAddress{"localhost", "11300"}});
  CHECK(config_of({"-z1234"}).most_job_bytes == 1'234);
  CHECK(config_of({"-VVukr"}).user == "kr");
  CHECK(config_of({"-VVukr"}).log_level == LogLevel::kTrace);
}

TEST_CASE("addresses in all their forms, each with a port of its own or the common one") {
  const Config config =
      config_of({"-l", "::1", "-l", "[::]:99", "-l", "host:77", "-l", "unix:/tmp/x", "-p", "5"});
  REQUIRE(config.listen.size() == 4);
  CHECK(config.listen[0] == ListenAddress{TcpAddress{"::1", "5"}});
  CHECK(config.listen[1] == ListenAddress{TcpAddress{"::", "99"}});
  CHECK(config.listen[2] == ListenAddress{TcpAddress{"host", "77"}});
  CHECK(config.listen[3] == ListenAddress{UnixAddress{"/tmp/x"}});
  for (const char* bad : {"unix:", "[::1", "[::1]x", ":99", "host:", "host:65536", "host:-1"}) {
    CHECK(printed({"-l", bad}).exit_code == 5);
  }
  CHECK(printed({"-p", "87237"}).exit_code == 5);
}

TEST_CASE("-z reads numbers as beanstalkd does") {
  CHECK(config_of({"-z", "0"}).most_job_bytes == 0);
  CHECK(config_of({"-z", "+7"}).most_job_bytes == 7);
  for (const char* huge : {"1073741825", "-5", "99999999999999999999999"}) {
    const Config config = config_of({"-z", huge});
    CHECK(config.most_job_bytes == 1'073'741'824);
    CHECK(config.notices.size() == 1);
  }
  for (const char* bad : {"x", "1x", ""}) CHECK(printed({"-z", bad}).exit_code == 5);
}

TEST_CASE("-v and -h print and exit 0, usage on standard error") {
  CHECK(printed({"-v"}).text == "xylemd " XYLEM_VERSION "\n");
  CHECK_FALSE(printed({"-v"}).to_stderr);
  CHECK(printed({"-v"}).exit_code == 0);
  CHECK(printed({"-h"}).exit_code == 0);
  CHECK(printed({"-h"}).to_stderr);
  CHECK(contains(printed({"--help"}).text, "--max-job-size"));
}

TEST_CASE("wrong usage exits 5 with the usage text") {
  using Arguments = std::vector<const char*>;
  for (const Arguments& bad :
       {Arguments{"-x"}, Arguments{"-p"}, Arguments{"word"}, Arguments{"--nonsense"},
        Arguments{"--"}, Arguments{"-V", "--"}, Arguments{"--max-connections", "many"},
        Arguments{"--log-level", "loud"}}) {
    const PrintAndExit message = printed(bad);
    CHECK(message.exit_code == 5);
    CHECK(message.to_stderr);
    CHECK(contains(message.text, "Usage"));
  }
}

TEST_CASE("of an option that is given twice the last counts; addresses add up") {
  CHECK(config_of({"-p", "1", "-p2"}).listen == config_of({"--port", "2"}).listen);
  CHECK(config_of({"-p", "1", "--port", "2"}).listen == config_of({"-p", "2"}).listen);
  CHECK(config_of({"-z", "1", "-z", "2"}).most_job_bytes == 2);
  CHECK(config_of({"-z", "-1", "-z", "2"}).notices.empty());
  CHECK(config_of({"-u", "a", "-u", "b"}).user == "b");
  CHECK(config_of({"-b", "a", "-bb"}).log_directory == "b");
  CHECK(config_of({"-s", "20000", "-s", "30000"}).log_segment_bytes == 30'000);
  CHECK(config_of({"-f", "1", "-f", "2"}).log_interval_ms == 2);
  CHECK(config_of({"-f", "1", "-f", "0"}).log_sync == SyncPolicy::kAlways);
  CHECK(config_of({"-F", "-F"}).log_sync == SyncPolicy::kNoSync);
  CHECK(config_of({"-cc", "-n"}).notices.size() == 2);
  CHECK(config_of({"--max-connections", "1", "--max-connections=2"}).most_connections == 2);
  CHECK(config_of({"--idle-timeout", "1", "--idle-timeout", "2"}).idle_timeout_seconds == 2);
  CHECK(config_of({"--out-buffer", "2048", "--out-buffer", "4096"}).out_buffer_bytes == 4'096);
  CHECK(config_of({"--log-level", "error", "--log-level", "debug"}).log_level == LogLevel::kDebug);
  CHECK(config_of({"--log-format", "json", "--log-format", "text"}).log_format == LogFormat::kText);
  CHECK(config_of({"-l", "a", "-lb", "--listen", "c"}).listen.size() == 3);
  CHECK(printed({"--check-config", "--check-config"}).exit_code == 0);
}

TEST_CASE("numbers are decimal") {
  CHECK(config_of({"-z", "010"}).most_job_bytes == 10);
  CHECK(config_of({"--max-connections", "010"}).most_connections == 10);
  for (const char* bad : {"0x10", "-1", "+1", " 1", "1e3", "1.5", "4294967296", ""}) {
    const PrintAndExit message = printed({"--max-connections", bad});
    CHECK(message.exit_code == 5);
    CHECK(contains(message.text, "must be a whole number from 0 to 4294967295"));
  }
  CHECK(printed({"-z", "0x10"}).exit_code == 5);
  CHECK(printed({"--out-buffer", "1023"}).exit_code == 5);
}

TEST_CASE("an empty argument is never a default") {
  for (const char* option :
       {"--config", "-p", "-b", "-l", "--check-log", "--dump-log", "--import-binlog"}) {
    CHECK(printed({option, ""}).exit_code == 5);
  }
  CHECK(contains(printed({"-p", ""}).text, "port"));
  CHECK(printed({"-u", ""}).exit_code == 33);
}

TEST_CASE("a flag takes no value") {
  for (const char* flag : {"--check-config=false", "--version=false", "--help=false", "-V=3",
                           "--verbose=3", "-F=false", "-c=x"}) {
    CHECK(printed({flag}).exit_code == 5);
  }
}

TEST_CASE(
    "options of the log as beanstalkd has them: 0 ms is before each reply, the last word wins") {
  CHECK(config_of({}).log_directory.empty());
  CHECK(config_of({"-b", "dir"}).log_directory == "dir");
  CHECK(config_of({"-bdir"}).log_sync == SyncPolicy::kAlways);
  CHECK(config_of({"-f", "0"}).log_sync == SyncPolicy::kAlways);
  CHECK(config_of({"-f20"}).log_sync == SyncPolicy::kInterval);
  CHECK(config_of({"-f20"}).log_interval_ms == 20);
  CHECK(config_of({"-f", "-1"}).log_interval_ms == 4'294'967'295);
  CHECK(config_of({"-F"}).log_sync == SyncPolicy::kNoSync);
  CHECK(config_of({"-f", "20", "-F"}).log_sync == SyncPolicy::kNoSync);
  CHECK(config_of({"-F", "-f", "20"}).log_sync == SyncPolicy::kInterval);
  CHECK(config_of({"-s", "20000"}).log_segment_bytes == 20'000);
  CHECK(printed({"-f", "soon"}).exit_code == 5);
  CHECK(printed({"-s", "1k"}).exit_code == 5);
}

TEST_CASE("a segment that would hold nothing is made larger, with a notice") {
  const Config config = config_of({"-s", "1"});
  CHECK(config.log_segment_bytes == limits::kLeastSegmentBytes);
  REQUIRE(config.notices.size() == 1);
  CHECK(config.notices[0] == "segment-size 1: using 16384");
}

TEST_CASE("-c and -n are ignored with a notice") {
  CHECK(config_of({"-c", "-n"}).notices.size() == 2);
}

TEST_CASE("what is done with a log instead of serving") {
  const Invocation checks = invoke({"--check-log", "dir"});
  REQUIRE(std::holds_alternative<CheckLog>(checks));
  CHECK(std::get<CheckLog>(checks).directory == "dir");
  const Invocation dumps = invoke({"--dump-log", "dir", "--json"});
  REQUIRE(std::holds_alternative<DumpLog>(dumps));
  CHECK(std::get<DumpLog>(dumps).as_json);
  const Invocation imports = invoke({"--import-binlog", "old", "-b", "new", "-z", "7"});
  REQUIRE(std::holds_alternative<ImportBinlog>(imports));
  CHECK(std::get<ImportBinlog>(imports).from == "old");
  CHECK(std::get<ImportBinlog>(imports).config.log_directory == "new");
  CHECK(printed({"--import-binlog", "old"}).exit_code == 5);
}

TEST_CASE("--check-config says that settings are good") {
  CHECK(printed({"--check-config", "-p", "9"}).exit_code == 0);
  CHECK(printed({"--check-config", "-l", "unix:"}).exit_code == 5);
  const PrintAndExit large = printed({"--check-config", "-z", "9999999999"});
  CHECK(large.exit_code == 0);
  CHECK(contains(large.text, "warning: max-job-size 9999999999 is too large"));
}

// A file that lives as long as this.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("xylem-config-" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Result<Config> load(const std::string& path, std::vector<const char*> more = {}) {
  std::vector<const char*> arguments{"xylemd", "--config", path.c_str()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return reload_config(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::string& text) {
  const TemporaryFile file(text);
  const Result<Config> config = load(file.path());
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().exit_code == 5);
  REQUIRE(config.error().text.starts_with(file.path()));
  return config.error().text.substr(file.path().size());
}

TEST_CASE("docs/example.yaml holds every key with its default") {
  Result<Config> loaded = load(XYLEM_EXAMPLE_CONFIG);
  REQUIRE(loaded.ok());
  const Config file = std::move(loaded).value();
  const Config defaults;
  CHECK(file.listen == defaults.listen);
  CHECK(file.user == defaults.user);
  CHECK(file.admin_commands == defaults.admin_commands);
  CHECK(file.most_job_bytes == defaults.most_job_bytes);
  CHECK(file.most_connections == defaults.most_connections);
  CHECK(file.idle_timeout_seconds == defaults.idle_timeout_seconds);
  CHECK(file.out_buffer_bytes == defaults.out_buffer_bytes);
  CHECK(file.log_directory == defaults.log_directory);
  CHECK(file.log_sync == defaults.log_sync);
  CHECK(file.log_interval_ms == defaults.log_interval_ms);
  CHECK(file.log_segment_bytes == defaults.log_segment_bytes);
  CHECK(file.log_level == defaults.log_level);
  CHECK(file.log_format == defaults.log_format);
}

TEST_CASE("each key is taken, and the command line wins") {
  const TemporaryFile file(
      "admin-commands: off\nlisten: [ '0.0.0.0', '[::1]:7' ]\nuser: kr\nlimits:\n  max-job-size: "
      "10\n"
      "  max-connections: 20\n  idle-timeout: 30\n  out-buffer: 4096\n"
      "log: { dir: there, sync: interval, interval: 5, segment-size: 65536 }\n"
      "logging: { level: debug, format: json }\n");
  Result<Config> loaded = load(file.path(), {"-z", "99", "-p", "8"});
  REQUIRE(loaded.ok());
  const Config config = std::move(loaded).value();
  REQUIRE(config.listen.size() == 2);
  CHECK(config.listen[0] == ListenAddress{TcpAddress{"0.0.0.0", "8"}});
  CHECK(config.listen[1] == ListenAddress{TcpAddress{"::1", "7"}});
  CHECK(config.user == "kr");
  CHECK_FALSE(config.admin_commands);
  CHECK(config.most_job_bytes == 99);
  CHECK(config.most_connections == 20);
  CHECK(config.idle_timeout_seconds == 30);
  CHECK(config.out_buffer_bytes == 4096);
  CHECK(config.log_directory == "there");
  CHECK(config.log_sync == SyncPolicy::kInterval);
  CHECK(config.log_interval_ms == 5);
  CHECK(config.log_segment_bytes == 65'536);
  CHECK(config.log_level == LogLevel::kDebug);
  CHECK(config.log_format == LogFormat::kJson);
}

TEST_CASE("a number in the file is decimal too") {
  const TemporaryFile file("limits:\n  max-job-size: 010\n");
  Result<Config> loaded = load(file.path());
  REQUIRE(loaded.ok());
  CHECK(loaded.value().most_job_bytes == 10);
}

TEST_CASE("an empty file and one of comments change nothing") {
  for (const char* text : {"", "# nothing\n", "limits:\n", "---\nuser: x\n...\n"}) {
    const TemporaryFile file(text);
    CHECK(load(file.path()).ok());
  }
}

TEST_CASE("mistakes name file, line and key") {
  struct Mistake {
    const char* text;
    const char* error;
  };
  constexpr std::array<Mistake, 18> kMistakes{{
      {"user: x\nport: 5\n", ":2: unknown key 'port'"},
      {"limits:\n  max-jobs: 5\n", ":2: unknown key 'limits.max-jobs'"},
      {"limits:\n\n  max-job-size: big\n",
       ":3: key 'limits.max-job-size': must be a whole number from 0 to 1073741824"},
      {"limits:\n  max-job-size: 1073741825\n",
       ":2: key 'limits.max-job-size': must be a whole number from 0 to 1073741824"},
      {"limits:\n  max-connections: -1\n",
       ":2: key 'limits.max-connections': must be a whole number from 0 to 4294967295"},
      {"logging:\n  level: loud\n",
       ":2: key 'logging.level': must be error, warning, info, debug or trace"},
      {"log:\n  sync: often\n", ":2: key 'log.sync': must be always, interval or never"},
      {"log:\n  interval: 0\n",
       ":2: key 'log.interval': must be a whole number from 1 to 4294967295"},
      {"logging: loud\n", ":1: 'logging' must hold keys"},
      {"user: a\nuser: b\n", ":2: key 'user' stands twice"},
      {"listen: []\n", ":1: key 'listen': names no address"},
      {"listen: 'unix:'\n", ":1: key 'listen': 'unix:' names no path"},
      {"listen: 11300\n",
       ":1: key 'listen': '11300' is a port and names no host: write 127.0.0.1:11300"},
      {"listen: '127.0.0.1:70000'\n",
       ":1: key 'listen': '70000' is no port: a number from 0 to 65535"},
      {"- a list\n", ":1: must hold keys"},
      {"user: a\n---\nuser: b\n", ":3: a second document: all keys stand in one"},
      {"---\n---\nnonsense: 1\n", ":3: a second document: all keys stand in one"},
      {"log:\n  interval: 0x10\n",
       ":2: key 'log.interval': must be a whole number from 1 to 4294967295"},
  }};
  for (const Mistake& mistake : kMistakes)
    CHECK(error_of(mistake.text) == std::string(mistake.error));
  CHECK(error_of("limits: [\n").starts_with(":2: "));
}

TEST_CASE("a file that is not there is an error") {
  const Result<Config> config = load("/nonexistent/xylem.yaml");
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().text == "/nonexistent/xylem.yaml: cannot be read");
}

TEST_CASE("a file that opens but cannot be read is an error") {
  const PrintAndExit message = printed({"--config", "/"});
  CHECK(message.exit_code == 5);
  CHECK(message.text == "xylemd: /: cannot be read\n");
}

}  // namespace
}  // namespace xylem
