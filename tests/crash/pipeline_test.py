"""What a durable reply costs and whom it holds up: group commit within and between connections, replies that wait for
no disk, and clients that are slow or half done while the log runs. The disk's slowness comes from disk_shim.cc."""
import signal
import time

from log_server import SLOW, LogTest, job_count, main

TRIPLES = 100


class PipelineTest(LogTest):
    def test_put_reserve_delete_in_one_go(self):
        server = self.serve()
        client = self.connect(server)
        before = int(client.stats()["log-fsyncs"])
        # The ids are known: nobody else puts.
        client.send(b"".join(b"put 0 0 60 5\r\nhello\r\nreserve\r\ndelete %d\r\n" % id for id in range(1, TRIPLES + 1)))
        for id in range(1, TRIPLES + 1):
            self.assertEqual(client.line(), b"INSERTED %d" % id)
            self.assertEqual(client.line(), b"RESERVED %d 5" % id)
            self.assertEqual(client.body(5), b"hello")
            self.assertEqual(client.line(), b"DELETED")
        self.assertLessEqual(int(client.stats()["log-fsyncs"]) - before, 8)

    def test_many_connections_share_a_sync(self):
        server = self.serve_slowly()
        clients = [self.connect(server) for _ in range(50)]
        before = int(clients[0].stats()["log-fsyncs"])
        self.be_slow()
        begin = time.monotonic()
        for client in clients:
            client.send(b"put 0 0 60 1\r\nx\r\n")
        for client in clients:
            self.assertTrue(client.line().startswith(b"INSERTED"))
        self.assertGreater(time.monotonic() - begin, SLOW)
        self.assertLessEqual(int(clients[0].stats()["log-fsyncs"]) - before, 8)

    def test_who_waits_for_a_slow_sync(self):
        server = self.serve_slowly()
        putter, other = self.connect(server), self.connect(server)
        other.put()
        self.assertEqual(other.ask(b"reserve\r\n"), b"RESERVED 1 1")
        other.body(1)
        self.be_slow()
        putter.send(b"put 0 0 60 1\r\nx\r\n")
        self.assertTrue(putter.is_quiet(SLOW / 8))
        for question, answer in ((b"use a", b"USING a"), (b"watch b", b"WATCHING 2"), (b"ignore b", b"WATCHING 1"),
                                 (b"list-tube-used", b"USING a"), (b"touch 1", b"TOUCHED"),
                                 (b"nonsense", b"UNKNOWN_COMMAND"), (b"use -", b"BAD_FORMAT")):
            begin = time.monotonic()
            self.assertEqual(other.ask(question + b"\r\n"), answer)
            self.assertLess(time.monotonic() - begin, SLOW / 4, question)
        self.assertTrue(putter.is_quiet(0))  # all that was during the sync
        self.assertEqual(putter.line(), b"INSERTED 2")

    def test_what_says_something_of_jobs_waits(self):
        """Nobody sees a state that a crash may undo."""
        server = self.serve_slowly()
        putter, other = self.connect(server), self.connect(server)
        self.be_slow()
        begin = time.monotonic()
        putter.send(b"put 0 0 60 1\r\nx\r\n")
        time.sleep(SLOW / 8)
        self.assertEqual(other.ask(b"peek 1\r\n"), b"FOUND 1 1")
        self.assertGreater(time.monotonic() - begin, SLOW * 0.9)
        other.body(1)

    def test_interval_waits_for_nothing(self):
        server = self.serve_slowly("-f", "20")
        client = self.connect(server)
        self.be_slow()
        end = time.monotonic() + 5 * SLOW
        worst = 0
        while time.monotonic() < end:
            begin = time.monotonic()
            self.assertTrue(client.put().startswith(b"INSERTED"))
            self.assertTrue(client.ask(b"peek-ready\r\n").startswith(b"FOUND"))
            client.body(1)
            worst = max(worst, time.monotonic() - begin)
        self.assertLess(worst, SLOW / 2)
        self.assertGreaterEqual(int(client.stats()["log-fsyncs"]), 2)

    def test_a_reload_changes_when_replies_leave(self):
        server = self.serve_slowly(config="log:\n  sync: always\n")
        client = self.connect(server)
        self.be_slow()

        def put_takes():
            begin = time.monotonic()
            self.assertTrue(client.put().startswith(b"INSERTED"))
            return time.monotonic() - begin

        def reload(sync, interval=3_600_000):
            server.write_config(f"log:\n  sync: {sync}\n  interval: {interval}\n")
            server.kill(signal.SIGHUP)
            reloads.append(server.wait_for_log("reloaded", len(reloads) + 1))

        reloads = []
        self.assertGreater(put_takes(), SLOW * 0.9)
        client.send(b"put 0 0 60 1\r\nx\r\n")  # waits for a sync that is under way
        time.sleep(SLOW / 4)
        reload("interval")
        self.assertTrue(client.line().startswith(b"INSERTED"))
        time.sleep(2 * SLOW)
        self.assertLess(put_takes(), SLOW / 2)
        synced = int(client.stats()["log-fsyncs"])
        time.sleep(2 * SLOW)
        self.assertEqual(int(client.stats()["log-fsyncs"]), synced)
        # What was written is synced a new interval later, though nothing more is.
        reload("interval", 20)
        self.wait_for_stats(client, "synced", lambda stats: int(stats["log-fsyncs"]) > synced)
        reload("never")
        self.assertLess(put_takes(), SLOW / 2)
        reload("always")
        self.assertGreater(put_takes(), SLOW * 0.9)
        server.write_config("log:\n  segment-size: 65536\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("log.segment-size needs a restart")

    def test_who_waits_for_the_disk_is_not_idle(self):
        server = self.serve_slowly("--idle-timeout", "1")
        putter, quiet = self.connect(server), self.connect(server)
        self.be_slow(2.5)
        putter.send(b"put 0 0 60 1\r\nx\r\n")
        self.assertEqual(quiet.rest(), b"")
        self.assertTrue(putter.is_quiet(0))
        self.assertEqual(putter.line(), b"INSERTED 1")

    def test_a_slow_reader_and_a_half_command(self):
        server = self.serve("-s", "65536")
        slow, half, client = self.connect(server, receive_bytes=4096), self.connect(server), self.connect(server)
        half.send(b"put 0 0 60 10\r\n01234")
        client.put(b"y" * 60_000, pri=1)
        slow.send(b"peek-ready\r\n" * 200)  # 12 MB that nobody takes
        for _ in range(300):
            self.assertTrue(client.put(b"z" * 1000, pri=2).startswith(b"INSERTED"))
        half.send(b"56789\r\n")
        self.assertEqual(half.line(), b"INSERTED 1")
        for _ in range(200):
            size = int(slow.line().split()[2])
            self.assertEqual(len(slow.body(size)), size)
        self.kill(server)
        self.assertEqual(job_count(self.connect(self.serve()).stats()), 302)


if __name__ == "__main__":
    main()
