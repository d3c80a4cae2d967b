"""Memory of a sync from peers, with large blocks and with peers that send large messages: the peak
of the process stays within the bound that doc/booster.md states.
"""

import contextlib
import os
import pathlib
import socket
import threading

from framework import NO_UNDO, FunctionalTest, coins, free_port, wait_until
from generated import TAIL, chain
from scripted_peer import message, version

MIB = 1 << 20
# doc/booster.md, "Memory and disks".
PROGRAM = 40 * MIB
QUEUE, UNREAD = 32 * MIB, 16 * MIB
LARGEST_MESSAGE = 4_000_000
WORKER = 10 * MIB  # reading and parsing blocks of 1.5 MB; 30 MiB for the worst ones
THREADS = 1  # with a slow aggregate, so that blocks wait
HOSTILE = 8


def peak(node):
    """Most bytes that the process had in memory."""
    status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


class Flood(threading.Thread):
    """Sends large messages as fast as they are taken, and reads no answer. The last one lacks a
    byte."""

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.port, self.number, self.sent = port, number, 0
        self.stopping = False
        self.start()

    def run(self):
        large = bytes([self.number]) * (LARGEST_MESSAGE - 200)
        kinds = ("block", "unknown", "ping", "tx")
        while not self.stopping:
            with contextlib.suppress(OSError), socket.create_connection(
                    ("127.0.0.1", self.port)) as line:
                line.sendall(message("version", version()) + message("verack", b""))
                for i in range(20):
                    part = message(kinds[(i + self.number) % len(kinds)], large)
                    line.sendall(part[:-1] if i == 19 else part)
                    self.sent += len(part)


class NetworkMemory(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", os.environ.get("IBD_OUTPUTS", "900000"),
                          "--outputs-per-block", "7000", "--tail", str(TAIL), "--seed", "3")
        self.server = self.made.place(self.node())
        self.assertEqual(self.server.run("-reindex", self.made.to_tip), (0, ""))
        self.server.p2p_port = free_port()
        self.server.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{self.server.p2p_port}")

    def sync(self, *options):
        """A node that begins to sync."""
        node = self.node()
        node.launch(f"-connect=127.0.0.1:{self.server.p2p_port}", *self.made.trust,
                    f"-ibdboosterthreads={THREADS}", "-ibdboosteraggregate=muhash", "-dbcache=16",
                    *options)
        return node

    def assert_within(self, node, memory, peers):
        """The bound, with `memory` MiB of -ibdboostermem."""
        node.wait_for_rpc()
        node.wait_for_tip(self.made.tip)
        bound = (PROGRAM + memory * MIB + QUEUE + UNREAD + THREADS * WORKER +
                 peers * LARGEST_MESSAGE)
        used = peak(node)
        self.assertLessEqual(used, bound, f"{used / MIB:.0f} of {bound / MIB:.0f} MiB")
        self.assertEqual(coins(node), coins(self.server))
        return used

    def test_by_default(self):
        """With what finds the coins that the last blocks spend."""
        node = self.sync(f"-ibdboosterfile={self.made.container}")
        used = self.assert_within(node, 96, 1)
        self.assertLessEqual(used, 200_000_000)

    def test_little_memory(self):
        for hints in ([f"-ibdboosterfile={self.made.container}"], ["-ibdbooster"]):
            with self.subTest(hints=hints):
                self.assert_within(self.sync("-ibdboostermem=8", NO_UNDO, *hints), 8, 1)

    def test_large_messages_of_strangers(self):
        """They are bounded by a message of each, whatever they send and do not read."""
        port = free_port()
        node = self.sync("-ibdboostermem=8", NO_UNDO, f"-ibdboosterfile={self.made.container}",
                         "-listen=1", f"-bind=127.0.0.1:{port}", "-v2transport=0",
                         "-whitelist=noban@127.0.0.1")
        wait_until(lambda: "bound to" in node.log_text.lower(), "the port")
        floods = [Flood(port, i) for i in range(HOSTILE)]
        try:
            wait_until(lambda: all(f.sent > 0 for f in floods), "large messages")
            self.assert_within(node, 8, 1 + HOSTILE)
        finally:
            for flood in floods:
                flood.stopping = True
        self.assertGreater(sum(f.sent for f in floods), 2 * HOSTILE * LARGEST_MESSAGE)
