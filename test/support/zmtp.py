"""A subscriber to ZeroMQ publishers: ZMTP 3.0 over TCP or a Unix socket, without a login.

Written from the protocol's published description (ZMTP 3.0, rfc.zeromq.org/spec/23).
"""

import socket

GREETING = (b"\xff" + bytes(8) + b"\x7f"  # signature
            + b"\x03\x00" + b"NULL".ljust(20, b"\0")  # version, and no security
            + bytes(32))  # not the server; filler
MORE, LONG, COMMAND = 1, 2, 4  # flags of a frame
SUBSCRIBE = b"\x01"


def ready(kind):
    """The command that ends the handshake."""
    name = b"Socket-Type"
    return (b"\x05READY" + bytes([len(name)]) + name + len(kind).to_bytes(4, "big") + kind)


class Subscriber:
    """Connects to `address`, (host, port) or a path, and takes the messages of all topics that
    begin with one of `topics`. `receive_buffer`: bytes that the kernel keeps, about."""

    def __init__(self, address, *topics, timeout=30, receive_buffer=None):
        if isinstance(address, tuple):
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        else:
            family = socket.AF_UNIX
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(address)
        self.file = self.socket.makefile("rb")
        self.socket.sendall(GREETING)
        greeting = self.exactly(64)
        assert greeting[:1] == b"\xff" and greeting[9:11] == b"\x7f\x03", greeting
        assert greeting[12:32].rstrip(b"\0") == b"NULL", greeting
        self.send(COMMAND, ready(b"SUB"))
        flags, body = self.frame()
        assert flags & COMMAND and body.startswith(b"\x05READY") and b"PUB" in body, body
        for topic in topics or (b"",):
            self.send(0, SUBSCRIBE + topic)

    def exactly(self, count):
        data = self.file.read(count)
        if len(data) != count:
            raise EOFError("the publisher has hung up")
        return data

    def send(self, flags, body):
        self.socket.sendall(bytes([flags, len(body)]) + body)

    def frame(self):
        """Flags and body of the next frame."""
        flags = self.exactly(1)[0]
        size = int.from_bytes(self.exactly(8 if flags & LONG else 1), "big")
        return flags, self.exactly(size)

    def receive(self):
        """The parts of the next message."""
        parts = []
        while True:
            flags, body = self.frame()
            if flags & COMMAND:
                continue
            parts.append(body)
            if not flags & MORE:
                return parts

    def close(self):
        self.file.close()
        self.socket.close()
