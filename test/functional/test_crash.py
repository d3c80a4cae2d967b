"""kill -9 at any moment of reindex, booster, serial connection and flush: the next start continues
and ends with the right chainstate. --kills says how often each test kills, --outputs how long the
chain is. The long runs, whose results bench/log has, with hints and without:

    test/functional/run.py -v --kills 200 --outputs 2100000 RandomPoints
    test/functional/run.py -v --kills 200 --outputs 2100000 OwnHintsPoints
"""

import collections
import contextlib
import hashlib
import http.client
import os
import random
import re
import shutil
import struct
import threading
import time

from framework import (NO_UNDO, FunctionalTest, RpcError, building, coins, left_by_booster,
                       wait_until)
from generated import chain
from phases import LogTail, phase_in, tell
from test_undo import undo_files

# Logged as soon as the new index says that a rebuild is under way. A kill before asks for -reindex
# again, as in Core: the index is empty beside block files.
INDEX_IS_MARKED = "Script verification uses"
KILLS = int(os.environ.get("IBD_KILLS", "6"))
OUTPUTS = os.environ.get("IBD_OUTPUTS", "250000")


class CrashTest(FunctionalTest):
    @classmethod
    def setUpClass(cls):
        cls.made = chain("--outputs", OUTPUTS, "--tail", "2100", "--seed", "5", "--shuffle", "10",
                         "--stale")
        cls.chance = random.Random(os.environ.get("IBD_SEED", "1"))

    def undisturbed(self, *args):
        """The coins of a run with `args`, and its seconds."""
        node = self.made.place(self.node())
        begin = time.monotonic()
        status, errors = node.run(*args, self.made.to_tip)
        self.assertEqual(status, 0, errors)
        seconds = time.monotonic() - begin
        node.start()
        out = coins(node)
        node.stop()
        return out, seconds

    def killed_within_time(self, node, args, longest):
        """Starts the node and kills it after up to `longest` seconds; False: it ended before."""
        node.launch(*args, self.made.to_tip)
        end = time.monotonic() + self.chance.uniform(0, longest)
        while node.running and time.monotonic() < end:
            time.sleep(0.01)
        killed = node.running
        node.kill()
        return killed

    def killed_often(self, first, again):
        """Whole runs, each of starts that are killed and of one that is not. The first start of a
        run is with `first`; starts after the mark in the index are with `again`. Times are drawn
        over half of the time of an undisturbed run, so that all phases are hit in the end."""
        wanted, seconds = self.undisturbed(*first)
        kills = 0
        while kills < KILLS:
            node = self.made.place(self.node())
            args, last = first, min(KILLS, kills + self.chance.randint(3, 10))
            while kills < last and self.killed_within_time(node, args, seconds / 2):
                kills += 1
                if INDEX_IS_MARKED in node.log_text:
                    args = again  # begun work continues by itself
            self.assertEqual(self.finish(node, args, wanted), [])

    def finish(self, node, args, wanted):
        """A start that is not killed has the coins `wanted`; returns what the booster left."""
        status, errors = node.run(*args, self.made.to_tip)
        self.assertEqual(status, 0, errors)
        node.start("-checklevel=3", "-checkblocks=20", NO_UNDO)
        self.assertEqual(coins(node), wanted)
        self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)
        node.stop()
        left = left_by_booster(node)
        shutil.rmtree(node.datadir)
        return left


class Serial(CrashTest):
    def test_serial(self):
        self.killed_often(["-reindex"], [])


class ManyFlushes(CrashTest):
    def test_serial_with_many_flushes(self):
        small = ["-dbcache=4", "-dbbatchsize=20000"]
        self.killed_often(["-reindex", *small], small)


class Crash(CrashTest):
    def booster(self, *more):
        hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust, NO_UNDO, *more]
        self.killed_often(["-reindex", *hints], hints)

    def test_booster(self):
        self.booster()

    def test_booster_spilling_and_batches(self):
        self.booster("-ibdboostermem=1", "-ibdboosterloader=batch", "-ibdboosteraggregate=muhash")

    def test_booster_over_a_chainstate(self):
        """-reindex-chainstate each time: it ignores the old chainstate once it has begun."""
        wanted, _ = self.undisturbed("-reindex")
        node = self.made.place(self.node())
        node.run("-reindex", self.made.to_tip)
        args = ["-reindex-chainstate", f"-ibdboosterfile={self.made.container}", *self.made.trust]
        begin = time.monotonic()
        node.run(*args, self.made.to_tip)
        seconds, kills = time.monotonic() - begin, 0
        while kills < KILLS:
            kills += self.killed_within_time(node, args, seconds)
        self.assertEqual(self.finish(node, args, wanted), [])

    def test_booster_changes_its_mind(self):
        """Killed in the middle, then started without hints, with other ones, with other options."""
        wanted, seconds = self.undisturbed("-reindex")
        node = self.made.place(self.node())
        hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust]
        other = [f"-ibdboosterfile={self.made.bitmap}", *self.made.trust,
                 "-ibdboosteraggregate=muhash"]
        for args in (hints, other, hints + ["-ibdboostermem=2"], other, []):
            self.killed_within_time(node, ["-reindex", *args], seconds / 2)
        self.finish(node, ["-reindex"], wanted)


class Checkpoint:
    """The contents of a checkpoint.dat and its log (doc/formats/checkpoint.md); nothing folded if
    there is none."""

    def __init__(self, path):
        self.blocks, self.bytes, self.runs = 0, 0, set()
        if not path.exists():
            return
        data = path.read_bytes()
        (height,), (sum_size,) = (struct.unpack_from("<I", data, 44),
                                  struct.unpack_from("<H", data, 82))
        at = 180 + sum_size
        self.bytes, = struct.unpack_from("<Q", data, at + 40)
        bits = data[at + 48:at + 48 + height // 8 + 1]
        self.blocks = sum(byte.bit_count() for byte in bits)
        at += 48 + len(bits)
        count, = struct.unpack_from("<I", data, at)
        numbers = [struct.unpack_from("<I", data, at + 4 + 28 * i)[0] for i in range(count)]
        self.runs = {f"run{number:06}.dat" for number in numbers}
        log = path.with_suffix(".log")
        if log.exists():
            self.replay(log.read_bytes(), data[-8:], sum_size)

    def replay(self, log, last, sum_size):
        """Reads the entries of a log, up to the first incomplete one."""
        if log[8:16] != last:
            return
        at = 16
        while at + 4 <= len(log):
            size, = struct.unpack_from("<I", log, at)
            entry, digest = log[at:at + 4 + size], log[at + 4 + size:at + 12 + size]
            last = hashlib.sha256(last + entry).digest()[:8]
            if digest != last:
                return
            self.bytes, = struct.unpack_from("<Q", entry, 4 + sum_size + 40)
            has_run = entry[4 + sum_size + 48]
            heights_at = 4 + sum_size + 49 + 28 * has_run
            if has_run:
                number, = struct.unpack_from("<I", entry, 4 + sum_size + 49)
                self.runs.add(f"run{number:06}.dat")
            self.blocks += (len(entry) - heights_at) // 4
            at += 12 + size


class Watch(threading.Thread):
    """Polls the progress of a node's booster until the node has stopped."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.seen, self.over = node, [], False
        self.start()

    def run(self):
        while not self.over:
            try:
                info = self.node.rpc("getboosterinfo")
                self.seen.append((time.monotonic(), info))
            except (OSError, http.client.HTTPException, RpcError, ValueError):
                pass  # not yet, or no longer
            time.sleep(0.001)

    @property
    def last(self):
        return self.seen[-1][1] if self.seen else {"state": "off"}


def largest_block(folder):
    """Bytes of the largest block in the block files."""
    key_file = folder / "xor.dat"
    key = key_file.read_bytes() if key_file.exists() else bytes(8)
    largest = 0
    for path in folder.glob("blk*.dat"):
        data, at = path.read_bytes(), 0
        while at + 8 <= len(data):
            head = bytes(data[at + i] ^ key[(at + i) % 8] for i in range(8))
            size, = struct.unpack_from("<I", head, 4)
            if head[:4] != bytes.fromhex("fabfb5da") or at + 8 + size > len(data):
                break
            largest, at = max(largest, size), at + 8 + size
    return largest


class RandomPoints(CrashTest):
    """Whole runs of the booster, each killed many times: at random times, and while it spills,
    makes a checkpoint, merges or publishes. Each ends with the right coins. The work lost by each
    kill is measured and is at most one checkpoint interval."""

    WAYS = [("sha256", "table", ["-ibdboostermem=1", "-ibdboosterthreads=2"]),
            ("sha256", "batch", ["-ibdboostermem=1", "-ibdboosterthreads=3"]),
            ("muhash", "table", ["-ibdboostermem=2", "-ibdboosterthreads=2"]),
            ("sha256", "table", ["-ibdboosterthreads=2"]),
            ("muhash", "batch", ["-ibdboostermem=1", "-ibdboosterthreads=2"])]
    AIMS = ["time"] * 5 + ["fold", "spill", "checkpoint", "merge", "publish"]

    def hints(self):
        return [f"-ibdboosterfile={self.made.container}", *self.made.trust, NO_UNDO]

    # Differences of a run without a hints file.

    def begin_run(self, number):
        """The number of kills in this run."""
        return self.chance.randint(3, 10)

    def aims(self, _node):
        return self.AIMS

    def end(self):
        """Options with which a start ends by itself."""
        return [self.made.to_tip]

    def is_over(self):
        """Whether a start without a rebuild has no work left."""
        return False

    def kept(self, node):
        """The state after a kill."""
        return Checkpoint(node.net_dir / "ibdbooster" / "checkpoint.dat")

    def check_end(self, node):
        """More than the right coins."""

    def setUp(self):
        super().setUp()
        self.phases = collections.Counter()
        self.lost = []  # (bytes, seconds) by kill
        self.indexed = self.dir / "index"
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", self.made.to_tip)[0], 0)
        node.start()
        self.wanted = coins(node)
        node.stop()
        self.undo_wanted = undo_files(node)
        # A block index made by -reindex, so that not every run needs to build it.
        node = self.made.place(self.node())
        node.launch("-reindex", *self.hints())
        while "Building the chainstate" not in node.log_text:
            time.sleep(0.01)
        node.kill()
        shutil.copytree(node.blocks_dir / "index", self.indexed)
        for done in ("ibdbooster", "chainstate"):  # all was folded in the same pass
            shutil.rmtree(node.net_dir / done, ignore_errors=True)
        begin = time.monotonic()
        node.run(*self.hints(), self.made.to_tip)
        self.seconds = time.monotonic() - begin
        self.total = sum(path.stat().st_size for path in self.made.blocks.glob("blk*"))
        self.interval = self.total // 16
        # An epoch ends with the block that fills it: two for each of at most three workers.
        self.slack = 6 * largest_block(self.made.blocks)

    def fresh(self, indexed):
        node = self.made.place(self.node())
        if indexed:
            shutil.copytree(self.indexed, node.blocks_dir / "index")
        return node

    # The moments of kills: each gives a function that is true when it is time.

    def at_time(self, _node, _watch, seconds):
        end = time.monotonic() + self.chance.uniform(0, seconds)
        return lambda: time.monotonic() > end

    def at_fold(self, _node, watch, _seconds):
        part = self.chance.random()

        def there():
            info = watch.last
            left = self.made.terminal_height - info.get("resumed", 0)
            return info["state"] == "folding" and \
                info["folded"] >= info["resumed"] + part * left
        return there

    def at_spill(self, node, _watch, _seconds):
        folder, left = node.net_dir / "ibdbooster", self.chance.randint(1, 4)
        known = {path.name for path in folder.glob("run*")}

        def there():
            try:
                names = {name for name in os.listdir(folder) if name.startswith("run")}
            except FileNotFoundError:
                return False
            return len(names - known) >= left
        return there

    def at_checkpoint(self, node, _watch, _seconds):
        path = str(node.net_dir / "ibdbooster" / "checkpoint.log")
        left = [self.chance.randint(1, 4), None]  # changes to wait for, its size before

        def there():
            try:
                size = os.path.getsize(path)
            except FileNotFoundError:
                size = None
            left[0] -= size != left[1]
            left[1] = size
            return left[0] <= 0
        return there

    def soon_after(self, paths, seconds):
        end = []

        def there():
            if not end and any(map(os.path.exists, paths)):
                end.append(time.monotonic() + self.chance.uniform(0, seconds))
            return bool(end) and time.monotonic() >= end[0]
        return there

    def at_merge(self, node, _watch, _seconds):
        return self.soon_after([building(node) / "new", building(node) / "batch"], 0.2)

    def at_publish(self, node, _watch, _seconds):
        return self.soon_after([building(node) / "new" / "CURRENT",
                                node.net_dir / "chainstate" / "CURRENT"], 0.01)

    def kill_once(self, node, args, aim, seconds):
        """Starts it and kills it there; False if it finished before."""
        kept = self.kept(node)
        self.tail = LogTail(node)
        node.launch(*args, *self.end())
        watch = Watch(node)
        there = getattr(self, f"at_{aim}")(node, watch, seconds)
        while node.running and not self.is_over() and not there():
            time.sleep(0)
        killed = node.running and not self.is_over()
        node.kill()
        died = time.monotonic()
        watch.over = True
        watch.join()
        self.check_resume(self.tail.new, kept)
        if killed:
            self.account(node, watch, died)
        return killed

    def check_resume(self, log, kept):
        """The start logs the state that the kill before had left."""
        self.assertNotIn("cannot go on", log)
        self.assertNotIn("validating serially", log)
        if "Booster: folding " in log and kept.blocks:
            self.assertIn(f"resuming from a checkpoint: {kept.blocks} of "
                          f"{self.made.terminal_height} blocks folded, {kept.bytes} bytes", log)

    def account(self, node, watch, died):
        kept = Checkpoint(node.net_dir / "ibdbooster" / "checkpoint.dat")
        phase = self.phase(node, watch.last["state"], kept)
        self.phases[phase] += 1
        folding = [(when, info["bytes"]) for when, info in watch.seen
                   if info["state"] == "folding"]
        if not folding or phase not in ("folding", "spilling", "checkpoint"):
            return
        lost = max(0, folding[-1][1] - kept.bytes)
        began = max([when for when, done in folding if done <= kept.bytes],
                    default=folding[0][0])
        self.lost.append((lost, died - began if lost else 0))
        self.assertLessEqual(lost, self.interval + self.slack)

    @staticmethod
    def phase(node, state, kept):
        """Its phase, judged by the files on disk and its last output."""
        folder = node.net_dir
        runs = {path.name for path in folder.glob("ibdbooster/run*")}
        if (building(node) / "new" / "CURRENT").exists() or (
                (folder / "chainstate").exists() and
                (runs or (folder / "ibdbooster" / "checkpoint.dat").exists())):
            return "publishing"
        if (building(node) / "new").exists() or (building(node) / "batch").exists():
            return "merging"
        if (folder / "ibdbooster" / "checkpoint.dat.new").exists():
            return "checkpoint"
        if runs - kept.runs:
            return "spilling"
        if (folder / "chainstate").exists():
            return "connecting"
        return state if state in ("folding", "judging") else "starting"

    def test_random_points(self):
        begin, number, kills, again = time.monotonic(), 0, 0, 0
        while kills < KILLS:
            aggregate, loader, more = self.WAYS[number % len(self.WAYS)]
            node = self.fresh(indexed=number % 4 != 0)
            wanted = min(KILLS - kills, self.begin_run(number))
            options = [*self.hints(), *more, f"-ibdboosteraggregate={aggregate}",
                       f"-ibdboosterloader={loader}",
                       f"-ibdboosterintervalbytes={self.interval}"]
            args = options if number % 4 else ["-reindex", *options]
            seconds = self.seconds * (5 if aggregate == "muhash" else 1)
            in_a_row = 0
            while in_a_row < wanted and \
                    self.kill_once(node, args, self.chance.choice(self.aims(node)), seconds):
                in_a_row += 1
                seconds *= 0.7
                if "Reindexing blocks on disk" in node.log_text:
                    args = options  # begun work continues by itself
            kills, again, number = kills + in_a_row, again + max(0, in_a_row - 1), number + 1
            self.end_run(node, args)
        self.report(kills, again, number, time.monotonic() - begin)

    def end_run(self, node, args):
        kept = self.kept(node)
        self.tail = LogTail(node)
        node.start(*args)
        node.wait_for_tip(self.made.tip)
        self.check_resume(self.tail.new, kept)
        self.assertEqual(coins(node), self.wanted)
        self.check_end(node)
        node.stop()
        self.assertEqual(left_by_booster(node), [])
        self.assertEqual(list(node.net_dir.glob("chainstate.*")), [])
        shutil.rmtree(node.datadir)

    def report(self, kills, again, runs, seconds):
        print(f"{kills} kills in {runs} runs, {again} of them of a start that went on after one, "
              f"{seconds:.0f} s; right coins after each run")
        tell(self.phases)
        if self.lost:
            most, longest = max(lost for lost, _ in self.lost), max(s for _, s in self.lost)
            mean = sum(lost for lost, _ in self.lost) / len(self.lost)
            print(f"  work lost while folding: {mean / 1e6:.1f} MB on average, at most "
                  f"{most / 1e6:.1f} MB of an interval of {self.interval / 1e6:.1f} MB (and at "
                  f"most {self.slack / 1e6:.1f} MB more, as blocks are whole); "
                  f"at most {longest:.1f} s")


class OwnHintsPoints(RandomPoints):
    """The same without a hints file: the join that makes the hints is killed too, also while it
    checks blocks against the rules. In the runs that keep undo data its making is killed too."""

    AIMS = ["time"] * 5 + ["read", "join", "written", "fold", "merge", "publish"]
    # Options of a run, and where else it is killed, before there is a chainstate and then.
    BACKGROUND = ["-ibdboosterundo=1"]
    UNDO = [([NO_UNDO], ["checking"] * 2, []),
            (BACKGROUND, ["checking"] * 2, ["last", "undo", "undo"]),
            (["-ibdboosterundo=now"], ["undo"], ["undo"]),
            (["-ibdboosterundo=now", "-ibdboosterchecks=0"], ["undo"], ["undo"])]
    undo, early, late = UNDO[0]
    idle_since = None

    def hints(self):
        return ["-ibdbooster", *self.made.trust, *self.undo]

    def begin_run(self, number):
        self.undo, self.early, self.late = self.UNDO[number % len(self.UNDO)]
        return min(super().begin_run(number), max(1, KILLS // 3))  # some of each, however few

    def aims(self, node):
        if self.late and (node.net_dir / "chainstate" / "CURRENT").exists():
            return ["time", *self.late]
        return self.AIMS + self.early

    def end(self):
        return [] if self.undo == self.BACKGROUND else super().end()

    def is_over(self):
        if self.undo != self.BACKGROUND:
            return False
        log = self.tail.new
        if "Undo data: all blocks" in log:
            return True
        # All may have been there already, because of a kill before that line.
        idle = "Done loading" in log and "Undo data: making" not in log
        self.idle_since = (self.idle_since or time.monotonic()) if idle else None
        return idle and time.monotonic() > self.idle_since + 1

    def at_read(self, _node, watch, _seconds):
        part = self.chance.random()

        def there():
            join = watch.last.get("join", {})
            return join.get("phase") == "reading" and join["bytes"] >= part * join["totalbytes"]
        return there

    def at_join(self, node, watch, _seconds):
        incomplete = node.net_dir / "ibdbooster" / "own.hints.incomplete"
        names = ["joining", "writing"]

        def there():
            if watch.last.get("join", {}).get("phase") in names:
                return True
            with contextlib.suppress(FileNotFoundError):
                return incomplete.stat().st_size > 0
            return False
        return there

    def at_written(self, node, _watch, _seconds):
        return self.soon_after([node.net_dir / "ibdbooster" / "own.hints"], 0.05)

    def in_phase(self, wanted, seconds):
        """By the log, as a phase may end before RPC shows it."""
        end = []

        def there():
            if not end and phase_in(self.tail.new) == wanted:
                end.append(time.monotonic() + self.chance.uniform(0, seconds))
            return bool(end) and time.monotonic() >= end[0]
        return there

    def at_checking(self, _node, _watch, _seconds):
        return self.in_phase("join: joined", self.seconds / 30)

    def at_last(self, _node, _watch, _seconds):
        return self.in_phase("undo: of the last blocks", self.seconds / 10)

    def at_undo(self, _node, _watch, _seconds):
        return self.in_phase("undo: making", self.seconds / 3)

    def joined(self, node):
        """Bytes of blocks that the state of the join says are read (doc/formats/spill.md)."""
        folder = node.net_dir / "ibdbooster"
        for path in (folder / "undo" / "join.dat", folder / "join.dat"):
            with contextlib.suppress(FileNotFoundError):
                data = path.read_bytes()
                self.assertEqual(data[:8], b"ibdjoin\x09", "another version: where is the field?")
                joined, = struct.unpack_from("<Q", data, 150)
                self.assertLessEqual(joined, self.total)
                return joined
        return 0

    def kept(self, node):
        kept = super().kept(node)
        kept.joined = self.joined(node)
        return kept

    def check_resume(self, log, kept):
        super().check_resume(log, kept)
        for text in "made anew", "starting over", "cannot go on":
            self.assertNotIn(text, log)
        first = re.search(r"Join: (reading \d|resuming: \d+ of \d+ blocks are read, (\d+))", log)
        if first:
            self.assertEqual(int(first[2] or 0), kept.joined)

    def account(self, node, watch, died):
        phase = phase_in(self.tail.new)
        if not phase.startswith(("join: ", "undo: ")):
            super().account(node, watch, died)
            return
        if phase == "join: joined":  # with undo data first the rules are for later
            phase = "join: writing" if self.early == ["undo"] else "join: checking"
        if phase == "undo: making":
            phase = "undo: writing" if self.has_records(watch) else "undo: fetching"
        self.phases[phase + ("" if self.undo == [NO_UNDO] else " (undo data is kept)")] += 1
        reading = [info["join"]["bytes"] for _, info in watch.seen if "join" in info]
        if phase == "join: reading" and reading:
            lost = max(0, reading[-1] - self.joined(node))
            self.lost.append((lost, 0))
            # Each of the four steps at stake ends with a block of each worker.
            self.assertLessEqual(lost, self.interval + 2 * self.slack)

    @staticmethod
    def has_records(watch):
        """Whether undo data was handed on; that of the last blocks, made before, does not count."""
        heights = [info["undo"]["height"] for _, info in watch.seen if "undo" in info]
        begin = max((i for i in range(1, len(heights)) if heights[i] < heights[i - 1]), default=0)
        return len(set(heights[begin:])) > 1

    def check_end(self, node):
        """Undo data of every block, where it is kept; the very files, if it comes first."""
        if self.undo == [NO_UNDO]:
            return
        if self.undo == self.BACKGROUND:
            # The work's files are removed after the last undo data is written.
            wait_until(lambda: not left_by_booster(node) and node.rpc("verifychain", 4, 0),
                       "undo data")
        else:
            self.assertTrue(node.rpc("verifychain", 4, 0))
            self.assertEqual(undo_files(node).keys(), self.undo_wanted.keys())
            for name, data in undo_files(node).items():
                self.assertTrue(data == self.undo_wanted[name], f"{name} differs")


class Interrupt(FunctionalTest):
    def test_terminate_and_go_on(self):
        """SIGTERM in the middle is a clean end, from which it continues."""
        made = chain("--outputs", OUTPUTS, "--tail", "2100", "--seed", "5", "--shuffle", "10",
                     "--stale")
        node = made.place(self.node())
        hints = [f"-ibdboosterfile={made.container}", *made.trust]
        chance = random.Random(2)
        args = ["-reindex", *hints]
        for _ in range(KILLS):
            node.launch(*args)
            time.sleep(chance.uniform(0.05, 1.0))
            node.process.terminate()
            status, errors = node.wait()
            if status == -15:  # before it had set up its signals
                continue
            self.assertEqual((status, "Error" in errors), (0, False), errors)
            self.assertIn("Shutdown done", node.log_text.splitlines()[-1])
            if (node.blocks_dir / "index" / "CURRENT").exists():
                args = hints
        node.start(*args)
        node.wait_for_tip(made.tip)
        got = coins(node)
        node.stop()
        serial = made.place(self.node())
        serial.start("-reindex")
        serial.wait_for_tip(made.tip)
        self.assertEqual(coins(serial), got)
