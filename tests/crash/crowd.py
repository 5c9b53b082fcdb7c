"""Clients of one tube, between which jobs wander: delays and ttrs run out, reserves wait. Of that only puts and
deletes are known, and of what is in flight only that it may have happened."""
import dataclasses
import time

from model import DELAYED, READY
from wire import Loss, SOCKET_BYTES, Wire, random_size


class Crowd:
    """Clients of one tube who know nothing of each other but the ids that were given."""
    TUBE = "crowd"

    @dataclasses.dataclass
    class Put:
        body: bytes
        delay: int
        ttr: int
        sent_at: float
        answered_at: float = None

    def __init__(self, size, rng):
        self.rng = rng
        self.size = size
        self.wires = []
        self.waiting = {}     # wire: what it waits for, in order: ("put", Put), ("delete", id) or ("reserve", 0)
        self.held = {}        # wire: ids that it reserved
        self.puts = {}        # id: Put
        self.deletes = {}     # id: moment of the reply, or None
        self.serial = 0

    def connect(self, port):
        self.wires = [Wire(port) for _ in range(self.size)]
        self.waiting = {wire: [("greeting", 0)] * 3 for wire in self.wires}
        self.held = {wire: [] for wire in self.wires}
        for wire in self.wires:
            wire.send(b"use crowd\r\nwatch crowd\r\nignore default\r\n")

    def fill(self, depth):
        for number, wire in enumerate(self.wires):
            while len(self.waiting[wire]) < depth and len(wire.out) < SOCKET_BYTES:
                if not self.act(wire, number % 3):
                    break

    def act(self, wire, role):
        """One in three only puts, the others reserve, wait, delete. False: it waits."""
        if role == 0:
            if len(self.puts) - len(self.deletes) > 400:
                return self.delete(wire, self.rng.choice(list(self.puts)))
            return self.put(wire)
        if self.held[wire]:
            return self.delete(wire, self.held[wire].pop())
        if ("reserve", 0) in self.waiting[wire]:
            return False
        wire.send(b"reserve-with-timeout 1\r\n")
        self.waiting[wire].append(("reserve", 0))
        return True

    def put(self, wire):
        self.serial += 1
        body = (b"crowd/%d/" % self.serial).ljust(random_size(self.rng), b"c")
        put = self.Put(body, self.rng.choice((0, 0, 0, 1, 2)), self.rng.choice((1, 1000)), time.monotonic())
        wire.send(b"put %d %d %d %d\r\n%s\r\n" % (self.rng.randrange(3), put.delay, put.ttr, len(body), body))
        self.waiting[wire].append(("put", put))
        return True

    def delete(self, wire, id):
        if id in self.deletes:
            return self.put(wire)
        self.deletes[id] = None
        wire.send(b"delete %d\r\n" % id)
        self.waiting[wire].append(("delete", id))
        return True

    def take_replies(self):
        for wire in self.wires:
            while reply := wire.reply():
                self.take(wire, *self.waiting[wire].pop(0), *reply)

    def take(self, wire, what, about, words, body):
        if what == "put":
            if words[0] != b"INSERTED":
                raise Loss(f"a put was answered {words}")
            about.answered_at = time.monotonic()
            if int(words[1]) in self.puts:
                raise Loss(f"id {words[1]} was given twice")
            self.puts[int(words[1])] = about
        elif what == "delete" and words == [b"DELETED"]:
            self.deletes[about] = time.monotonic()
        elif what == "delete" and words == [b"NOT_FOUND"]:  # somebody holds it
            del self.deletes[about]
        elif what == "reserve" and words[0] == b"RESERVED":
            id = int(words[1])
            if self.deletes.get(id) and self.puts[id].ttr > 1:
                raise Loss(f"job {id} was reserved after it was deleted")
            if id in self.puts and self.puts[id].body != body:
                raise Loss(f"job {id} was reserved with another body")
            self.held[wire].append(id)
        elif what == "delete" or what == "reserve" and words[0] not in (b"TIMED_OUT", b"DEADLINE_SOON"):
            raise Loss(f"{what} was answered {words}")

    def pending(self):
        return sum(what in ("put", "delete") for waits in self.waiting.values() for what, _ in waits)

    def open(self):
        return [about for waits in self.waiting.values() for what, about in waits if what == "put"]

    def ids_given(self, horizon):
        return {id for id, put in self.puts.items() if put.answered_at <= horizon}

    def unanswered_puts(self):
        return len(self.open())

    def check(self, found, horizon, killed_at, asked):
        for put in self.open():
            put.answered_at = killed_at
        jobs = {id: job for id, job in found.items() if id is not None}
        wrong = []
        for id, put in self.puts.items():
            deleted_at = self.deletes.get(id, 0)
            if id not in jobs and put.answered_at <= horizon and deleted_at == 0:
                wrong.append(f"job {id} is lost: {put.body[:20]!r}, delay {put.delay}")
            if id in jobs:
                if deleted_at and deleted_at <= horizon:
                    wrong.append(f"job {id} came back")
                wrong += [f"job {id}: {text}" for text in self.differences(put, jobs[id], asked)]
        strangers = [job["body"] for id, job in sorted(jobs.items()) if id not in self.puts]
        bodies = [put.body for put in self.open()]
        for body in strangers:
            if body not in bodies:
                wrong.append(f"a job that nobody put, or twice: {body[:20]!r}")
            else:
                bodies.remove(body)
        if wrong:
            raise Loss("crowd:\n  " + "\n  ".join(wrong[:20]))
        opened = {put.body: put for put in self.open()}
        self.puts = {id: self.puts.get(id) or opened[job["body"]] for id, job in jobs.items()}
        self.deletes = {}

    @staticmethod
    def differences(put, job, asked):
        texts = [] if job["body"] == put.body else [f"another body: {job['body'][:20]!r}"]
        if job["state"] == DELAYED and (put.delay == 0 or put.answered_at + put.delay + 0.05 < asked[0]):
            texts.append("is delayed, and should be ready")
        if job["state"] == READY and put.sent_at + put.delay - 0.05 > asked[1]:
            texts.append("is ready, and should be delayed")
        if job["state"] not in (READY, DELAYED):
            texts.append(f"is {job['state']}")
        return texts
