"""Stores that were on other disks (-chainstatedir, -indexdir), moved back for Core and out again:
either program continues the other's, with the same coins and indexes."""

from core_node import CoreNode
from framework import FunctionalTest, Node, coins, wait_until
from regtest_chain import Chain

INDEXES = ("-txindex", "-blockfilterindex", "-coinstatsindex")


class Moved(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.fast, self.large = self.dir / "fast", self.dir / "large"
        self.places = {"chainstate": self.fast / "regtest", "indexes": self.large / "regtest"}
        for place in self.places.values():
            place.mkdir(parents=True)
        self.apart = (f"-chainstatedir={self.fast}", f"-indexdir={self.large}")
        self.blocks = Chain().grow(150).blocks
        datadir = self.dir / "data"
        self.ours = Node(datadir, "regtest", INDEXES)
        self.core = CoreNode(datadir, "regtest", INDEXES)
        self.nodes += [self.ours, self.core]

    def move(self, back):
        for name, place in self.places.items():
            here, there = self.core.net_dir / name, place / name
            (there if back else here).rename(here if back else there)

    def feed(self, node, begin, end):
        self.assertEqual(node.rpc("getblockcount"), begin)
        for block in self.blocks[begin:end]:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        wait_until(lambda: {state["best_block_height"] for state in
                            node.rpc("getindexinfo").values()} == {end}, "the indexes are synced")
        found = coins(node)
        node.stop()
        return found

    def test_out_and_back(self):
        """One directory, whose stores move with each change of the program."""
        self.feed(self.ours.start(*self.apart), 0, 40)
        self.move(back=True)
        mark = self.ours.net_dir / "chainstate" / "store-mark.txt"
        before = mark.read_text()
        there = self.feed(self.core.start(), 40, 80)
        self.assertEqual(mark.read_text(), before)  # Core leaves it alone
        self.move(back=False)
        self.ours.start(*self.apart)
        self.assertEqual(coins(self.ours), there)
        self.feed(self.ours, 80, 110)
        # Core's rebuild keeps the mark, too.
        self.move(back=True)
        before = mark.read_text()
        self.core.start("-reindex-chainstate").wait_for_height(110)
        there = self.feed(self.core, 110, 130)
        self.assertEqual(mark.read_text(), before)
        # In the data directory this node forgets the other disks.
        self.ours.start()
        self.assertEqual(coins(self.ours), there)
        self.assertFalse(mark.exists())
        self.assertEqual(list(self.ours.net_dir.glob("*dir.txt")), [])
        there = self.feed(self.ours, 130, 150)
        self.core.start()
        self.assertEqual(coins(self.core), there)
        self.core.stop()
