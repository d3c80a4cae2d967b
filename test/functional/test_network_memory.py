"""Memory of a sync from peers, with large blocks and with peers that send large messages, stay, or
leave and come again: the peak of the process stays within the bound that doc/booster.md states.
And a sync on a machine with little memory, where the files' cache and sockets count, too.
"""

import contextlib
import os
import pathlib
import socket
import threading
import time

from framework import NO_UNDO, SANITIZED, FunctionalTest, coins, free_port, wait_until
from generated import TAIL, chain
from memory_limit import MemoryLimit
from scripted_peer import message, version

MIB = 1 << 20
# doc/booster.md, "Memory and disks".
PROGRAM = 40 * MIB
QUEUE, CALLED, STRANGERS = 32 * MIB, 16 * MIB, 12 * MIB
LARGEST_MESSAGE = 4_000_000
CONNECTION = 400_000
WORKER = 10 * MIB  # to read and parse blocks of 1.5 MB; 30 MiB for the worst ones
THREADS = 1  # with a slow aggregate, so that blocks queue
HOSTILE = 8
MOST_STRANGERS, OUTBOUND = 50, 11
SMALL, SMALL_SERIAL = 160 * MIB, 224 * MIB  # without the booster -dbcache is taken, too


def peak(node):
    """Most bytes that the process had in memory."""
    status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


class Flood(threading.Thread):
    """Sends large messages as fast as they are taken, and reads no answer. The last one lacks a
    byte. With `stay`, it disconnects after that many seconds in the middle of a message, and
    connects again.
    """

    def __init__(self, port, number, stay=None):
        super().__init__(daemon=True)
        self.port, self.number, self.stay = port, number, stay
        self.sent = self.calls = 0
        self.stopping = False
        self.start()

    def run(self):
        large = bytes([self.number]) * (LARGEST_MESSAGE - 200)
        kinds = ("block", "unknown", "ping", "tx")
        while not self.stopping:
            with contextlib.suppress(OSError), socket.create_connection(
                    ("127.0.0.1", self.port)) as line:
                self.calls += 1
                line.sendall(message("version", version()) + message("verack", b""))
                if self.stay:
                    self.send_for_a_while(line, b"".join(message(kind, large) for kind in kinds))
                    continue
                for i in range(20):
                    part = message(kinds[(i + self.number) % len(kinds)], large)
                    line.sendall(part[:-1] if i == 19 else part)
                    self.sent += len(part)

    def send_for_a_while(self, line, stream):
        line.setblocking(False)
        end = time.monotonic() + self.stay
        sent = 0
        while time.monotonic() < end and sent < len(stream):
            try:
                sent += line.send(stream[sent:sent + MIB])
            except BlockingIOError:
                time.sleep(0.01)
        self.sent += sent
        if self.number % 2:  # else the unread answers make the end a hard one
            with contextlib.suppress(BlockingIOError):
                while line.recv(MIB):
                    pass


class SyncFromPeer(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", os.environ.get("IBD_OUTPUTS", "900000"),
                          "--outputs-per-block", "7000", "--tail", str(TAIL), "--seed", "3")
        self.server = self.made.place(self.node())
        self.assertEqual(self.server.run("-reindex", self.made.to_tip), (0, ""))
        self.server.p2p_port = free_port()
        self.server.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{self.server.p2p_port}")

    def sync(self, *options, prefix=()):
        """A node that begins to sync."""
        node = self.node()
        node.launch(f"-connect=127.0.0.1:{self.server.p2p_port}", *self.made.trust,
                    f"-ibdboosterthreads={THREADS}", "-ibdboosteraggregate=muhash", "-dbcache=16",
                    *options, prefix=prefix)
        return node


class NetworkMemory(SyncFromPeer):
    def assert_within(self, node, memory, strangers=0):
        """The bound for `memory` MiB of -ibdboostermem, one outbound peer, and at most this many
        inbound connections."""
        node.wait_for_rpc()
        node.wait_for_tip(self.made.tip)
        bound = (PROGRAM + memory * MIB + QUEUE + CALLED + THREADS * WORKER + LARGEST_MESSAGE +
                 (STRANGERS + strangers * CONNECTION if strangers else 0))
        used = peak(node)
        if not SANITIZED:
            self.assertLessEqual(used, bound, f"{used / MIB:.0f} of {bound / MIB:.0f} MiB")
        self.assertEqual(coins(node), coins(self.server))
        return used

    def test_by_default(self):
        """With what finds the coins that the last blocks spend."""
        node = self.sync(f"-ibdboosterfile={self.made.container}")
        used = self.assert_within(node, 96)
        if not SANITIZED:
            self.assertLessEqual(used, 200_000_000)

    def test_little_memory(self):
        for hints in ([f"-ibdboosterfile={self.made.container}"], ["-ibdbooster"]):
            with self.subTest(hints=hints):
                self.assert_within(self.sync("-ibdboostermem=8", NO_UNDO, *hints), 8)

    def test_large_messages_of_strangers(self):
        """All peers together are bounded, for any data that they send and leave unread."""
        self.hold_out_against(HOSTILE, lambda port, i: Flood(port, i))

    def test_strangers_that_leave_and_come_again(self):
        """Their unread bytes count too."""
        floods = self.hold_out_against(MOST_STRANGERS, lambda port, i: Flood(port, i, stay=1))
        self.assertGreater(sum(f.calls for f in floods), 2 * HOSTILE)

    def hold_out_against(self, connections, flood):
        port = free_port()
        node = self.sync("-ibdboostermem=8", NO_UNDO, f"-ibdboosterfile={self.made.container}",
                         "-listen=1", f"-bind=127.0.0.1:{port}", "-v2transport=0",
                         "-whitelist=noban@127.0.0.1",
                         f"-maxconnections={MOST_STRANGERS + OUTBOUND}")
        wait_until(lambda: "bound to" in node.log_text.lower(), "the port")
        floods = [flood(port, i) for i in range(HOSTILE)]
        try:
            wait_until(lambda: all(f.sent > 0 for f in floods), "large messages")
            self.assert_within(node, 8, connections)
        finally:
            for flood in floods:
                flood.stopping = True
        self.assertGreater(sum(f.sent for f in floods), 2 * STRANGERS)
        return floods


class SmallMachine(SyncFromPeer):
    """With the options that doc/booster.md gives for 512 MiB, and under a lower limit than a system
    would leave for the process: a process above the limit is killed."""

    def test_sync(self):
        if SANITIZED:
            self.skipTest("a sanitizer takes more memory than the limit")
        ways = ((f"-ibdboosterfile={self.made.container}", SMALL), ("-ibdbooster", SMALL),
                ("-ibdbooster=0", SMALL_SERIAL))
        for way, size in ways:
            with self.subTest(way=way), MemoryLimit(size) as limit:
                node = self.sync("-ibdboostermem=32", "-dbcache=64", "-maxconnections=20",
                                 way, prefix=limit.prefix)
                node.wait_for_rpc()
                node.wait_for_tip(self.made.tip)
                # The files do not fit beside the process, so the bound was felt.
                self.assertGreater(limit.most_used, size * 9 // 10)
                self.assertEqual(coins(node), coins(self.server))
                node.stop()
