"""xylem top in a terminal of 80x24, by tmux: what it shows, its keys, a server that goes away, and the terminal after it."""
import os
import shlex
import signal
import subprocess
import tempfile
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

    def top(self, *args):
        self.tmux("new-session", "-d", "-c", self.folder, "-x", "80", "-y", "24", "sh")
        self.addCleanup(self.tmux, "kill-server", check=False)
        words = shlex.join(["sh", "-c", 'echo $$ >pid; exec "$@"', "sh", world.XYLEM, "-H", f"127.0.0.1:{self.server.port()}", "top", "--interval", "100ms", *args])
        self.keys(f"stty -a >before; {words}; echo ended with $?; stty -a >after; cmp before after && echo as it was",
                  "Enter")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-N")

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

    def test_the_terminal_after_a_signal(self):
        for number, code in (("INT", "130"), ("TERM", "130"), ("SEGV", "139")):
            with self.subTest(number):
                self.top()
                self.await_screen("q quit")
                with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
                    pid = file.read()
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
