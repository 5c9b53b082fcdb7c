"""A connection of the load, which never blocks; and what a reply that must not be is."""
import socket

SOCKET_BYTES = 1 << 20
MOST_BODY = 100 * 1024


class Loss(AssertionError):
    """The server has not what it acknowledged, or has what it should not have."""


class Wire:
    """A connection that never blocks; commands that are not answered yet, in order."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), 30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        self.out = bytearray()
        self.input = bytearray()
        self.closed = False

    def send(self, data):
        self.out += data

    def flush(self):
        while self.out and not self.closed:
            try:
                del self.out[:self.sock.send(self.out[:SOCKET_BYTES])]
            except BlockingIOError:
                return
            except OSError:
                self.closed = True

    def read(self):
        """Whether there may be more."""
        try:
            chunk = self.sock.recv(SOCKET_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        self.closed = self.closed or not chunk
        self.input += chunk
        return bool(chunk)

    def reply(self):
        """The next whole one as (words, body), or None."""
        end = self.input.find(b"\r\n")
        if end < 0:
            return None
        words = bytes(self.input[:end]).split()
        body, size = None, end + 2
        if words and words[0] == b"RESERVED":
            size += int(words[2]) + 2
            if len(self.input) < size:
                return None
            body = bytes(self.input[end + 2:size - 2])
        del self.input[:size]
        return words, body


def random_size(rng):
    roll = rng.random()
    if roll < 0.80:
        return rng.randrange(0, 300)
    if roll < 0.97:
        return rng.randrange(0, 9_000)
    return rng.randrange(0, MOST_BODY + 1)
