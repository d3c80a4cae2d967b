"""A SOCKS5 proxy that leads addresses anywhere in the world to nodes on this machine, so that they
count as peers of different networks."""

import contextlib
import ipaddress
import socket
import threading

from message_relay import pass_on

SUCCEEDED, HOST_UNREACHABLE = 0, 4
IPV4, NAME, IPV6 = 1, 3, 4


class Socks5:
    def __init__(self, routes):
        """`routes`: the port on this machine by address; no other is reached."""
        self.routes = dict(routes)
        self.asked = []  # addresses, in order
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
                threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller):
        try:
            host = read_request(caller)
            self.asked.append(host)
            called = socket.create_connection(("127.0.0.1", self.routes[host]))
        except (OSError, EOFError, KeyError):
            with contextlib.suppress(OSError):
                caller.sendall(answer(HOST_UNREACHABLE))
            caller.close()
            return
        caller.sendall(answer(SUCCEEDED))
        threading.Thread(target=pass_on, args=(called, caller), daemon=True).start()
        pass_on(caller, called)


def read_exactly(source, size):
    data = b""
    while len(data) < size:
        more = source.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_request(caller):
    """The address that is asked for; no login is wanted."""
    read_exactly(caller, read_exactly(caller, 2)[1])
    caller.sendall(b"\x05\x00")
    kind = read_exactly(caller, 4)[3]
    if kind == NAME:
        host = read_exactly(caller, read_exactly(caller, 1)[0]).decode()
    else:
        host = str(ipaddress.ip_address(read_exactly(caller, 16 if kind == IPV6 else 4)))
    read_exactly(caller, 2)  # the port
    return host


def answer(status):
    return bytes([5, status, 0, IPV4]) + bytes(6)
