"""kill -9 around a flush-tube of many jobs: each is there or gone as the one record says, and an acknowledged flush is
never undone, though its jobs' memory and room in the log come back piece by piece and the kill comes in between.

XYLEM_FLUSH_JOBS chooses how many jobs a tube has at most.
"""
import os
import random
import time

from log_server import LogTest, SEED, main

ROUNDS = 10
MOST_JOBS = int(os.environ.get("XYLEM_FLUSH_JOBS", "20000"))
SMALL = ("-s", "65536")
STATES = ("ready", "delayed", "buried")


class FlushTest(LogTest):
    def test_kill_around_a_flush(self):
        rng = random.Random(SEED)
        acknowledged = 0
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=SEED):
                acknowledged += self.round(rng, b"t%d" % number)
        print(f"{ROUNDS} rounds, {acknowledged} flushes acknowledged")

    def round(self, rng, tube):
        """Whether the flush was acknowledged before the kill."""
        server = self.serve(*(SMALL if rng.random() < 0.8 else ()))
        client, worker = self.connect(server), self.connect(server)
        before = self.fill(rng, client, worker, tube)
        state = rng.choice((None, None, *STATES))
        flushed = {job for job, its_state in before.items()
                   if its_state != "reserved" and state in (None, its_state)}
        reply = self.flush_and_kill(rng, server, client, tube, state)
        server = self.serve()
        client = self.connect(server)
        after = set(self.jobs_of(client, tube))
        if reply:
            self.assertEqual(reply, b"FLUSHED %d" % len(flushed))
        if reply or len(after) < len(before):
            self.assertEqual(after, before.keys() - flushed)
        else:
            self.assertEqual(after, before.keys())
        self.assert_only_these_are_flushed(client, tube, after)
        server.kill()
        self.assertEqual(server.wait(), 0, server.log())
        return bool(reply)

    def fill(self, rng, client, worker, tube):
        """Jobs of all states, by id; `worker` holds the reserved ones."""
        count = rng.randrange(MOST_JOBS // 4, MOST_JOBS)
        client.ask(b"use %s\r\n" % tube)
        delays = [rng.choice((0, 0, 1000)) for _ in range(count)]
        for first in range(0, count, 1000):
            part = delays[first:first + 1000]
            client.send(b"".join(b"put 0 %d 1000 10\r\n0123456789\r\n" % delay for delay in part))
            ids = [int(client.line().split()[1]) for _ in part]
            if first == 0:
                base = ids[0]
        states = {base + n: "delayed" if delay else "ready" for n, delay in enumerate(delays)}
        for job in rng.sample(range(base, base + count), 300):
            buried = rng.random() < 0.9
            worker.body(int(worker.ask(b"reserve-job %d\r\n" % job).split()[2]))
            if buried:
                worker.ask(b"bury %d 0\r\n" % job)
            states[job] = "buried" if buried else "reserved"
        return states

    def flush_and_kill(self, rng, server, client, tube, state):
        """The reply, if one came. The kill comes before, or while what was flushed is freed."""
        client.send(b"flush-tube %s\r\n" % b" ".join((tube, state.encode()) if state else (tube,)))
        reply = None
        if rng.random() < 0.5:
            reply = client.line()
            time.sleep(rng.choice((0, rng.uniform(0, 0.05))))
        else:
            time.sleep(rng.choice((0, rng.uniform(0, 0.001))))
        self.kill(server)
        return reply or client.rest().removesuffix(b"\r\n") or None

    def jobs_of(self, client, tube):
        after, found = 0, []
        while True:
            line = client.ask(b"list-jobs %s all %d 1000\r\n" % (tube, after))
            if line == b"NOT_FOUND":
                return found
            body = client.body(int(line.split()[1]))
            page = [int(row.split()[2]) for row in body.split(b"\n") if row.startswith(b"- id: ")]
            if not page:
                return found
            found += page
            after = page[-1]

    def assert_only_these_are_flushed(self, client, tube, there):
        """A job that is put into the tube now is none of the flushed, and the statistics count as the list does."""
        client.ask(b"use %s\r\n" % tube)
        self.assertTrue(client.put(b"new").startswith(b"INSERTED "))
        self.assertEqual(len(self.jobs_of(client, tube)), len(there) + 1)
        stats = client.stats()
        self.assertEqual(stats["log-damaged-records"], "0")


if __name__ == "__main__":
    main()
