"""A booster run that ended early: the state from which the next start continues, the files that it
keeps, and its log."""

import os
import re
import shutil

from framework import coins
from generated import TAIL, chain
from test_booster import BoosterTest, SyncedTest


class Resume(SyncedTest):
    """A rebuild over a chainstate ends early."""

    def setUp(self):
        super().setUp()
        self.folder = self.synced.net_dir / "ibdbooster"

    def forget_log(self):
        (self.synced.net_dir / "debug.log").unlink()

    def die_while_loading(self):
        """All blocks are folded, and the first table is larger than a file may be."""
        self.forget_log()
        status, _ = self.synced.run("-reindex-chainstate", *self.hints, "-ibdboosterthreads=1",
                                    "-ibdboosterintervalbytes=20000",
                                    prefix=("prlimit", "--fsize=60000"))
        self.assertNotEqual(status, 0)
        self.assertIn("all checks passed", self.synced.log_text)
        self.assertFalse("is complete" in self.synced.log_text)

    def work(self):
        """The files in the booster's folder, by name, without the lock."""
        return {path.name: path.read_bytes() for path in self.folder.iterdir()
                if path.name != ".lock"}

    def rebuild_and_compare(self, *more):
        self.forget_log()
        self.assertEqual(self.coins_after(self.synced, "-reindex-chainstate", *self.hints, *more,
                                          self.made.to_tip), self.serial)
        self.assertEqual(self.work(), {})

    def test_killed_when_all_is_folded(self):
        """Without the option the old chainstate is used and all work is kept; with it no block is
        folded twice."""
        node = self.synced
        self.die_while_loading()
        kept = self.work()
        self.assertGreater(len(kept), 3)
        node.start(*self.hints)
        self.assertEqual((coins(node), self.snapshot(node, "state.dat")), self.serial)
        node.stop()
        self.assertIn("-reindex-chainstate continues it", node.log_text)
        self.assertEqual(self.work(), kept)
        self.rebuild_and_compare()
        height = self.made.terminal_height
        self.assertIn(f"resuming from a checkpoint: {height} of {height} blocks", node.log_text)
        self.assertIn("folding 0 blocks", node.log_text)

    def test_other_rules(self):
        """Blocks folded under other rules are folded again."""
        self.die_while_loading()
        self.rebuild_and_compare("-testactivationheight=bip34@1000")
        self.assertIn("belongs to other hints, options or rules", self.synced.log_text)
        self.assertNotIn("resuming from a checkpoint", self.synced.log_text)

    def test_a_block_is_damaged(self):
        """No verdict on the block: one line that says where, and all that was done stays."""
        node = self.synced
        file = node.blocks_dir / "blk00000.dat"
        sound = self.dir / "sound"
        shutil.copy(file, sound)
        data = bytearray(sound.read_bytes())
        data[60_000] ^= 1
        file.unlink()  # a link to a file that other tests use
        file.write_bytes(data)
        for args in (["-ibdboosterintervalbytes=20000", *self.hints], []):
            error = self.assert_refused(node, "-reindex-chainstate", *args, saying="-reindex")
            for part in (str(file), "offset ", "at height "):
                self.assertIn(part, error)
            if args:
                kept = self.work()
                self.assertIn("checkpoint.dat", kept)
                node.start(*self.hints)
                self.assertEqual((coins(node), self.snapshot(node, "state.dat")), self.serial)
                node.stop()
        self.assertEqual(self.work(), kept)
        file.unlink()
        os.link(sound, file)
        self.rebuild_and_compare()
        self.assertIn("resuming from a checkpoint", node.log_text)


class FewFiles(BoosterTest):
    def test_thousands_of_runs(self):
        """More runs by far than the process may have open files."""
        made = chain("--outputs", "80000", "--outputs-per-block", "20", "--tail", str(TAIL),
                     "--seed", "9")
        serial = self.coins_after(made.place(self.node()), "-reindex", made.to_tip)
        node = made.place(self.node())
        few = ("prlimit", "--nofile=256:256")
        status, errors = node.run("-reindex", f"-ibdboosterfile={made.container}", *made.trust,
                                  "-ibdboosterintervalbytes=1", "-ibdboostermem=1",
                                  "-maxconnections=8", made.to_tip, prefix=few)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("succeeded. ***", node.log_text)
        runs = re.search(r"merging (\d+) runs into", node.log_text)
        self.assertGreater(int(runs[1]), 2000)
        self.assertNotIn("starting over", node.log_text)
        node.start(prefix=few)
        self.assertEqual((coins(node), self.snapshot(node, "state.dat")), serial)
        node.stop()

    def test_too_few(self):
        node = self.node()
        self.assert_refused(node, prefix=("prlimit", "--nofile=100:100"),
                            saying="Not enough file descriptors available. 100 available, 160 "
                                   "required.")
