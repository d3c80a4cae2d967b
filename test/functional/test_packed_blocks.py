"""Packed blocks between two nodes (-blockcompression): over a slow line a sync asks for them, with
fewer bytes; a batch that is damaged on its way costs the peer its place and nothing else."""

import re
import threading
import time

from framework import FunctionalTest, free_port
from generated import small_chain
from message_relay import MessageRelay

SLOW = 200_000  # bytes a second
FIRST, SLOWEST = 10_000, 5_000  # so many bytes at first, and their speed


class PackedBlocks(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.bytes = {"block": 0, "packed": 0}

    def server(self, *args):
        node = self.made.place(self.node())
        node.p2p_port = free_port()
        node.start("-reindex", "-listen=1", "-connect=0", f"-bind=127.0.0.1:{node.p2p_port}",
                   *(args or ["-blockcompression=1"]))
        node.wait_for_tip(self.made.tip)
        return node

    def line_to(self, server, change=lambda kind, payload: payload):
        """The port of a slow line. It is slowest at first: the small blocks at the begin of a
        chain would come so fast that all others are requested before the line is known to be slow.
        """
        def slow(kind, payload):
            speed = SLOW
            if kind in self.bytes:
                if sum(self.bytes.values()) < FIRST:
                    speed = SLOWEST
                self.bytes[kind] += len(payload)
            time.sleep(len(payload) / speed)
            return change(kind, payload)
        relay = MessageRelay(server.p2p_port, slow)
        self.addCleanup(relay.close)
        return relay.port

    def client(self, port, level=1):
        return self.node().start("-debug=net", "-v2transport=0", "-ibdbooster=0",
                                 f"-connect=127.0.0.1:{port}", f"-blockcompression={level}")

    def test_a_slow_line(self):
        server = self.server()
        self.client(self.line_to(server)).wait_for_tip(self.made.tip)
        size = sum(server.rpc("getblock", server.rpc("getblockhash", height))["size"]
                   for height in range(1, server.rpc("getblockcount") + 1))
        # The first blocks are plain. All others come packed.
        self.assertGreater(self.bytes["packed"], self.bytes["block"])
        self.assertLess(self.bytes["packed"], (size - self.bytes["block"]) * 3 / 4)

    def test_a_damaged_batch(self):
        server = self.server()
        harm = [lambda batch: batch[:len(batch) // 2],
                lambda batch: bytes([batch[0], 1, 0xff, 0xff, 0xff, 0x7f]) + batch[2:],
                lambda batch: batch[:20] + bytes([batch[20] ^ 0xff]) + batch[21:]]

        left, hit = list(harm), set()

        def change(kind, payload):
            # The first on each connection, which ends by it. A connection has a thread.
            if kind != "packed" or not left or threading.current_thread() in hit:
                return payload
            hit.add(threading.current_thread())
            return left.pop(0)(payload)
        node = self.client(self.line_to(server, change))
        node.wait_for_tip(self.made.tip)
        self.assertEqual(left, [])
        # Damage either breaks a batch or makes other blocks of it.
        refused = re.compile("a batch of blocks|peer sent packed blocks that were not requested")
        self.assertEqual(len(refused.findall(node.log_text)), len(harm))
        self.assertNotIn("discouraging", node.log_text)
        self.assertNotIn("UpdateTip: invalid", node.log_text)

    def test_off_at_either_end(self):
        for here, there in (("1", "0"), ("0", "1")):
            server = self.server(f"-blockcompression={there}")
            node = self.client(self.line_to(server), here)
            node.wait_for_tip(self.made.tip)
            node.stop()
            server.stop()
        self.assertEqual(self.bytes["packed"], 0)
