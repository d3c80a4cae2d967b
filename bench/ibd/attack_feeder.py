"""Replays recorded messages to a node, a connection for each file, as fast as the node reads them.

    attack_feeder.py PORT FOLDER

Connects and shakes hands for each `peer-*.bin` of the folder, says `ready`, and sends after a line
on its input. A ping follows what each peer sends; when all are answered, or their connections are
closed, it says `done OPEN` with the number of connections that are still open. In a process of its
own, so that its time is not the node's, and without looking at what it sends. It has the lowest
priority, because an attacker does not use the node's processors.
"""

import os
import selectors
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/interop"))

from scripted_peer import NONCE, Line, message, version  # noqa: E402 (needs the path above)

HEADER = 24
PIECE = 1 << 18


def shaken(port):
    """A connection after the handshake, which announces transactions by wtxid."""
    line = Line(port)
    line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.send(message("version", version()))
    if not line.wait_for("version"):
        raise ConnectionError("no version message")
    line.send(message("wtxidrelay", b"") + message("verack", b""))
    if not line.wait_for("verack"):
        raise ConnectionError("no verack message")
    return line


class Sender:
    """A connection with the bytes still to be sent."""

    def __init__(self, port, data):
        self.line = shaken(port)
        self.socket = self.line.socket
        self.socket.setblocking(False)
        self.left = memoryview(data + message("ping", NONCE))
        self.unread = bytearray()
        self.is_open = True

    def send(self):
        """Whether there is more to send."""
        self.left = self.left[self.socket.send(self.left[:PIECE]):]
        return bool(self.left)

    def receive(self):
        """Whether the last answer came."""
        data = self.socket.recv(PIECE)
        if not data:
            self.is_open = False
            return True
        self.unread += data
        while len(self.unread) >= HEADER:
            end = HEADER + int.from_bytes(self.unread[16:20], "little")
            if len(self.unread) < end:
                break
            kind, payload = bytes(self.unread[4:16]), bytes(self.unread[HEADER:end])
            del self.unread[:end]
            if kind.startswith(b"pong\0") and payload == NONCE:
                return True
        return False


def serve(sender, events):
    """The events to wait for next; 0: it is done."""
    try:
        if events & selectors.EVENT_READ and sender.receive():
            return 0
        if events & selectors.EVENT_WRITE and not sender.send():
            return selectors.EVENT_READ
    except BlockingIOError:
        pass
    except ConnectionError:
        sender.is_open = False
        return 0
    return selectors.EVENT_READ | (selectors.EVENT_WRITE if sender.left else 0)


def main():
    os.nice(19)
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    senders = [Sender(port, path.read_bytes()) for path in sorted(folder.glob("peer-*.bin"))]
    print("ready", flush=True)
    sys.stdin.readline()
    with selectors.DefaultSelector() as waiting:
        for sender in senders:
            waiting.register(sender.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, sender)
        while waiting.get_map():
            for key, events in waiting.select():
                wanted = serve(key.data, events)
                if not wanted:
                    waiting.unregister(key.fileobj)
                elif wanted != key.events:
                    waiting.modify(key.fileobj, wanted, key.data)
    print("done", sum(sender.is_open for sender in senders), flush=True)
    sys.stdin.readline()  # the connections stay open until then


if __name__ == "__main__":
    main()
