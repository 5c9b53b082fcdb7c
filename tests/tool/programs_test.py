"""What xylem does beside talking to a server: it reads the log of a stopped one, and becomes the load generator."""
import json
import os
import subprocess
import tempfile
import unittest

import world


BENCH = ("-c", "2", "-d", "4", "-t", "0.2", "--warm-up", "0", "-r", "1", "--cpu", "-1")


class ProgramsTest(world.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xylem-log-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def stopped_log(self):
        server = self.start("-b", self.folder)
        self.xylem(server, "put", "-t", "mail", "hello")
        self.xylem(server, "put", "-t", "mail", "-d", "1h", "later")
        server.stop()

    def log(self, action, *args, expect=0):
        out, error = self.xylem("127.0.0.1:1", "log", action, self.folder, *args, expect=expect)
        return out.decode(), error.decode()

    def test_check(self):
        self.stopped_log()
        text = self.log("check")[0]
        self.assertIn("tube mail: 1 ready, 1 delayed, 0 buried\n", text)
        self.assertTrue(text.endswith("no damage\n"), text)
        found = json.loads(self.log("check", "--json")[0])
        self.assertEqual((found["ready"], found["delayed"], found["damage"], found["last-id"]), (1, 1, [], 2))
        self.assertEqual(found["tubes"], [{"name": "mail", "ready": 1, "delayed": 1, "buried": 0, "paused": False}])

    def test_check_of_a_damaged_log(self):
        self.stopped_log()
        with open(os.path.join(self.folder, "log.0000000001"), "r+b") as file:
            at = file.read().index(b"hello")
            file.seek(at)
            file.write(b"H")
        text, error = self.log("check", expect=5)
        self.assertTrue(text.endswith("the log is damaged\n"), text)
        self.assertEqual(error, "xylem: the log is damaged\n")
        self.assertEqual(len(json.loads(self.log("check", "--json", expect=5)[0])["damage"]), 1)

    def test_dump(self):
        self.stopped_log()
        lines = self.log("dump")[0].splitlines()
        self.assertRegex(lines[0], r'^log\.0000000001 \d+ batch 1 put id 1 tube mail state ready .*body "hello"$')
        records = [json.loads(line) for line in self.log("dump", "--json")[0].splitlines()]
        self.assertEqual([(each["type"], each["id"], each["body"]) for each in records],
                         [("put", 1, "hello"), ("put", 2, "later")])

    def test_what_cannot_be_read(self):
        server = self.start("-b", self.folder)
        self.assertEqual(self.xylem(server, "put", "x")[0], b"1\n")
        self.assertRegex(self.log("check", expect=5)[1], "^xylem: .* is in use by another server .*\n$")
        self.assertEqual(self.xylem(server, "log", "dump", "/nonexistent", expect=5)[1],
                         b"xylem: cannot open /nonexistent: No such file or directory\n")
        self.assertEqual(self.xylem(server, "log", "mend", self.folder, expect=2)[1],
                         b"xylem: check|dump: mend not in {check,dump}\n")

    def test_bench(self):
        server = self.start()
        self.assertIn(b"command-cpu", self.xylem(server, "bench", *BENCH)[0])
        json.loads(self.xylem(server, "--json", "bench", *BENCH)[0])
        self.assertGreater(int(self.connect(server).stats()["cmd-delete"]), 0)

    def test_bench_that_is_not_there(self):
        alone = os.path.join(self.folder, "xylem")
        os.link(world.XYLEM, alone) if os.stat(self.folder).st_dev == os.stat(world.XYLEM).st_dev else \
            subprocess.run(["cp", world.XYLEM, alone], check=True)
        done = subprocess.run([alone, "bench"], env={**os.environ, "PATH": self.folder}, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (5, b"xylem: cannot run xylem-bench: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
