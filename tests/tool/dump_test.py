"""A dump of a server, loaded into an empty one and dumped again, is the same: tube, state, pri, ttr, delay left within two
seconds, body, and order."""
import json
import random
import unittest

import world

KEPT = ("tube", "state", "pri", "ttr", "body", "body_base64")
JOBS = 900


class DumpTest(world.ToolTest):
    def fill(self, client):
        """Jobs of three states in three tubes, with bodies of any bytes, buried in a shuffled order."""
        rng = random.Random(4)
        for number in range(1, JOBS + 1):
            client.ask(b"use %s\r\n" % rng.choice([b"a", b"b", b"c"]))
            body = rng.choice([b"text %d" % number, rng.randbytes(20), "\u00e9\x1b".encode(), b""])
            delay = rng.choice([0, 0, 500 + number * 3])
            client.put(body, pri=rng.choice([0, 5, 1024]), delay=delay, ttr=1 + number % 50)
        for job in rng.sample(range(1, JOBS + 1), JOBS // 3):
            client.body(int(client.ask(b"reserve-job %d\r\n" % job).split()[2]))
            client.ask(b"bury %d %d\r\n" % (job, rng.choice([7, 8])))

    def dump(self, server):
        return self.xylem(server, "dump")[0]

    def test_a_dump_that_is_loaded_gives_the_same_dump(self):
        first, second = self.start(), self.start()
        self.fill(self.connect(first))
        dumped = self.dump(first)
        out, _ = self.xylem(second, "load", given=dumped)
        self.assertEqual(out, b"%d jobs loaded; ids, ages and counters start anew\n" % JOBS)
        before = [json.loads(line) for line in dumped.splitlines()]
        after = [json.loads(line) for line in self.dump(second).splitlines()]
        self.assertEqual([[job.get(key) for key in KEPT] for job in before],
                         [[job.get(key) for key in KEPT] for job in after])
        for old, new in zip(before, after):
            self.assertLessEqual(abs(old["delay"] - new["delay"]), 2)

    def test_loading_again_changes_nothing_when_asked(self):
        server = self.start()
        self.fill(self.connect(server))
        dumped = self.dump(server)
        self.xylem(server, "load", "--skip-existing", given=dumped, expect=1)
        self.assertEqual(len(self.dump(server).splitlines()), JOBS)
        self.xylem(server, "load", given=dumped)
        self.assertEqual(len(self.dump(server).splitlines()), 2 * JOBS)


if __name__ == "__main__":
    unittest.main()
