"""Stores in directories of their own (-chainstatedir, -indexdir): each way to make and to rebuild
them, kills, and nothing left where they would be without the options."""

import os
import random
import time

from framework import FunctionalTest, coins, free_port, wait_until
from generated import small_chain

KILLS = int(os.environ.get("IBD_KILLS", "4"))
INDEXES = ("-txindex", "-txospenderindex", "-blockfilterindex", "-coinstatsindex")


class Apart(FunctionalTest):
    """A generated chain, and directories for its stores."""

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.fast, self.large = self.dir / "fast", self.dir / "large"
        self.fast.mkdir()
        self.large.mkdir()
        self.apart = (f"-chainstatedir={self.fast}", f"-indexdir={self.large}")
        self.hints = (f"-ibdboosterfile={self.made.container}", *self.made.trust)

    @property
    def coins_folder(self):
        return self.fast / "regtest" / "chainstate"

    @property
    def index_folder(self):
        return self.large / "regtest" / "indexes"

    def new(self, *args):
        return self.made.place(self.node("regtest", *args), copied=True)

    def names(self, folder):
        return sorted(path.name for path in folder.iterdir())

    def assert_apart(self, node):
        """Each store is only in its directory."""
        self.assertEqual(self.names(self.coins_folder.parent), [".lock", "chainstate"])
        self.assertEqual(self.names(self.index_folder.parent), [".lock", "indexes"])
        self.assertTrue((self.coins_folder / "CURRENT").exists())
        self.assertTrue((self.index_folder / "txindex" / "CURRENT").exists())
        left = [path for name in ("chainstate*", "indexes*") for path in node.net_dir.glob(name)]
        self.assertEqual(left, [])

    def assert_synced(self, node):
        wanted = {"synced": True, "best_block_height": self.made.height}
        wait_until(lambda: list(node.rpc("getindexinfo").values()) == [wanted] * len(INDEXES),
                   "the indexes are synced")


class Built(Apart):
    def test_each_way_to_build(self):
        serial = self.new().start("-reindex", "-ibdbooster=0", *self.made.trust)
        serial.wait_for_tip(self.made.tip)
        expected = coins(serial)
        serial.stop()
        node = self.new(*self.apart, *INDEXES)
        for args in (("-reindex", *self.hints), ("-reindex", "-ibdbooster", *self.made.trust),
                     ("-reindex-chainstate", *self.hints),
                     ("-reindex-chainstate", "-ibdbooster=0", *self.made.trust),
                     ("-reindex", "-ibdbooster=0", *self.made.trust), ()):
            with self.subTest(args):
                node.start(*args).wait_for_tip(self.made.tip)
                self.assert_synced(node)
                self.assertEqual(coins(node), expected)
                node.stop()
                self.assert_apart(node)
        for folder, option in ((self.coins_folder, "-chainstatedir"),
                               (self.index_folder, "-indexdir")):
            self.assertIn(f"'{folder}' is where Bitcoin Core does not look ({option}): before",
                          node.log_text)
        self.assertNotIn("does not look", serial.log_text)

    def test_killed(self):
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        node = self.new(*self.apart, *INDEXES)
        args = ["-reindex", *self.hints]
        for _ in range(KILLS):
            node.launch(*args)
            time.sleep(chance.uniform(0, 0.7))
            node.kill()
            args = ["-reindex-chainstate", *self.hints]
        node.start(*args).wait_for_tip(self.made.tip)
        self.assert_synced(node)
        node.stop()
        self.assert_apart(node)
        serial = self.new().start("-reindex", "-ibdbooster=0", *self.made.trust)
        serial.wait_for_tip(self.made.tip)
        node.start().wait_for_tip(self.made.tip)
        self.assertEqual(coins(node), coins(serial))

    def test_one_directory_for_both(self):
        node = self.new(f"-chainstatedir={self.fast}", f"-indexdir={self.fast}/", "-txindex")
        node.start("-reindex", *self.hints).wait_for_tip(self.made.tip).stop()
        self.assertEqual(self.names(self.fast / "regtest"), [".lock", "chainstate", "indexes"])
        # A link to the data directory, or its name, is not another directory.
        link = self.dir / "link"
        same = self.node()
        link.symlink_to(same.datadir)
        same.start(f"-chainstatedir={link}", f"-indexdir={same.datadir}").stop()
        self.assertNotIn("does not look", same.log_text)


class Refused(Apart):
    def test_directories(self):
        node = self.node()
        none = self.dir / "none"
        for option, what in (("-chainstatedir", "chainstate"), ("-indexdir", "index")):
            self.assertEqual(node.run(f"{option}={none}"), (
                1, f'Error: Specified {what} directory "{none}" does not exist.\n'))
            self.assertFalse(none.exists())
        (self.fast / "regtest").write_text("a file in the way")
        self.assert_refused(node, *self.apart, saying="Cannot write to directory '"
                                                      f"{self.fast / 'regtest'}'")

    def test_locked(self):
        node = self.node("regtest", *self.apart).start()
        for option, folder in zip(self.apart, (self.fast, self.large)):
            other = self.node("regtest", option)
            other.port = free_port()
            self.assert_refused(other, saying="Cannot obtain a lock on directory "
                                              f"{folder / 'regtest'}. ")
        node.stop()
