// The interpreter's own tests: what a transcript may say, what is a mistake, and that a wrong
// answer is found. The world here is a puppet whose answers are given beforehand.

#include <doctest/doctest.h>

#include <deque>
#include <fstream>
#include <sstream>

#include "transcripts/player.h"
#include "transcripts/script.h"

namespace xylem::transcript {
namespace {

// Answers each send with the next of `answers`, and remembers what was sent.
class Puppet final : public World {
 public:
  explicit Puppet(std::deque<std::string> answers) : answers_(std::move(answers)) {}

  std::string start(const Options&) override { return ""; }
  std::string stop() override { return ""; }
  void open(const std::string&) override {}
  void send(const std::string&, std::string_view bytes) override {
    sent += bytes;
    if (answers_.empty()) return;
    inbox_ += answers_.front();
    answers_.pop_front();
  }
  void half_close(const std::string&) override { is_ended = true; }
  void close(const std::string&) override {}
  std::string receive(const std::string&) override { return std::exchange(inbox_, ""); }
  std::string arrived(const std::string&) override { return std::exchange(inbox_, ""); }
  bool ended(const std::string&) override { return is_ended; }
  void settle() override {}
  void pass(std::chrono::milliseconds time) override { passed += time; }
  void stall(std::chrono::milliseconds time) override { passed += time; }
  void drain() override {}

  std::string sent;
  std::chrono::milliseconds passed{0};
  bool is_ended = false;

 private:
  std::deque<std::string> answers_;
  std::string inbox_;
};

Script script_of(std::string_view text) {
  std::vector<Mistake> mistakes;
  Script script = parse_script(text, "test", 1, mistakes);
  REQUIRE(mistakes.empty());
  return script;
}

std::string first_mistake(std::string_view text) {
  std::vector<Mistake> mistakes;
  (void)parse_script(text, "test", 1, mistakes);
  return mistakes.empty() ? "" : mistakes.front().where + ": " + mistakes.front().why;
}

std::string failed_step(std::string_view text, std::deque<std::string> answers,
                        bool oracle = false) {
  Puppet puppet(std::move(answers));
  const auto failure = Player(puppet, oracle).play(script_of(text));
  return failure ? failure->step : "";
}

std::string sent_by(std::string_view text) {
  Puppet puppet({});
  CHECK_FALSE(Player(puppet, false).play(script_of(text)));
  return puppet.sent;
}

TEST_CASE("text: escapes and repeats") {
  CHECK(sent_by("A> use x") == "use x\r\n");
  CHECK(sent_by("A>") == "\r\n");
  CHECK(sent_by("A>> a\\r\\n\\t\\0\\s\\\\\\x7b") == std::string("a\r\n\t\0 \\{", 8));
  CHECK(sent_by("A>> {ab*3}{\\x00*2}") == std::string("ababab\0\0", 8));
}

TEST_CASE("text: patterns") {
  CHECK(failed_step("A> x\nA< a {#} b", {"a 12 b\r\n"}) == "");
  CHECK(failed_step("A> x\nA< a {#} b", {"a  b\r\n"}) == "A< a {#} b");
  CHECK(failed_step("A> x\nA< a {#} b", {"a 1x b\r\n"}) == "A< a {#} b");
  CHECK(failed_step("A> x\nA< {*}b", {"aab\r\n"}) == "");
  CHECK(failed_step("A> x\nA< {*}b", {"aabc\r\n"}) == "A< {*}b");
}

TEST_CASE("text: bytes written as source read as the same bytes") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  bytes += std::string(300, 'a') + "{}\\ ";
  CHECK(sent_by("A>> " + as_source(bytes)) == bytes);
}

TEST_CASE("player: a line that is not as expected is found") {
  CHECK(failed_step("A> x\nA< OK", {"OK\r\n"}) == "");
  CHECK(failed_step("A> x\nA< OK", {"NO\r\n"}) == "A< OK");
  CHECK(failed_step("A> x\nA< OK", {"OK"}) == "A< OK");
  CHECK(failed_step("A> x\nA< OK", {"OK\n"}) == "A< OK");
  CHECK(failed_step("A> x\nA< OK", {}) == "A< OK");
}

TEST_CASE("player: blocks") {
  const std::string block = "OK 9\r\n---\na: 1\n\r\n";
  CHECK(failed_step("A> x\nA< OK 9\nA: ---\nA: a: 1\nA:.", {block}) == "");
  CHECK(failed_step("A> x\nA< OK 9\nA~ a: 1", {block}) == "");
  CHECK(failed_step("A> x\nA< OK 9\nA~ a", {block}) == "A~ a");
  CHECK(failed_step("A> x\nA< OK 9\nA: a: 1", {block}) == "A: a: 1");
  CHECK(failed_step("A> x\nA< OK 9\nA: ---\nA:.", {block}) == "A:.");
  CHECK(failed_step("A> x\nA< OK {#}", {"OK 8\r\n---\na: 1\n\r\n"}) == "A< OK {#}");
}

TEST_CASE("player: quiet, closed, unread") {
  CHECK(failed_step("A> x\nA-", {""}) == "");
  CHECK(failed_step("A> x\nA-", {"a"}) == "A-");
  CHECK(failed_step("A> x\nA.", {""}) == "A.");
  CHECK(failed_step("A> x\nA|\nA.", {""}) == "");
  CHECK(failed_step("A> x\nA|\nA.", {"a"}) == "A.");
  CHECK(failed_step("A> x", {"OK\r\n"}) == "(the end)");
}

TEST_CASE("player: marks choose by who is asked") {
  const std::string_view text = "A> x\n# differs: y\nA< ours\n# beanstalkd: A< theirs";
  CHECK(failed_step(text, {"ours\r\n"}) == "");
  CHECK(failed_step(text, {"theirs\r\n"}) == "A< ours");
  CHECK(failed_step(text, {"theirs\r\n"}, true) == "");
  CHECK(failed_step(text, {"ours\r\n"}, true) == "A< theirs");
  CHECK(failed_step("A> x\n# 1.12: y\nA< ours", {"theirs\r\n"}, true) == "");
}

TEST_CASE("player: time") {
  Puppet puppet({});
  CHECK_FALSE(Player(puppet, false).play(script_of("+1100ms\n+2s\n! stall 5ms")));
  CHECK(puppet.passed == std::chrono::milliseconds(3105));
}

TEST_CASE("script: mistakes are told with their line") {
  CHECK(first_mistake("A> x\nnonsense") == "test:2: neither a step nor a comment: nonsense");
  CHECK(first_mistake("A> x ") == "test:1: a space at the end of the line (write \\s)");
  CHECK(first_mistake("A> \\q") == "test:1: an unknown escape");
  CHECK(first_mistake("A> {#}") == "test:1: {#} and {*} cannot be sent");
  CHECK(first_mistake("A> {x}") == "test:1: braces hold #, * or TEXT*COUNT");
  CHECK(first_mistake("# differ: x") == "test:1: an unknown directive: differ");
  CHECK(first_mistake("# differs: x\nA> x") ==
        "test:2: the mark is not followed by an expectation");
  CHECK(first_mistake("A< x\n# beanstalkd: A< y") ==
        "test:2: a beanstalkd: line that follows no marked expectation");
  CHECK(first_mistake("A> x\n# option: max-job-size 1") ==
        "test:2: an option after the first step");
  CHECK(first_mistake("+5") == "test:1: neither a step nor a comment: +5");
  CHECK(first_mistake("# Note: a comment") == "");
}

TEST_CASE("every difference that a transcript shows is listed in protocol.md") {
  std::ifstream page(XYLEM_SOURCE_DIR "/protocol.md");
  std::ostringstream text;
  text << page.rdbuf();
  std::vector<Mistake> mistakes;
  std::size_t shown = 0;
  for (const char* file : {TRANSCRIPT_FILES}) {
    for (const Script& script : read_scripts(file, mistakes)) {
      for (const std::string& name : script.differences) {
        CAPTURE(script.name);
        CAPTURE(name);
        CHECK(text.str().find("- **`" + name + "`**") != std::string::npos);
        ++shown;
      }
    }
  }
  CHECK(mistakes.empty());
  CHECK(shown > 0);
}

}  // namespace
}  // namespace xylem::transcript
