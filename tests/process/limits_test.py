"""Limits: connections, descriptors, idleness, output, memory. Reaching one is told once, refused clients hear it at
once, and the server does not spin."""
import os
import resource
import signal
import socket
import time
import unittest

from xylemd import PATIENCE, ServerTest, sanitized


class ConnectionLimitTest(ServerTest):
    def assert_refused(self, server):
        with socket.create_connection(("127.0.0.1", server.port()), timeout=PATIENCE) as sock:
            try:
                self.assertEqual(sock.recv(1), b"")
            except ConnectionResetError:
                pass

    def test_the_configured_limit(self):
        server = self.start(config="limits:\n  max-connections: 5\n")
        clients = [self.connect(server) for _ in range(5)]
        self.assertEqual(clients[4].ask(b"use a\r\n"), b"USING a")
        for _ in range(30):
            self.assert_refused(server)
        stats = clients[0].stats()
        self.assertEqual(stats["max-connections"], "5")
        self.assertEqual(stats["refused-connections"], "30")
        self.assertLessEqual(server.log().count("refused"), 3, server.log())
        clients.pop().close()
        self.wait_until(lambda: clients[0].stats()["current-connections"] == "4", "one is gone")
        self.assert_serves(server)

    def test_the_limit_of_descriptors(self):
        limit = 80
        server = self.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, limit)))
        first = self.connect(server)
        most = int(first.stats()["max-connections"])
        self.assertLess(most, limit)
        self.assertGreater(most, 40)
        clients = [self.connect(server) for _ in range(most - 1)]
        self.assertEqual(clients[-1].ask(b"use a\r\n"), b"USING a")
        self.assert_refused(server)
        self.assert_sleeps(server)

    def test_too_few_descriptors_end_the_start(self):
        server = self.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10)))
        self.assertEqual(server.wait(), 1)
        self.assertIn("error: the limit of descriptors is 10", server.log())

    def test_more_connections_than_descriptors_is_told(self):
        server = self.start(config="limits:\n  max-connections: 1000\n",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        server.wait_for_log("more than descriptors allow, taking 32")

    def test_no_descriptor_left(self):
        server = self.start()
        first = self.connect(server)
        first.ask(b"use a\r\n")
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        late = [self.connect(server) for _ in range(10)]
        for client in late:
            client.send(b"use late\r\n")
        server.wait_for_log("clients have to wait")
        self.assert_sleeps(server)
        self.assertEqual(first.ask(b"use b\r\n"), b"USING b")
        self.assertEqual(server.log().count("have to wait"), 1)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        self.assertEqual([client.line() for client in late], [b"USING late"] * 10)

    def test_ten_thousand_connections(self):
        count = 10_000
        self.need_descriptors(count + 100)
        server = self.start()
        watcher = self.connect(server)
        watcher.ask(b"use a\r\n")
        before = server.rss()
        address = ("127.0.0.1", server.port())
        sockets = [socket.create_connection(address, timeout=PATIENCE) for _ in range(count)]
        self.wait_until(lambda: watcher.stats()["current-connections"] == str(count + 1), "all are connected")
        if not sanitized():
            self.assertLess((server.rss() - before) / count, 1_000, "bytes of an idle connection")
        for sock in sockets:
            sock.send(b"use many\r\n")
        for sock in sockets:
            self.assertEqual(sock.recv(100), b"USING many\r\n")
        self.assert_sleeps(server)
        for sock in sockets:
            sock.close()
        self.wait_until(lambda: watcher.stats()["current-connections"] == "1", "all are gone")


class OutBufferTest(ServerTest):
    def test_a_reload_that_lowers_it_leaves_no_complete_body_waiting(self):
        server = self.start(config="limits:\n  out-buffer: 1073741824\n")
        producer = self.connect(server)
        job = producer.put(b"b" * 60_000).split()[1]
        slow = self.connect(server, receive_bytes=4_096)
        count = 200
        slow.send(b"peek %s\r\n" % job * count + b"put 0 0 60 60000\r\n" + b"c" * 59_999)
        self.wait_until(lambda: producer.stats()["cmd-put"] == "2", "the body is on its way")
        server.write_config("limits:\n  out-buffer: 1024\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("reloaded")
        slow.send(b"c\r\n")  # read into the body itself, beside no other bytes
        for _ in range(count):
            self.assertEqual(slow.line(), b"FOUND %s 60000" % job)
            slow.body(60_000)
        self.assertTrue(slow.line().startswith(b"INSERTED"))

    def wait_until_nothing_runs(self, client):
        def peeks():
            return client.stats()["cmd-peek"]

        def stays():
            before = peeks()
            time.sleep(0.2)
            return peeks() == before

        self.wait_until(stays, "no more commands are run")

    def test_many_clients_that_never_read_cost_a_bounded_sum(self):
        """Together they may owe 16 MiB; each of them more than 1 KiB only below that."""
        server = self.start(config="limits:\n  out-buffer: 65536\n")
        producer = self.connect(server)
        job = producer.put(b"b" * 4_000).split()[1]
        before = server.rss()
        count = 60
        replies = (b"FOUND %s 4000\r\n" % job + b"b" * 4_000 + b"\r\n") * count
        deaf = [self.connect(server, receive_bytes=4_096) for _ in range(600)]
        for client in deaf:
            client.send(b"peek %s\r\n" % job * count)
        firsts = [client.line() + b"\r\n" for client in deaf]
        self.wait_until_nothing_runs(producer)
        if not sanitized():
            self.assertLess(server.rss() - before, 28 << 20)
        self.assert_sleeps(server)
        self.assertEqual(producer.ask(b"peek %s\r\n" % job * count), b"FOUND %s 4000" % job)
        self.assertEqual(producer.body(4_000), b"b" * 4_000)
        for client, first in zip(deaf, firsts):
            self.assertEqual(first + client.take(len(replies) - len(first)), replies)


class IdleTimeoutTest(ServerTest):
    def test_quiet_connections_are_closed(self):
        server = self.start(config="limits:\n  idle-timeout: 2\n")
        quiet, waiting, busy = (self.connect(server) for _ in range(3))
        waiting.send(b"reserve\r\n")
        end = time.monotonic() + 5
        while time.monotonic() < end:
            self.assertEqual(busy.ask(b"list-tube-used\r\n"), b"USING default")
            time.sleep(0.2)
        self.assertEqual(quiet.rest(), b"")
        busy.put(b"x")
        self.assertTrue(waiting.line().startswith(b"RESERVED"))

    def test_who_reads_a_long_reply_slowly_is_not_idle(self):
        server = self.start("-z", "12000000", config="limits:\n  idle-timeout: 2\n")
        body = os.urandom(12_000_000)
        producer = self.connect(server)
        job = producer.put(body).split()[1]
        deaf, slow = (self.connect(server, receive_bytes=4_096) for _ in range(2))
        for client in (deaf, slow):
            self.assertEqual(client.ask(b"peek %s\r\n" % job), b"FOUND %s 12000000" % job)
        received = b""
        while len(received) < len(body):
            received += slow.take(min(100_000, len(body) - len(received)))
            time.sleep(0.03)
        self.assertEqual(received, body)
        self.assertEqual(slow.ask(b"list-tube-used\r\n"), b"")  # behind the body
        self.assertEqual(slow.line(), b"USING default")
        self.assertLess(len(deaf.rest()), len(body))

    def test_a_reload_turns_it_on_and_off(self):
        server = self.start(config="limits:\n  idle-timeout: 0\n")
        first = self.connect(server)
        first.ask(b"use a\r\n")
        server.write_config("limits:\n  idle-timeout: 1\n")
        server.kill(signal.SIGHUP)
        self.assertEqual(first.rest(), b"")
        server.write_config("limits:\n  idle-timeout: 0\n")
        second = self.connect(server)
        second.ask(b"use a\r\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("reloaded", 2)
        self.assertTrue(second.is_quiet(2.5))
        self.assertEqual(second.ask(b"use b\r\n"), b"USING b")


if __name__ == "__main__":
    unittest.main()
