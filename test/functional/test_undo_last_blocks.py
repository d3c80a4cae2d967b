"""-ibdboosterundo=1: the undo data of the last 288 blocks exists before the node is used, so that
Core accepts the data directory at once."""

import os
import random
import re
import shutil
import time

from framework import NO_UNDO, RpcError, left_by_booster, wait_until
from generated import small_chain
from regtest_chain import COINBASE_MATURITY, Chain
from test_own_hints import REGTEST_MAGIC, place_blocks
from test_undo import (BACKGROUND, FOUND_IN_FOLD, KILLS, LAST, READ_AGAIN, UndoTest, held_up,
                       undo_files)


class LastBlocks(UndoTest):
    """With -ibdboosterundo=1 that of the last 288 blocks is there before the node is used."""

    def setUp(self):
        super().setUp()
        self.made = small_chain(30000)
        self.first = self.made.terminal_height - LAST + 1
        self.assertGreater(self.first, 1)
        self.at_terminal = f"-stopatheight={self.made.terminal_height}"

    def built(self, *args):
        """A node that has ended as soon as it was there, with the terminal block as its tip."""
        node = self.made.place(self.node(), copied=True)
        self.assertEqual(node.run(*args, *self.made.trust, self.at_terminal, BACKGROUND), (0, ""))
        return node

    def assert_the_last_have_it(self, node):
        log = node.log_text.split(" version v")[-1]
        self.assertIn(f"Undo data: the last {LAST} blocks have it", log)
        self.assertNotIn("Undo data: all blocks", log)
        self.assertNotIn("Core disconnects", log)
        self.assertEqual(node.run(NO_UNDO, "-checklevel=4",
                                  f"-checkblocks={LAST}", self.at_terminal), (0, ""))
        self.assertIn(f"Verifying last {LAST} blocks at level 4", node.log_text)
        self.assertIn("no coin database inconsistencies", node.log_text.lower())

    def test_every_way_into_the_booster(self):
        given = f"-ibdboosterfile={self.made.container}"
        for joins, args in ((True, ["-reindex", "-ibdbooster"]), (False, ["-reindex", given]),
                            (False, ["-reindex", given, "-ibdboosterthreads=1",
                                     "-ibdboostermem=1"])):
            with self.subTest(args=args):
                node = self.built(*args)
                # With the pairs that a join kept the blocks are not searched.
                self.assertNotEqual(FOUND_IN_FOLD in node.log_text, joins)
                self.assertNotIn(READ_AGAIN, node.log_text)
                self.assert_the_last_have_it(node)

    def test_the_blocks_are_read_once(self):
        """The coins found by the fold give the same undo data as those of a second reading."""
        given = [f"-ibdboosterfile={self.made.container}", *self.made.trust, self.at_terminal]
        indexed = self.made.place(self.node(), copied=True)
        self.assertEqual(indexed.run("-reindex", *given, NO_UNDO), (0, ""))
        records = []
        for folds in (True, False):
            for threads in (1, 3):
                with self.subTest(folds=folds, threads=threads):
                    node = self.node()
                    shutil.copytree(indexed.datadir, node.datadir, dirs_exist_ok=True)
                    args = ["-reindex-chainstate"] if folds else []
                    begin = len(node.log_text)
                    self.assertEqual(node.run(*args, *given, BACKGROUND,
                                              f"-ibdboosterthreads={threads}"), (0, ""))
                    log = node.log_text[begin:]
                    self.assertEqual(FOUND_IN_FOLD in log, folds)
                    self.assertEqual(READ_AGAIN in log, not folds)
                    self.assert_the_last_have_it(node)
                    records.append(undo_files(node))
        self.assertTrue(records[0])
        for other in records[1:]:
            self.assertTrue(other == records[0], "undo files differ")

    def test_the_rest_follows(self):
        for args in (["-reindex", "-ibdbooster"],
                     ["-reindex", f"-ibdboosterfile={self.made.container}"]):
            with self.subTest(args=args):
                node = self.built(*args)
                node.start(BACKGROUND).wait_for_tip(self.made.tip)
                wait_until(lambda at=node: "Undo data: all blocks" in at.log_text, "undo data")
                self.assertTrue(node.rpc("verifychain", 4, 0))
                node.stop()
                self.assertEqual(left_by_booster(node), [])

    def test_reorganisations(self):
        """It can disconnect that many blocks at once, and not one more."""
        node = self.built("-reindex", f"-ibdboosterfile={self.made.container}")
        node.start(NO_UNDO, *self.made.trust).wait_for_tip(self.made.tip)
        low = node.rpc("getblockhash", self.first)
        node.rpc("invalidateblock", low)
        self.assertEqual(node.rpc("getblockcount"), self.first - 1)
        node.rpc("reconsiderblock", low)
        node.wait_for_tip(self.made.tip)
        with self.assertRaises(RpcError):
            node.rpc("invalidateblock", node.rpc("getblockhash", self.first - 1))

    def test_killed_and_stopped(self):
        node = self.made.place(self.node())
        given = [f"-ibdboosterfile={self.made.container}", *self.made.trust, self.at_terminal,
                 "-ibdboosterthreads=1"]
        self.assertEqual(node.run("-reindex", *given, NO_UNDO), (0, ""))
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        for number in range(KILLS):
            begin = len(node.log_text)
            node.launch(*given, BACKGROUND)
            wait_until(lambda at=begin: "Undo data: first that" in node.log_text[at:], "undo data")
            time.sleep(chance.uniform(0, 0.02) if number > 1 else 0)
            if number % 2:
                node.kill()
            else:
                node.process.terminate()
                self.assertEqual(node.wait(), (0, ""))
            if "the last 288 blocks have it" in node.log_text[begin:]:
                break
        else:
            self.assertEqual(node.run(*given, BACKGROUND), (0, ""))
        self.assert_the_last_have_it(node)

    def test_what_hinders_it_is_said(self):
        node = self.made.place(self.node())
        given = [f"-ibdboosterfile={self.made.container}", *self.made.trust]
        self.assertEqual(node.run("-reindex", *given, self.at_terminal, NO_UNDO),
                         (0, ""))
        with held_up(node):
            self.assertEqual(node.run(BACKGROUND, self.at_terminal), (0, ""))
        self.assertIn("Undo data of the last blocks could not be made", node.log_text)
        self.assertIn("Core disconnects", node.log_text)
        with held_up(node):
            self.assertEqual(node.run("-reindex-chainstate", *given, self.at_terminal, BACKGROUND),
                             (0, ""))
        self.assertIn("are not looked for while blocks are folded: ", node.log_text)
        self.assertEqual(node.log_text.count("succeeded. ***"), 2)

    def test_a_damaged_block_is_no_damage_of_a_spill(self):
        node = self.made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster", *self.made.trust, self.at_terminal,
                                  NO_UNDO), (0, ""))
        (path,) = node.blocks_dir.glob("blk*.dat")
        data = bytearray(path.read_bytes())
        frames = [found.start() for found in re.finditer(re.escape(REGTEST_MAGIC), data)]
        data[frames[self.made.terminal_height - 20]] ^= 0x10
        path.write_bytes(data)
        node.run(BACKGROUND, self.at_terminal, "-checkblocks=1", "-checklevel=0")
        self.assertRegex(node.log_text, "Undo data of the last blocks could not be made: .*"
                         "blk00000.dat")
        self.assertNotIn("starting over from the blocks", node.log_text)
        self.assertNotIn("does not keep written data", node.log_text)

    def test_a_short_chain(self):
        """All of it has undo data then, and nothing is left to do."""
        trunk = Chain().grow(COINBASE_MATURITY + 20)
        for args in (["-ibdbooster"], ["-ibdbooster", "-ibdboosterthreads=1"]):
            node = place_blocks(self, trunk.blocks)
            node.start("-reindex", *args, BACKGROUND).wait_for_tip(trunk.tip)
            self.assertTrue(node.rpc("verifychain", 4, 0))
            node.stop()
            self.assertIn(f"the last {trunk.height} blocks have it", node.log_text)
            self.assertEqual(left_by_booster(node), [])
