"""Clients that mean ill, or are ill: each of them costs only itself."""
import signal
import socket
import struct
import time
import unittest

from xylemd import ServerTest, sanitized

RESET = struct.pack("ii", 1, 0)


class HostileTest(ServerTest):
    def test_half_a_command_then_silence(self):
        server = self.start()
        silent = [self.connect(server) for _ in range(50)]
        for client in silent:
            client.send(b"put 0 0 60 1")
        self.assert_serves(server)
        self.assert_sleeps(server)

    def test_an_endless_line(self):
        server = self.start()
        client = self.connect(server)
        client.ask(b"use a\r\n")
        before = server.rss()
        for _ in range(256):
            client.send(b"x" * 65_536)
        self.assertEqual(client.ask(b"\r\n"), b"BAD_FORMAT")
        self.assertEqual(client.ask(b"use b\r\n"), b"USING b")
        if not sanitized():
            self.assertLess(server.rss() - before, 4 << 20)

    def test_a_client_that_never_reads_costs_its_out_buffer(self):
        server = self.start()
        producer = self.connect(server)
        job = producer.put(b"b" * 60_000).split()[1]
        deaf = self.connect(server, receive_bytes=4_096)
        before = server.rss()
        deaf.sock.settimeout(0.5)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += deaf.sock.send(b"list-tube-used\r\npeek %s\r\n" % job * 10_000)
        except TimeoutError:
            pass
        self.assertLess(sent, 64 << 20)
        if not sanitized():
            self.assertLess(server.rss() - before, 8 << 20)
        self.assert_serves(server)
        self.assert_sleeps(server)

    def test_who_comes_new_waits_for_a_little_of_each_flood(self):
        """A hundred floods and one question arrive while the server sleeps; the count of what ran tells who waited."""
        server = self.start()
        floods = [self.connect(server) for _ in range(100)]
        bystander = self.connect(server)
        self.assertEqual(bystander.ask(b"use b\r\n"), b"USING b")
        server.kill(signal.SIGSTOP)
        count = 2_000
        for flood in floods:
            flood.send(b"peek 9\r\n" * count)
        bystander.send(b"stats\r\n")
        server.kill(signal.SIGCONT)
        run = int(bystander.stats_reply()["cmd-peek"])
        self.assertLess(run, 20_000)  # of 200,000; by 1,000 each it would be 100,000
        for flood in floods:
            self.assertEqual(flood.take(count * len(b"NOT_FOUND\r\n")), b"NOT_FOUND\r\n" * count)

    def test_more_sockets_at_once_than_the_loop_takes(self):
        """libuv takes 1,024 events at a time, and asks again for those that were left: each is served the first time."""
        self.need_descriptors(2_600)
        server = self.start()
        clients = [self.connect(server) for _ in range(2_500)]
        self.assertEqual(clients[-1].ask(b"use a\r\n"), b"USING a")
        server.kill(signal.SIGSTOP)
        for client in clients:
            client.send(b"list-tube-used\r\n" * 20)
        server.kill(signal.SIGCONT)
        for client in clients[:-1]:
            self.assertEqual(client.take(20 * len(b"USING default\r\n")), b"USING default\r\n" * 20)
        self.assertEqual(clients[-1].take(20 * len(b"USING a\r\n")), b"USING a\r\n" * 20)
        for client in clients:
            client.close()
        watcher = self.connect(server)
        self.wait_until(lambda: watcher.stats()["current-connections"] == "1", "all are gone")
        self.assert_sleeps(server)

    def test_a_slow_reader_gets_every_reply(self):
        server = self.start()
        producer = self.connect(server)
        body = b"0123456789" * 6_000
        job = producer.put(body).split()[1]
        slow = self.connect(server, receive_bytes=4_096)
        count = 200
        slow.send(b"peek %s\r\nuse s\r\n" % job * count)
        time.sleep(0.3)
        for _ in range(count):
            self.assertEqual(slow.line(), b"FOUND %s %d" % (job, len(body)))
            self.assertEqual(slow.body(len(body)), body)
            self.assertEqual(slow.line(), b"USING s")
        self.assertEqual(producer.ask(b"delete %s\r\n" % job), b"DELETED")

    def test_a_body_that_is_deleted_while_it_is_sent(self):
        server = self.start()
        producer, slow = self.connect(server), self.connect(server, receive_bytes=4_096)
        job = producer.put(b"a" * 65_535).split()[1]
        slow.send(b"peek %s\r\n" % job * 100)
        self.assertEqual(slow.line(), b"FOUND %s 65535" % job)
        self.assertEqual(producer.ask(b"delete %s\r\n" % job), b"DELETED")
        producer.put(b"z" * 65_535)
        self.assertEqual(slow.body(65_535), b"a" * 65_535)
        for _ in range(99):
            if slow.line() == b"NOT_FOUND":
                continue
            self.assertEqual(slow.body(65_535), b"a" * 65_535)

    def test_the_end_in_the_middle_of_a_body(self):
        server = self.start()
        for announced, arrived in ((10, 4), (60_000, 30_000), (60_000, 60_001)):
            client = self.connect(server)
            client.send(b"put 0 0 60 %d\r\n" % announced + b"x" * arrived)
            client.close()
        watcher = self.connect(server)
        self.wait_until(lambda: watcher.stats()["current-connections"] == "1", "the uploads are gone")
        self.assertEqual(watcher.stats()["total-jobs"], "0")
        self.assertEqual(watcher.put(), b"INSERTED 4")

    def test_memory_follows_what_arrives_not_what_is_promised(self):
        server = self.start("-z", "1073741824")
        client = self.connect(server)
        client.ask(b"use a\r\n")
        before = server.rss()
        promising = [self.connect(server) for _ in range(20)]
        for each in promising:
            each.send(b"put 0 0 60 1073741824\r\n" + b"x" * 1_000)
        self.assert_serves(server)
        self.assertEqual(client.stats()["cmd-put"], "20")
        if not sanitized():
            self.assertLess(server.rss() - before, 20 * (256 << 10))

    def test_a_body_of_many_megabytes(self):
        server = self.start("-z", "1073741824")
        client = self.connect(server)
        body = b"0123456789abcdef" * (1 << 20)
        job = client.put(body).split()[1]
        self.assertEqual(client.ask(b"peek %s\r\n" % job), b"FOUND %s %d" % (job, len(body)))
        self.assertEqual(client.body(len(body)), body)
        if not sanitized():
            self.assertEqual(client.ask(b"delete %s\r\n" % job), b"DELETED")
            self.wait_until(lambda: server.rss() < 16 << 20, "the memory is given back")

    def test_a_body_that_is_too_big_is_skipped_without_memory(self):
        server = self.start()
        client = self.connect(server)
        client.ask(b"use a\r\n")
        before = server.rss()
        client.send(b"put 0 0 60 16777216\r\n")
        for _ in range(256):
            client.send(b"x" * 65_536)
        self.assertTrue(client.is_quiet())
        self.assertEqual(client.ask(b"\r\n"), b"JOB_TOO_BIG")
        if not sanitized():
            self.assertLess(server.rss() - before, 4 << 20)

    def test_resets(self):
        server = self.start()
        producer = self.connect(server)
        for said in (b"", b"reserve\r\n", b"put 0 0 60 60000\r\nxxx", b"use a\r\nuse", b"list-tubes\r\n" * 1_000):
            for _ in range(10):
                client = self.connect(server)
                client.send(said)
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                client.close()
        self.wait_until(lambda: producer.stats()["current-connections"] == "1", "the others are gone")
        self.assertEqual(producer.stats()["current-waiting"], "0")
        self.assertEqual(server.log().count("\n"), 2, "client resets are no lines in the log")
        self.assert_sleeps(server)

    def test_a_reset_gives_the_reserved_job_back(self):
        server = self.start()
        producer, worker = self.connect(server), self.connect(server)
        job = producer.put().split()[1]
        self.assertEqual(worker.ask(b"reserve\r\n"), b"RESERVED %s 1" % job)
        worker.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        worker.close()
        self.assertEqual(producer.ask(b"reserve\r\n"), b"RESERVED %s 1" % job)

    def test_urgent_data(self):
        server = self.start()
        client = self.connect(server)
        client.ask(b"use a\r\n")
        client.sock.send(b"!", socket.MSG_OOB)
        self.assert_sleeps(server)
        client.send(b"use b\r\n")
        self.assertTrue(client.line().endswith(b"b"))

    def test_flood_of_rubbish(self):
        server = self.start()
        client = self.connect(server)
        rubbish = bytes(n * n % 256 for n in range(1 << 18)).replace(b"quit", b"qu1t")
        client.send(rubbish + b"\r\n")
        client.send(b"\r\nuse over\r\n")
        while client.line() != b"USING over":
            pass
        self.assert_serves(server)


if __name__ == "__main__":
    unittest.main()
