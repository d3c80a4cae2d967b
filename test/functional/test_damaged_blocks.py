"""Stored blocks that turn out damaged. With a network they are fetched again, with the booster as
without; without one the node ends in one line that says what helps, and that helps."""

import hashlib
import re
import shutil
import struct

from framework import NO_UNDO
from generated import small_chain
from test_network_booster import NetworkBooster

MAGIC = bytes.fromhex("fabfb5da")  # regtest
FRAME = 8  # bytes before a block


def frames(folder):
    """(path, offset of the block, block) of all in files that are not obfuscated."""
    for path in sorted(folder.glob("blk*.dat")):
        data = path.read_bytes()
        at = 0
        while data[at:at + 4] == MAGIC:
            size = struct.unpack_from("<I", data, at + 4)[0]
            yield path, at + FRAME, data[at + FRAME:at + FRAME + size]
            at += FRAME + size


def block_hash(block):
    return hashlib.sha256(hashlib.sha256(block[:80]).digest()).digest()[::-1].hex()


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


class DamagedBlocks(NetworkBooster):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.server = self.serve(self.made)
        self.height = self.made.terminal_height // 2
        self.hash = self.server.rpc("getblockhash", self.height)
        self.path = self.offset = None
        self.last = 0  # byte of the block

    def stored(self):
        """A node that has all blocks, in files of its own, and their index."""
        node = self.made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster=0", self.made.to_tip)[0], 0)
        return node

    def damage(self, node, at=-1):
        """Of the block at self.height, the byte `at`: the last one is of a lock time."""
        for path, offset, block in frames(node.blocks_dir):
            if block_hash(block) == self.hash:
                self.path, self.offset = path, offset
                self.last = offset + (at if at >= -FRAME and at != -1 else len(block) - 1)
        flip(self.path, self.last)

    def mend(self):
        flip(self.path, self.last)

    def peer(self):
        return [f"-connect=127.0.0.1:{self.server.p2p_port}", *self.made.trust, NO_UNDO]

    def assert_named(self, text):
        """The block and its place."""
        self.assertIn(f"{self.path}, offset {self.offset}: ", text)
        self.assertIn(f"block {self.hash} at height {self.height}", text)

    def assert_fetched(self, node, *options):
        """The node syncs although the block is damaged, and says so; the copy is durable."""
        node.start(*self.peer(), *options)
        self.assert_synced(node, self.server, self.made)
        self.assert_named(node.log_text)
        self.assertIn("1 stored blocks are damaged: they are fetched again from peers",
                      node.log_text)
        self.assertEqual(node.rpc("getblock", self.hash, 0),
                         self.server.rpc("getblock", self.hash, 0))
        node.stop()
        return node

    WAYS = {"serially": ["-ibdbooster=0"], "own hints": ["-ibdbooster"],
            "own hints, all checks": ["-ibdbooster", "-ibdboosterchecks"],
            "full validation": ["-ibdbooster", "-ibdboosterfullvalidation"]}

    def ways(self):
        return {**self.WAYS, "given hints": [f"-ibdboosterfile={self.made.container}"],
                "given hints, full validation": [f"-ibdboosterfile={self.made.container}",
                                                 "-ibdboosterfullvalidation"]}

    def test_a_peer_has_it(self):
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node)
                self.assert_fetched(node, "-reindex-chainstate", *options)
                # The index says where the new copy lies.
                node.start("-reindex-chainstate", *self.made.trust, *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()

    def test_where_the_frame_is_damaged(self):
        """Nothing can be read there: neither a block nor its length."""
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node, -FRAME)
                self.assert_fetched(node, "-reindex-chainstate", *options)

    def test_many(self):
        """All blocks of a stretch of the file, in one go."""
        node = self.stored()
        self.damage(node)
        with open(self.path, "r+b") as file:
            file.seek(self.offset)
            file.write(bytes(60_000))
        node.start(*self.peer(), "-reindex-chainstate", "-ibdbooster")
        self.assert_synced(node, self.server, self.made)
        damaged = re.findall(r"(\d+) stored blocks are damaged: they are fetched again",
                             node.log_text)
        self.assertEqual(len(damaged), 1)
        self.assertGreater(int(damaged[0]), 10)

    def test_without_a_network(self):
        """One line names the place; a sound file in its place is enough."""
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node)
                shutil.rmtree(node.net_dir / "chainstate")
                status, errors = node.run(*self.made.trust, *options)
                self.assertEqual(status, 1)
                self.assert_named(errors)
                self.assertIn("put a sound copy of the file in its place, or restart with "
                              "-reindex", errors)
                self.mend()
                node.start(*self.made.trust, *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()
