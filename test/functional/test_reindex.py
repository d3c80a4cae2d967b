"""-reindex with hints reads the blocks once. Its result equals that of two readings: a -reindex
without hints, then the booster. (Record for record: test/unit/node/reindex_test.cpp.)"""

import shutil

from framework import NO_UNDO, FunctionalTest, coins, left_by_booster, wait_until
from generated import TAIL, chain

PASS = "Reindexing blocks on disk"
DONE = "Reindexing finished"


def made_chain():
    return chain("--outputs", "60000", "--tail", str(TAIL), "--seed", "11", "--shuffle", "25",
                 "--xor", "--stale", "--torn", "--preallocate")


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


class OnePass(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = made_chain()
        self.hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust, NO_UNDO]

    def copy(self, change=None):
        """A node with block files of its own, so that they may be changed."""
        node = self.node()
        node.blocks_dir.mkdir(parents=True)
        for source in self.made.blocks.iterdir():
            shutil.copy(source, node.blocks_dir)
        if change:
            change(node.blocks_dir)
        return node

    def facts(self, node):
        """All that can be asked about blocks and headers, stale branches included, and coins."""
        node.start()
        tips = node.rpc("getchaintips")
        out = {"tips": sorted((tip["height"], tip["hash"], tip["branchlen"], tip["status"])
                              for tip in tips), "coins": coins(node)}
        for tip in tips:
            block = tip["hash"]
            for _ in range(max(1, tip["branchlen"])):
                out[block] = header = node.rpc("getblockheader", block)
                if tip["status"] != "headers-only":
                    out[block, "block"] = node.rpc("getblock", block, 1)
                block = header["previousblockhash"]
        for height in range(0, self.made.height + 1, 97):
            block = node.rpc("getblockhash", height)
            out[block] = node.rpc("getblockheader", block), node.rpc("getblock", block, 1)
        out["txs"] = node.rpc("getchaintxstats")
        node.stop()
        return out

    def two_readings(self, node):
        """Index first, by a node without hints that ends at genesis; then the booster."""
        node.launch("-reindex")
        wait_until(lambda: DONE in node.log_text and "Loading the chainstate" in node.log_text,
                   "the index")
        node.kill()
        shutil.rmtree(node.net_dir / "chainstate", ignore_errors=True)
        return node.run(*self.hints, self.made.to_tip)

    def test_same_as_two_readings(self):
        two, one = self.copy(), self.copy()
        self.assertEqual(self.two_readings(two)[0], 0)
        self.assertEqual(one.run("-reindex", *self.hints, self.made.to_tip)[0], 0)
        self.assertIn("SHA256 check at block height", one.log_text)
        # All was folded when the index was made.
        height = self.made.terminal_height
        self.assertLess(one.log_text.index(DONE), one.log_text.index(
            f"resuming from a checkpoint: {height} of {height} blocks folded"))
        self.assertEqual(left_by_booster(one), [])
        self.assertEqual(self.facts(one), self.facts(two))

    def test_a_damaged_block(self):
        """Somewhere in the first third: the same error as after two readings, the same index."""
        def damage(folder):
            first = folder / "blk00000.dat"
            flip(first, first.stat().st_size // 3)

        two, one = self.copy(damage), self.copy(damage)
        wanted = self.two_readings(two)
        got = one.run("-reindex", *self.hints, self.made.to_tip)
        self.assertEqual((got[0], wanted[0]), (1, 1), (got, wanted))
        last = [text.replace("\r", "\n").splitlines()[-1].replace(str(node.datadir), "")
                for node, (_, text) in ((one, got), (two, wanted))]
        self.assertTrue(last[0].startswith("Error: "), got)
        self.assertEqual(last[0], last[1])

    def test_wrong_hints(self):
        """The index is made nevertheless, and serial validation continues from it."""
        bad = bytearray(self.made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        hints = self.dir / "bad.bitmap"
        hints.write_bytes(bad)
        one, two = self.copy(), self.copy()
        args = [f"-ibdboosterfile={hints}", *self.made.trust, self.made.to_tip]
        self.assertEqual(one.run("-reindex", *args)[0], 0)
        self.assertIn("validating serially", one.log_text)
        self.assertEqual(one.log_text.count(DONE), 1)
        self.assertEqual(two.run("-reindex", self.made.to_tip)[0], 0)
        self.assertEqual(self.facts(one), self.facts(two))

    def test_killed_in_the_pass(self):
        """The next start continues by itself: folded blocks are not folded again."""
        one, two = self.copy(), self.copy()
        hints = [*self.hints, "-ibdboosteraggregate=muhash", "-ibdboosterthreads=1",
                 "-ibdboosterintervalbytes=200000"]
        args = ["-reindex", *hints]
        for _ in range(4):
            one.launch(*args, self.made.to_tip)
            log = len(one.log_text)
            folder = one.net_dir / "ibdbooster"
            runs = len(list(folder.glob("run*")))
            wait_until(lambda: not one.running or DONE in one.log_text[log:] or
                       len(list(folder.glob("run*"))) > runs + 3, "some runs")
            one.kill()
            args = hints
        self.assertEqual(one.run(*args, self.made.to_tip)[0], 0)
        self.assertGreater(one.log_text.count(PASS), 2)
        kept = one.log_text.count("resuming from a checkpoint")
        self.assertGreater(kept, 2)
        self.assertNotIn("cannot go on", one.log_text)
        self.assertEqual(left_by_booster(one), [])
        self.assertEqual(two.run("-reindex", self.made.to_tip)[0], 0)
        self.assertEqual(self.facts(one), self.facts(two))
