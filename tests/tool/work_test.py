"""xylem work: what a command is given, what becomes of its job, and a worker's bad days: SIGTERM, a server that is
restarted, a ttr that runs out."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import world

SLOW = "echo >>begun; sleep 0.5; echo $XYLEM_JOB_ID >>ran"


class WorkTest(world.ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="xylem-work-")
        self.addCleanup(self.folder.cleanup)
        self.server = self.start()
        self.client = self.connect(self.server)
        self.client.ask(b"use a\r\n")

    def work(self, *args):
        """A worker, its lines in a file."""
        self.told = open(os.path.join(self.folder.name, "told"), "w+b")
        self.addCleanup(self.told.close)
        worker = subprocess.Popen([world.XYLEM, "work", *args], env=self.environment(self.server), stderr=self.told,
                                  stdin=subprocess.DEVNULL, cwd=self.folder.name)
        self.addCleanup(self._end_worker, worker)
        return worker

    def _end_worker(self, worker):
        if worker.poll() is None:
            worker.kill()
        worker.wait()

    def lines(self):
        self.told.seek(0)
        return self.told.read().decode()

    def await_line(self, pattern):
        self.wait_until(lambda: re.search(pattern, self.lines()), f"{pattern} in the worker's lines")

    def stop(self, worker):
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(world.PATIENCE), 0, self.lines())

    def ran(self, name="ran"):
        path = os.path.join(self.folder.name, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def await_ran(self, text, name="ran"):
        self.wait_until(lambda: self.ran(name) == text, f"{name} holds {text!r}")

    def state(self, job):
        head = self.client.ask(b"stats-job %d\r\n" % job).split()
        if head[0] != b"OK":
            return head[0].decode()
        return re.search(r"state: (\w+)", self.client.body(int(head[1])).decode())[1]

    def test_the_body_on_standard_input_and_the_environment(self):
        self.client.put(b"one\0two", pri=7)
        worker = self.work("a", "--", "sh", "-c", "cat >ran; "
                           "echo $XYLEM_JOB_ID $XYLEM_TUBE $XYLEM_PRI $XYLEM_RESERVES >>ran")
        self.await_line(r"^job 1 \(a\): exit 0 after \d\.\d\d s, deleted\n")
        self.assertEqual(self.ran(), "one\0two1 a 7 1\n")
        self.assertEqual(self.state(1), "NOT_FOUND")
        self.stop(worker)

    def test_the_environment_replaces_what_is_there(self):
        self.client.put(b"x")
        os.environ["XYLEM_TUBE"] = "mine"
        self.addCleanup(os.environ.pop, "XYLEM_TUBE")
        worker = self.work("a", "--", "sh", "-c", "echo $XYLEM_TUBE >>ran")
        self.await_line("deleted")
        self.assertEqual(self.ran(), "a\n")
        self.stop(worker)

    def test_the_body_in_the_arguments(self):
        self.client.put(b"x y; $z")
        self.client.put(b"n\0l")
        worker = self.work("a", "--max-tries", "1", "--", "sh", "-c", 'echo "$1" >>ran', "sh", "<{}>")
        self.await_line(r"a body with a NUL byte cannot be an argument\njob 2 \(a\): exit 127 .*, buried\n")
        self.assertEqual(self.ran(), "<x y; $z>\n")
        self.stop(worker)

    def test_the_body_in_a_file(self):
        self.client.put(b"content")
        worker = self.work("a", "--file", "--", "sh", "-c", 'cat "$1" >>ran; echo "$1" >name', "sh")
        self.await_line("deleted")
        self.assertEqual(self.ran(), "content")
        self.assertFalse(os.path.exists(self.ran("name").strip()))
        self.stop(worker)

    def test_json(self):
        self.client.put(b"x")
        worker = self.work("a", "--json", "--", "true")
        self.await_line("deleted")
        line = json.loads(self.lines())
        self.assertLess(line.pop("seconds"), 10)
        self.assertEqual(line, {"job": 1, "tube": "a", "reserves": 1, "exit": 0, "result": "deleted"})
        self.stop(worker)

    def test_failures_are_released_and_at_last_buried(self):
        self.client.put(b"x", pri=9)
        worker = self.work("a", "--max-tries", "3", "--back-off", "0s", "--", "sh", "-c", "exit 3")
        self.await_line(r"(job 1 \(a\): exit 3 after \S+ s, released for 0 s\n){2}"
                        r"job 1 \(a\): exit 3 after \S+ s, buried\n")
        self.stop(worker)
        self.assertIn(b"pri: 9\n", self.xylem(self.server, "stats", "1")[0])

    def test_back_off_doubles(self):
        self.client.put(b"x")
        worker = self.work("a", "--back-off", "1s", "--", "false")
        self.await_line(r"released for 1 s\n(.*\n)*.*released for 2 s\n")
        self.stop(worker)

    def test_a_long_job_is_touched(self):
        self.client.put(b"x", ttr=1)
        worker = self.work("a", "--", "sleep", "2.5")
        self.await_line("deleted")
        self.assertEqual(self.lines().count("job 1"), 1)
        self.stop(worker)

    def test_a_command_that_takes_too_long_is_killed(self):
        self.client.put(b"x")
        worker = self.work("a", "--kill-after", "200ms", "--max-tries", "1", "--", "sh", "-c", "sleep 50; true")
        self.await_line(r"job 1 \(a\): exit 143 after 0\.\d\d s, buried")
        self.stop(worker)

    def test_a_time_that_no_clock_can_hold_is_not_over_at_once(self):
        self.client.put(b"x")
        worker = self.work("a", "--kill-after", "200000d", "--", "sleep", "0.1")
        self.await_line("deleted")
        self.stop(worker)

    def test_slots_run_in_parallel_and_reserve_only_while_idle(self):
        for _ in range(4):
            self.client.put(b"x")
        worker = self.work("a", "-j", "3", "--", "sh", "-c", "for i in $(seq 500); do [ -e go ] && break; sleep 0.02; done")
        self.wait_until(lambda: self.client.stats()["current-jobs-reserved"] == "3", "three run")
        self.assertEqual(self.client.stats()["current-jobs-ready"], "1")
        open(os.path.join(self.folder.name, "go"), "w").close()
        self.await_line("(.*deleted\n){4}")
        self.stop(worker)

    def test_sigterm_finishes_what_runs_and_takes_no_more(self):
        self.client.put(b"x")
        self.client.put(b"y")
        worker = self.work("a", "--", "sh", "-c", SLOW)
        self.wait_until(lambda: self.ran("begun"), "the first runs")
        self.stop(worker)
        self.assertEqual(self.ran(), "1\n")
        self.assertEqual((self.state(1), self.state(2)), ("NOT_FOUND", "ready"))

    def test_sigterm_while_waiting(self):
        worker = self.work("a", "-j", "4", "--", "true")
        self.wait_until(lambda: self.client.stats()["current-waiting"] == "4", "all wait")
        self.stop(worker)
        self.wait_until(lambda: self.client.stats()["current-connections"] == "1", "all are gone")
        self.assertEqual(self.lines(), "")

    def test_a_second_sigterm_ends_what_runs(self):
        self.client.put(b"x")
        worker = self.work("a", "-j", "2", "--", "sh", "-c", "echo >>begun; sleep 50; true")
        self.wait_until(lambda: self.ran("begun"), "it runs")
        worker.send_signal(signal.SIGINT)
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(world.PATIENCE), 130, self.lines())
        self.assertRegex(self.lines(), r"^job 1 \(a\): exit 143 after \S+ s, given back\n"
                         "xylem: told twice to stop: what still ran was ended\n$")
        self.wait_until(lambda: self.state(1) == "ready", "the job is back")

    def test_sigterm_while_the_server_is_frozen(self):
        self.client.put(b"x", ttr=1)
        worker = self.work("a", "--", "sh", "-c", "echo >>begun; sleep 1; echo >>ran")
        self.wait_until(lambda: self.ran("begun"), "it runs")
        self.server.process.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.ran(), "the command has ended")
        begin = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(world.PATIENCE), 0, self.lines())
        self.assertLess(time.monotonic() - begin, 15)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertRegex(self.lines(), r"job 1: 127.0.0.1:\d+ does not answer; it may run again\n"
                         r"job 1 \(a\): exit 0 after \S+ s, lost\n$")

    def test_a_server_that_is_restarted(self):
        port = str(self.server.port())
        self.client.put(b"x")
        worker = self.work("a", "--", "sh", "-c", SLOW)
        self.wait_until(lambda: self.ran("begun"), "it runs")
        self.server.process.kill()
        self.server.process.wait()
        self.await_line(r"job 1: 127.0.0.1:\d+ (closed the connection|broke off: .*); it may run again\n")
        self.server = self.start(listen=("-l", "127.0.0.1", "-p", port))
        self.client = self.connect(self.server)
        self.client.ask(b"use a\r\n")
        self.await_line(r"job 1 \(a\): exit 0 after \S+ s, lost\n")
        self.client.put(b"y")
        self.await_line(r"; trying again in 0\.1 s\n(.*\n)*job 1 \(a\): exit 0 after \S+ s, deleted\n")
        self.stop(worker)

    def test_a_ttr_that_runs_out(self):
        self.client.put(b"x", ttr=1)
        worker = self.work("a", "--max-tries", "1", "--", "sh", "-c", "sleep 2; echo >>ran")
        self.wait_until(lambda: self.state(1) == "reserved", "it runs")
        worker.send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.state(1) == "ready", "the ttr runs out")
        worker.send_signal(signal.SIGCONT)
        self.await_line("job 1: its ttr ran out; it may run again\n(.*\n)*job 1 .*, lost\n")
        worker.kill()

    def test_usage(self):
        for args, said in ((["a"], b"xylem: write xylem work TUBE... -- COMMAND [ARG...]\n"),
                           (["--", "true"], b"xylem: TUBE is required\n"),
                           (["a", "--"], b"xylem: write xylem work TUBE... -- COMMAND [ARG...]\n"),
                           (["a", "--", "no-such-program"], b"xylem: there is no command 'no-such-program'\n"),
                           (["a", "--", "/tmp"], b"xylem: there is no command '/tmp'\n"),
                           (["a", "--", ""], b"xylem: there is no command ''\n"),
                           (["a b", "--", "true"], b"xylem: TUBE: 'a b' is no tube name: 1 to 200 of letters, digits and "
                                                   b"-+/;.$_(), and no '-' in front\n")):
            self.assertEqual(self.xylem(self.server, "work", *args, expect=2)[1], said)

    def test_nobody_is_there(self):
        said = self.xylem("127.0.0.1:1", "work", "a", "--", "true", expect=3)[1]
        self.assertEqual(said, b"xylem: cannot connect to 127.0.0.1:1: Connection refused\n")


if __name__ == "__main__":
    unittest.main()
