"""A line to a node that changes or holds what the node says: a slow or lying peer is an honest node
behind such a line. Regtest, v1 transport."""

import contextlib
import hashlib
import socket
import threading

HEADER = 24


def framed(header, payload):
    """A message with another payload."""
    check = hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    return header[:16] + len(payload).to_bytes(4, "little") + check + payload


class MessageRelay:
    def __init__(self, target, change):
        """`change(type, payload)` gives the payload to pass on; it may wait."""
        self.target, self.change = target, change
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                caller = self.server.accept()[0]
                try:
                    called = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    caller.close()
                    continue
                for copy, source, sink in ((pass_on, caller, called),
                                           (self._pass_messages, called, caller)):
                    threading.Thread(target=copy, args=(source, sink), daemon=True).start()

    def _pass_messages(self, source, sink):
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            while len(header := stream.read(HEADER)) == HEADER:
                payload = stream.read(int.from_bytes(header[16:20], "little"))
                changed = self.change(header[4:16].rstrip(b"\0").decode(), payload)
                same = changed == payload
                sink.sendall(header + payload if same else framed(header, changed))
        hang_up(source, sink)


def pass_on(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    hang_up(source, sink)


def hang_up(*sockets):
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
