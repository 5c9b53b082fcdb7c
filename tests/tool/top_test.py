"""xylem top in a terminal of 80x24, by tmux: what it shows, its keys, a server that goes away, and the terminal after it."""
import os
import shlex
import signal
import subprocess
import tempfile
import time
import unicodedata
import unittest

import world


class TopTest(world.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xylem-top-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = os.path.join(self.folder, "tmux")
        self.server = self.start()
        self.client = self.connect(self.server)
        self.client.ask(b"use mail\r\n")

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *words], capture_output=True, text=True,
                              env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"}, check=check).stdout

    def top(self, interval="100ms"):
        self.tmux("new-session", "-d", "-c", self.folder, "-x", "80", "-y", "24", "sh")
        self.addCleanup(self.tmux, "kill-server", check=False)
        words = shlex.join(["sh", "-c", 'echo $$ >pid; exec "$@"', "sh", world.XYLEM, "-H", f"127.0.0.1:{self.server.port()}", "top", "--interval", interval])
        self.keys(f"stty -a >before; {words}; echo ended with $?; stty -a >after; cmp before after && echo as it was",
                  "Enter")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-N")

    def selected(self):
        """The name or id in the row that is reversed, if it is one; while the screen is drawn it may be two."""
        rows = [line for line in self.tmux("capture-pane", "-p", "-e").splitlines() if "\x1b[7m" in line]
        return rows[0].split("\x1b[7m")[1].split()[0] if len(rows) == 1 else None

    def await_selected(self, name):
        self.wait_until(lambda: self.selected() == name, f"{name} is selected")

    def put_into(self, *tubes, body=b"x"):
        for tube in tubes:
            self.client.ask(b"use %s\r\n" % tube.encode())
            self.client.put(body)
        self.client.ask(b"use default\r\n")

    def flush(self, *tubes):
        for tube in tubes:
            self.assertEqual(self.client.ask(b"flush-tube %s\r\n" % tube.encode()), b"FLUSHED 1")

    def pause_of(self, tube):
        size = int(self.client.ask(b"stats-tube %s\r\n" % tube.encode()).split()[1])
        return dict(line.split(": ") for line in self.client.body(size).decode().splitlines()[1:])["pause"]

    def await_screen(self, *texts):
        self.wait_until(lambda: all(text in self.screen() for text in texts), f"{texts} on the screen")
        return self.screen()

    def assert_ends(self, code):
        self.await_screen(f"ended with {code}", "as it was")

    def test_what_it_shows(self):
        self.client.put(b"x")
        self.client.put(b"y", delay=60)
        self.top()
        lines = self.await_screen("mail").splitlines()
        self.assertEqual(len(lines), 24)
        self.assertLessEqual(max(len(line.rstrip()) for line in lines), 80)
        self.assertRegex(lines[0], r"^xylem top  127.0.0.1:\d+  version 2.0  up \d+s  2 connections  0 waiting")
        self.assertRegex(lines[1], r"^ready 1  reserved 0  delayed 1  buried 0  tubes 2")
        self.assertRegex(lines[2], r"^put 0/s  deleted 0/s")
        self.assertRegex(lines[4], r"^TUBE +READY +RESERV +DELAY +BURIED +WAIT PUT/s DEL/s PAUSE")
        self.assertRegex(lines[6], r"^mail +1 +0 +1 +0 +0 +0 +0 +-")
        self.assertIn("q quit", lines[23])
        self.keys("q")
        self.assert_ends(0)

    def test_keys(self):
        self.client.put(b"\x1b]0;evil\x07")
        self.top()
        self.await_screen("mail")
        self.keys("Down", "p")
        self.await_screen("59m")
        self.keys("p")
        self.wait_until(lambda: "59m" not in self.screen(), "the pause ends")
        self.client.ask(b"watch mail\r\n")
        self.client.send(b"reserve\r\n")
        self.client.line()
        self.client.body(9)
        self.client.ask(b"bury 1 0\r\n")
        self.keys("k")
        self.wait_until(lambda: self.client.stats()["current-jobs-ready"] == "1", "the job is kicked")
        self.keys("s")
        self.await_screen("sort (ready)")
        self.keys("Home", "Up", "Enter")
        self.await_screen("tube ")
        self.keys("Escape")
        self.await_screen("q quit  s sort")
        self.wait_until(lambda: self.screen().splitlines()[5].startswith("mail"), "sorted by ready")
        self.keys("Enter")
        self.await_screen("tube mail", "\\x1b]0;evil\\x07")
        self.keys("q")
        self.assert_ends(0)

    def test_the_selection_follows_the_name(self):
        self.put_into("e", "m", "mmm", "nnn")
        self.top()
        self.await_screen("nnn")
        self.keys("Down", "Down", "Down")
        self.await_selected("mmm")
        self.put_into("aab")
        self.await_screen("aab")
        self.await_selected("mmm")
        self.keys("p")
        self.await_screen("mmm paused for an hour")
        self.assertEqual([self.pause_of(tube) for tube in ("m", "mmm", "nnn")], ["0", "3600", "0"])
        self.flush("mmm")
        self.await_selected("nnn")
        self.flush("nnn")
        self.await_selected("m")
        self.keys("q")
        self.assert_ends(0)

    def test_the_selection_follows_the_job(self):
        self.put_into("mail", "mail", "mail")
        self.top()
        self.await_screen("mail")
        self.keys("Down", "Enter")
        self.await_screen("tube mail")
        self.keys("Down")
        self.await_selected("2")
        self.client.ask(b"delete 1\r\n")
        self.wait_until(lambda: "ready 2" in self.screen(), "the job is gone")
        self.await_selected("2")
        self.client.ask(b"delete 2\r\n")
        self.await_selected("3")
        self.client.ask(b"delete 3\r\n")
        self.await_screen("tube mail (not there now)")
        self.keys("Escape")
        self.await_selected("default")

    def test_a_key_is_for_what_the_screen_showed(self):
        self.put_into("m", "n")
        self.top()
        self.await_screen("n  ")
        self.keys("Down")
        self.await_selected("m")
        self.server.kill(signal.SIGSTOP)
        time.sleep(0.3)
        self.client.send(b"flush-tube m\r\n")
        self.keys("p")
        time.sleep(0.1)
        self.server.kill(signal.SIGCONT)
        self.assertEqual(self.client.line(), b"FLUSHED 1")
        self.await_screen("m: not found")
        self.assertEqual(self.pause_of("n"), "0")

    def test_it_says_what_the_server_answered(self):
        self.put_into("aaa", "bbb", "ccc")
        self.client.ask(b"reserve-job 3\r\n")
        self.client.body(1)
        self.client.ask(b"bury 3 0\r\n")
        self.top(interval="20s")
        self.await_screen("ccc")
        self.flush("aaa", "bbb")
        self.keys("Up", "k")
        self.await_screen("aaa: not found")
        self.keys("Down", "p")
        self.await_screen("bbb: not found")
        self.keys("Down", "k")
        self.await_screen("ccc: 1 job kicked")
        self.keys("Up", "Enter")
        self.await_screen("bbb: not found")
        size = int(self.client.ask(b"list-tubes\r\n").split()[1])
        self.assertEqual(self.client.body(size), b"---\n- default\n- ccc\n")

    def test_a_list_that_shrinks(self):
        tubes = [f"t{number:02}" for number in range(40)]
        self.put_into(*tubes)
        self.top()
        self.await_screen("tubes 41")
        self.keys(*["Down"] * 45)
        self.await_selected("t39")
        self.flush(*tubes[2:])
        self.await_screen("tubes 3", "default", "t00", "t01")
        self.await_selected("t01")
        self.keys("Up")
        self.await_selected("t00")
        port = str(self.server.port())
        self.server.process.kill()
        self.server.process.wait()
        self.server = self.start(listen=("-l", "127.0.0.1", "-p", port))
        self.await_screen("tubes 1")
        self.await_selected("default")

    def test_wide_characters(self):
        bodies = ["日本語" * 30, "e\N{COMBINING ACUTE ACCENT}" * 60, "🌱" * 60, "x" * 30 + "語" * 9]
        for body in bodies * 6:
            self.put_into("mail", body=body.encode())
        self.top()
        self.await_screen("mail")
        self.keys("Down", "Enter")
        lines = self.await_screen("tube mail").splitlines()
        self.assertIn("xylem top", lines[0])
        self.assertEqual(len(lines), 24)
        for line, body in zip(lines[5:-1], bodies * 6):
            wide = sum(unicodedata.east_asian_width(c) == "W" for c in line)
            combining = sum(unicodedata.combining(c) != 0 for c in line)
            row = line.rstrip()
            self.assertRegex(row, f"{body[0]}.*…$")
            self.assertIn(len(row) + wide - combining, (79, 80), row)

    def test_a_server_that_does_not_answer(self):
        for key, code in (("q", 0), ("C-c", 130)):
            with self.subTest(key):
                self.top()
                self.await_screen("q quit")
                self.server.kill(signal.SIGSTOP)
                time.sleep(0.5)
                self.keys("Down", "p", key)
                pressed = time.monotonic()
                self.assert_ends(code)
                self.assertLess(time.monotonic() - pressed, 10)
                self.server.kill(signal.SIGCONT)
                self.tmux("kill-session")

    def test_the_terminal_after_a_signal(self):
        for number, code in (("INT", "130"), ("TERM", "130"), ("QUIT", "131"), ("SEGV", "139")):
            with self.subTest(number):
                self.top()
                self.await_screen("q quit")
                with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
                    pid = file.read()
                os.kill(int(pid), signal.SIGTSTP)  # which is ignored
                os.kill(int(pid), getattr(signal, "SIG" + number))
                self.assert_ends(code)
                self.tmux("kill-session")

    def test_a_server_that_goes_away_and_comes_back(self):
        port = str(self.server.port())
        self.top()
        self.await_screen("q quit")
        self.server.process.kill()
        self.server.process.wait()
        self.await_screen("trying again")
        self.server = self.start(listen=("-l", "127.0.0.1", "-p", port))
        self.await_screen("q quit")
        self.keys("q")
        self.assert_ends(0)

    def test_without_a_terminal(self):
        said = self.xylem(self.server, "top", expect=2)[1]
        self.assertEqual(said, b"xylem: top needs a terminal; xylem tubes prints the same once\n")


if __name__ == "__main__":
    unittest.main()
