"""The booster end to end: the chainstate it builds is serial validation's, coin for coin."""

import contextlib
import fcntl
import http.client
import os
import re
import shutil
import struct
import subprocess
import termios

import golden
from framework import (NO_UNDO, FunctionalTest, RpcError, building, coins, left_by_booster,
                       run_tool, tree_digest, wait_until)
from generated import chain, large_chain, small_chain
from test_undo import CANNOT_DISCONNECT, branch_of, hand_in

WAYS = [(aggregate, loader) for aggregate in ("sha256", "muhash") for loader in ("table", "batch")]
SUCCESS = {"sha256": "SHA256", "muhash": "MuHash"}


def booster(file, aggregate="sha256", loader="table"):
    return ["-reindex-chainstate", f"-ibdboosterfile={file}", f"-ibdboosteraggregate={aggregate}",
            f"-ibdboosterloader={loader}"]


class BoosterTest(FunctionalTest):
    def snapshot(self, node, name):
        """Bytes of a dumptxoutset file: every coin, in order."""
        path = self.dir / name
        path.unlink(missing_ok=True)
        node.rpc("dumptxoutset", str(path), "latest")
        return path.read_bytes()

    def coins_after(self, node, *args):
        """Runs to the end given by the arguments, then reads the coins in a second start."""
        status, errors = node.run(*args)
        self.assertEqual((status, errors.count("Error")), (0, 0), errors)
        node.start(NO_UNDO)
        out = coins(node), self.snapshot(node, "state.dat")
        node.stop()
        return out

    def assert_all_ways_equal(self, node, files, height, tip, trust):
        to_tip = f"-stopatheight={tip}"
        serial = self.coins_after(node, "-reindex-chainstate", to_tip, *trust)
        for file in files:
            for aggregate, loader in WAYS:
                with self.subTest(file=file.name, aggregate=aggregate, loader=loader):
                    (node.net_dir / "debug.log").unlink()
                    boosted = self.coins_after(node, *booster(file, aggregate, loader), *trust,
                                               to_tip)
                    self.assertEqual(boosted[0], serial[0])
                    self.assertTrue(boosted[1] == serial[1], "snapshots differ")
                    self.assertIn(f"*** IBD Booster: {SUCCESS[aggregate]} check at block height "
                                  f"{height} succeeded. ***", node.log_text)


class GoldenChain(BoosterTest):
    HEIGHT = 12000  # buried by more than two weeks' worth of work

    def test_all_ways(self):
        node = self.node("main")
        golden.place_blocks(node)
        self.assertEqual(node.run("-reindex", f"-stopatheight={golden.TIP_HEIGHT}"), (0, ""))
        node.start()
        snapshot = self.dir / "utxo.dat"
        answer = node.rpc("dumptxoutset", path=str(snapshot), options={"rollback": self.HEIGHT})
        self.assertEqual(answer["base_height"], self.HEIGHT)
        self.assertEqual(node.rpc("getblockcount"), golden.TIP_HEIGHT)
        trust = ["-assumevalid=" + node.rpc("getblockhash", self.HEIGHT), golden.ANY_WORK]
        node.stop()
        files = []
        for kind in ("container", "bitmap"):
            files.append(self.dir / kind)
            status, _, errors = run_tool("booster-gen.py", f"--format={kind}", node.datadir,
                                         snapshot, files[-1])
            self.assertEqual(status, 0, errors)
        self.assert_all_ways_equal(node, files, self.HEIGHT, golden.TIP_HEIGHT, trust)


class LargeChain(BoosterTest):
    def test_all_ways(self):
        made = large_chain()
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", made.to_tip), (0, ""))
        node.start()
        self.assertEqual(node.rpc("getbestblockhash"), made.tip)
        # From our snapshot the tool makes exactly the generator's hints.
        snapshot, hints = self.dir / "utxo.dat", self.dir / "made.hints"
        node.rpc("dumptxoutset", path=str(snapshot), options={"rollback": made.terminal_height})
        node.stop()
        status, _, errors = run_tool("booster-gen.py", node.datadir, snapshot, hints)
        self.assertEqual(status, 0, errors)
        self.assertTrue(hints.read_bytes() == made.container.read_bytes(), "hints differ")
        self.assert_all_ways_equal(node, [hints], made.terminal_height, made.height, made.trust)


class SmallChain(BoosterTest):
    def test_all_ways(self):
        made = small_chain()
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", made.to_tip), (0, ""))
        self.assert_all_ways_equal(node, [made.container, made.bitmap], made.terminal_height,
                                   made.height, made.trust)
        for rule in ("amounts against inputs", "coinbase maturity", "relative lock times",
                     "signature operations of P2SH and witness spends",
                     "that no block spends an output of a later block"):
            self.assertRegex(node.log_text, f"not only scripts are assumed valid.*{rule}"
                                            ".* is checked later, with the undo data")

    def test_from_block_files_alone(self):
        """One start: index, booster, the blocks above; and again with few resources."""
        made = small_chain()
        node = made.place(self.node())
        serial = self.coins_after(node, "-reindex", made.to_tip)
        for more in ([], ["-ibdboosterthreads=1", "-ibdboostermem=1", "-dbcache=4"],
                     ["-ibdboosterthreads=7", f"-ibdboosterdir={self.dir / 'elsewhere'}"]):
            boosted = self.coins_after(node, "-reindex", f"-ibdboosterfile={made.container}",
                                       *made.trust, *more, made.to_tip)
            self.assertEqual(boosted, serial)

    def test_a_chainstate_is_not_built_twice(self):
        """With a chainstate there, the option alone does nothing; without, it builds one."""
        made = small_chain()
        node = made.place(self.node())
        first = self.coins_after(node, "-reindex", f"-ibdboosterfile={made.container}",
                                 *made.trust, made.to_tip, NO_UNDO)
        (node.net_dir / "debug.log").unlink()
        node.start(f"-ibdboosterfile={made.container}", *made.trust, NO_UNDO)
        self.assertEqual((coins(node), self.snapshot(node, "state.dat")), first)
        self.assertNotIn("succeeded. ***", node.log_text)
        node.stop()
        self.assertEqual(left_by_booster(node), [])

    def test_why_it_does_nothing_is_said_to_who_asked(self):
        made = small_chain()
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", *made.trust, made.to_tip), (0, ""))
        said = "IBD Booster: not needed, there is a chainstate; -reindex-chainstate rebuilds it"
        checked = said + " with full validation"
        full = "-ibdboosterfullvalidation"
        for args, line in (
                ([], None), (["-ibdbooster=0"], None), ([full + "=0"], None),
                (["-ibdbooster"], said), ([f"-ibdboosterfile={made.container}"], said),
                ([full], checked), (["-ibdbooster", full], checked)):
            with self.subTest(args=args):
                (node.net_dir / "debug.log").unlink()
                self.assertEqual(node.run(*args, *made.trust, made.to_tip), (0, ""))
                lines = [text.partition(" ")[2] for text in node.log_text.splitlines()
                         if "not needed" in text]
                self.assertEqual(lines, [line] if line else [])

    def test_what_the_booster_leaves_works(self):
        """Checked at start, reorganised above the terminal block, answered for over RPC."""
        made = small_chain()
        node = made.place(self.node())
        self.coins_after(node, "-reindex", f"-ibdboosterfile={made.container}", *made.trust,
                         made.to_tip, NO_UNDO)
        node.start("-checklevel=4", "-checkblocks=100", NO_UNDO)
        before = coins(node)
        above = node.rpc("getblockhash", made.terminal_height + 1)
        node.rpc("invalidateblock", above)
        self.assertEqual(node.rpc("getbestblockhash"), made.terminal_hash)
        node.rpc("reconsiderblock", above)
        self.assertEqual(coins(node), before)
        # Further back there is no undo data: refused, with nothing moved and the node alive.
        self.assert_rpc_error(-1, f"Undo data of block {made.terminal_hash} at height "
                              f"{made.terminal_height} is not stored",
                              node.rpc, "invalidateblock", made.terminal_hash)
        self.assertEqual(coins(node), before)
        info = node.rpc("getboosterinfo")
        self.assertIsInstance(info, dict)
        block = node.rpc("getblock", made.terminal_hash, 2)
        self.assertEqual(block["height"], made.terminal_height)
        self.assert_rpc_error(-32603, "Undo data expected but can't be read.", node.rpc,
                              "getrawtransaction", block["tx"][1]["txid"], 2, made.terminal_hash)

    def test_better_branch_from_below(self):
        """Without undo data and with -ibdboosterundo=0 it stops the node as it stops Core, at every
        start, and loses no coin. The log names remedies that work."""
        made = small_chain()
        node = made.place(self.node(), copied=True)
        self.coins_after(node, "-reindex", f"-ibdboosterfile={made.container}", *made.trust,
                         made.to_tip, NO_UNDO)
        node.start(NO_UNDO)
        better = branch_of(node, made.terminal_height - 1, made.height + 1)
        prev = better[-1].hash()
        self.assertEqual(hand_in(node, better), len(better) - 1)
        self.assertEqual(node.wait(), (1, CANNOT_DISCONNECT))
        self.assertEqual(node.run(NO_UNDO), (1, CANNOT_DISCONNECT))
        said = f"Undo data of block {made.terminal_hash} at height {made.terminal_height} is not"
        self.assertEqual(node.log_text.count(said), 2)
        self.assertEqual(node.log_text.count("-reindex-chainstate -ibdbooster=0"), 2)
        copy = self.node(datadir=shutil.copytree(node.datadir, self.dir / "copy"))
        copy.start("-ibdboosterundo=now").wait_for_tip(prev)
        kept = coins(copy)
        copy.stop()
        node.start("-reindex-chainstate", "-ibdbooster=0").wait_for_tip(prev)
        self.assertEqual(node.rpc("getblockcount"), made.height + 1)
        self.assertEqual(coins(node), kept)
        node.stop()

    def test_stops_at_the_terminal_block(self):
        """-stopatheight also works if the booster reaches the height without connecting a block."""
        made = small_chain()
        node = made.place(self.node())
        status, errors = node.run("-reindex", *booster(made.container), *made.trust,
                                  f"-stopatheight={made.terminal_height}")
        self.assertEqual((status, errors.count("Error")), (0, 0), errors)
        self.assertIn("succeeded. ***", node.log_text)
        self.assertNotIn(f"height={made.terminal_height + 1} ", node.log_text)
        # At the next start it is at this height already, and stops too.
        self.assertEqual(node.run(f"-stopatheight={made.terminal_height - 1}"), (0, ""))
        self.assertNotIn(f"height={made.terminal_height + 1} ", node.log_text)

    def test_gate(self):
        """Without the assumed-valid block, its work or its burial the booster does not run."""
        made = small_chain()
        node = made.place(self.node())
        serial = self.coins_after(node, "-reindex", made.to_tip)
        for trust, remedy in (
                ([], "give -assumevalid"),
                ([made.trust[0], "-minimumchainwork=ffffffff"], "block files end too early"),
                ([f"-assumevalid={'ab' * 32}", "-minimumchainwork=0"], "give -assumevalid")):
            self.assert_refused(node, *booster(made.container), *trust, saying=remedy)
            node.start()
            self.assertEqual((coins(node), self.snapshot(node, "state.dat")), serial)
            node.stop()

    def test_hints_too_near_the_tip(self):
        made = chain("--outputs", "2000", "--outputs-per-block", "40", "--tail", "5", "--seed", "7")
        node = made.place(self.node())
        self.assert_refused(node, "-reindex", *booster(made.container), *made.trust,
                            saying="two weeks of work above it")


class SyncedTest(BoosterTest):
    """A chainstate is there already."""

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.synced = self.made.place(self.node())
        self.serial = self.coins_after(self.synced, "-reindex", self.made.to_tip)
        self.hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust]


class Rebuild(SyncedTest):
    """The rebuild of a chainstate is interrupted, or its place is unusual."""

    @contextlib.contextmanager
    def unreadable(self, node):
        """The first block file cannot be read meanwhile."""
        file = node.blocks_dir / "blk00000.dat"
        away = file.rename(node.blocks_dir / "away")
        file.mkdir()
        yield
        file.rmdir()
        away.rename(file)

    @contextlib.contextmanager
    def zeroed(self, node):
        """Meanwhile the first block file reads as zeros. The file exists with its right size, so a
        start that trusts the block index succeeds."""
        file = node.blocks_dir / "blk00000.dat"
        away = file.rename(node.blocks_dir / "away")
        file.touch()
        os.truncate(file, away.stat().st_size)
        yield
        away.rename(file)

    def test_chainstate_is_a_link(self):
        """It stays on the disk it was put on."""
        node = self.synced
        link = node.net_dir / "chainstate"
        real = self.dir / "fast" / "coins"
        real.parent.mkdir()
        link.rename(real)
        link.symlink_to(os.path.relpath(real, link.parent))
        before = sorted(path.name for path in node.net_dir.iterdir())
        self.assertEqual(self.coins_after(node, "-reindex-chainstate", *self.hints,
                                          self.made.to_tip), self.serial)
        self.assertIn("succeeded. ***", node.log_text)
        self.assertTrue(link.is_symlink())
        self.assertEqual([path.name for path in real.parent.iterdir()], ["coins"])
        self.assertEqual(sorted(path.name for path in node.net_dir.iterdir()
                                if path.name not in ("ibdbooster", "hints")), before)

    def test_link_to_nowhere(self):
        """Its disk is not mounted: nothing is written to the one below the mount point."""
        node = self.synced
        link = node.net_dir / "chainstate"
        disk, away = self.dir / "fast", self.dir / "unmounted"
        disk.mkdir()
        link.rename(disk / "coins")
        link.symlink_to(disk / "coins")
        disk.rename(away)
        for mount_point in (False, True):
            if mount_point:
                disk.mkdir()
            for args in ([], ["-reindex-chainstate", *self.hints], ["-reindex", *self.hints]):
                self.assert_refused(node, *args, saying="which is not there: mount its disk")
                self.assertEqual(list(disk.glob("*")), [])
        disk.rmdir()
        away.rename(disk)
        with self.unreadable(node):  # refused before anything is removed
            self.assertEqual(node.run("-reindex", *self.hints)[0], 1)
        self.assertEqual(self.coins_after(node, self.made.to_tip), self.serial)
        self.assertEqual(self.coins_after(node, "-reindex", *self.hints, self.made.to_tip),
                         self.serial)
        self.assertIn("succeeded. ***", node.log_text)

    def test_the_old_chainstate_is_damaged(self):
        """No new one was requested, and this one cannot be opened: the error names the remedy."""
        node = self.synced
        for path in (node.net_dir / "chainstate").glob("MANIFEST-*"):
            path.write_bytes(b"\x00" * 100)
        for args in ([], self.hints):
            status, errors = node.run(*args)
            self.assertEqual(status, 1, errors)
            self.assertIn("Error opening coins database", errors)
            self.assertIn("restart with -reindex or -reindex-chainstate to recover", errors)
        self.assertEqual(self.coins_after(node, "-reindex-chainstate", *self.hints,
                                          self.made.to_tip), self.serial)

    def test_the_option_is_not_repeated(self):
        """The work of a rebuild is kept, and so is the chainstate in use."""
        node = self.synced
        with self.zeroed(node):
            status, errors = node.run("-reindex-chainstate", *self.hints)
        self.assertEqual(status, 1, errors)
        checkpoint = node.net_dir / "ibdbooster" / "checkpoint.dat"
        kept = checkpoint.read_bytes()
        node.start(*self.hints)
        self.assertEqual((coins(node), self.snapshot(node, "state.dat")), self.serial)
        node.stop()
        self.assertIn("-reindex-chainstate continues it", node.log_text)
        self.assertEqual(checkpoint.read_bytes(), kept)
        self.assertEqual(self.coins_after(node, "-reindex-chainstate", *self.hints,
                                          self.made.to_tip), self.serial)
        self.assertIn("resuming from a checkpoint", node.log_text)
        self.assertFalse(checkpoint.exists())

    def test_what_is_not_its_own_stays(self):
        """Copies that a user made, under the most likely names; and a folder with the name of the
        booster's folder but without its marker."""
        node = self.synced
        mine = [node.net_dir / f"chainstate.{name}" for name in ("old", "new", "batch")]
        for folder in mine:
            shutil.copytree(node.net_dir / "chainstate", folder)
        before = [tree_digest(folder) for folder in mine]
        self.assertEqual(self.coins_after(node, "-reindex-chainstate", *self.hints,
                                          self.made.to_tip), self.serial)
        shutil.rmtree(node.net_dir / "chainstate")
        node.start()
        node.wait_for_tip(self.made.tip)
        node.stop()
        self.assertEqual([tree_digest(folder) for folder in mine], before)
        building(node).mkdir()
        (building(node) / "new").mkdir()
        (building(node) / "new" / "CURRENT").write_text("mine")
        self.assert_refused(node, "-reindex-chainstate", *self.hints, saying="move it away")
        node.start()
        self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)
        node.stop()
        self.assertEqual((building(node) / "new" / "CURRENT").read_text(), "mine")

    def test_shared_directory(self):
        """With one -ibdboosterdir a node takes, and removes, only what it put there itself."""
        shared = f"-ibdboosterdir={self.dir / 'shared'}"
        node = self.synced
        with self.zeroed(node):
            self.assertEqual(node.run("-reindex-chainstate", *self.hints, shared)[0], 1)
        kept = tree_digest(self.dir / "shared", [".lock"])
        self.assertTrue(kept)
        other = self.made.place(self.node())
        self.assertEqual(other.run("-reindex", self.made.to_tip)[0], 0)
        self.assertEqual(self.coins_after(other, "-reindex-chainstate", *self.hints, shared,
                                          self.made.to_tip), self.serial)
        self.assertNotIn("resuming from a checkpoint", other.log_text)
        other.start(*self.hints, shared)  # needs no booster
        other.stop()
        self.assertEqual(tree_digest(self.dir / "shared", [".lock"]), kept)
        self.assertEqual(self.coins_after(node, "-reindex-chainstate", *self.hints, shared,
                                          self.made.to_tip), self.serial)
        self.assertIn("resuming from a checkpoint", node.log_text)

    def test_reindex_is_not_repeated(self):
        """A chainstate does not outlive an index that forgot its undo data."""
        for more in ([], self.hints):
            node = self.synced
            with self.unreadable(node):
                status, errors = node.run("-reindex", *more)
            self.assertEqual(status, 1, errors)
            node.start(*more)
            node.wait_for_tip(self.made.tip)
            self.assertEqual((coins(node), self.snapshot(node, "state.dat")), self.serial)
            node.rpc("invalidateblock", node.rpc("getblockhash", self.made.height - 3))
            self.assertEqual(node.rpc("getblockcount"), self.made.height - 4)
            node.rpc("reconsiderblock", node.rpc("getbestblockhash"))
            node.stop()


class Durability(BoosterTest):
    """Core disconnects six blocks when it starts, for which the booster alone leaves no undo data:
    a state that Core can open is on disk as soon as one exists."""

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.args = [f"-ibdboosterfile={self.made.container}", *self.made.trust, NO_UNDO]

    def loaded_height(self, node):
        """The state of the chain at the next start."""
        begin = len(node.log_text)
        self.assertEqual(node.run("-stopatheight=1", NO_UNDO), (0, ""))
        return int(re.search(r"Loaded best chain: .* height=(\d+) ", node.log_text[begin:])[1])

    def test_killed_behind_the_first_activation(self):
        node, started = self.made.place(self.node()), self.dir / "started"
        node.start("-reindex", *self.args, f"-startupnotify=touch {started}")
        wait_until(started.exists, "the end of the start")
        node.kill()
        self.assertEqual(self.loaded_height(node), self.made.height)

    def test_killed_six_blocks_above(self):
        serial, node = self.made.place(self.node()), self.made.place(self.node())
        serial.start("-reindex").wait_for_tip(self.made.tip)
        eighth = serial.rpc("getblockhash", self.made.terminal_height + 8)
        serial.stop()
        node.launch("-reindex", *self.args, f"-maxtipage={10 ** 10}",
                    f"-blocknotify=[ %s != {eighth} ] || kill -9 $PPID")
        self.assertEqual(node.wait()[0], -9)
        self.assertEqual(self.loaded_height(node), self.made.terminal_height + 6)

    def test_stopped_before(self):
        node, end = self.made.place(self.node()), self.made.terminal_height
        for args, above in ((["-reindex", *self.args], 0), ([NO_UNDO], 3), ([NO_UNDO], 6)):
            begin = len(node.log_text)
            self.assertEqual(node.run(*args, f"-stopatheight={end + above}")[0], 0)
            told = f"undo data exists only for the last {above} blocks. Bitcoin Core disconnects 6"
            self.assertEqual(told in node.log_text[begin:], above < 6)


class FullValidation(BoosterTest):
    """-ibdboosterfullvalidation: every rule and script, with undo data of an earlier validation."""

    def validated(self, *options):
        """A node whose whole chain was connected with scripts assumed valid, and the chain."""
        made = chain("--outputs", "12000", "--outputs-per-block", "60", "--tail", "2100",
                     "--signed", "--seed", "11", *options)
        node = made.place(self.node())
        status, errors = node.run("-reindex", *made.trust, made.to_tip)
        self.assertEqual((status, errors), (0, ""))
        return node, made

    def test_the_chain_is_valid(self):
        node, made = self.validated()
        serial = self.coins_after(node, "-reindex-chainstate", "-assumevalid=0", made.to_tip)
        for aggregate, loader in WAYS:
            (node.net_dir / "debug.log").unlink()
            args = [*booster(made.container, aggregate, loader), "-ibdboosterfullvalidation",
                    "-assumevalid=0"]
            node.start(*args)
            node.wait_for_tip(made.tip)
            info = node.rpc("getboosterinfo")
            self.assertEqual((info["state"], info["verdict"]), ("accepted", "accepted"))
            self.assertIs(info["fullvalidation"], True)
            self.assertEqual(info["folded"], made.terminal_height)
            self.assertEqual((coins(node), self.snapshot(node, "state.dat")), serial)
            node.stop()
            self.assertIn("checking every rule and script", node.log_text)
            self.assertNotIn("not only scripts", node.log_text)
            self.assertIn(f"*** IBD Booster: {SUCCESS[aggregate]} check at block height "
                          f"{made.terminal_height} succeeded. ***", node.log_text)

    def test_a_script_is_bad(self):
        """The booster stops at that block and reports its height and the reason; serial validation
        stops below it."""
        bad = 150
        node, made = self.validated("--bad-script", str(bad))
        serial = made.place(self.node())
        serial.start("-reindex", "-assumevalid=0")
        serial.wait_for_height(bad - 1)
        wanted = coins(serial)
        serial.stop()
        (node.net_dir / "debug.log").unlink()
        node.start(*booster(made.container), "-ibdboosterfullvalidation", "-assumevalid=0")
        node.wait_for_height(bad - 1)
        info = node.rpc("getboosterinfo")
        self.assertEqual(info["state"], "refused")
        for text in (f"height {bad}", "script"):
            self.assertIn(text, info["verdict"])
        self.assertLess(info.get("folded", 0), made.terminal_height)  # it stopped early
        self.assertEqual(coins(node), wanted)
        node.stop()
        self.assertRegex(node.log_text, f"block at height {bad} is invalid: .*script.*"
                                        "validating serially")
        self.assertNotIn("succeeded. ***", node.log_text)
        self.assertEqual(left_by_booster(node), [])


class Progress(BoosterTest):
    """Progress on the terminal, in the log and over RPC."""

    def on_terminal(self, command, columns, log=False):
        """The output of a command to a terminal of that width: errors, and the log too if
        requested."""
        primary, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=terminal,
                                   stdout=terminal if log else subprocess.DEVNULL)
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # EIO when the other side is gone
            while more := os.read(primary, 65536):
                shown += more
        os.close(primary)
        self.assertEqual(process.wait(), 0, shown)
        return shown

    def test_terminal_and_log(self):
        made = small_chain(60000)
        node = made.place(self.node())
        shown = self.on_terminal(node.command("-reindex", *booster(made.container), *made.trust,
                                              made.to_tip), 200)
        amount = r"[\d.]+ (?:bytes|[kMG]B)"
        for text in (shown.decode(), node.log_text):
            self.assertRegex(text, rf"Booster: folding: {amount} in .*, {amount}/s; "
                                   rf"(\d+) of \1 blocks, \d+ outputs, {amount} memory")
            self.assertRegex(text, rf"Booster: loading: [1-9]\d* coins in .*, \d+ coins/s; "
                                   rf"{amount} memory")

    def test_width_of_the_terminal(self):
        """The line of progress never reaches the last column, where it would wrap."""
        made = small_chain(60000)
        for columns in (120, 80, 40):
            node = made.place(self.node())
            shown = self.on_terminal(node.command("-reindex", "-ibdbooster", *made.trust,
                                                  made.to_tip), columns)
            self.assertIn(b"Booster: folding: ", shown)
            self.assertLess(max(map(len, re.split(rb"[\r\n]", shown))), columns)

    def test_log_on_the_same_terminal(self):
        """No log line is mixed with the progress line, which is below them all."""
        made = small_chain(60000)
        node = made.place(self.node())
        shown = self.on_terminal([*node.command("-reindex", "-ibdbooster", *made.trust,
                                                made.to_tip), "-printtoconsole=1"], 100, log=True)
        drawn = 0
        for line in shown.decode().replace("\r\n", "\n").split("\n"):
            *before, last = line.split("\r")  # text after a carriage return overwrites the line
            if last:
                self.assertRegex(last, r"^\d{4}-\d\d-\d\dT")
            for text in filter(str.strip, before):
                self.assertRegex(text, r"^step \d of \d, |^Undo: ")
                drawn += 1
            if before and any(map(str.strip, before)):
                self.assertEqual(before[-1].strip(), "")  # blank before a line of the log
        self.assertGreater(drawn, 0)

    def test_rpc(self):
        """Sampled as often as possible during the run: the numbers only grow, and end at the
        numbers of the hints. (unit_swiftsync tests the output at a given moment.)"""
        made = small_chain(60000)
        node = made.place(self.node())
        node.launch("-reindex", *booster(made.container, "muhash", "batch"), *made.trust,
                    "-ibdboostermem=1", "-ibdboosterthreads=2")
        seen = []

        def at_the_end():
            try:
                seen.append(node.rpc("getboosterinfo"))
                return node.rpc("getbestblockhash") == made.tip
            except (OSError, http.client.HTTPException, RpcError, ValueError):
                return False
        wait_until(at_the_end, "the tip")
        for info in seen:
            if info["state"] == "folding":  # 0 when a -reindex has folded all before
                self.assertGreaterEqual(info["rate"], 0)
                self.assertLessEqual(info["folded"], made.terminal_height)
        for key in ("folded", "outputs", "inputs", "bytes", "coins", "coinsloaded"):
            values = [info[key] for info in seen if key in info]
            self.assertEqual(values, sorted(values), key)
        last = seen[-1]
        self.assertEqual(last["state"], "accepted")
        self.assertEqual(last["coinsloaded"], last["coinsexpected"])
        self.assertEqual(last["coins"], last["coinsexpected"])
        self.assertEqual(last["folded"], made.terminal_height)
        self.assertGreater(last["loadrate"], 0)
        self.assertGreater(last["memory"], 1 << 20)
        self.assertGreater(last["diskneeded"], 0)
        self.assertEqual(last["diskbytes"], 0)


class Bip30(BoosterTest):
    """Two blocks with one coinbase, before BIP34: allowed once the first was spent."""
    HEIGHTS = "20:140"
    BIP34 = "-testactivationheight=bip34@200"

    def test_the_first_was_spent(self):
        made = chain("--blocks", "300", "--tail", "2100", "--bip30", self.HEIGHTS, "--bip34", "200")
        node = made.place(self.node("regtest", self.BIP34))
        self.assertEqual(node.run("-reindex", made.to_tip), (0, ""))
        serial = self.coins_after(node, "-reindex-chainstate", made.to_tip)
        for aggregate, loader in WAYS:
            boosted = self.coins_after(node, *booster(made.container, aggregate, loader),
                                       *made.trust, made.to_tip)
            self.assertEqual(boosted, serial)
        for args in ([], ["-ibdboosterchecks=0"], ["-ibdboosterundo=now"],
                     ["-ibdboosterfullvalidation"]):
            with self.subTest(args=args):
                begin = len(node.log_text)
                boosted = self.coins_after(node, "-reindex-chainstate", "-ibdbooster", *args,
                                           *made.trust, made.to_tip)
                self.assertEqual(boosted, serial)
                # Repeated names are left to the serial engine (doc/develop/booster.md).
                self.assertIn("no hints can be checked: the coinbases of blocks 20 and 140 have "
                              "the same id",
                              node.log_text[begin:])

    def test_the_first_is_overwritten(self):
        """Hints cannot smuggle it in: the chain ends below, with or without the booster."""
        made = chain("--blocks", "300", "--tail", "2100", "--bip30", self.HEIGHTS + ":overwrite",
                     "--bip34", "200")
        node = made.place(self.node("regtest", self.BIP34))
        node.start("-reindex")
        node.wait_for_height(139)
        serial = coins(node)
        node.stop()
        self.assertIn("bad-txns-BIP30", node.log_text)
        given = [f"-ibdboosterfile={made.container}", *made.trust]
        for args in ([*given, "-ibdboosteraggregate=sha256"],
                     [*given, "-ibdboosteraggregate=muhash"], ["-ibdbooster"],
                     ["-ibdbooster", "-ibdboosterchecks=0"],
                     ["-ibdbooster", "-ibdboosterfullvalidation"]):
            node.start("-reindex", *args)
            node.wait_for_height(139)
            self.assertEqual(coins(node), serial)
            node.stop()
