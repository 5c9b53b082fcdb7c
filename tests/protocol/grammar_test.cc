// What each line means, as beanstalkd's users can see it: word by word, argument by argument. The
// tables follow protocol.md, "Arguments" and "Commands".
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "protocol/parsed_stream.h"

namespace xylem::test {
namespace {

using Lines = std::vector<std::string>;

// The one item that a line makes.
std::string item(std::string_view line) {
  const std::vector<std::string> items = items_of(std::string(line) + "\r\n");
  return items.size() == 1 ? items.front() : std::to_string(items.size()) + " items";
}

void expect(std::string_view expected, const Lines& lines) {
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(item(line) == expected);
  }
}

const std::string k200 = std::string(200, 'n');
const std::string k201 = std::string(201, 'n');

}  // namespace

TEST_CASE("lines that are no command") {
  expect("UNKNOWN_COMMAND",
         {"",        " ",    " reserve", "foo",     "PUT 0 0 0 1", "QUIT",         "Reserve",
          "put",     "peek", "delete",   "release", "bury",        "kick",         "kick-job",
          "touch",   "use",  "watch",    "ignore",  "list-tube",   "put\t0 0 1 1", "use\tfoo",
          "peek\t1", "qui",  "reserv",   "stat",    "list-",       "pause-tub",    "\n",
          "\r",      "\xff"});
}

TEST_CASE("words that take no argument take none") {
  for (const std::string word : {"reserve", "peek-ready", "peek-delayed", "peek-buried", "stats",
                                 "list-tubes", "list-tube-used", "list-tubes-watched"}) {
    CAPTURE(word);
    CHECK(item(word) == word);
    expect("BAD_FORMAT", {word + " ", word + "x", word + " x", word + "\t", word + "\r"});
  }
}

TEST_CASE("words that need a space fall through to the word that they begin with") {
  expect("BAD_FORMAT", {"reserve-with-timeout", "reserve-job", "stats-job", "stats-tube"});
}

TEST_CASE("quit needs no end of its own") { expect("quit", {"quit", "quitx", "quit now"}); }

TEST_CASE("an id") {
  for (const std::string word :
       {"peek", "delete", "touch", "kick-job", "stats-job", "reserve-job"}) {
    CAPTURE(word);
    expect(word + " 1", {word + " 1", word + "  1", word + " 0001"});
    CHECK(item(word + " 0") == word + " 0");
    CHECK(item(word + " 18446744073709551615") == word + " 18446744073709551615");
    expect("BAD_FORMAT",
           {word + " ", word + "  ", word + " 18446744073709551616", word + " 1 ", word + " 1x",
            word + " x", word + " -1", word + " +1", word + " 1\t", word + " \t1", word + " 0x1",
            word + " 1e3", word + " 1.5", word + " 99 99", word + " 99999999999999999999999"});
  }
}

TEST_CASE("a tube's name") {
  for (const std::string word : {"use", "watch", "ignore", "stats-tube"}) {
    CAPTURE(word);
    for (const std::string& name : {std::string("foo"), std::string("f-oo"), std::string("a"),
                                    std::string("+/;.$_()"), std::string("09AZ"), k200}) {
      CHECK(item(word + " " + name) == word + " " + name);
    }
    expect("BAD_FORMAT",
           {word + " ", word + " foo ", word + "  foo", word + " -foo", word + " a,b",
            word + " a:b", word + " a*b", word + " a b", word + " a\tb", word + " \xc3\xa9",
            word + " " + k201, word + " a\rb", word + " a\nb", word + " x\r"});
  }
}

TEST_CASE("put takes four numbers") {
  CHECK(item("put 0 0 1 1") == "put 0 0 1 1");
  CHECK(item("put  0  0  1  1") == "put 0 0 1 1");
  CHECK(item("put 007 00 01 01") == "put 7 0 1 1");
  CHECK(item("put 4294967295 4294967295 4294967295 0") == "put 4294967295 4294967295 4294967295 0");
  expect("BAD_FORMAT",
         {"put ", "put 0", "put 0 0", "put 0 0 1", "put 0 0 1 ", "put 0 0 1 -1", "put 0\t0 1 1",
          "put +1 0 1 1", "put -1 0 1 1", "put 0x1 0 1 1", "put 1e3 0 1 1", "put 4294967296 0 1 0",
          "put 0 4294967296 1 0", "put 0 0 4294967296 0", "put 0 0 1 4294967296",
          "put 0 0 1 18446744073709551616", "put a b c d"});
}

TEST_CASE("what follows the size of a put") {
  CHECK(item("put 0 0 1 1 ") == "put 0 0 1 1, trailing");
  CHECK(item("put 0 0 1 1 x") == "put 0 0 1 1, trailing");
  CHECK(item("put 0 0 1 1.5") == "put 0 0 1 1, trailing");
  CHECK(item("put 0 0 1 70000") == "put 0 0 1 70000, too big");
  CHECK(item("put 0 0 1 70000 x") == "put 0 0 1 70000, too big");
  CHECK(item("put 0 0 1 4294967295") == "put 0 0 1 4294967295, too big");
}

TEST_CASE("release and bury") {
  CHECK(item("release 1 2 3") == "release 1 2 3");
  CHECK(item("release  18446744073709551615  4294967295  4294967295") ==
        "release 18446744073709551615 4294967295 4294967295");
  CHECK(item("bury 9999 1") == "bury 9999 1");
  CHECK(item("bury 1 4294967295") == "bury 1 4294967295");
  expect("BAD_FORMAT",
         {"release ", "release 1", "release 1 1", "release 1 1 1 ", "release 1 4294967296 0",
          "release 1 0 4294967296", "release 1 -1 0", "release 1 1 1 1", "bury ", "bury 1",
          "bury 1 4294967296", "bury 1 1 ", "bury 1 1 1", "bury 18446744073709551616 1"});
}

TEST_CASE("reserve-with-timeout ignores what follows its number") {
  expect("reserve-with-timeout 5", {"reserve-with-timeout 5", "reserve-with-timeout   5",
                                    "reserve-with-timeout 5abc", "reserve-with-timeout 05 foo"});
  expect("reserve-with-timeout 0",
         {"reserve-with-timeout 0", "reserve-with-timeout 0 foo", "reserve-with-timeout 0x10"});
  CHECK(item("reserve-with-timeout 2147483647") == "reserve-with-timeout 2147483647");
  expect("BAD_FORMAT",
         {"reserve-with-timeout ", "reserve-with-timeout -1", "reserve-with-timeout 2147483648",
          "reserve-with-timeout 4294967295", "reserve-with-timeout 4294967296",
          "reserve-with-timeout x", "reserve-with-timeout \t1", "reserve-with-timeoutx 1"});
}

TEST_CASE("kick reads its bound as C's strtoul does") {
  expect("kick 0", {"kick 0", "kick -0", "kick 0x10", "kick 4294967296"});
  expect("kick 3", {"kick 3", "kick +3", "kick 3 ", "kick 3 foo", "kick 3foo", "kick \t3",
                    "kick   3", "kick \n3", "kick 003", "kick 3-", "kick -18446744073709551613"});
  expect("kick 1", {"kick 4294967297"});
  expect("kick 4294967295", {"kick -1", "kick 4294967295", "kick 18446744073709551615"});
  expect("BAD_FORMAT", {"kick ", "kick x", "kick +", "kick -", "kick + 3", "kick --3", "kick -+3",
                        "kick 18446744073709551616", "kick -18446744073709551616"});
}

TEST_CASE("pause-tube") {
  expect("pause-tube default 0", {"pause-tube default 0", "pause-tubedefault 0",
                                  "pause-tube  default  0", "pause-tube default 000"});
  CHECK(item("pause-tube default 4294967295") == "pause-tube default 4294967295");
  CHECK(item("pause-tubes 1") == "pause-tube s 1");
  CHECK(item("pause-tube 5 6") == "pause-tube 5 6");
  expect("BAD_FORMAT",
         {"pause-tube", "pause-tube ", "pause-tube default", "pause-tube default ",
          "pause-tube default 0 ", "pause-tube default -1", "pause-tube default 4294967296",
          "pause-tube default\t1", "pause-tube a,b 1", "pause-tube \t1", "pause-tube 1",
          "pause-tube default 1x"});
}

TEST_CASE("pause-tube leaves the rest of a name's rules to the engine, which counts it first") {
  CHECK(item("pause-tube -a 1") == "pause-tube -a 1");
  CHECK(item("pause-tube " + k201 + " 1") == "pause-tube " + k201 + " 1");
}

TEST_CASE("commands of our own without arguments are whole words") {
  for (const std::string word : {"caps", "peek-reserved", "drain", "undrain", "stats-tubes"}) {
    CAPTURE(word);
    CHECK(item(word) == (word == "caps" ? "caps all" : word));
    expect("BAD_FORMAT", {word + " ", word + " x"});
    const bool is_stats = word == "stats-tubes";  // else it is a badly formed stats
    expect(is_stats ? "BAD_FORMAT" : "UNKNOWN_COMMAND", {word + "x", word + "\t", word + "-"});
  }
}

TEST_CASE("list-jobs") {
  for (const std::string state : {"ready", "delayed", "reserved", "buried", "all"}) {
    const std::string line = "list-jobs default " + state + " 18446744073709551615 4294967295";
    CHECK(item(line) == line);
  }
  CHECK(item("list-jobs  a   all  0   01") == "list-jobs a all 0 1");
  CHECK(item("list-jobs all all 0 1") == "list-jobs all all 0 1");
  CHECK(item("list-jobs " + k200 + " ready 0 1") == "list-jobs " + k200 + " ready 0 1");
  expect("UNKNOWN_COMMAND", {"list-jobs", "list-jobsx", "list-job a all 0 1"});
  expect("BAD_FORMAT",
         {"list-jobs ", "list-jobs a", "list-jobs a all", "list-jobs a all 0", "list-jobs a 0 1",
          "list-jobs a all 0 1 ", "list-jobs a all 0 1 2", "list-jobs a al 0 1",
          "list-jobs a allx 0 1", "list-jobs a all0 1", "list-jobs a\tall 0 1",
          "list-jobs a,b all 0 1", "list-jobs -a all 0 1", "list-jobs a READY 0 1",
          "list-jobs a all -1 1", "list-jobs a all 0 4294967296",
          "list-jobs a all 18446744073709551616 1", "list-jobs aall 0 1"});
}

TEST_CASE("flush-tube") {
  CHECK(item("flush-tube default") == "flush-tube default all");
  CHECK(item("flush-tube  a   ready") == "flush-tube a ready");
  CHECK(item("flush-tube buried buried") == "flush-tube buried buried");
  CHECK(item("flush-tube a delayed") == "flush-tube a delayed");
  CHECK(item("flush-tube " + k200) == "flush-tube " + k200 + " all");
  expect("UNKNOWN_COMMAND", {"flush-tube", "flush-tubes a"});
  expect("BAD_FORMAT", {"flush-tube ", "flush-tube a ", "flush-tube -a", "flush-tube a,b",
                        "flush-tube a reserved", "flush-tube a ready ", "flush-tube a ready x",
                        "flush-tube a READY", "flush-tube a\tready", "flush-tube " + k201});
  CHECK(item("flush-tube a all") == "flush-tube a all");
}

TEST_CASE("move-jobs") {
  CHECK(item("move-jobs a b ready 4294967295") == "move-jobs a b ready 4294967295");
  CHECK(item("move-jobs  a  b  delayed  01") == "move-jobs a b delayed 1");
  CHECK(item("move-jobs a a buried 0") == "move-jobs a a buried 0");
  expect("UNKNOWN_COMMAND", {"move-jobs", "move-job a b ready 1"});
  expect("BAD_FORMAT",
         {"move-jobs ", "move-jobs a", "move-jobs a b", "move-jobs a b ready",
          "move-jobs a b ready 1 ", "move-jobs a b reserved 1", "move-jobs a b all 1",
          "move-jobs a ready 1", "move-jobs -a b ready 1", "move-jobs a -b ready 1",
          "move-jobs a b ready 4294967296", "move-jobs a,b c ready 1", "move-jobs a b ready x"});
}

TEST_CASE("reprioritize") {
  CHECK(item("reprioritize 1 2") == "reprioritize 1 2");
  expect("UNKNOWN_COMMAND", {"reprioritize"});
  expect("BAD_FORMAT", {"reprioritize ", "reprioritize 1", "reprioritize 1 ", "reprioritize 1 2 ",
                        "reprioritize 1 4294967296", "reprioritize x 2"});
}

TEST_CASE("admin commands can be switched off, and caps tells") {
  const auto without = [](const std::string& line) {
    ParsedStream stream;
    stream.parser().set_admin_commands(false);
    stream.receive(line + "\r\n");
    return stream.items();
  };
  for (const std::string line : {"reprioritize 1 2", "reprioritize ", "drain", "undrain",
                                 "flush-tube a", "move-jobs a b ready 1"}) {
    CHECK(without(line) == Lines{"UNKNOWN_COMMAND"});
  }
  for (const std::string line : {"peek-reserved", "stats-tubes", "list-jobs a all 0 1"}) {
    CHECK(without(line) == Lines{line});
  }
  CHECK(without("caps") == Lines{"caps safe"});
}

TEST_CASE("a NUL is found before the word is looked at") {
  for (const std::string word : {"", "stats", "reserve", "foo", "quit", "kick 3", "use a",
                                 "put 0 0 1 1 ", "put 0 0 1 70000", "reserve-with-timeout 1"}) {
    const std::string line = word + '\0';
    CAPTURE(line);
    CHECK(item(line) == "BAD_FORMAT");
    CHECK(item(line + "b") == "BAD_FORMAT");
  }
}

TEST_CASE("a lone CR or LF does not end a line") {
  expect("BAD_FORMAT", {"use x\nuse y", "use a\rb", "use x\r", "stats\n", "reserve\r\r"});
  expect("UNKNOWN_COMMAND", {"\nstats", "\rstats"});
}

}  // namespace xylem::test
