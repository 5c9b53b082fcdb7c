"""What the tests of the running process share: a server on a port of its own, and clients of it.

Servers listen on port 0 and say in their log which port they got, so that tests run side by side. Everything here
is bounded: sockets have a timeout, and a server that does not stop is killed at the end of its test.
"""
import os
import re
import resource
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get("XYLEMD", "xylemd")
PATIENCE = 60  # seconds; for a busy machine


def sanitized():
    """Whether the program is built with a sanitizer: its memory is not measured then."""
    return os.environ.get("XYLEMD_SANITIZED") == "1"


class Client:
    """A blocking connection that speaks bytes."""

    def __init__(self, sock):
        self.sock = sock
        self.sock.settimeout(PATIENCE)
        self.buffer = b""

    def send(self, data):
        self.sock.sendall(data)

    def line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def take(self, count):
        """Exactly `count` bytes."""
        chunks = []
        while count > 0:
            if not self.buffer:
                self._more()
            chunk, self.buffer = self.buffer[:count], self.buffer[count:]
            chunks.append(chunk)
            count -= len(chunk)
        return b"".join(chunks)

    def body(self, size):
        data = self.take(size + 2)
        assert data.endswith(b"\r\n"), data[-10:]
        return data[:-2]

    def ask(self, data):
        self.send(data)
        return self.line()

    def stats(self):
        self.send(b"stats\r\n")
        return self.stats_reply()

    def stats_reply(self):
        size = int(self.line().split()[1])
        return dict(line.split(": ", 1) for line in self.body(size).decode().splitlines() if ": " in line)

    def put(self, body=b"x", pri=0, delay=0, ttr=60):
        return self.ask(b"put %d %d %d %d\r\n%s\r\n" % (pri, delay, ttr, len(body), body))

    def is_quiet(self, seconds=0.2):
        """Whether nothing arrives for a while."""
        return not self.buffer and not select.select([self.sock], [], [], seconds)[0]

    def rest(self):
        """All that comes until the end of the stream; a reset counts as the end."""
        chunks = [self.buffer]
        self.buffer = b""
        try:
            while chunk := self.sock.recv(1 << 20):
                chunks.append(chunk)
        except ConnectionResetError:
            pass
        return b"".join(chunks)

    def close(self):
        self.sock.close()

    def _more(self):
        chunk = self.sock.recv(1 << 16)
        if not chunk:
            raise EOFError("the server closed the connection")
        self.buffer += chunk


class Server:
    """A running xylemd, and its log."""

    def __init__(self, *args, listen=("-l", "127.0.0.1", "-p", "0"), config=None, **popen):
        self.folder = tempfile.TemporaryDirectory(prefix="xylem-process-")
        self.config = os.path.join(self.folder.name, "xylemd.yaml")
        command = [PROGRAM, *listen, *args]
        if config is not None:
            self.write_config(config)
            command += ["--config", self.config]
        self.log_path = os.path.join(self.folder.name, "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL, **popen)
        self.pid = self.process.pid

    def write_config(self, text):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for_log(self, pattern, count=1):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.findall(pattern, self.log())
            if len(found) >= count:
                return found
            if self.process.poll() is not None and len(re.findall(pattern, self.log())) < count:
                break
            time.sleep(0.01)
        raise AssertionError(f"no {pattern!r} in the log:\n{self.log()}")

    def port(self, nth=0):
        return int(self.wait_for_log(r"listening on \S+:(\d+)\n", nth + 1)[nth])

    def connect(self, receive_bytes=None):
        sock = socket.socket()
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        sock.settimeout(PATIENCE)
        sock.connect(("127.0.0.1", self.port()))
        return Client(sock)

    def kill(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(PATIENCE)

    def stop(self):
        """Stops it and checks that it ends cleanly."""
        self.kill()
        code = self.wait()
        assert code == 0, f"exit code {code}:\n{self.log()}"

    def rss(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


class ServerTest(unittest.TestCase):
    """A test whose servers end with it."""

    def start(self, *args, **options):
        server = Server(*args, **options)
        self.addCleanup(server.end)
        return server

    def need_descriptors(self, count):
        """Raises our own limit; skips the test where that is not allowed."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < count:
            self.skipTest(f"only {hard} descriptors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def connect(self, server, **options):
        client = server.connect(**options)
        self.addCleanup(client.close)
        return client

    def wait_until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, f"never came true: {what}")
            time.sleep(0.02)

    def assert_serves(self, server):
        """A new client is answered at once, and the server is sound enough to say so."""
        client = self.connect(server)
        self.assertEqual(client.ask(b"list-tube-used\r\n"), b"USING default")
        client.close()

    def assert_sleeps(self, server, seconds=1.0):
        """The server uses (nearly) no CPU: no busy loop."""
        before = server.cpu_seconds()
        time.sleep(seconds)
        self.assertLess(server.cpu_seconds() - before, seconds / 4, server.log())
