"""A SOCKS5 proxy that leads addresses anywhere in the world to nodes on this machine, so that they
count as peers of different networks."""

import collections
import ipaddress
import socket

from scripted_server import LineServer

SUCCEEDED, REFUSED = 0, 5
IPV4, NAME, IPV6 = 1, 3, 4


class SocksProxy:
    """SOCKS5 without passwords. `targets` has the port of this machine behind each "IP:port"; all
    others are refused. `called` counts requests."""

    def __init__(self, test, targets):
        self.targets = dict(targets)
        self.called = collections.Counter()
        self.server = LineServer(test, self.serve)
        self.address = self.server.address

    def serve(self, line):
        line.exactly(line.exactly(2)[1])  # the methods of logging in that the caller knows
        line.socket.sendall(b"\x05\x00")
        line.exactly(3)
        target = f"{self._host(line)}:{int.from_bytes(line.exactly(2), 'big')}"
        self.called[target] += 1
        other = self._connect(target)
        status = REFUSED if other is None else SUCCEEDED
        line.socket.sendall(bytes([5, status, 0, IPV4]) + bytes(6))
        if other is not None:
            with other:
                line.join(other)
        line.close()

    def _connect(self, target):
        try:
            return socket.create_connection(("127.0.0.1", self.targets[target]))
        except (KeyError, OSError):
            return None

    @staticmethod
    def _host(line):
        kind = line.exactly(1)[0]
        if kind == NAME:
            return line.exactly(line.exactly(1)[0]).decode()
        return str(ipaddress.ip_address(line.exactly(16 if kind == IPV6 else 4)))
