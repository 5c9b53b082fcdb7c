"""A tube as its only client knows it, and whether a server that was started again has it.

Each tube of a Player (load.py) is changed by one connection alone, and nothing in it happens by time: ttrs are long,
delays are different multiples of 1000 s. So the effect of each command is known when it is sent. Records reach the log
in the order of the commands; whatever moment a server is killed at, what it has afterwards is what some prefix of the
commands made. The shortest that may be is the one that ends with the last command that made a record and was
acknowledged; the longest is all that were sent. A kick is a record a job, so it may be half done.
"""
import copy
import dataclasses

READY, DELAYED, RESERVED, BURIED = "ready", "delayed", "reserved", "buried"


@dataclasses.dataclass
class Job:
    seq: int  # of its put among all of the player; ids rise with it
    body: bytes
    pri: int
    delay: int
    ttr: int
    created: tuple  # moments between which it was put
    delayed: tuple  # moments between which the delay began
    state: str
    burial: int = 0
    reserves: int = 0
    releases: int = 0
    buries: int = 0
    kicks: int = 0


@dataclasses.dataclass
class Command:
    word: str
    seq: int = 0
    pri: int = 0
    delay: int = 0
    ttr: int = 0
    body: bytes = b""
    bound: int = 0
    sent_at: float = 0
    answered_at: float = None
    reply: bytes = b""  # the first word(s) that are expected
    job: Job = None     # the expected one of a RESERVED
    is_record: bool = False


class Tube:
    def __init__(self, name):
        self.name = name
        self.jobs = {}
        self.pause = None  # delay and the moments between which it began
        self.burials = 0

    def copy(self):
        return copy.deepcopy(self)

    def perform(self, command, latest):
        """Does it, stopping after each record; fills in what the reply must be. `latest`: it was done before."""
        moment = (command.sent_at, latest)
        job = self.jobs.get(command.seq)
        command.job, command.is_record = None, False
        yield from getattr(self, "do_" + command.word)(command, job, moment)

    def performed(self, command, latest):
        for _ in self.perform(command, latest):
            pass

    def restart(self):
        """What a reserved job becomes."""
        for job in self.jobs.values():
            if job.state == RESERVED:
                job.state = READY

    def in_state(self, state):
        key = {READY: lambda job: (job.pri, job.seq), DELAYED: lambda job: job.delay,
               RESERVED: lambda job: job.seq, BURIED: lambda job: job.burial}[state]
        return sorted((job for job in self.jobs.values() if job.state == state), key=key)

    # Each: the reply, then the record, if it makes one.

    def do_put(self, command, _, moment):
        state = DELAYED if command.delay else READY
        self.jobs[command.seq] = Job(command.seq, command.body, command.pri, command.delay, command.ttr, moment,
                                     moment, state)
        yield self.record(command, b"INSERTED")

    def do_delete(self, command, job, _):
        if job is None:
            command.reply = b"NOT_FOUND"
            return
        del self.jobs[job.seq]
        yield self.record(command, b"DELETED")

    def do_reserve(self, command, _, __):
        ready = self.in_state(READY)
        if self.pause or not ready:
            command.reply = b"TIMED_OUT"
            return
        command.reply = b"RESERVED"
        yield self.reserve(command, ready[0])

    def do_reserve_job(self, command, job, _):
        if job is None or job.state == RESERVED:
            command.reply = b"NOT_FOUND"
            return
        command.is_record = job.state != READY
        command.reply = b"RESERVED"
        yield self.reserve(command, job)

    def do_release(self, command, job, moment):
        if job is None or job.state != RESERVED:
            command.reply = b"NOT_FOUND"
            return
        job.pri, job.delay, job.delayed = command.pri, command.delay, moment
        job.releases += 1
        job.state = DELAYED if command.delay else READY
        yield self.record(command, b"RELEASED")

    def do_bury(self, command, job, _):
        if job is None or job.state != RESERVED:
            command.reply = b"NOT_FOUND"
            return
        self.burials += 1
        job.pri, job.burial, job.state = command.pri, self.burials, BURIED
        job.buries += 1
        yield self.record(command, b"BURIED")

    def do_kick(self, command, _, __):
        jobs = (self.in_state(BURIED) or self.in_state(DELAYED))[:command.bound]
        command.reply = b"KICKED %d" % len(jobs)
        for job in jobs:
            yield self.kick(command, job)

    def do_kick_job(self, command, job, _):
        if job is None or job.state not in (BURIED, DELAYED):
            command.reply = b"NOT_FOUND"
            return
        command.reply = b"KICKED"
        yield self.kick(command, job)

    def do_touch(self, command, job, _):
        command.reply = b"NOT_FOUND" if job is None or job.state != RESERVED else b"TOUCHED"
        return
        yield

    def do_pause_tube(self, command, _, moment):
        self.pause = (command.delay, moment) if command.delay else None
        yield self.record(command, b"PAUSED")

    @staticmethod
    def record(command, reply):
        command.is_record, command.reply = True, reply

    @staticmethod
    def reserve(command, job):
        job.state = RESERVED
        job.reserves += 1
        command.job = job

    @staticmethod
    def kick(command, job):
        command.is_record = True
        job.state = READY
        job.kicks += 1

    # --- Comparing with a server -----------------------------------------------------------------

    def differences(self, found, ids, asked):
        """What the server has otherwise, as text. `found`: this tube's jobs by id, as read_jobs() gives them, and its
        stats-tube under None; `ids`: ids by seq, as far as known; `asked`: the moments before and after reading."""
        jobs = {id: job for id, job in found.items() if id is not None}
        known = {ids[seq]: job for seq, job in self.jobs.items() if seq in ids}
        unknown = [job for seq, job in sorted(self.jobs.items()) if seq not in ids]
        strangers = sorted(jobs.keys() - set(ids.values()))
        texts = [f"job {id} is lost: {brief(job)}" for id, job in known.items() if id not in jobs]
        texts += [f"job {id} came back" for id in jobs.keys() & set(ids.values()) - known.keys()]
        if len(strangers) != len(unknown):
            texts.append(f"{len(strangers)} jobs of puts without an answer, {len(unknown)} were expected")
        pairs = [(id, job) for id, job in known.items() if id in jobs] + list(zip(strangers, unknown))
        for id, job in pairs:
            texts += [f"job {id}: {text}" for text in job_differences(job, jobs[id], asked)]
        return texts + pause_differences(self.pause, found.get(None), asked)

    def learn(self, found, ids):
        """After differences() found none: the ids of puts that were not answered."""
        strangers = sorted(id for id in found if id is not None and id not in set(ids.values()))
        ids.update(zip(sorted(seq for seq in self.jobs if seq not in ids), strangers))


def brief(job):
    return f"{job.state} pri {job.pri} delay {job.delay} body {len(job.body)} bytes {job.body[:24]!r}"


def job_differences(job, found, asked):
    expected = {"state": READY if job.state == RESERVED else job.state, "pri": job.pri, "delay": job.delay,
                "ttr": job.ttr, "reserves": job.reserves, "timeouts": 0, "releases": job.releases,
                "buries": job.buries, "kicks": job.kicks}
    texts = [f"{key} is {found[key]}, not {value}" for key, value in expected.items() if found[key] != str(value)]
    if found["body"] != job.body:
        texts.append(f"another body, {found['body'][:24]!r}... of {len(found['body'])} bytes, not {brief(job)}")
    texts += outside("age", found["age"], asked[0] - job.created[1], asked[1] - job.created[0])
    if job.state == DELAYED and found["state"] == DELAYED:
        texts += outside("time-left", found["time-left"], job.delayed[0] + job.delay - asked[1],
                         job.delayed[1] + job.delay - asked[0])
    return texts


def pause_differences(pause, found, asked):
    if pause is None:
        return [f"a pause of {found['pause']} s is left"] if found and found["pause"] != "0" else []
    delay, began = pause
    if found is None or found["pause"] != str(delay):
        return [f"the pause of {delay} s is lost"]
    return outside("pause-time-left", found["pause-time-left"], began[0] + delay - asked[1],
                   began[1] + delay - asked[0])


def outside(what, seconds, least, most):
    """Whole seconds, rounded down, of a length that is known to lie between two; 50 ms for how clocks are set."""
    if least - 1.05 <= int(seconds) <= most + 0.05:
        return []
    return [f"{what} is {seconds}, which is not between {least:.2f} and {most:.2f}"]
