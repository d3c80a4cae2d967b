"""Ports for servers of tests and benches, which run side by side in many processes.

A port that has no listener now may get one before its owner binds to it, and the port of a node
that restarts is free for a moment. So a port belongs to the process that got it here until that
process ends: by a lock on one byte of a file that all processes share.
"""

import contextlib
import fcntl
import os
import pathlib
import random
import socket
import tempfile

FIRST = 20000  # above the default ports of all networks
ENOUGH = 2000

_own = set()  # a lock does not exclude its own process
_file = None


def _outside(low, high):
    """Ports that the system gives to no outgoing connection, whose range is low to high."""
    choice = max(range(FIRST, max(low, FIRST)), range(high + 1, 65536), key=len)
    return choice if len(choice) >= ENOUGH else range(FIRST, 65536)


def _candidates():
    path = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
    return _outside(*map(int, path.read_text().split()))


def _reserve(port):
    """Whether the port is now this process's."""
    global _file
    if _file is None:
        path = pathlib.Path(tempfile.gettempdir()) / f"ibd-test-ports-{os.getuid()}"
        _file = open(path, "ab")  # never closed: that would end all locks
    if port in _own:
        return False
    with contextlib.suppress(OSError):
        fcntl.lockf(_file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        _own.add(port)
        return True
    return False


def free_port():
    """A port of 127.0.0.1 without a listener, which no other process gets until this one ends."""
    candidates = _candidates()
    while True:
        port = random.SystemRandom().choice(candidates)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if _reserve(port):
                return port
