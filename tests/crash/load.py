"""Load from many connections, and the check of what was acknowledged to it.

    Load.run(seconds)   players and crowd send, pipelined; replies are compared with what must come
    (kill -9, restart)
    Load.check(...)     reads all jobs back; differences are raised as Loss

One thread, so that what was sent and answered before a kill has an order.
"""
import re
import selectors
import time

from crowd import Crowd
from log_server import ask_yaml, job_count, read_jobs
from model import BURIED, DELAYED, READY
from player import Player
from wire import Loss


class Load:
    def __init__(self, rng, players=8, crowd=6):
        self.rng = rng
        self.players = [Player(number, rng) for number in range(players)]
        self.crowd = Crowd(crowd, rng)
        self.parties = [*self.players, self.crowd]
        self.next_id = 1
        self.commands = 0

    def connect(self, server):
        for party in self.parties:
            party.connect(server.port())
        self.server = server
        self.wires = [player.wire for player in self.players] + self.crowd.wires
        self.selector = selectors.DefaultSelector()
        for wire in self.wires:
            self.selector.register(wire.sock, selectors.EVENT_READ, wire)

    def run(self, seconds, most_depth=40):
        """All send and listen; when it returns much is under way."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for party in self.parties:
                party.fill(self.rng.randrange(1, most_depth))
            self.turn(0.002)

    def finish(self, seconds=60):
        """Waits until all is answered."""
        end = time.monotonic() + seconds
        while any(party.pending() for party in self.parties):
            if time.monotonic() > end:
                raise AssertionError(f"{[party.pending() for party in self.parties]} replies are missing")
            self.turn(0.02)

    def turn(self, seconds):
        for wire in self.wires:
            wire.flush()
        for key, _ in self.selector.select(seconds):
            key.data.read()
            if key.data.closed:
                raise AssertionError(f"a connection was closed, exit code {self.server.process.poll()}:\n"
                                     f"{self.server.log()}")
        for party in self.parties:
            party.take_replies()

    def hear_the_last(self):
        """After a kill: replies that had left."""
        for wire in self.wires:
            while wire.read():
                pass
            wire.sock.close()
        for party in self.parties:
            party.take_replies()
        self.selector.close()

    def check(self, server, killed_at, grace=0.0):
        """Whether a server that was started again has all. What was answered less than `grace` seconds before the kill
        may be missing."""
        begin = time.monotonic()
        unanswered = sum(party.unanswered_puts() for party in self.parties)
        self.commands += sum(player.answered for player in self.players)
        known = {id for player in self.players for id in player.ids.values()} | self.crowd.puts.keys()
        highest = max(known | {self.next_id - 1})
        client = server.connect()
        jobs = read_jobs(client, known | set(range(self.next_id, highest + unanswered + 1)))
        tubes = {party.tube.name: {None: ask_yaml(client, b"stats-tube " + party.tube.name.encode())}
                 for party in self.players}
        asked = (begin, time.monotonic())
        for id, job in jobs.items():
            tubes.setdefault(job["tube"], {})[id] = job
        if job_count(client.stats()) != len(jobs):
            raise Loss(f"there are {job_count(client.stats())} jobs, and {len(jobs)} have an id that was given")
        horizon = killed_at - grace
        given = {self.next_id - 1}.union(*(party.ids_given(horizon) for party in self.parties))
        for player in self.players:
            player.check(tubes.pop(player.tube.name), horizon, killed_at, asked)
        self.crowd.check(tubes.pop(self.crowd.TUBE, {}), horizon, killed_at, asked)
        if tubes:
            raise Loss(f"tubes of nobody: {tubes.keys()}")
        for player in self.players:
            check_order(client, player)
        self.check_next_id(client, max(jobs.keys() | given), highest + unanswered, server.log())
        client.close()

    def check_next_id(self, client, lowest, highest, log):
        """No id twice, and none left out but those of puts that were not finished, or may stand in a torn tail."""
        words = client.put(b"probe").split()
        id = int(words[1])
        torn = re.findall(r"was not written whole; .* (\d+) bytes do not verify", log)
        if not lowest < id <= highest + 1 + sum(int(count) // 42 for count in torn):
            raise Loss(f"the next id is {id}; the highest before was between {lowest} and {highest}:\n{log}")
        client.ask(b"delete %d\r\n" % id)
        self.next_id = id + 1


def check_order(client, player):
    """The first ready, delayed and buried job."""
    client.ask(b"use %s\r\n" % player.tube.name.encode())
    for state in (READY, DELAYED, BURIED):
        jobs = player.tube.in_state(state)
        words = client.ask(b"peek-%s\r\n" % state.encode()).split()
        if words[0] == b"FOUND":
            client.body(int(words[2]))
        expected = b"%d" % player.ids[jobs[0].seq] if jobs else None
        if (words[1] if words[0] == b"FOUND" else None) != expected:
            raise Loss(f"{player.tube.name}: peek-{state} answers {words}, not {expected}")
