"""Our node and Core's bitcoind give peers the same block filters (BIP157): a peer sends the same
requests to both, good and bad ones, and gets the same messages or is dropped by both."""

import itertools

from core_node import CoreNode
from framework import FunctionalTest, Node, free_port, wait_until
from regtest_chain import Chain, redeem
from scripted_peer import NONCE, Line, message, version

UNKNOWN = "11" * 32
BLOCKS = 2_100
FILTERS, HEADERS, POINTS = "getcfilters", "getcfheaders", "getcfcheckpt"
COMPACT_FILTERS = 1 << 6
OPTIONS = ("-peerblockfilters", "-blockfilterindex", "-listen=1", "-noconnect", "-dnsseed=0")


def request(kind, start, stop, of_type=0):
    span = b"" if kind == POINTS else start.to_bytes(4, "little")
    return kind, bytes([of_type]) + span + bytes.fromhex(stop)[::-1]


class BlockFilters(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain().grow(101)
        spends = [redeem(*name, 10_000, 1_000) for name in self.chain.split(20, 10_000)]
        for at in range(0, 20, 5):
            self.chain.add(self.chain.candidate(spends[at:at + 5], 5_000))
        self.chain.grow(BLOCKS - self.chain.height)
        stale = self.chain.branch(1, 1).blocks[-1]
        self.both = [self.start(kind) for kind in (CoreNode, Node)]
        for node in self.both:
            node.rpc("setmocktime", self.chain.blocks[-1].time)
            for block in (*self.chain.blocks, stale):
                self.assertIn(node.rpc("submitblock", block.raw().hex()), (None, "inconclusive"))
            wait_until(lambda node=node: all(one["best_block_height"] == BLOCKS and one["synced"]
                                             for one in node.rpc("getindexinfo").values()),
                       "the index")
        self.stale = stale.hash()

    def start(self, kind):
        node = kind(self.dir / kind.__name__, "regtest")
        self.nodes.append(node)
        node.p2p_port = free_port()
        return node.start(*OPTIONS, f"-bind=127.0.0.1:{node.p2p_port}")

    def answers(self, node, requests):
        """The received messages about filters, and whether the peer is still connected at the end.
        """
        line = Line(node.p2p_port)
        self.addCleanup(line.close)
        line.send(message("version", version()))
        self.assertTrue(line.wait_for("verack"))
        line.send(message("verack", b""))
        for kind, payload in requests:
            line.send(message(kind, payload))
        line.send(message("ping", NONCE))
        told = []
        try:
            while received := line.receive():
                if received[0] == "ping":
                    line.send(message("pong", received[1]))
                if received[0].startswith("cf"):
                    told.append(received)
                if received == ("pong", NONCE):
                    return told, "kept"
        except ConnectionError:
            pass
        return told, "dropped"

    def compare(self, *requests):
        core, ours = (self.answers(node, requests) for node in self.both)
        with self.subTest(requests[-1]):
            self.assertEqual(ours, core)
        return core

    def hash_at(self, height):
        return self.both[0].rpc("getblockhash", height)

    def test_requests(self):
        for node in self.both:
            services = int(node.rpc("getnetworkinfo")["localservices"], 16)
            self.assertTrue(services & COMPACT_FILTERS)
        stops = {height: self.hash_at(height)
                 for height in (0, 1, 105, 999, 1_000, 1_999, 2_000, 2_001, BLOCKS)}
        kept = dropped = 0
        for (height, stop), start, kind in itertools.product(
                stops.items(), (0, 1, 100, 1_000, 1_001, 1_101, BLOCKS, BLOCKS + 1, 2**32 - 1),
                (FILTERS, HEADERS)):
            told, end = self.compare(request(kind, start, stop))
            kept, dropped = kept + (end == "kept"), dropped + (end == "dropped")
            if end == "kept":
                self.assertEqual(len(told), height - start + 1 if kind == FILTERS else 1)
        self.assertGreater(kept, 20)
        self.assertGreater(dropped, 20)
        for stop in stops.values():
            self.compare(request(POINTS, 0, stop))
            for kind in (FILTERS, HEADERS, POINTS):
                self.compare(request(kind, 0, stop, 1))
        for kind in (FILTERS, HEADERS, POINTS):
            self.compare(request(kind, 0, UNKNOWN))
            self.compare(request(kind, BLOCKS - 50, self.stale))
            self.compare((kind, b""))
            self.compare((kind, request(kind, 0, stops[1])[1] + b"\x00"))
        self.compare(request(FILTERS, 1, stops[105]), request(HEADERS, 1, stops[105]),
                     request(POINTS, 0, stops[1_000]), request(FILTERS, 1, stops[1]))

    def test_without_the_index(self):
        for kind in (CoreNode, Node):
            self.assert_refused(kind(self.dir / f"bare{kind.__name__}", "regtest"),
                                "-peerblockfilters",
                                saying="Cannot set -peerblockfilters without -blockfilterindex.")
