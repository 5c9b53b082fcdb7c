"""Where the server listens: addresses, names, unix sockets and their files, sockets that systemd passes."""
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from xylemd import PATIENCE, PROGRAM, Client, ServerTest


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class AddressTest(ServerTest):
    def ask(self, family, address):
        with socket.socket(family) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(address)
            return Client(sock).ask(b"list-tube-used\r\n")

    def test_several_addresses(self):
        server = self.start(listen=(), config="listen: ['127.0.0.1:0', '127.0.0.2:0']\n")
        self.assertEqual(self.ask(socket.AF_INET, ("127.0.0.1", server.port(0))), b"USING default")
        self.assertEqual(self.ask(socket.AF_INET, ("127.0.0.2", server.port(1))), b"USING default")

    def test_a_host_name(self):
        server = self.start(listen=("-l", "localhost", "-p", "0"))
        server.wait_for_log(r"listening on (127\.0\.0\.1|\[::1\]):")

    @unittest.skipUnless(has_ipv6(), "there is no IPv6")
    def test_ipv6(self):
        server = self.start(listen=("-l", "::1", "-p", "0"))
        self.assertEqual(self.ask(socket.AF_INET6, ("::1", server.port())), b"USING default")
        self.assertIn("listening on [::1]:", server.log())

    @unittest.skipUnless(has_ipv6(), "there is no IPv6")
    def test_all_of_ipv4_and_all_of_ipv6(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = self.start(listen=("-l", "0.0.0.0", "-l", "::", "-p", str(port)))
        server.wait_for_log(r"listening on \[::\]:")
        self.assertEqual(self.ask(socket.AF_INET, ("127.0.0.1", port)), b"USING default")
        self.assertEqual(self.ask(socket.AF_INET6, ("::1", port)), b"USING default")

    def test_one_address_that_fails_ends_it(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            path = os.path.join(folder, "socket")
            port = taken.getsockname()[1]
            server = self.start(listen=(), config=f"listen: ['unix:{path}', '127.0.0.1:{port}']\n")
            self.assertEqual(server.wait(), 111)
            self.assertFalse(os.path.exists(path))

    def test_connections_are_kept_alive(self):
        server = self.start()
        client = self.connect(server)
        self.assertEqual(client.ask(b"use a\r\n"), b"USING a")
        ends = ["0100007F:%04X" % sock_port for sock_port in (server.port(), client.sock.getsockname()[1])]
        with open("/proc/net/tcp", encoding="ascii") as file:
            timers = [line.split()[5] for line in file if line.split()[1:3] == ends]
        self.assertEqual([timer.split(":")[0] for timer in timers], ["02"], "02 is the keepalive timer")


class UnixSocketTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "socket")

    def start_on_path(self):
        server = self.start(listen=("-l", f"unix:{self.path}"))
        server.wait_for_log("listening on unix:")
        return server

    def ask(self):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(self.path)
            return Client(sock).put(b"x" * 60_000)

    def test_serves_and_removes_its_file(self):
        server = self.start_on_path()
        self.assertEqual(self.ask(), b"INSERTED 1")
        server.stop()
        self.assertFalse(os.path.exists(self.path))

    def test_replaces_a_stale_file(self):
        first = self.start_on_path()
        first.process.kill()
        first.wait()
        self.assertTrue(os.path.exists(self.path))
        self.start_on_path()
        self.assertEqual(self.ask(), b"INSERTED 1")

    def test_leaves_a_live_servers_file(self):
        self.start_on_path()
        second = self.start(listen=("-l", f"unix:{self.path}"))
        self.assertEqual(second.wait(), 111)
        self.assertIn(self.path, second.log())
        self.assertEqual(self.ask(), b"INSERTED 1")

    def test_one_path_twice(self):
        server = self.start(listen=("-l", f"unix:{self.path}", "-l", f"unix:{self.path}"))
        self.assertEqual(server.wait(), 111)
        self.assertIn("taken the path", server.log())
        self.assertFalse(os.path.exists(self.path))

    def test_leaves_a_path_that_was_taken_before_it_listened(self):
        with tempfile.TemporaryDirectory() as other:
            lock = os.open(other, os.O_RDONLY)
            self.addCleanup(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX)
            # It binds to the first path and tries for half a second to lock the folder of the other.
            first = self.start(listen=("-l", f"unix:{self.path}", "-l", f"unix:{other}/socket"))
            while not os.path.exists(self.path):
                self.assertIsNone(first.process.poll(), first.log())
            # It has looked at what it made, and is done with the first path, when that folder's lock is free.
            folder = os.open(os.path.dirname(self.path), os.O_RDONLY)
            fcntl.flock(folder, fcntl.LOCK_EX)
            os.close(folder)
            first.kill(signal.SIGSTOP)
            self.start_on_path()
            first.kill(signal.SIGCONT)
            self.assertEqual(first.wait(), 111)
            self.assertIn("taken the path", first.log())
            self.assertEqual(self.ask(), b"INSERTED 1")

    def test_of_two_that_start_at_once_one_serves(self):
        for _ in range(10):
            both = [self.start(listen=("-l", f"unix:{self.path}")) for _ in range(2)]
            self.wait_until(lambda both=both: sum(s.process.poll() is not None or "info: listening" in s.log()
                                                  for s in both) == 2, "both have started")
            served = [server for server in both if server.process.poll() is None]
            self.assertEqual(len(served), 1, [server.log() for server in both])
            self.assertEqual(self.ask(), b"INSERTED 1")
            served[0].process.kill()  # leaves a stale file
            served[0].wait()

    def test_leaves_a_file_that_is_no_socket(self):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("precious")
        server = self.start(listen=("-l", f"unix:{self.path}"))
        self.assertEqual(server.wait(), 111)
        with open(self.path, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")

    def test_leaves_a_file_that_is_another_servers_by_now(self):
        first = self.start_on_path()
        os.unlink(self.path)
        self.start_on_path()
        first.stop()
        self.assertEqual(self.ask(), b"INSERTED 1")

    def test_the_longest_path(self):
        for length, code in ((107, None), (108, 111)):
            self.path = os.path.join(self.folder, "x" * (length - len(self.folder) - 1))
            server = self.start(listen=("-l", f"unix:{self.path}"))
            if code is None:
                server.wait_for_log("listening on")
                self.assertEqual(self.ask(), b"INSERTED 1")
            else:
                self.assertEqual(server.wait(), code)


# Passes descriptors from 3 on and becomes the program, as systemd does.
LAUNCHER = """
import os, sys
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = sys.argv[1]
os.execv(sys.argv[2], sys.argv[2:])
"""


class ActivationTest(ServerTest):
    def launch(self, *sockets):
        """Starts the program with these sockets as descriptors 3, 4, ..."""
        def place():
            copies = [os.dup2(sock.fileno(), 100 + i) for i, sock in enumerate(sockets)]
            for i, copy in enumerate(copies):
                os.dup2(copy, 3 + i)
                os.close(copy)
        log = tempfile.TemporaryFile()
        self.addCleanup(log.close)
        process = subprocess.Popen([sys.executable, "-c", LAUNCHER, str(len(sockets)), PROGRAM, "-p", "0"],
                                   preexec_fn=place, close_fds=False, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_serves_all_passed_sockets(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
            path = os.path.join(folder, "socket")
            unix.bind(path)
            unix.listen()
            process = self.launch(tcp, unix)
            for family, address in ((socket.AF_INET, tcp.getsockname()), (socket.AF_UNIX, path)):
                with socket.socket(family) as sock:
                    sock.settimeout(PATIENCE)
                    sock.connect(address)
                    self.assertEqual(Client(sock).ask(b"list-tube-used\r\n"), b"USING default")
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertTrue(os.path.exists(path), "the file of a passed socket is not ours")

    def test_refuses_what_is_no_listening_stream(self):
        with socket.socket() as idle, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.bind(("127.0.0.1", 0))
            for wrong in (idle, datagrams):
                self.assertEqual(self.launch(wrong).wait(PATIENCE), 111)


if __name__ == "__main__":
    unittest.main()
