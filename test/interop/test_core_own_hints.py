"""The directory after a booster run with own hints and undo data: Bitcoin Core's own bitcoind opens
it, checks everything, and continues."""

import pathlib
import tempfile
import unittest

from core_node import CoreNode
from framework import Node, coins, wait_until
from generated import small_chain


class OwnHints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.made = small_chain(30000)  # more blocks than those whose undo data is made first

    def built(self, *args, later=False):
        """A directory of our node up to the tip, and its coins; `later`: with all undo data, which
        was made while the node was in use."""
        node = self.made.place(Node(self.dir / "node"), copied=True)
        self.addCleanup(node.kill)
        node.start("-reindex", "-ibdbooster", *self.made.trust, *args).wait_for_tip(self.made.tip)
        self.assertIn("succeeded. ***", node.log_text)
        wanted = coins(node)
        if later:
            wait_until(lambda: "Undo data: all blocks" in node.log_text, "undo data")
        node.stop()
        core = CoreNode(node.datadir, "regtest")
        self.addCleanup(core.kill)
        return core, wanted

    def test_core_opens_the_directory(self):
        core, wanted = self.built()
        core.start().wait_for_tip(self.made.tip)
        self.assertEqual(coins(core), wanted)
        core.stop()

    def test_core_finds_nothing_in_any_block(self):
        """The directory has all undo data: all blocks are disconnected and connected again."""
        self.assert_archival(*self.built(later=True))

    def test_nor_when_the_undo_data_came_at_once(self):
        self.assert_archival(*self.built("-ibdboosterundo=now"))

    def assert_archival(self, core, wanted):
        begin = len(core.log_text)
        core.start("-checkblocks=0", "-checklevel=4").wait_for_tip(self.made.tip)
        log = core.log_text[begin:]
        self.assertIn(f"Verifying last {self.made.height} blocks at level 4", log)
        self.assertIn("Verification: no coin database inconsistencies", log)
        self.assertEqual(coins(core), wanted)
        low = core.rpc("getblockhash", self.made.terminal_height // 2)
        core.rpc("invalidateblock", low)
        self.assertEqual(core.rpc("getblockcount"), self.made.terminal_height // 2 - 1)
        core.rpc("reconsiderblock", low)
        core.wait_for_tip(self.made.tip)
        self.assertEqual(coins(core), wanted)
        core.stop()

    def test_core_finds_nothing_in_the_last_blocks(self):
        """Right after the booster, with no block on top, and after a kill as soon as it is used."""
        made = self.made
        at_terminal = f"-stopatheight={made.terminal_height}"
        for number, killed in enumerate((False, True)):
            with self.subTest(killed=killed):
                node = made.place(Node(self.dir / f"last-{number}"), copied=True)
                self.addCleanup(node.kill)
                args = ["-reindex", f"-ibdboosterfile={made.container}", *made.trust]
                if killed:
                    node.start(*args)
                    node.kill()
                else:
                    self.assertEqual(node.run(*args, at_terminal), (0, ""))
                core = CoreNode(node.datadir, "regtest")
                self.addCleanup(core.kill)
                begin = len(core.log_text)
                core.start("-checkblocks=288", "-checklevel=4")
                log = core.log_text[begin:]
                self.assertIn("Verifying last 288 blocks at level 4", log)
                self.assertIn("Verification: no coin database inconsistencies", log)
                core.wait_for_tip(made.tip)
                low = core.rpc("getblockhash", made.terminal_height - 287)
                core.rpc("invalidateblock", low)
                self.assertEqual(core.rpc("getblockcount"), made.terminal_height - 288)
                core.rpc("reconsiderblock", low)
                core.wait_for_tip(made.tip)
                core.stop()


if __name__ == "__main__":
    unittest.main()
