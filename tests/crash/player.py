"""A client that is alone with its tube, so that it knows what each command does (model.py)."""
import dataclasses
import time

from model import BURIED, DELAYED, RESERVED, Command, Tube
from wire import Loss, SOCKET_BYTES, Wire, random_size

LONG = 4_000_000_000  # a ttr


class Player:
    WEIGHTS = {"put": 30, "reserve": 12, "delete": 16, "release": 8, "bury": 8, "kick": 3, "kick_job": 4,
               "reserve_job": 5, "touch": 2, "pause_tube": 1}

    def __init__(self, number, rng):
        self.rng = rng
        self.tube = Tube(f"own-{number}")       # after all that was sent
        self.before = self.tube.copy()          # before the first of `sent`
        self.sent = []                          # since the last check
        self.answered = 0                       # of these
        self.ids = {}                           # by seq
        self.last_seq = 0
        self.wire = None

    def connect(self, port):
        self.wire = Wire(port)
        name = self.tube.name.encode()
        self.wire.send(b"use %s\r\nwatch %s\r\nignore default\r\n" % (name, name))
        self.greetings = 3  # replies that come first

    def pending(self):
        return len(self.sent) - self.answered

    def fill(self, depth):
        while self.pending() < depth and len(self.wire.out) < SOCKET_BYTES:
            self.send(self.choose())

    def send(self, command):
        command.sent_at = time.monotonic()
        self.tube.performed(command, command.sent_at)
        self.sent.append(command)
        self.wire.send(self.encode(command))

    def choose(self):
        rng = self.rng
        word, = rng.choices(*zip(*self.WEIGHTS.items()))
        if len(self.tube.jobs) > 120 and word == "put":
            word = "delete"
        if word == "put" or not self.ids:
            self.last_seq += 1
            return Command("put", self.last_seq, self.pri(), self.delay(), LONG, self.body())
        if word == "kick":
            return Command("kick", bound=rng.choice((1, 2, 5, 100)))
        if word == "pause_tube":
            return Command("pause_tube", delay=rng.choice((0, 0, 100_000)))
        if word == "reserve":
            return Command("reserve")
        wanted = {"release": RESERVED, "bury": RESERVED, "touch": RESERVED,
                  "kick_job": rng.choice((BURIED, DELAYED))}.get(word)
        return Command(word, self.some_job(wanted), self.pri(), self.delay())

    def some_job(self, state):
        """A seq of which the id is known; mostly one for which the command makes sense."""
        jobs = [seq for seq, job in self.tube.jobs.items() if seq in self.ids and state in (None, job.state)]
        return self.rng.choice(jobs) if jobs and self.rng.random() < 0.97 else self.rng.choice(list(self.ids))

    def pri(self):
        return self.rng.choice((0, 1, 1023, 1024, 4_294_967_295, self.rng.randrange(5000)))

    def delay(self):
        """None, or one that no other job has."""
        return 0 if self.rng.random() < 0.7 else 1000 * self.rng.randrange(1, 4_000_000)

    def body(self):
        size = random_size(self.rng)
        token = b"%s/%d/" % (self.tube.name.encode(), self.last_seq)
        return token.ljust(size, self.rng.choice((b"x", b"\0", b"\r")))[:size]

    def encode(self, command):
        id = self.ids.get(command.seq, 0)
        word = command.word
        if word == "put":
            return b"put %d %d %d %d\r\n%s\r\n" % (command.pri, command.delay, command.ttr, len(command.body),
                                                  command.body)
        if word == "reserve":
            return b"reserve-with-timeout 0\r\n"
        if word == "kick":
            return b"kick %d\r\n" % command.bound
        if word == "pause_tube":
            return b"pause-tube %s %d\r\n" % (self.tube.name.encode(), command.delay)
        more = {"release": b" %d %d" % (command.pri, command.delay), "bury": b" %d" % command.pri}.get(word, b"")
        return word.replace("_", "-").encode() + b" %d%s\r\n" % (id, more)

    def take_replies(self):
        while reply := self.wire.reply():
            if self.greetings:
                self.greetings -= 1
                continue
            command = self.sent[self.answered]
            self.answered += 1
            command.answered_at = time.monotonic()
            self.check_reply(command, *reply)

    def check_reply(self, command, words, body):
        expected = command.reply.split()
        if command.word == "put" and words[0] == b"INSERTED":
            self.ids[command.seq] = int(words[1])
        elif command.reply == b"RESERVED":
            expected += [b"%d" % self.ids[command.job.seq], b"%d" % len(command.job.body)]
        good = words[:len(expected)] == expected and (body is None or body == command.job.body)
        if not good:
            raise Loss(f"{self.tube.name}: {dataclasses.replace(command, body=command.body[:20], job=None)} "
                       f"was answered {words}, not {expected}")

    def ids_given(self, horizon):
        return {self.ids[command.seq] for command in self.sent
                if command.word == "put" and command.answered_at and command.answered_at <= horizon}

    def unanswered_puts(self):
        return sum(command.word == "put" for command in self.sent[self.answered:])

    def check(self, found, horizon, killed_at, asked):
        """Finds the prefix of the commands that the server has, and goes on from there. What was answered before
        `horizon` is part of it."""
        firm = [n for n, c in enumerate(self.sent) if c.is_record and c.answered_at and c.answered_at <= horizon]
        tube = self.before
        length = firm[-1] + 1 if firm else 0
        for command in self.sent[:length]:
            tube.performed(command, command.answered_at)
        first = differences = tube.differences(found, self.ids, asked)
        for command in self.sent[length:]:
            if not differences:
                break
            steps = tube.perform(command, command.answered_at or killed_at)
            while differences and next(steps, steps) is not steps:
                differences = tube.differences(found, self.ids, asked)
        if differences:
            raise Loss(f"{tube.name} has no state between the last that was acknowledged and the last that was "
                       f"sent ({len(self.sent) - length} commands).\nAgainst the first:\n  " + "\n  ".join(first[:10]) +
                       "\nAgainst the last:\n  " + "\n  ".join(differences[:10]))
        tube.learn(found, self.ids)
        self.ids = {seq: self.ids[seq] for seq in tube.jobs}
        tube.restart()
        self.before, self.tube = tube, tube.copy()
        self.sent, self.answered = [], 0
