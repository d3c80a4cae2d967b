"""A directory in which Core uses a UTXO snapshot (loadtxoutset): our node leaves it as it is or
rebuilds it without the snapshot, and Core opens it in any case. With the same files missing at a
start both nodes say the same."""

import hashlib
import shutil

from core_node import CoreNode
from framework import NO_UNDO, FunctionalTest, Node, coins, tree_digest
from regtest_chain import REGTEST_BITS, REGTEST_GENESIS, Block, height_push, subsidy
from wire import Tx, sized

# The chain that Core's parameters of regtest know a snapshot of (chainparams.cpp: of a fuzz target,
# whose blocks hold nothing but their coinbase).
BASE, BASE_HASH = 200, "385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9"
GENESIS_TIME, OLD_VERSION, MAY_BE_LOCKED = 1296688602, 4, 0xfffffffe
HEIGHT = BASE + 2100  # so that the booster takes the block of the snapshot for buried
REINDEX = "Please restart with -reindex or -reindex-chainstate to recover.\n"


def chain(height):
    """The blocks above genesis, raw; the hash of the last."""
    script = b"\x00" + sized(hashlib.sha256(b"\x51").digest())
    tip, blocks = REGTEST_GENESIS, []
    for h in range(1, height + 1):
        made = Tx([("00" * 32, 0xffffffff, height_push(h) + b"\x00", MAY_BE_LOCKED)],
                  [(subsidy(h), script)], lock_time=h - 1)
        block = Block(tip, [made], GENESIS_TIME + h, OLD_VERSION, REGTEST_BITS).mine()
        blocks.append(block.raw().hex())
        tip = block.hash()
        assert h != BASE or tip == BASE_HASH
    return blocks, tip


class Snapshots(FunctionalTest):
    @classmethod
    def setUpClass(cls):
        cls.blocks, cls.tip = chain(HEIGHT)

    def core(self, folder):
        node = CoreNode(folder, "regtest")
        self.nodes.append(node)
        return node

    def ours(self, folder, *args):
        node = Node(folder, "regtest", args)
        self.nodes.append(node)
        return node

    def feed(self, node, begin, end):
        for block in self.blocks[begin:end]:
            self.assertIn(node.rpc("submitblock", block), (None, "inconclusive"))

    def with_snapshot(self, stored):
        """A directory of Core's with a snapshot in use and the blocks up to height `stored`."""
        snapshot = self.dir / "snapshot.dat"
        source = self.core(self.dir / "source").start()
        self.feed(source, 0, BASE)
        source.rpc("dumptxoutset", str(snapshot), "latest")
        source.stop()
        core = self.core(self.dir / "with").start()
        for block in self.blocks[:BASE]:
            core.rpc("submitheader", block[:160])
        self.assertEqual(core.rpc("loadtxoutset", str(snapshot))["base_height"], BASE)
        self.feed(core, 0, stored)
        in_use = core.rpc("getchainstates")["chainstates"][-1]
        self.assertEqual(in_use["snapshot_blockhash"], BASE_HASH)
        core.stop()
        self.assertTrue((core.net_dir / "chainstate_snapshot" / "base_blockhash").exists())
        return core

    def copy_of(self, core, name):
        shutil.copytree(core.datadir, self.dir / name)
        return self.dir / name

    def assert_refused_untouched(self, core):
        node = self.ours(core.datadir)
        databases = [node.net_dir / name
                     for name in ("chainstate", "chainstate_snapshot", "blocks")]
        before = list(map(tree_digest, databases))
        for args in ([], ["-ibdbooster"], ["-reindex-chainstate=0"]):
            said = self.assert_refused(node, *args, saying="-reindex-chainstate")
            self.assertIn(BASE_HASH, said)
        self.assertEqual(list(map(tree_digest, databases)), before)

    def test_refused_and_left_to_core(self):
        core = self.with_snapshot(50)
        self.assert_refused_untouched(core)
        core.start()
        states = core.rpc("getchainstates")["chainstates"]
        self.assertEqual([state["blocks"] for state in states], [50, BASE])
        self.feed(core, 50, BASE + 10)
        core.stop()
        self.assert_refused_untouched(core)  # validated, and not yet restarted

    def test_rebuilds_go_without_it(self):
        core = self.with_snapshot(50)
        for way in ("-reindex", "-reindex-chainstate"):
            with self.subTest(way):
                node = self.ours(self.copy_of(core, way), NO_UNDO)
                node.start(way).wait_for_height(50)
                self.assertFalse((node.net_dir / "chainstate_snapshot").exists())
                self.assertIn("[snapshot] deleting snapshot chainstate due to reindexing",
                              node.log_text)
                self.feed(node, 50, BASE + 10)
                node.wait_for_height(BASE + 10).stop()
                self.assert_core_goes_on(node.datadir, coins(node.start()), BASE + 10)

    def test_rebuilds_with_the_booster(self):
        core = self.with_snapshot(HEIGHT)
        for way in ("-reindex", "-reindex-chainstate"):
            with self.subTest(way):
                node = self.ours(self.copy_of(core, way), f"-assumevalid={BASE_HASH}")
                node.start(way, "-ibdbooster").wait_for_tip(self.tip)
                self.assertIn("succeeded. ***", node.log_text)
                self.assertFalse((node.net_dir / "chainstate_snapshot").exists())
                self.assert_core_goes_on(node.datadir, coins(node), HEIGHT)

    def assert_core_goes_on(self, datadir, wanted, height):
        """Core opens what our node, which runs, leaves there."""
        next(node for node in self.nodes if node.datadir == datadir).stop()
        core = self.core(datadir).start().wait_for_height(height)
        self.assertEqual(len(core.rpc("getchainstates")["chainstates"]), 1)
        self.assertEqual(coins(core), wanted)
        core.stop()

    def test_a_folder_without_a_base_is_passed_over(self):
        core = self.core(self.dir / "bare").start().stop()
        (core.net_dir / "chainstate_snapshot").mkdir()
        for node in (core, self.ours(core.datadir)):
            node.start().stop()
            self.assertIn("snapshot chainstate dir is malformed! no base blockhash file exists at "
                          f"path {core.net_dir / 'chainstate_snapshot'}", node.log_text)
            (node.net_dir / "debug.log").unlink()

    def test_missing_block_file(self):
        core = self.core(self.dir / "lost").start()
        self.feed(core, 0, 10)
        core.stop()
        (core.blocks_dir / "blk00000.dat").unlink()
        for node in (core, self.ours(core.datadir)):
            for args in ([], ["-reindex-chainstate"]):
                status, errors = node.run(*args)
                self.assertEqual((status, errors.endswith(REINDEX)), (1, True), errors)
                self.assertTrue(errors.startswith("Error loading block database.\n"), errors)


if __name__ == "__main__":
    import unittest
    unittest.main()
