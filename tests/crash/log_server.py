"""What the crash tests share: xylemd on a log directory, what it holds read back, and what the directory takes on disk.

Builds on tests/process/xylemd.py. A test that cannot do what it is for here (no root, no mount) ends with SKIPPED,
which ctest knows: it is never silently green.
"""
import contextlib
import glob
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from xylemd import PROGRAM, ServerTest

SLOW = 0.4  # seconds a sync takes longer

SHIM = os.environ.get("XYLEM_DISK_SHIM", "")
ORACLE = os.environ.get("XYLEM_ORACLE", "beanstalkd")
SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt
SEED = os.environ.get("XYLEM_SEED") or str(random.SystemRandom().randrange(1 << 32))
COUNTERS = ("reserves", "timeouts", "releases", "buries", "kicks")


def run(*args, **options):
    """xylemd to its end, as for --check-log."""
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60, **options)


def shim_environment(**triggers):
    """The environment for a server above disk_shim.c; triggers are named there."""
    names = {f"XYLEM_SHIM_{name.upper()}": path for name, path in triggers.items()}
    options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {**os.environ, "LD_PRELOAD": SHIM, "ASAN_OPTIONS": options, **names}


def segments(directory):
    """Its files of the log, oldest first; without those that were set aside."""
    return sorted(path for path in glob.glob(os.path.join(directory, "log.*")) if not path.endswith(".damaged"))


def contents(directory):
    """Names and a hash of what is in the files."""
    found = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def disk_bytes(directory):
    """What the log takes, by blocks."""
    total = 0
    for path in segments(directory):
        with contextlib.suppress(FileNotFoundError):
            total += os.stat(path).st_blocks * 512
    return total


def parse_yaml(text):
    return {key: value.strip('"') for key, value in
            (line.split(": ", 1) for line in text.decode().splitlines() if ": " in line)}


def ask_yaml(client, command):
    """The answer as a dictionary, or None for NOT_FOUND."""
    line = client.ask(command + b"\r\n")
    return None if line == b"NOT_FOUND" else parse_yaml(client.body(int(line.split()[1])))


def read_jobs(client, ids):
    """{id: stats-job with "body"} of those that there are, each looked at once."""
    jobs = {}
    ids = sorted(ids)
    for first in range(0, len(ids), 100):
        part = ids[first:first + 100]
        client.send(b"".join(b"stats-job %d\r\npeek %d\r\n" % (id, id) for id in part))
        for id in part:
            stats, found = client.line(), None
            if stats != b"NOT_FOUND":
                found = parse_yaml(client.body(int(stats.split()[1])))
            peek = client.line()
            assert (peek == b"NOT_FOUND") == (found is None), (id, stats, peek)
            if found is not None:
                found["body"] = client.body(int(peek.split()[2]))
                jobs[id] = found
    return jobs


def job_count(stats):
    return sum(int(stats["current-jobs-" + state]) for state in ("ready", "reserved", "delayed", "buried"))


def live_bytes(jobs):
    """design.md, "Space": what logging these again would take; `jobs` as read_jobs() gives them."""
    return sum(41 + len(job["tube"]) + len(job["body"]) +
               (6 if job["state"] in ("delayed", "buried") else 0) +
               (20 if any(job[counter] != "0" for counter in COUNTERS) else 0)
               for job in jobs.values())


class LogTest(ServerTest):
    """A test with a directory for a log."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xylem-crash-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.directory = os.path.join(folder.name, "log")
        os.mkdir(self.directory)

    def serve(self, *args, **options):
        """A server on the directory, which has read its log."""
        server = self.start("-b", self.directory, *args, **options)
        server.port()
        return server

    def kill(self, server):
        server.kill(signal.SIGKILL)
        server.wait()

    def serve_slowly(self, *args, **options):
        self.trigger = os.path.join(self.folder, "slow")
        return self.serve(*args, env=shim_environment(slow=self.trigger), **options)

    def be_slow(self, seconds=SLOW):
        with open(self.trigger + ".new", "w", encoding="ascii") as file:
            file.write(str(int(seconds * 1000)))
        os.rename(self.trigger + ".new", self.trigger)
        self.addCleanup(os.remove, self.trigger)

    def mount(self, size_bytes):
        """Puts a small file system of its own under the directory; the test is skipped if that is not allowed."""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "xylem-test", self.directory],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"cannot mount a small tmpfs: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", self.directory], check=True)

    def wait_for_stats(self, client, what, condition, seconds=30):
        """The first stats for which it is true."""
        end = time.monotonic() + seconds
        while True:
            stats = client.stats()
            if condition(stats):
                return stats
            self.assertLess(time.monotonic(), end, f"never came true: {what}; last {stats}")
            time.sleep(0.05)


def main():
    """unittest.main, which prints the seed and tells ctest when all was skipped."""
    print(f"seed {SEED}; again with XYLEM_SEED={SEED}", flush=True)
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        print(f"failed with seed {SEED}", flush=True)
        sys.exit(1)
    if result.testsRun and len(result.skipped) == result.testsRun:
        print("SKIPPED: " + "; ".join(why for _, why in result.skipped), flush=True)
        sys.exit(SKIPPED)
