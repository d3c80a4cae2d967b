"""What the booster leaves that made its own hints, and undo data if asked: Bitcoin Core's own
bitcoind opens it, checks what there is to check, and goes on."""

import pathlib
import tempfile
import unittest

from core_node import CoreNode
from framework import Node, coins
from generated import small_chain


class OwnHints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.made = small_chain()

    def built(self, *args):
        """A directory of our node up to the tip, and its coins."""
        node = self.made.place(Node(self.dir / "node"), copied=True)
        self.addCleanup(node.kill)
        node.start("-reindex", "-ibdbooster", *self.made.trust, *args).wait_for_tip(self.made.tip)
        self.assertIn("succeeded. ***", node.log_text)
        wanted = coins(node)
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
        """With undo data the directory is archival: all blocks taken back and connected again."""
        core, wanted = self.built("-ibdboosterundo=now")
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
        made = small_chain(30000)
        at_terminal = f"-stopatheight={made.terminal_height}"
        for number, killed in enumerate((False, True)):
            with self.subTest(killed=killed):
                node = made.place(Node(self.dir / f"last-{number}"), copied=True)
                self.addCleanup(node.kill)
                self.assertEqual(node.run("-reindex", at_terminal, *made.trust,
                                          "-ibdbooster=0"), (0, ""))
                args = ["-reindex-chainstate", f"-ibdboosterfile={made.container}", *made.trust,
                        "-ibdboosterundo=1"]
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
