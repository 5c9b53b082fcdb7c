"""kill -9 under load, again and again on one log: what was acknowledged is there, and nothing else.

What a reply promises to a killed process is the same under each policy, but for one thing: without `always` a reply
leaves before the write if a sync is running, so what was answered during the last sync may be missing (GRACE is far
longer than a sync takes). In every third round the load ends first and all is answered; then all must be there.
"""
import random
import signal
import time

from load import Load
from log_server import LogTest, SEED, job_count, main
from wire import Loss

ROUNDS = 24
GRACE = 2.0
SMALL = ("-s", "65536")
ALWAYS, INTERVAL, NEVER = (), ("-f", "50"), ("-F",)
POLICIES = (ALWAYS, ALWAYS, ALWAYS, INTERVAL, ALWAYS, ALWAYS, NEVER, ALWAYS)


class KillTest(LogTest):
    def test_kill_under_load(self):
        rng = random.Random(SEED)
        load = Load(rng)
        server = self.begin(rng, 0)
        for number in range(ROUNDS):
            policy = POLICIES[number % len(POLICIES)]
            load.connect(server)
            quiet = number % 3 == 2
            load.run(rng.uniform(0.05, 0.8))
            if quiet:
                load.finish()
                time.sleep(0.3)  # a sync that was running has ended, and what waited for it is written
            else:
                time.sleep(rng.uniform(0, 0.003))
            self.kill(server)
            killed_at = time.monotonic()
            load.hear_the_last()
            server = self.begin(rng, number + 1)
            try:
                load.check(server, killed_at, 0 if quiet or policy == ALWAYS else GRACE)
            except Loss as loss:
                self.fail(f"round {number}, policy {policy}, quiet {quiet}, seed {SEED}: {loss}")
        self.stop_and_compare(load, server)
        print(f"{ROUNDS} rounds, {load.commands} commands answered, last id {load.next_id - 1}")

    def begin(self, rng, number):
        policy = POLICIES[number % len(POLICIES)]
        size = () if rng.random() < 0.2 else SMALL
        return self.serve("-z", "110000", *policy, *size)

    def stop_and_compare(self, load, server):
        load.connect(server)
        load.run(0.3)
        load.finish()
        server.kill(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, server.log())
        stopped_at = time.monotonic()
        load.hear_the_last()
        server = self.serve("-z", "110000")
        load.check(server, stopped_at)
        self.assertGreater(job_count(server.connect().stats()), 0)


if __name__ == "__main__":
    main()
