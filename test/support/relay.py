"""A line to a TCP port that is slow or long: a process of its own, so that it takes no time
from the measuring process.

    with Relay(port, bytes_per_second=1_000_000, delay=0.1) as line: connect to line.port
"""

import contextlib
import queue
import socket
import subprocess
import sys
import threading
import time

PIECE = 1 << 16


class Relay:
    def __init__(self, target, bytes_per_second=0, delay=0.0):
        """`bytes_per_second` from the target, 0: no bound; `delay`: seconds each way."""
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(target), str(bytes_per_second), str(delay)],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def read(source, pieces, delay):
    with contextlib.suppress(OSError):
        while data := source.recv(PIECE):
            pieces.put((time.monotonic() + delay, data))
    pieces.put(None)


def write(sink, pieces, rate):
    free = 0.0  # when the line can take the next piece
    with contextlib.suppress(OSError):
        while piece := pieces.get():
            due, data = piece
            free = max(free, due) + (len(data) / rate if rate else 0)
            time.sleep(max(0.0, free - time.monotonic()))
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


def carry(source, sink, rate, delay):
    """The bytes in transit are bounded by the capacity of the line."""
    on_the_way = int(delay * (rate or 1 << 30) / PIECE) + 4
    pieces = queue.Queue(on_the_way)
    threading.Thread(target=read, args=(source, pieces, delay), daemon=True).start()
    threading.Thread(target=write, args=(sink, pieces, rate), daemon=True).start()


def main():
    target, rate, delay = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    while True:
        caller = server.accept()[0]
        called = socket.create_connection(("127.0.0.1", target))
        carry(caller, called, 0, delay)
        carry(called, caller, rate, delay)


if __name__ == "__main__":
    main()
