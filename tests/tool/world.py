"""What the tests of the tool share: the programs under test, servers to point them at, and a way to run them.

The tool and the servers come by environment variables from CMake. Debian's beanstalkd stands for every server that has
nothing but the plain protocol.
"""
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "process"))
import xylemd  # noqa: E402
from xylemd import PATIENCE, Client, ServerTest  # noqa: E402,F401

XYLEM = os.environ["XYLEM"]
BEANSTALKD = os.environ["XYLEM_ORACLE"]


class Beanstalkd:
    """Debian's beanstalkd on a port that was free a moment ago."""

    def __init__(self):
        for _ in range(20):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.number = probe.getsockname()[1]
            self.process = subprocess.Popen([BEANSTALKD, "-l", "127.0.0.1", "-p", str(self.number)],
                                            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self._listens():
                return
        raise AssertionError("beanstalkd found no port")

    def _listens(self):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.number), 1).close()
                return True
            except OSError:
                time.sleep(0.01)
        return False

    def port(self):
        return self.number

    def connect(self):
        return Client(socket.create_connection(("127.0.0.1", self.number)))

    def end(self):
        self.process.kill()
        self.process.wait()


class ToolTest(ServerTest):
    """A test that runs the tool against servers that end with it."""

    def start_beanstalkd(self):
        server = Beanstalkd()
        self.addCleanup(server.end)
        return server

    def environment(self, server):
        where = server if isinstance(server, str) else f"127.0.0.1:{server.port()}"
        return {**os.environ, "XYLEM_SERVER": where, "LC_ALL": "C.UTF-8"}

    def popen(self, server, *args, **options):
        process = subprocess.Popen([XYLEM, *args], env=self.environment(server), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(self._end, process)
        return process

    def _end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def xylem(self, server, *args, given=b"", expect=0):
        """Runs the tool to its end; standard output and standard error as bytes."""
        done = subprocess.run([XYLEM, *args], env=self.environment(server), input=given, capture_output=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, expect, done.stderr.decode(errors="replace"))
        return done.stdout, done.stderr
