"""A disk that is full, and has space again: a small tmpfs of its own under the log directory. Mounting it needs root;
where that is not allowed (some containers) the tests are skipped, and ctest says so."""
import os
import resource
import time

from log_server import LogTest, job_count, main, read_jobs, run

DISK = 4 << 20
SEGMENT = 256 << 10
BODY = b"b" * 8000


class FullDiskTest(LogTest):
    def setUp(self):
        super().setUp()
        self.mount(DISK)

    def serve_small(self):
        return self.serve("-s", str(SEGMENT))

    def fill(self, client):
        """Puts until it is refused: ids of what was taken."""
        ids = []
        while True:
            words = client.put(BODY, pri=len(ids)).split()
            if words[0] != b"INSERTED":
                self.assertEqual(words, [b"OUT_OF_MEMORY"])
                return ids
            ids.append(int(words[1]))
            self.assertLess(len(ids) * len(BODY), DISK)

    def test_full_and_back(self):
        server = self.serve_small()
        client = self.connect(server)
        ids = self.fill(client)
        self.assertGreater(len(ids) * len(BODY), DISK / 5)
        stats = client.stats()
        self.assertEqual(stats["log-state"], "full")
        self.assertEqual(job_count(stats), len(ids))
        self.assertIn("the disk is full", server.log())
        self.go_on(client, ids)
        # The order of answers of a refused put stays as it is.
        self.assertEqual(client.ask(b"put 0 0 60 3\r\nwrong\r\n"), b"EXPECTED_CRLF")
        self.assertEqual(client.line(), b"UNKNOWN_COMMAND")
        left = self.delete_half(client, ids)
        self.takes_puts_again(client)
        self.kill(server)
        self.has(self.connect(self.serve_small()), left)

    def go_on(self, client, ids):
        """Everything but put."""
        for id in ids[:5]:
            self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED %d %d" % (id, len(BODY)))
            client.body(len(BODY))
        for command, answer in ((b"release %d 5 0", b"RELEASED"), (b"release %d 5 1000", b"RELEASED"),
                                (b"bury %d 5", b"BURIED"), (b"bury %d 5", b"BURIED"), (b"touch %d", b"TOUCHED")):
            self.assertEqual(client.ask(command % ids.pop(0) + b"\r\n"), answer)
        self.assertEqual(client.ask(b"kick 1\r\n"), b"KICKED 1")
        self.assertEqual(client.ask(b"pause-tube default 0\r\n"), b"PAUSED")

    def delete_half(self, client, ids):
        half = len(ids) // 2
        for id in ids[:half]:
            self.assertEqual(client.ask(b"delete %d\r\n" % id), b"DELETED")
        return ids[half:]

    def takes_puts_again(self, client, body=BODY):
        end = time.monotonic() + 10
        while client.put(body).split()[0] != b"INSERTED":
            self.assertLess(time.monotonic(), end, client.stats())
            time.sleep(0.05)
        self.wait_for_stats(client, "not full", lambda stats: stats["log-state"] == "ok")

    def has(self, client, ids):
        jobs = read_jobs(client, ids)
        self.assertEqual(sorted(jobs), sorted(ids))
        self.assertTrue(all(job["body"] == BODY for job in jobs.values()))

    def test_killed_while_full(self):
        """Again and again: fill, change, kill -9, start on the full disk."""
        ids, gone = [], []
        for _ in range(5):
            server = self.serve_small()
            client = self.connect(server)
            self.has(client, ids)
            self.assertEqual(read_jobs(client, gone), {})
            ids += self.fill(client)
            self.assertEqual(client.stats()["log-state"], "full")
            taken, ids = ids[:10], ids[10:]
            client.send(b"".join(b"delete %d\r\n" % id for id in taken))
            self.assertEqual({client.line() for _ in taken}, {b"DELETED"})
            gone += taken
            self.kill(server)
        client = self.connect(self.serve_small())
        self.has(client, ids)
        self.delete_half(client, ids)
        self.takes_puts_again(client)

    def test_start_on_a_disk_that_others_filled(self):
        """After a clean stop, which gave back the spare: not even a delete could be written."""
        server = self.serve_small()
        client = self.connect(server)
        ids = [int(client.put(BODY).split()[1]) for _ in range(20)]
        server.stop()
        other = os.path.join(self.directory, "other")
        with self.assertRaises(OSError), open(other, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        ended = run("-l", "127.0.0.1", "-p", "0", "-b", self.directory, "-s", str(SEGMENT))
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("no space for a log segment", ended.stderr)
        os.remove(other)
        server = self.serve_small()
        client = self.connect(server)
        self.has(client, ids)
        self.takes_puts_again(client)

    def test_a_job_larger_than_what_is_left(self):
        """It is refused, and nobody waits for it."""
        server = self.serve("-s", str(SEGMENT), "-z", "9000000")
        client, other = self.connect(server), self.connect(server)
        big = b"B" * 8_000_000
        command = b"put 0 0 60 %d\r\n%s" % (len(big), big)
        client.send(command + b"\r\n" + b"put 5 0 60 5\r\nsmall\r\n")
        self.assertEqual(other.put(b"meanwhile").split()[0], b"INSERTED")
        self.assertEqual(client.line(), b"OUT_OF_MEMORY")
        self.assertEqual(client.line().split()[0], b"INSERTED")
        client.send(command + b"\rx")
        self.assertEqual(client.line(), b"EXPECTED_CRLF")
        fits = b"F" * 1_000_000
        self.takes_puts_again(client, fits)
        self.assertEqual(other.stats()["log-state"], "ok")
        self.kill(server)
        stats = self.connect(self.serve_small()).stats()
        self.assertEqual(job_count(stats), 3)

    def test_a_large_job_is_in_the_way_of_compaction(self):
        """There is no room to log it again: others go on, and when it is deleted all is as it was."""
        server = self.serve("-s", str(SEGMENT), "-z", "3000000")
        client = self.connect(server)
        large, = [int(client.put(b"L" * 1_300_000).split()[1])]
        ids = self.fill(client)
        client.send(b"".join(b"delete %d\r\n" % id for id in ids))
        self.assertEqual({client.line() for _ in ids}, {b"DELETED"})
        self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED %d 1300000" % large)
        client.body(1_300_000)
        self.assertEqual(client.ask(b"delete %d\r\n" % large), b"DELETED")
        self.wait_for_stats(client, "small", lambda stats: int(stats["log-bytes-total"]) <= 2 * SEGMENT)
        self.takes_puts_again(client)

    def test_what_was_answered_behind_a_slow_sync_is_there_after_a_stop(self):
        """Replies do not wait for the disk, but they do for room on it."""
        server = self.serve_slowly("-s", "16384", "-f", "50")
        client, other = self.connect(server), self.connect(server)
        body = b"s" * 100
        ids = []
        while not ids or ids[-1]:
            client.send((b"put 0 0 60 %d\r\n%s\r\n" % (len(body), body)) * 100)
            ids += [int(words[1]) if words[0] == b"INSERTED" else 0 for words in (client.line().split() for _ in range(100))]
        ids = [id for id in ids if id]
        self.be_slow()
        self.assertEqual(other.ask(b"delete %d\r\n" % ids[0]), b"DELETED")
        time.sleep(0.1)  # its sync runs
        client.send(b"".join(b"delete %d\r\n" % id for id in ids[1:4000]))
        time.sleep(0.1)
        server.kill()
        answered = 1 + client.rest().count(b"DELETED\r\n")
        self.assertEqual(server.wait(), 0)
        self.assertEqual(read_jobs(self.connect(self.serve("-s", "16384")), ids[:answered]), {})

    def test_a_limit_on_the_size_of_files(self):
        server = self.serve("-s", str(SEGMENT), "-z", "3000000")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        client = self.connect(server)
        self.assertEqual(client.put(b"L" * 1_300_000), b"OUT_OF_MEMORY")
        self.assertEqual(client.put(BODY).split()[0], b"INSERTED")
        self.assertEqual(client.stats()["log-state"], "ok")

    def test_delete_everything_while_full(self):
        """The log comes back to next to nothing, though each delete is a record too."""
        server = self.serve_small()
        client = self.connect(server)
        ids = self.fill(client)
        client.send(b"".join(b"delete %d\r\n" % id for id in ids))
        self.assertEqual({client.line() for _ in ids}, {b"DELETED"})
        stats = self.wait_for_stats(client, "small", lambda stats: int(stats["log-bytes-total"]) <= 2 * SEGMENT)
        self.assertEqual(stats["log-bytes-live"], "0")
        self.takes_puts_again(client)


if __name__ == "__main__":
    main()
