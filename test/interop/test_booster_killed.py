"""A node that is killed behind a booster sync, before anything was flushed for its age: Bitcoin
Core's own bitcoind opens the directory and continues to the tip."""

import pathlib
import re
import tempfile
import unittest

from core_node import CoreNode
from framework import Node
from generated import small_chain


class Killed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.made = small_chain()

    def killed_above(self, blocks):
        """The directory of a node that was killed when it announced the block at this distance
        above the terminal block. The -blocknotify command ends with the node."""
        node = self.made.place(Node(self.dir / "node"), copied=True)
        self.addCleanup(node.kill)
        serial = self.made.place(Node(self.dir / "serial"))
        self.addCleanup(serial.kill)
        serial.start("-reindex", *self.made.trust).wait_for_tip(self.made.tip)
        end = serial.rpc("getblockhash", self.made.terminal_height + blocks)
        serial.stop()
        node.launch("-reindex", f"-ibdboosterfile={self.made.container}", *self.made.trust,
                    "-ibdboosterundo=0", f"-maxtipage={10 ** 10}",
                    f"-blocknotify=[ %s != {end} ] || kill -9 $PPID")
        self.assertEqual(node.wait()[0], -9)
        return node.datadir

    def assert_core_goes_on(self, datadir, loaded, *args):
        core = CoreNode(datadir, "regtest")
        self.addCleanup(core.kill)
        begin = len(core.log_text)
        core.start(*args).wait_for_tip(self.made.tip)
        found = re.search(r"Loaded best chain: .* height=(\d+) ", core.log_text[begin:])
        core.stop()
        # The kill may come late: then the next point at which all is written has been reached.
        terminal = self.made.terminal_height
        written = {terminal, terminal + 6, self.made.height}
        self.assertIn(int(found[1]), {height for height in written if height >= loaded})

    def test_right_behind_the_publication(self):
        """The six blocks that Core disconnects at level 3 have no undo data yet."""
        self.assert_core_goes_on(self.killed_above(1), self.made.terminal_height, "-checklevel=2")

    def test_six_blocks_above(self):
        """There is, and Core starts as it always does."""
        self.assert_core_goes_on(self.killed_above(7), self.made.terminal_height + 6)


if __name__ == "__main__":
    unittest.main()
