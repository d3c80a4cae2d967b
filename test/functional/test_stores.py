"""Stores in directories of their own (-chainstatedir, -indexdir): each way to make, rebuild and
move them, kills, older copies, and disks that are not there."""

import os
import pathlib
import random
import shutil
import tempfile
import time

from framework import FunctionalTest, StartError, coins, free_port, wait_until
from generated import small_chain
from snapshot_chain import BASE, TIP, SnapshotTest

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

    def records(self, node):
        """The data directory's notes of stores outside of it."""
        return sorted(path.name for path in node.net_dir.glob("*dir.txt"))

    def assert_apart(self, node):
        """Each store is only in its directory."""
        self.assertEqual(self.records(node), ["chainstatedir.txt", "indexdir.txt"])
        self.assertEqual(self.names(self.coins_folder.parent), [".lock", "chainstate"])
        self.assertEqual(self.names(self.index_folder.parent), [".lock", "indexes"])
        self.assertTrue((self.coins_folder / "CURRENT").exists())
        self.assertTrue((self.index_folder / "txindex" / "CURRENT").exists())
        folders = {path.name for path in node.net_dir.iterdir() if path.is_dir()}
        self.assertEqual(folders - {"blocks", "wallets", "hints", "ibdbooster"}, set())

    def assert_synced(self, node):
        wanted = {"synced": True, "best_block_height": self.made.height}
        wait_until(lambda: list(node.rpc("getindexinfo").values()) == [wanted] * len(INDEXES),
                   "the indexes are synced")


class Built(Apart):
    """With the chainstate on another file system, if this machine has one in memory."""

    def setUp(self):
        super().setUp()
        if os.access("/dev/shm", os.W_OK):
            disk = tempfile.TemporaryDirectory(prefix="ibd-stores-", dir="/dev/shm",
                                               ignore_cleanup_errors=True)
            self.addCleanup(disk.cleanup)
            self.fast = pathlib.Path(disk.name)
            self.apart = (f"-chainstatedir={self.fast}", self.apart[1])

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


class Moved(Apart):
    """A node whose stores were moved after some starts in the data directory."""

    def setUp(self):
        super().setUp()
        self.main = self.new(*INDEXES)
        self.main.start("-reindex", *self.hints).wait_for_tip(self.made.tip)
        self.assert_synced(self.main)
        self.coins = coins(self.main)
        self.main.stop()
        for disk in (self.fast, self.large):
            (disk / "regtest").mkdir()
        self.assertEqual(self.records(self.main), [])

    def move_out(self):
        self.main.net_dir.joinpath("chainstate").rename(self.coins_folder)
        self.main.net_dir.joinpath("indexes").rename(self.index_folder)

    def move_back(self):
        self.coins_folder.rename(self.main.net_dir / "chainstate")
        self.index_folder.rename(self.main.net_dir / "indexes")

    def log_of(self, *args):
        """The log after a start that builds nothing: coins and indexes are those of the first."""
        (self.main.net_dir / "debug.log").unlink()
        self.main.start(*args)
        self.assert_synced(self.main)
        self.assertEqual(coins(self.main), self.coins)
        self.main.stop()
        log = self.main.log_text
        self.assertNotIn("Index build", log)
        self.assertNotIn("UpdateTip", log)
        return log

    def numbers(self):
        marks = (self.coins_folder, self.index_folder)
        return [(folder / "store-mark.txt").read_text().splitlines()[1] for folder in marks]

    def test_out_and_back(self):
        self.assert_refused(self.main, *self.apart, saying="start without -chainstatedir, or move")
        self.move_out()
        for n in (1, 2):
            self.log_of(*self.apart)
            self.assertEqual(self.numbers(), [f"starts={n}"] * 2)
        self.assert_refused(self.main, saying=f"start with -chainstatedir={self.fast}, or move")
        self.main.start(*self.apart).kill()
        self.log_of(*self.apart)
        self.move_back()
        log = self.log_of()
        self.assertIn(f"'chainstate' moved from '{self.fast / 'regtest'}' to "
                      f"'{self.main.net_dir}' since the last start", log)
        self.assertEqual(self.records(self.main), [])
        self.assertEqual(list(self.main.net_dir.rglob("store-mark.txt*")), [])
        self.move_out()
        self.log_of(*self.apart)

    def test_older_copies(self):
        self.move_out()
        self.log_of(*self.apart)
        old = self.dir / "old"
        shutil.copytree(self.coins_folder, old / "chainstate")
        shutil.copytree(self.index_folder, old / "indexes")
        self.log_of(*self.apart)
        for name, folder in (("indexes", self.index_folder), ("chainstate", self.coins_folder)):
            shutil.rmtree(folder)
            shutil.copytree(old / name, folder)
            self.assert_refused(self.main, *self.apart,
                                saying=f"'{folder}' is an older copy: it is of start 1 of this "
                                       f"node, but '{self.main.net_dir}' is of start 2. Put")
        for options in (("-reindex-chainstate", *self.hints), ("-reindex", *self.hints)):
            shutil.rmtree(self.coins_folder)
            shutil.copytree(old / "chainstate", self.coins_folder)
            self.assert_refused(self.main, *self.apart, saying="older copy")
            alone = [] if "-reindex" in options else [f"{name}=0" for name in INDEXES]
            self.main.start(*self.apart, *options, *alone).wait_for_tip(self.made.tip)
            if not alone:
                self.assert_synced(self.main)
            self.assertEqual(coins(self.main), self.coins)
            self.main.stop()
        self.assertIn("is an older copy: it is of start 1", self.main.log_text)
        self.assertIn(": it is rebuilt\n", self.main.log_text)
        self.log_of(*self.apart)

    def key(self):
        """The key of the chainstate's values, which a rebuild changes, in the last start."""
        told = f"Using obfuscation key for {self.coins_folder}: "
        return self.main.log_text.rpartition(told)[2].split("\n")[0]

    def test_killed_rebuild_of_an_older_copy(self):
        """A start without the rebuild refuses the older copy until the rebuilt coins are there."""
        self.move_out()
        self.log_of(*self.apart)
        old, before = self.dir / "old", self.key()
        shutil.copytree(self.coins_folder, old)
        self.log_of(*self.apart)
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        alone = [f"{name}=0" for name in INDEXES]
        for options in (self.hints, ("-ibdbooster=0", *self.made.trust)):
            for _ in range(KILLS):
                shutil.rmtree(self.coins_folder)
                shutil.copytree(old, self.coins_folder)
                self.main.launch(*self.apart, "-reindex-chainstate", *options, *alone)
                time.sleep(chance.uniform(0, 0.5))
                self.main.kill()
                self.main.launch(*self.apart, *alone)
                try:
                    self.main.wait_for_rpc()
                except StartError as refused:
                    self.assertIn("is an older copy", str(refused))
                    continue
                self.assertNotEqual(self.key(), before)
                self.main.stop()
        self.main.start(*self.apart, "-reindex", *self.hints).wait_for_tip(self.made.tip)
        self.assert_synced(self.main)
        self.assertEqual(coins(self.main), self.coins)
        self.main.stop()

    def test_disk_is_not_mounted(self):
        self.move_out()
        self.log_of(*self.apart)
        away = self.dir / "away"
        self.fast.rename(away)
        for options in (self.apart, ("-reindex-chainstate", *self.apart)):
            self.assert_refused(self.main, *options, saying='Specified chainstate directory "'
                                                            f'{self.fast}" does not exist.')
        self.assert_refused(self.main, self.apart[1], saying="There is no 'chainstate' in '"
                            f"{self.fast / 'regtest'}', where the last start used it: mount")
        self.fast.mkdir()  # the mount point without its disk
        self.assert_refused(self.main, *self.apart, saying="where the last start used it: mount")
        self.assertEqual(self.names(self.fast / "regtest"), [".lock"])
        # The user can do without the disk.
        self.main.start("-reindex-chainstate", self.apart[1], *self.hints)
        self.main.wait_for_tip(self.made.tip).stop()
        self.assertEqual(self.records(self.main), ["indexdir.txt"])
        shutil.rmtree(self.fast)
        away.rename(self.fast)
        self.assert_refused(self.main, *self.apart, saying="both exist: move the one away")

    def test_snapshot_beside_it(self):
        """The folder of a snapshot is a part of the chainstate."""
        self.move_out()
        self.log_of(*self.apart)
        (self.main.net_dir / "chainstate_snapshot").mkdir()
        (self.main.net_dir / "chainstate_snapshot" / "base_blockhash").write_bytes(bytes(32))
        self.assert_refused(self.main, *self.apart, saying="chainstate_snapshot' both exist")


class OfSnapshots(SnapshotTest):
    def test_snapshot(self):
        """The coins of a snapshot are beside the chainstate, and take its place and its mark."""
        fast = self.dir / "fast"
        fast.mkdir()
        args = (f"-chainstatedir={fast}",)
        node = self.loaded(*args)
        self.send(node, BASE + 1, TIP + 1)
        node.stop()
        self.assertEqual(sorted(path.name for path in (fast / "regtest").iterdir()),
                         [".lock", "chainstate", "chainstate_snapshot"])
        self.assertEqual(list(node.net_dir.glob("chainstate*")),
                         [node.net_dir / "chainstatedir.txt"])
        node.args.remove(args[0])
        self.assert_refused(node, saying=f"is '{fast / 'regtest' / 'chainstate'}': start with")
        self.send(node.start(*args), 1, BASE + 1)
        self.assert_proven(node)
        node.stop()
        self.assertEqual(sorted(path.name for path in (fast / "regtest").iterdir()),
                         [".lock", "chainstate"])
        self.assert_proven(node.start(*args))
        node.stop()


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
