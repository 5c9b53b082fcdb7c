"""How xylemd starts on a log directory and leaves it: the order of a start and its exit codes, clean stops, damage,
wrong clocks, and the way over from beanstalkd."""
import glob
import os
import re
import signal
import socket
import subprocess

from log_server import (LogTest, ORACLE, ask_yaml, contents, job_count, main, read_jobs, run, segments,
                        shim_environment)
from xylemd import Client

SMALL = ("-s", "16384")


class OracleTest(LogTest):
    def start_oracle(self, directory):
        port = free_port()
        oracle = subprocess.Popen([ORACLE, "-l", "127.0.0.1", "-p", str(port), "-b", directory])
        self.addCleanup(oracle.wait)
        self.addCleanup(oracle.kill)
        self.wait_until(lambda: self.connect_to_oracle(port), "beanstalkd serves")
        return oracle

    def connect_to_oracle(self, port):
        try:
            self.oracle_client = Client(socket.create_connection(("127.0.0.1", port), 30))
        except ConnectionRefusedError:
            return False
        self.addCleanup(self.oracle_client.close)
        return self.oracle_client.ask(b"list-tube-used\r\n") == b"USING default"


class StartTest(OracleTest):
    def start_fails(self, code, *texts, directory=None, port="0"):
        ended = run("-l", "127.0.0.1", "-p", str(port), "-b", directory or self.directory)
        self.assertEqual(ended.returncode, code, ended.stderr)
        for text in texts:
            self.assertIn(text, ended.stderr)

    def test_port_taken_before_the_directory_is_touched(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.start_fails(111, "in use", port=taken.getsockname()[1])
        self.assertEqual(os.listdir(self.directory), [])

    def test_missing_directory(self):
        missing = os.path.join(self.folder, "missing")
        self.start_fails(10, missing, directory=missing)
        self.assertFalse(os.path.exists(missing))

    def test_locked_by_another(self):
        server = self.serve()
        self.start_fails(10, self.directory, "in use")
        self.assert_serves(server)

    def test_locked_by_beanstalkd_and_the_other_way_round(self):
        oracle = self.start_oracle(self.directory)
        self.start_fails(10, self.directory, "in use")
        oracle.kill()
        oracle.wait()
        for path in glob.glob(os.path.join(self.directory, "binlog.*")):
            os.remove(path)
        server = self.serve()
        beanstalkd = subprocess.run([ORACLE, "-l", "127.0.0.1", "-p", str(free_port()), "-b", self.directory],
                                    capture_output=True, timeout=30, check=False)
        self.assertEqual(beanstalkd.returncode, 10, beanstalkd.stderr)
        self.assert_serves(server)

    def test_the_log_of_a_beanstalkd(self):
        with open(os.path.join(self.directory, "binlog.1"), "wb"):
            pass
        self.start_fails(10, self.directory, "--import-binlog")
        self.assertEqual(set(os.listdir(self.directory)), {"lock", "binlog.1"})
        ended = run("-b", self.directory, "--import-binlog", self.directory + "/.")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("is both -b and --import-binlog", ended.stderr)


class StopTest(LogTest):
    def test_only_what_is_needed_is_left(self):
        server = self.serve()
        client = self.connect(server)
        for _ in range(10):
            client.put(b"x" * 1000)
        server.stop()
        file, = segments(self.directory)
        self.assertEqual(set(os.listdir(self.directory)), {"lock", os.path.basename(file)})
        self.assertLess(os.path.getsize(file), 1024 + 10 * 1200)
        before = contents(self.directory)
        self.serve().stop()
        self.assertEqual(contents(self.directory), before)  # nothing happened, nothing is written

    def test_replies_that_are_held_leave_first(self):
        trigger = os.path.join(self.folder, "slow")
        server = self.serve(env=shim_environment(slow=trigger))
        client = self.connect(server)
        client.ask(b"list-tube-used\r\n")
        with open(trigger, "w", encoding="ascii") as file:
            file.write("700")
        client.send(b"put 0 0 60 1\r\nx\r\n")
        self.assertTrue(client.is_quiet(0.1))
        server.kill(signal.SIGTERM)
        self.assertEqual(client.rest(), b"INSERTED 1\r\n")
        self.assertEqual(server.wait(), 0, server.log())
        os.remove(trigger)
        self.assertEqual(job_count(self.connect(self.serve()).stats()), 1)


class DamageTest(LogTest):
    """A stopped log of many segments, one job in most of them."""

    def setUp(self):
        super().setUp()
        server = self.serve(*SMALL)
        client = self.connect(server)
        self.bodies = {id: b"<%d>" % id + b"." * 7000 for id in range(1, 21)}
        for id, body in self.bodies.items():
            self.assertEqual(client.put(body), b"INSERTED %d" % id)
        server.stop()
        self.assertGreater(len(segments(self.directory)), 5)

    def flip(self, id):
        """A byte in the body of a job; file and offset."""
        for path in segments(self.directory):
            with open(path, "r+b") as file:
                at = file.read().find(self.bodies[id])
                if at >= 0:
                    file.seek(at + 100)
                    file.write(b"!")
                    return path, at + 100
        raise AssertionError(f"job {id} is nowhere")

    def holds_all_but(self, client, lost):
        jobs = read_jobs(client, self.bodies)
        self.assertEqual({id: job["body"] for id, job in jobs.items()},
                         {id: body for id, body in self.bodies.items() if id != lost})

    def test_a_flipped_byte_costs_its_record(self):
        path, at = self.flip(9)
        server = self.serve(*SMALL)
        client = self.connect(server)
        self.assertEqual(client.stats()["log-damaged-records"], "1")
        told = re.findall(rf"error: .*{re.escape(path)}: (\d+) bytes at (\d+) do not verify", server.log())
        self.assertEqual(len(told), 1, server.log())
        length, begin = map(int, told[0])
        self.assertTrue(begin <= at < begin + length <= begin + 7100, server.log())
        self.holds_all_but(client, 9)
        self.wait_until(lambda: os.path.exists(path + ".damaged"), "the damaged file is set aside")
        self.assertFalse(os.path.exists(path))
        self.kill(server)
        server = self.serve(*SMALL)
        client = self.connect(server)
        self.assertEqual(client.stats()["log-damaged-records"], "0")
        self.assertNotIn("error", server.log())
        self.holds_all_but(client, 9)
        self.assertEqual(client.put(), b"INSERTED 21")
        server.stop()
        self.assertTrue(os.path.exists(path + ".damaged"))

    def test_the_last_record_is_a_torn_tail(self):
        path, _ = self.flip(20)
        server = self.serve(*SMALL)
        client = self.connect(server)
        self.assertEqual(client.stats()["log-damaged-records"], "0")
        told = re.findall(rf"info: .*{re.escape(path)}.*not written whole", server.log())
        self.assertEqual(len(told), 1, server.log())
        self.assertNotIn("error", server.log())
        self.holds_all_but(client, 20)
        self.assertGreater(int(client.put().split()[1]), 20)  # 20 may have been given
        self.kill(server)
        self.assertNotIn("not written whole", self.serve(*SMALL).log())


class ClockTest(LogTest):
    """design.md, "The clock": a delay goes on while the server is down, and never back."""

    def restart_with_clock(self, off_by):
        server = self.serve()
        client = self.connect(server)
        client.put(delay=1000)
        self.kill(server)
        server = self.serve(env=shim_environment(clock=str(off_by)))
        client = self.connect(server)
        found = ask_yaml(client, b"stats-job 1")
        self.assertEqual(client.put(), b"INSERTED 2")
        self.assertEqual(client.ask(b"reserve-with-timeout 0\r\n")[:8], b"RESERVED")
        return found

    def test_an_hour_ahead(self):
        self.assertEqual(self.restart_with_clock(3600)["state"], "ready")

    def test_back(self):
        for off_by in (-3600, -50 * 365 * 86400):
            found = self.restart_with_clock(off_by)
            self.assertEqual(found["state"], "delayed")
            self.assertTrue(940 < int(found["time-left"]) < 1000, found)
            self.doCleanups()
            self.setUp()

    def test_ten_minutes_ahead(self):
        found = self.restart_with_clock(600)
        self.assertEqual(found["state"], "delayed")
        self.assertTrue(340 < int(found["time-left"]) < 400, found)


class ImportTest(OracleTest):
    def test_import_and_serve(self):
        old = os.path.join(self.folder, "old")
        os.mkdir(old)
        oracle = self.start_oracle(old)
        self.fill(self.oracle_client)
        oracle.kill()
        oracle.wait()
        before = contents(old)
        ended = run("-b", self.directory, "--import-binlog", old)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("5 jobs imported: 3 ready, 1 delayed, 1 buried", ended.stdout)
        self.assertIn("mail", ended.stdout)
        self.assertEqual(contents(old), before)
        client = self.connect(self.serve())
        self.has_been_imported(client)
        self.assertEqual(client.put(), b"INSERTED 7")

    def fill(self, client):
        """1 ready, 2 deleted, 3 delayed, 4 buried in `mail`, 5 of the maximum size, 6 empty."""
        client.put(b"one", pri=5, ttr=7)
        client.put(b"two")
        client.ask(b"delete 2\r\n")
        client.put(b"three", delay=1000)
        client.ask(b"use mail\r\n")
        client.ask(b"watch mail\r\n")
        client.ask(b"ignore default\r\n")
        client.put(b"four")
        client.ask(b"reserve\r\n")
        client.body(4)
        client.ask(b"bury 4 9\r\n")
        client.put(b"m" * 65535)
        client.put(b"")

    def has_been_imported(self, client):
        jobs = read_jobs(client, range(1, 10))
        seen = {id: (job["tube"], job["state"], job["pri"], job["ttr"], job["buries"], len(job["body"]))
                for id, job in jobs.items()}
        self.assertEqual(seen, {1: ("default", "ready", "5", "7", "0", 3), 3: ("default", "delayed", "0", "60", "0", 5),
                                4: ("mail", "buried", "9", "60", "1", 4), 5: ("mail", "ready", "0", "60", "0", 65535),
                                6: ("mail", "ready", "0", "60", "0", 0)})
        self.assertTrue(900 < int(jobs[3]["time-left"]) <= 1000)

    def test_into_a_log_that_has_something(self):
        server = self.serve()
        self.connect(server).put()
        server.stop()
        old = os.path.join(self.folder, "old")
        os.mkdir(old)
        before = contents(self.directory)
        ended = run("-b", self.directory, "--import-binlog", old)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("holds a log already", ended.stderr)
        self.assertEqual(contents(self.directory), before)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


if __name__ == "__main__":
    main()
