"""What a power cut takes under each policy: nothing that was acknowledged; nothing that is older than the interval;
with a long interval, all. The last is the proof that the checker bites: a server that acknowledges before it syncs is
found out.
"""
import os
import random
import signal
import time

from load import Load
from log_server import LogTest, SEED, main, shim_environment
from power_cut import cut_power
from wire import Loss

SLACK = 2.0  # a sync on a busy machine, beyond the interval


class PowerCutTest(LogTest):
    def setUp(self):
        super().setUp()
        self.trace = os.path.join(self.folder, "trace")
        self.load = Load(random.Random(SEED))

    def serve_traced(self, *args):
        if os.path.exists(self.trace):
            os.remove(self.trace)
        return self.serve("-z", "110000", *args, env=shim_environment(trace=self.trace))

    def cut(self, server):
        """The moment of it, and how many bytes it took."""
        self.kill(server)
        at = time.monotonic()
        self.load.hear_the_last()
        return at, cut_power(self.trace)

    def test_always_loses_nothing(self):
        for _ in range(5):
            server = self.serve_traced("-s", "262144")
            self.load.connect(server)
            self.load.run(0.5)
            at, _ = self.cut(server)
            server = self.serve("-z", "110000")
            self.load.check(server, at)
            self.kill(server)

    def test_interval_loses_no_more_than_the_interval(self):
        server = self.serve_traced("-f", "200")
        self.load.connect(server)
        self.load.run(3.0)
        at, _ = self.cut(server)
        server = self.serve("-z", "110000")
        self.load.check(server, at, 0.2 + SLACK)

    def test_interval_goes_on_in_idle_time(self):
        server = self.serve_traced("-f", "200")
        self.load.connect(server)
        self.load.run(0.3)
        self.load.finish()
        time.sleep(0.2 + SLACK)
        at, _ = self.cut(server)
        server = self.serve("-z", "110000")
        self.load.check(server, at)

    def test_the_checker_finds_a_loss(self):
        server = self.serve_traced("-f", "60000")
        self.load.connect(server)
        self.load.run(0.3)
        self.load.finish()
        server.kill(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        stopped_at = time.monotonic()
        self.load.hear_the_last()
        server = self.serve_traced("-f", "60000")
        self.load.check(server, stopped_at)  # all of the first run is synced
        self.load.connect(server)
        self.load.run(0.3)
        self.load.finish()
        at, lost_bytes = self.cut(server)
        self.assertGreater(lost_bytes, 10_000)
        server = self.serve("-z", "110000")
        with self.assertRaises(Loss) as caught:
            self.load.check(server, at)
        print(f"\nfound: {str(caught.exception)[:400]}")


if __name__ == "__main__":
    main()
