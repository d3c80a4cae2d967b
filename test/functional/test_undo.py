"""-ibdboosterundo=now: undo data of the blocks that the booster folded, from blocks alone. The
files are those of serial validation, byte for byte; through kills and stops, too."""

import http.client
import os
import random
import shutil
import time

from framework import FunctionalTest, RpcError, coins, left_by_booster, wait_until
from generated import chain, large_chain, small_chain
from regtest_chain import COINBASE_MATURITY, Chain, spend
from test_own_hints import place_blocks

KILLS = int(os.environ.get("IBD_KILLS", "8"))
NOW = "-ibdboosterundo=now"


def undo_files(node):
    return {path.name: path.read_bytes() for path in node.blocks_dir.glob("rev*.dat")}


class UndoTest(FunctionalTest):
    def serial(self, made):
        """Undo files and coins of serial validation."""
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster=0", made.to_tip), (0, ""))
        node.start("-ibdbooster=0")
        out = undo_files(node), coins(node)
        node.stop()
        return out

    def assert_as_serial(self, node, made, wanted):
        self.assertEqual(undo_files(node).keys(), wanted[0].keys())
        for name, data in undo_files(node).items():
            self.assertTrue(data == wanted[0][name], f"{name} differs")
        node.start("-ibdbooster=0", "-checklevel=4", "-checkblocks=0")
        self.assertIn("No coin database inconsistencies".lower(), node.log_text.lower())
        self.assertEqual(coins(node), wanted[1])
        node.stop()
        self.assertEqual(left_by_booster(node), [])


class Now(UndoTest):
    def test_every_way_into_the_booster(self):
        made = small_chain()
        wanted = self.serial(made)
        given = f"-ibdboosterfile={made.container}"
        for args in (["-reindex", "-ibdbooster"], ["-reindex", given],
                     ["-reindex", "-ibdbooster", "-ibdboosterthreads=1", "-ibdboostermem=1"]):
            with self.subTest(args=args):
                node = made.place(self.node())
                self.assertEqual(node.run(*args, NOW, *made.trust, made.to_tip), (0, ""))
                self.assertIn("succeeded. ***", node.log_text)
                self.assertIn("Undo data: all blocks up to height "
                              f"{made.terminal_height} have it", node.log_text)
                self.assert_as_serial(node, made, wanted)

    def test_several_files(self):
        made = large_chain()
        wanted = self.serial(made)
        self.assertGreater(len(wanted[0]), 1)
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster", NOW, *made.trust, made.to_tip),
                         (0, ""))
        self.assert_as_serial(node, made, wanted)

    def test_the_node_is_archival(self):
        """It goes back below the terminal block, and answers for what it spent."""
        made = small_chain()
        node = made.place(self.node())
        node.start("-reindex", "-ibdbooster", NOW, *made.trust).wait_for_tip(made.tip)
        before = coins(node)
        low = node.rpc("getblockhash", made.terminal_height - 20)
        node.rpc("invalidateblock", low)
        self.assertEqual(node.rpc("getblockcount"), made.terminal_height - 21)
        node.rpc("reconsiderblock", low)
        self.assertEqual(coins(node), before)
        block = node.rpc("getblock", made.terminal_hash, 3)
        self.assertIn("prevout", block["tx"][1]["vin"][0])
        self.assertTrue(node.rpc("verifychain", 4, 0))

    def test_later(self):
        """A directory without undo data gets it when it is asked for, above what is there."""
        made = small_chain()
        wanted = self.serial(made)
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster", *made.trust, made.to_tip), (0, ""))
        before = undo_files(node)["rev00000.dat"]
        self.assertEqual(node.run(NOW, made.to_tip), (0, ""))
        after = undo_files(node)["rev00000.dat"]
        self.assertGreater(len(after.rstrip(b"\0")), len(before.rstrip(b"\0")))
        self.assertTrue(after.startswith(before.rstrip(b"\0")), "a record has moved")
        self.assertEqual(len(after.rstrip(b"\0")), len(wanted[0]["rev00000.dat"].rstrip(b"\0")))
        node.start("-checklevel=4", "-checkblocks=0")
        self.assertEqual(coins(node), wanted[1])
        node.stop()
        begin = len(node.log_text)
        self.assertEqual(node.run(NOW, made.to_tip), (0, ""))
        self.assertNotIn("Undo data:", node.log_text[begin:])

    def test_refused(self):
        node = self.node()
        self.assert_refused(node, "-ibdboosterundo=soon", saying="must be 0 or now")
        self.assert_refused(node, NOW, "-prune=1", saying="-ibdboosterundo=now with -prune")

    def test_a_block_that_breaks_a_rule(self):
        """What the booster takes on trust is checked here: the rule is named, the node stops."""
        mined = Chain().grow(COINBASE_MATURITY + 10)
        txid, amount = mined.coinbase_of(1)
        mined.add(mined.candidate([spend(txid, 0, amount + 1000)], fees=-5000))
        mined.grow(2)
        node = place_blocks(self, mined.blocks)
        errors = self.assert_refused(node, "-reindex", "-ibdbooster", NOW, saying="Undo data")
        self.assertIn("bad-txns-in-belowout", errors)
        self.assertIn(f"height {mined.height - 2}", errors)
        node.start("-reindex-chainstate", "-ibdbooster=0", NOW)
        node.wait_for_height(mined.height - 3)

    def test_a_missing_block(self):
        made = small_chain()
        node = made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster", *made.trust, made.to_tip), (0, ""))
        first = node.blocks_dir / "blk00000.dat"
        shutil.move(first, self.dir / "gone")
        errors = self.assert_refused(node, NOW)
        self.assertIn("blk00000.dat", errors)
        shutil.move(self.dir / "gone", first)
        self.assertEqual(node.run(NOW, made.to_tip), (0, ""))


class Interrupted(UndoTest):
    """Killed and stopped in any phase: the next start goes on, to the same files."""

    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", "250000", "--tail", "2100", "--seed", "5", "--shuffle", "10")
        self.wanted = self.serial(self.made)
        self.args = ["-ibdbooster", NOW, *self.made.trust, "-ibdboostermem=1",
                     "-ibdboosterintervalbytes=4000000"]

    def undo(self, node):
        try:
            return node.rpc("getboosterinfo").get("undo")
        except (OSError, http.client.HTTPException, RpcError, ValueError):
            return None

    def run_through(self, end):
        """Starts until one comes to the end; `end` ends a start that makes undo data."""
        node = self.made.place(self.node())
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        args, ended, phases = ["-reindex", *self.args], 0, set()
        for _ in range(KILLS):
            begin = len(node.log_text)
            node.launch(*args)
            wait_until(lambda: any(line in node.log_text[begin:]
                                   for line in ("Undo data: making", "Done loading")), "undo data")
            args = self.args
            # The first ends as soon as the work has begun, however fast the machine is.
            delay = time.monotonic() + (chance.uniform(0.02, 0.2) if ended else 0)
            while time.monotonic() < delay:
                undo = self.undo(node)
                if undo:
                    phases.add(undo["phase"])
                    self.assertLessEqual(undo["height"], undo["terminalheight"])
            if "Done loading" in node.log_text:
                break
            end(node)
            ended += 1
        if node.running:
            node.kill()
        self.assertGreater(ended, 0)
        self.assertNotIn("Undo data: all blocks", self.log_of_first_start(node))
        self.assertEqual(node.run(*args, self.made.to_tip), (0, ""))
        self.assert_as_serial(node, self.made, self.wanted)
        print(f"{ended} starts were ended, in {sorted(phases)}")

    def log_of_first_start(self, node):
        return node.log_text.split(" version v")[1]

    def test_killed(self):
        self.run_through(lambda node: node.kill())

    def test_stopped(self):
        def stop(node):
            node.process.terminate()
            self.assertEqual(node.wait(), (0, ""))
        self.run_through(stop)
