"""Streams of bytes as clients really send them: pipelines, pieces, ends and half-ends, and what stands behind a
command that has to wait."""
import socket
import time
import unittest

from xylemd import Server, ServerTest


class StreamTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.end)

    def client(self, **options):
        return self.connect(self.server, **options)

    def test_pipeline_of_a_hundred_thousand(self):
        client = self.client()
        client.send(b"use pipeline\r\nwatch pipeline\r\nignore default\r\n")
        self.assertEqual([client.line() for _ in range(3)], [b"USING pipeline", b"WATCHING 2", b"WATCHING 1"])
        count, step = 100_000, 10_000
        for start in range(0, count, step):
            client.send(b"".join(b"put 0 0 60 6\r\n%06d\r\n" % n for n in range(start, start + step)))
            ids = [client.line() for _ in range(step)]
            self.assertTrue(all(reply.startswith(b"INSERTED ") for reply in ids))
        client.send(b"reserve\r\n" * 2_000)
        for n in range(2_000):
            self.assertTrue(client.line().startswith(b"RESERVED "))
            self.assertEqual(client.body(6), b"%06d" % n)

    def test_more_commands_than_a_turn_has_are_answered_in_order(self):
        client = self.client()
        client.send(b"".join(b"use t%d\r\n" % n for n in range(5_000)))
        self.assertEqual([client.line() for n in range(5_000)], [b"USING t%d" % n for n in range(5_000)])

    def test_a_list_of_more_tubes_than_a_slice_is_one_reply(self):
        server = self.start()
        owner, client = self.connect(server), self.connect(server)
        names = [b"n%d" % n for n in range(3_500)]
        owner.send(b"".join(b"watch %s\r\n" % name for name in names))
        self.assertEqual([owner.line() for _ in names][-1], b"WATCHING 3501")
        client.send(b"list-tubes\r\nlist-tube-used\r\nstats-tubes\r\nlist-tube-used\r\n")
        listed = client.body(int(client.line().removeprefix(b"OK "))).split(b"\n")
        self.assertEqual(listed, [b"---", b"- default", *(b"- " + name for name in names), b""])
        self.assertEqual(client.line(), b"USING default")
        told = client.body(int(client.line().removeprefix(b"OK "))).split(b"\n")
        self.assertEqual([line for line in told if line.startswith(b"- ")],
                         [b'- name: "%s"' % name for name in (b"default", *names)])
        self.assertEqual(told.count(b"  pause-time-left: 0"), 3_501)
        self.assertEqual(client.line(), b"USING default")

    def test_byte_by_byte(self):
        client = self.client()
        for byte in b"use slow\r\nput 0 0 9 3\r\na\r\n\r\npeek-ready\r\n":
            client.send(bytes([byte]))
        self.assertEqual(client.line(), b"USING slow")
        self.assertTrue(client.line().startswith(b"INSERTED "))
        self.assertTrue(client.line().startswith(b"FOUND "))
        self.assertEqual(client.body(3), b"a\r\n")

    def test_long_bodies_keep_every_byte(self):
        client = self.client()
        client.ask(b"use long\r\n")
        for size in (4_095, 4_096, 4_097, 60_000, 65_000, 65_535):
            body = bytes(n * 7 % 251 for n in range(size))
            job = client.put(body).split()[1]
            client.send(b"peek %s\r\n" % job * 3)
            for _ in range(3):
                self.assertEqual(client.line(), b"FOUND %s %d" % (job, size))
                self.assertEqual(client.body(size), body)
            self.assertEqual(client.ask(b"delete %s\r\n" % job), b"DELETED")

    def test_what_stands_behind_a_waiting_reserve_is_run_in_order(self):
        worker, producer = self.client(), self.client()
        worker.send(b"watch wait\r\nignore default\r\nreserve\r\n" + b"".join(b"use w%d\r\n" % n for n in range(3_000)))
        self.assertEqual([worker.line(), worker.line()], [b"WATCHING 2", b"WATCHING 1"])
        self.assertTrue(worker.is_quiet())
        producer.ask(b"use wait\r\n")
        producer.put(b"go")
        self.assertTrue(worker.line().startswith(b"RESERVED "))
        self.assertEqual(worker.body(2), b"go")
        self.assertEqual([worker.line() for _ in range(3_000)], [b"USING w%d" % n for n in range(3_000)])

    def test_a_waiting_client_is_read_ahead_only_so_far(self):
        worker, producer = self.client(), self.client()
        worker.send(b"watch far\r\nignore default\r\nreserve\r\n")
        self.assertEqual([worker.line(), worker.line()], [b"WATCHING 2", b"WATCHING 1"])
        before = self.server.rss()
        flood = b"list-tube-used\r\n" * 2_000_000
        sent = self.send_until_stuck(worker.sock, flood)
        self.assertLess(sent, len(flood))
        self.assertLess(self.server.rss() - before, 8 << 20)
        self.assert_sleeps(self.server)
        producer.ask(b"use far\r\n")
        producer.put(b"go")
        self.assertTrue(worker.line().startswith(b"RESERVED "))
        self.assertEqual(worker.body(2), b"go")
        whole = sent // len(b"list-tube-used\r\n")
        for _ in range(whole):
            self.assertEqual(worker.line(), b"USING default")

    def test_commands_before_the_end_of_input_are_answered(self):
        client = self.client()
        client.send(b"use end\r\nput 0 0 60 1\r\nx\r\nwatch none\r\nignore default\r\nreserve\r\nuse half")
        client.sock.shutdown(socket.SHUT_WR)
        replies = client.rest().split(b"\r\n")
        self.assertEqual(replies[0], b"USING end")
        self.assertTrue(replies[1].startswith(b"INSERTED "))
        self.assertEqual(replies[2:], [b"WATCHING 2", b"WATCHING 1", b"TIMED_OUT", b""])

    def test_a_long_pipeline_before_the_end_of_input_is_answered(self):
        client = self.client()
        client.send(b"use e\r\n" * 5_000)
        client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), b"USING e\r\n" * 5_000)

    def test_a_waiting_client_that_half_closes_hears_timed_out(self):
        client = self.client()
        client.send(b"watch nothing\r\nignore default\r\nreserve\r\nuse after\r\n")
        self.assertEqual([client.line(), client.line()], [b"WATCHING 2", b"WATCHING 1"])
        client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), b"TIMED_OUT\r\nUSING after\r\n")

    def test_a_half_closed_client_with_a_full_read_ahead_hears_timed_out(self):
        client = self.client()
        client.send(b"watch nothing\r\nignore default\r\nreserve\r\n")
        self.assertEqual([client.line(), client.line()], [b"WATCHING 2", b"WATCHING 1"])
        client.send(b"use f\r\n" * 12_000)  # 84,000 bytes: more than is read ahead
        client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), b"TIMED_OUT\r\n" + b"USING f\r\n" * 12_000)

    def test_quit_ends_after_the_replies_before_it(self):
        client = self.client()
        client.send(b"use q\r\n" * 100 + b"quit\r\n" + b"use never\r\n" * 100)
        self.assertEqual(client.rest(), b"USING q\r\n" * 100)

    def test_quit_behind_a_waiting_reserve(self):
        worker, producer = self.client(), self.client()
        worker.send(b"watch wq\r\nignore default\r\nreserve\r\nquit\r\nuse never\r\n")
        self.assertEqual([worker.line(), worker.line()], [b"WATCHING 2", b"WATCHING 1"])
        producer.ask(b"use wq\r\n")
        job = producer.put(b"x").split()[1]
        self.assertEqual(worker.rest(), b"RESERVED %s 1\r\nx\r\n" % job)
        self.wait_until(lambda: producer.ask(b"delete %s\r\n" % job) == b"DELETED", "the job is free again")

    def test_a_short_reply_is_one_segment(self):
        client = self.client()
        client.send(b"put 0 0 60 1\r\nx\r\n")
        reply = client.sock.recv(4096)
        self.assertTrue(reply.endswith(b"\r\n"), reply)

    def test_timeouts_take_their_time_and_no_longer(self):
        client = self.client()
        client.ask(b"watch quiet\r\n")
        client.ask(b"ignore default\r\n")
        begin = time.monotonic()
        self.assertEqual(client.ask(b"reserve-with-timeout 1\r\n"), b"TIMED_OUT")
        self.assertGreaterEqual(time.monotonic() - begin, 1.0)

    def send_until_stuck(self, sock, data):
        """Sends as much as is taken until nothing moves for half a second."""
        sock.settimeout(0.5)
        sent = 0
        try:
            while sent < len(data):
                sent += sock.send(data[sent:sent + (1 << 20)])
        except TimeoutError:
            pass
        sock.settimeout(60)
        return sent


if __name__ == "__main__":
    unittest.main()
