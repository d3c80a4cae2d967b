"""Peers that serve a chain as a script says: late, never, or falsified."""

import collections
import contextlib
import queue
import threading

from scripted_peer import NONCE, message, version
from scripted_server import LineServer
from wire import Reader, compact_size, sha256d

MAX_HEADERS = 2000
INVENTORY_BLOCK = 2
INVENTORY_FLAGS = 1 << 30  # of blocks requested with witnesses


def all_blocks(node):
    """The blocks of a node's chain, by height."""
    hashes = (node.rpc("getblockhash", height) for height in range(node.rpc("getblockcount") + 1))
    return [bytes.fromhex(node.rpc("getblock", block, 0)) for block in hashes]


def falsified(raw):
    """A transaction other than the one in the header's commitment."""
    return raw[:-5] + bytes([raw[-5] ^ 1]) + raw[-4:]


def undecodable(raw):
    """The number of transactions, at most 252, is not written in its shortest form."""
    return raw[:80] + b"\xfd" + raw[80:81] + b"\0" + raw[81:]


class BlockServer:
    """Listens, and serves the chain of `blocks`. `answer(server, height)` gives the bytes to send
    for a block, or None; it may wait. `asked` counts the requests by height."""

    def __init__(self, test, blocks, answer):
        self.blocks, self.answer = blocks, answer
        self.heights = {sha256d(raw[:80]): height for height, raw in enumerate(blocks)}
        self.asked = collections.Counter()
        self.sent = self.calls = 0
        self.heard = 0  # the last call in which all was done that our headers led to
        self.closing = threading.Event()
        self.server = LineServer(test, self.serve)
        test.addCleanup(self.closing.set)
        self.address, self.port = self.server.address, self.server.port

    def drop(self):
        """Hangs up on all."""
        self.server.drop()

    def serve(self, line):
        wanted = queue.Queue()
        threading.Thread(target=self._send_blocks, args=(line, wanted), daemon=True).start()
        try:
            while header := line.file.read(24):
                payload = line.file.read(int.from_bytes(header[16:20], "little"))
                self._handle(line, wanted, header[4:16].rstrip(b"\0").decode(), payload)
        finally:
            wanted.put(None)

    def _handle(self, line, wanted, kind, payload):
        if kind == "version":
            self._say(line, kind, version())
            self._say(line, "verack", b"")
        elif kind == "verack":
            self.calls += 1
            self._say(line, "inv", self._tip())
        elif kind == "ping":
            self._say(line, "pong", payload)
        elif kind == "pong":
            self.heard = self.calls
        elif kind == "getheaders":
            self._say(line, "headers", self._headers(payload))
            self._say(line, "ping", NONCE)
        elif kind == "getdata":
            for height in self._wanted(payload):
                self.asked[height] += 1
                wanted.put(height)

    @staticmethod
    def _say(line, kind, payload):
        line.socket.sendall(message(kind, payload))

    def _tip(self):
        item = INVENTORY_BLOCK.to_bytes(4, "little") + sha256d(self.blocks[-1][:80])
        return compact_size(1) + item

    def _headers(self, payload):
        reader = Reader(payload)
        reader.number(4)
        locator = [reader.take(32) for _ in range(reader.compact_size())]
        first = next((self.heights[block] for block in locator if block in self.heights), 0) + 1
        headers = [raw[:80] + b"\0" for raw in self.blocks[first:first + MAX_HEADERS]]
        return compact_size(len(headers)) + b"".join(headers)

    def _wanted(self, payload):
        reader = Reader(payload)
        for _ in range(reader.compact_size()):
            kind, block = reader.number(4), reader.take(32)
            if kind & ~INVENTORY_FLAGS == INVENTORY_BLOCK and block in self.heights:
                yield self.heights[block]

    def _send_blocks(self, line, wanted):
        with contextlib.suppress(OSError):
            while (height := wanted.get()) is not None:
                raw = self.answer(self, height)
                if raw is not None:
                    self._say(line, "block", raw)
                    self.sent += 1
