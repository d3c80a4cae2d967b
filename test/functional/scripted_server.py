"""A server on a thread that answers lines by a script, for servers that a node uses besides its
peers: Tor's control port, I2P's SAM bridge."""

import contextlib
import socket
import threading


class LineServer:
    """Each connection runs `serve(connection)` on a thread of its own; an exception ends it."""

    def __init__(self, test, serve):
        self.serve = serve
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = []
        test.addCleanup(self.close)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.socket.accept()
                connection = LineConnection(peer)
                self.connections.append(connection)
                threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        with contextlib.suppress(OSError, EOFError):
            self.serve(connection)

    def drop(self):
        """Hangs up on all."""
        for connection in self.connections:
            connection.close()
        self.connections = []

    def close(self):
        self.socket.close()
        self.drop()


class LineConnection:
    def __init__(self, peer):
        self.socket = peer
        self.file = peer.makefile("rb")

    def line(self):
        line = self.file.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line.decode().rstrip("\r\n")

    def exactly(self, size):
        data = self.file.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def send(self, text):
        self.socket.sendall(text.encode())

    def join(self, other):
        """From here on a pipe to another socket, until either ends."""
        def copy(take, give):
            with contextlib.suppress(OSError):
                while data := take():
                    give(data)
            for end in (self.socket, other):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        back = threading.Thread(target=copy, args=(lambda: other.recv(65536), self.socket.sendall),
                                daemon=True)
        back.start()
        copy(lambda: self.file.read1(65536), other.sendall)
        back.join()

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
