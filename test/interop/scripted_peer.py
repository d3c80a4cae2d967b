"""A peer that sends scripted messages by the v1 transport, in a process of its own.

    scripted_peer.py PORT < SCRIPTS

Each line is a script, played on a connection of its own: messages `TYPE HEX` with commas between;
`-` for HEX is an empty payload, `raw HEX` are bytes as they are, `shake` is the rest of the
handshake. Then it pings. For each script it prints a line: the types that it received, with the
beginning of a hash of what proves transactions or is one, and at last `alive` if there was a pong,
or `closed`.
"""

import contextlib
import hashlib
import socket
import sys

MAGIC = bytes.fromhex("fabfb5da")  # regtest
SECONDS = 60
PROTOCOL, SERVICES = 70017, 1 | 8
NONCE = b"pingpong"


def message(kind, payload):
    check = hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    return (MAGIC + kind.encode().ljust(12, b"\0") + len(payload).to_bytes(4, "little") + check
            + payload)


def version():
    address = SERVICES.to_bytes(8, "little") + bytes(18)
    return (PROTOCOL.to_bytes(4, "little") + SERVICES.to_bytes(8, "little") + bytes(8) + address
            + address + b"scripted" + b"\x00" + bytes(4) + b"\x01")


def shown(kind, payload):
    if kind not in ("merkleblock", "tx"):
        return kind
    return f"{kind}:{hashlib.sha256(payload).hexdigest()[:8]}"


class Line:
    """The connection, as messages."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.bytes = self.socket.makefile("rb")
        self.seen = []

    def close(self):
        self.bytes.close()
        self.socket.close()

    def send(self, data):
        """If the other side has hung up, receive() says so."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def receive(self):
        """(type, payload), or None when the other side has hung up."""
        try:
            header = self.bytes.read(24)
            if len(header) < 24:
                return None
            payload = self.bytes.read(int.from_bytes(header[16:20], "little"))
        except ConnectionError:
            return None
        return header[4:16].rstrip(b"\0").decode(), payload

    def wait_for(self, kind, payload=None):
        """Whether it was received; records the messages before it."""
        while received := self.receive():
            self.seen.append(shown(*received))
            if received[0] == "ping":
                self.send(message("pong", received[1]))
            if received[0] == kind and payload in (None, received[1]):
                return True
        return False


def play(line, script):
    line.send(message("version", version()))
    if not line.wait_for("verack"):
        return False
    for step in script:
        kind, *rest = step.split()
        payload = bytes.fromhex(rest[0]) if rest and rest[0] != "-" else b""
        if kind == "shake":
            line.send(message("verack", b""))
        else:
            line.send(payload if kind == "raw" else message(kind, payload))
    line.send(message("ping", NONCE))
    return line.wait_for("pong", NONCE)


def main():
    for script in sys.stdin.read().splitlines():
        line = Line(int(sys.argv[1]))
        alive = play(line, script.split(","))
        line.close()
        print(*line.seen, "alive" if alive else "closed")


if __name__ == "__main__":
    main()
