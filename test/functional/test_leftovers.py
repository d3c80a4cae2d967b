"""Files that a killed node or call leaves: each later start, with any options, continues the work,
removes it, or logs its size in one line. Killed at each step of each way to rebuild, then started
with each other set of options."""

import concurrent.futures
import contextlib
import os
import random
import re
import shutil
import time

from framework import NO_UNDO, ROOT, building, coins, wait_until
from generated import medium_chain, small_chain
from phases import LogTail, phase_in
from test_own_hints import OwnHintsTest

# All names that the node gives in the booster's folder, as in doc/troubleshooting.md.
NAMES = re.compile(r"(run\d{6,}|spill\d{6,}|join|checkpoint)\.dat|checkpoint\.log|own\.hints"
                   r"(\.incomplete)?|fullvalidation\.txt|(bad|suspect)hints\.txt|\.lock")
KEPT = {"badhints.txt", "suspecthints.txt", ".lock"}  # they stay, and are small
HALF_WRITTEN = ["ibdbooster/checkpoint.dat.new", "ibdbooster/fullvalidation.txt.new",
                "ibdbooster/checkpoint.log", "ibdbooster/run000000.dat",  # without checkpoint.dat
                "ibdbooster/join.dat.new", "ibdbooster/badhints.txt.new",
                "ibdbooster/suspecthints.txt.new",
                "ibdbooster/undo/join.dat.new", "hints/keeping.part", "hints/keeping.part.gaps",
                f"hints/swifthints-{'ab' * 32}.hints.part",
                f"hints/swifthints-{'ab' * 32}.hints.part.gaps"]


def format_bytes(size):
    """As the log has it."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if round(size / scale * 10) >= 10:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"


class LeftoversTest(OwnHintsTest):
    def work_left(self, node):
        """Files of the booster's folder and of those below it, by path."""
        folder = node.net_dir / "ibdbooster"
        return {path: path.stat().st_size for path in folder.rglob("*")
                if path.is_file() and path.name not in KEPT}

    def assert_explained(self, node, log):
        """Each remaining file has a name of the list, and the log of this start has its size."""
        left = self.work_left(node)
        for path in left:
            self.assertRegex(path.name, f"^({NAMES.pattern})$")
        self.assertFalse(building(node).exists())
        if left:
            told = re.findall(r"keeps (?:an unfinished rebuild )?\(?([\d.]+ (?:[kMG]B|bytes))",
                              log)
            self.assertEqual(told, [format_bytes(sum(left.values()))], (left, log))


class Kills(LeftoversTest):
    INTERVAL = "-ibdboosterintervalbytes=2000000"

    def setUp(self):
        super().setUp()
        self.made = medium_chain()
        self.other_hints = small_chain(8000).container
        self.main = self.indexed(self.made)
        self.main.start("-ibdbooster=0", NO_UNDO)
        self.wanted = coins(self.main)
        self.main.stop()
        self.chance = random.Random(os.environ.get("IBD_SEED", "1"))
        trust = self.made.trust
        self.given = [f"-ibdboosterfile={self.made.container}", *trust, NO_UNDO, self.INTERVAL]
        self.own = ["-ibdbooster", *trust, NO_UNDO, self.INTERVAL]
        self.others = [[], ["-ibdbooster=0"], trust, self.given, self.own, ["-prune=550"],
                       [f"-ibdboosterfile={self.other_hints}", *trust],
                       ["-reindex-chainstate"], ["-reindex-chainstate", "-ibdbooster=0"],
                       ["-reindex-chainstate", *self.given], ["-reindex-chainstate", *self.own],
                       ["-reindex-chainstate", "-ibdbooster", *trust, "-ibdboosterundo=now"]]

    def kill_in(self, args, phase):
        """Killed once its log says that it is there; False if it was never seen there."""
        (self.main.net_dir / "debug.log").unlink(missing_ok=True)
        tail = LogTail(self.main)
        self.main.launch("-reindex-chainstate", *args, self.made.to_tip)
        while self.main.running and phase_in(tail.new) != phase:
            time.sleep(0)
        time.sleep(self.chance.uniform(0, 0.02))
        met = self.main.running
        self.main.kill()
        return met

    def check(self, args, phases):
        for phase in phases:
            for _ in range(5):
                if self.kill_in(args, phase):
                    break
            else:
                self.fail(f"never killed while {phase}")
            self.assertTrue(self.work_left(self.main))
            saved = self.dir / "saved"
            self.main.datadir.rename(saved)
            for other in self.others:
                with self.subTest(phase=phase, other=other):
                    shutil.copytree(saved, self.main.datadir)
                    (self.main.net_dir / "debug.log").unlink()
                    self.main.start(*other).wait_for_tip(self.made.tip)
                    self.assertEqual(coins(self.main), self.wanted)
                    self.main.stop()
                    self.assert_explained(self.main, self.main.log_text)
                    shutil.rmtree(self.main.datadir)
            saved.rename(self.main.datadir)
            shutil.rmtree(self.main.net_dir / "ibdbooster")

    def test_given_hints(self):
        self.check(self.given, ["folding", "merging"])

    def test_own_hints(self):
        self.check(self.own, ["join: reading", "join: joining", "folding"])

    def test_own_hints_and_undo_data(self):
        args = [arg for arg in self.own if arg != NO_UNDO]
        self.check([*args, "-ibdboosterundo=now"], ["join: reading", "undo: making"])


    def test_pairs_of_a_killed_fold(self):
        """If undo data is missing, a start without the booster makes it from them. Then they are
        deleted, and the rest of the rebuild is kept."""
        for path in self.main.blocks_dir.glob("rev*"):
            path.unlink()
        self.main.start("-reindex", *self.own).wait_for_tip(self.made.tip).stop()
        pairs = self.main.net_dir / "ibdbooster" / "undo" / "join.dat"
        keeping = [arg for arg in self.own if arg != NO_UNDO]
        wait_until(lambda: self.kill_in(keeping, "folding") and pairs.exists(), "a kill in a fold")
        self.main.start("-ibdbooster=0").wait_for_tip(self.made.tip)
        wait_until(lambda: not pairs.parent.exists(), "the end of the pairs")
        wait_until(lambda: "undo" not in self.main.rpc("getboosterinfo"), "the end of undo data")
        self.main.stop()
        self.assertIn("Undo data: all blocks up to height", self.main.log_text)
        (self.main.net_dir / "debug.log").unlink()
        self.main.start("-ibdbooster=0").stop()
        self.assert_explained(self.main, self.main.log_text)
        self.assertIn("own.hints", {path.name for path in self.work_left(self.main)})


class OtherPlaces(LeftoversTest):
    def test_another_folder_for_the_booster(self):
        """A start without -ibdboosterdir, or with another, logs the files of the one before."""
        made = small_chain()
        node = self.indexed(made)
        node.start().stop()  # databases rewrite their logs, before files have a limit
        folders = [[], [f"-ibdboosterdir={self.dir / 'a'}"], [f"-ibdboosterdir={self.dir / 'b'}"]]
        for begun in folders:
            for other in folders:
                with self.subTest(begun=begun, other=other):
                    self.fold_only(node, made, begun)
                    (node.net_dir / "debug.log").unlink()
                    node.start(*other, NO_UNDO).stop()
                    told = "of an unfinished rebuild with another" in node.log_text
                    self.assertEqual(told, begun != other)
                    self.assertIn("of an unfinished rebuild", node.log_text)
                    node.start("-reindex-chainstate", "-ibdbooster=0", *begun)
                    node.wait_for_tip(made.tip).stop()
                    node.start(*other, NO_UNDO).stop()
                    last = node.log_text.rpartition("ibd-booster version")[2]
                    self.assertNotIn("of a rebuild that", last)

    def fold_only(self, node, made, options):
        """All blocks are folded; a table of the chainstate is larger than a file may be."""
        (node.net_dir / "debug.log").unlink()
        status, _ = node.run("-reindex-chainstate", f"-ibdboosterfile={made.container}",
                             *made.trust, *options, NO_UNDO, "-ibdboosterintervalbytes=20000",
                             "-ibdboosterthreads=1", prefix=("prlimit", "--fsize=60000"))
        self.assertNotEqual(status, 0)
        self.assertTrue("all checks passed" in node.log_text)

    def test_hints_of_peers(self):
        made = small_chain()
        node = self.indexed(made)
        part = node.net_dir / "hints" / f"{'ab' * 32}.part"
        part.parent.mkdir()
        part.write_bytes(bytes(3000))
        (part.parent / "mine.part").write_bytes(bytes(10))
        node.start().stop()
        self.assertEqual(node.log_text.count("part' (3.0 kB) is an unfinished download"), 1)
        self.assertNotIn("mine.part", node.log_text)


class Dumps(LeftoversTest):
    """Calls that write a file: theirs goes when they or the node end, and only theirs."""

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.main = self.indexed(self.made)
        self.calls = [("dumptxoutset", "latest"), ("dumptxouthints", self.made.terminal_height)]

    def names(self):
        return {path.name for path in self.main.net_dir.iterdir()}

    def test_names_that_are_taken(self):
        self.main.start()
        before = self.names() | {"unfinished", "hints", "ibdbooster"}
        mine = self.dir / "mine"
        mine.write_text("mine")
        for method, argument in self.calls:
            for ending in (".incomplete", ".incomplete.gaps"):
                taken = self.main.net_dir / f"dump{ending}"
                for make in (lambda path: path.write_text("mine"),
                             lambda path: path.symlink_to(mine),
                             lambda path: path.symlink_to(self.dir / "nowhere"), os.mkfifo):
                    make(taken)
                    if (method, ending) != ("dumptxoutset", ".incomplete.gaps"):
                        self.assert_rpc_error(-8, "Couldn't open file", self.main.rpc, method,
                                              "dump", argument)
                    self.assertTrue(os.path.lexists(taken))
                    taken.unlink()
                    self.assertEqual(mine.read_text(), "mine")
            self.main.rpc(method, "dump", argument)
            (self.main.net_dir / "dump").unlink()
        self.assert_rpc_error(-8, "out of range", self.main.rpc, "dumptxouthints", "dump", 10**6)
        self.assertEqual(self.names() - before, set())
        self.assertEqual(list((self.main.net_dir / "unfinished").iterdir()), [])
        self.main.stop()

    def kill_while(self, method, argument):
        """True: killed while the file was being written."""
        incomplete = self.main.net_dir / "dump.incomplete"
        self.main.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            call = pool.submit(self.main.rpc, method, "dump", argument)
            while not call.done() and not incomplete.exists():
                time.sleep(0)
            self.main.kill()
            with contextlib.suppress(Exception):
                call.result()
        return incomplete.exists()

    def test_killed(self):
        for method, argument in self.calls:
            while not self.kill_while(method, argument):
                (self.main.net_dir / "dump").unlink(missing_ok=True)
            size = (self.main.net_dir / "dump.incomplete").stat().st_size
            (self.main.net_dir / "debug.log").unlink()
            self.main.start("-ibdbooster=0")
            self.assertIn(f"dump.incomplete' ({format_bytes(size)}), which a call was writing",
                          self.main.log_text)
            self.assertFalse(list(self.main.net_dir.glob("dump*")))
            self.main.rpc(method, "dump", argument)
            self.main.stop()
            (self.main.net_dir / "dump").unlink()


class OthersFolders(LeftoversTest):
    def test_a_folder_undo_in_the_one_that_the_node_uses(self):
        """Only files of the names that the node gives go, and no folder that holds others."""
        made = small_chain()
        node = self.indexed(made)
        folder = node.net_dir / "ibdbooster"
        (folder / "undo").mkdir(parents=True)
        mine = ["photo", "run7.dat", "spill.dat", "undo/join.dat.mine", "undo/photo"]
        for name in mine:
            (folder / name).write_text("mine")
        node.start("-reindex", "-ibdbooster", "-ibdboosterundo=now", *made.trust)
        node.wait_for_tip(made.tip)
        node.stop()
        self.assertTrue("Undo: making that of blocks 1 to" in node.log_text)
        self.assertEqual(sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                                if path.is_file() and path.name != ".lock"), mine)


class HalfWritten(LeftoversTest):
    def test_what_was_being_written(self):
        """They are removed with one log line under any options; files of other programs with
        similar names stay."""
        made = small_chain()
        node = self.indexed(made)
        mine = ["ibdbooster/photo.new", "ibdbooster/run1.dat", "ibdbooster/undo/photo",
                "hints/mine.hints.part", "hints/keeping", "hints/swifthints-ab.hints.part"]
        for args in ([], ["-ibdbooster=0"], ["-reindex-chainstate", "-ibdbooster=0"],
                     ["-reindex-chainstate", f"-ibdboosterfile={made.container}", *made.trust]):
            with self.subTest(args=args):
                for name in [*HALF_WRITTEN, *mine]:
                    path = node.net_dir / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(bytes(1000))
                (node.net_dir / "debug.log").unlink()
                node.start(*args, NO_UNDO).wait_for_tip(made.tip)
                node.stop()
                self.assertEqual([n for n in HALF_WRITTEN if (node.net_dir / n).exists()], [])
                self.assertEqual([n for n in mine if not (node.net_dir / n).exists()], [])
                said = re.findall("removing files that a crash left unfinished: (.*)",
                                  node.log_text)
                self.assertEqual(len(said), 1)
                sizes = [float(size) for size in re.findall(r"\((\d+\.\d) kB\)", said[0])]
                self.assertEqual(sum(sizes), len(HALF_WRITTEN))

    def test_the_table_has_all(self):
        text = (ROOT / "doc" / "troubleshooting.md").read_text()
        table = text.partition("## What a killed node leaves")[2].replace("*", "ab" * 32)
        for name in [*HALF_WRITTEN, "spill000000.dat", "checkpoint.dat", "join.dat", "own.hints",
                     "own.hints.incomplete", "fullvalidation.txt", *KEPT]:
            name = name.rpartition("/")[2].removesuffix(".gaps")
            self.assertIn(f"`{name}`", table)
