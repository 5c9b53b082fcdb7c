"""A power cut, from the trace of disk_shim.cc: what was written and not covered by a sync that ended is zeroed.

A sync covers what was written before it began. File names and sizes stay as they are: those are synced before a file
is used, and that order is the storage tests' to check (tests/storage).
"""
import os


def unsynced(trace):
    """{path: [(offset, length)]}"""
    writes, covered = {}, {}
    with open(trace, encoding="utf-8") as lines:
        for line in lines:
            what, *numbers, path = line.split()
            name = path.removesuffix("(deleted)")
            if what == "write":
                writes.setdefault(name, []).append(tuple(map(int, numbers)))
            elif what == "begin":
                covered[name] = len(writes.get(name, []))
            else:
                del writes.get(name, [])[:covered[name]]
                covered[name] = 0
    return writes


def cut_power(trace):
    """How many bytes are gone. The server must be dead."""
    count = 0
    for path, writes in unsynced(trace).items():
        if not os.path.exists(path):
            continue
        with open(path, "r+b") as file:
            size = os.path.getsize(path)
            for offset, length in writes:
                file.seek(offset)
                file.write(bytes(max(0, min(length, size - offset))))
                count += length
    return count
