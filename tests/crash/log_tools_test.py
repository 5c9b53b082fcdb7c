"""--check-log and --dump-log on the log of a stopped server: what they say of a good one and a damaged one; that they
change nothing; that they refuse one that is in use."""
import json
import subprocess

from log_server import LogTest, contents, main, run, segments
from xylemd import PROGRAM


class LogToolsTest(LogTest):
    def setUp(self):
        super().setUp()
        server = self.serve("-s", "16384")
        client = self.connect(server)
        for _ in range(20):
            client.put(b"p" * 3000)
        client.ask(b"delete 3\r\n")
        client.ask(b"use mail\r\n")
        client.put(b"\xff\x00late", delay=1000)
        client.ask(b"pause-tube mail 1000\r\n")
        server.stop()

    def run_unchanged(self, *args):
        before = contents(self.directory)
        ended = run(*args)
        self.assertEqual(contents(self.directory), before)
        return ended

    def damage(self):
        path = segments(self.directory)[1]
        with open(path, "r+b") as file:
            file.seek(5000)
            file.write(b"!")
        return path

    def test_check_a_good_log(self):
        ended = self.run_unchanged("--check-log", self.directory)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for word in ("default", "mail", "delayed", "19"):
            self.assertIn(word, ended.stdout)

    def test_check_a_damaged_log(self):
        path = self.damage()
        ended = self.run_unchanged("--check-log", self.directory)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn(path, ended.stdout + ended.stderr)

    def test_dump(self):
        text = self.run_unchanged("--dump-log", self.directory)
        as_json = self.run_unchanged("--dump-log", self.directory, "--json")
        self.assertEqual((text.returncode, as_json.returncode), (0, 0), text.stderr + as_json.stderr)
        records = [json.loads(line) for line in as_json.stdout.splitlines()]
        self.assertEqual(len(text.stdout.splitlines()), len(records))
        self.assertGreaterEqual(len(records), 23)

    def test_dump_a_damaged_log(self):
        self.damage()
        ended = self.run_unchanged("--dump-log", self.directory, "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for line in ended.stdout.splitlines():
            json.loads(line)

    def test_in_use(self):
        server = self.serve()
        for option in ("--check-log", "--dump-log"):
            ended = run(option, self.directory)
            self.assertEqual(ended.returncode, 10)
            self.assertIn("in use", ended.stderr)
        self.assert_serves(server)

    def test_output_that_cannot_be_written(self):
        for option in ("--check-log", "--dump-log"):
            with open("/dev/full", "w") as full:
                ended = subprocess.run([PROGRAM, option, self.directory], stdout=full, stderr=subprocess.PIPE, text=True,
                                       check=False)
            self.assertEqual((ended.returncode, ended.stderr), (1, "xylemd: cannot write to standard output\n"))

    def test_missing(self):
        for option in ("--check-log", "--dump-log"):
            self.assertEqual(run(option, self.directory + "/missing").returncode, 10)


if __name__ == "__main__":
    main()
