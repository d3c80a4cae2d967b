"""bitcoin-hints: every command, on the real chain and a generated one, against the Python
reference, the published crate's file and the node itself."""

import hashlib
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import golden
import interop_env
from framework import SANITIZED, FunctionalTest, coins, program, tree_digest
from generated import medium_chain, small_chain
from test_booster import booster

REFERENCE = interop_env.ROOT / "contrib/ibd-booster-hints-gen"
WRITTEN = ("container", "container1", "bitmap", "indexed", "bip456", "bip456-core", "bip456-crate",
           "btcd", "gaps")
# Formats that need no blocks to become one another.
ALONE = ("container1", "bip456", "bip456-core", "bip456-crate", "btcd", "gaps")


class ToolTest(FunctionalTest):
    def tool(self, *args, status=0):
        """The tool's output; with another status, its one-line error."""
        done = subprocess.run([program("bitcoin-hints"), *map(str, args)], capture_output=True,
                              text=True, check=False, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        if status == 0:
            # Sanitized it takes so long that it shows its progress.
            progress = r"((\w+: \d+|Join: \w+: \d+(\.\d)?) .*\n)*" if SANITIZED else ""
            self.assertRegex(done.stderr, rf"\A{progress}\Z")
            return done.stdout
        self.assertLessEqual(done.stderr.count("\n"), 1)
        return done.stderr or done.stdout

    def reference(self, program_name, *args):
        subprocess.run([sys.executable, REFERENCE / program_name, *map(str, args)], check=True,
                       capture_output=True)


class RealChain(ToolTest):
    def setUp(self):
        super().setUp()
        self.blocks = self.dir / "core"
        golden.unpack_core_datadir(self.blocks)
        self.snapshot = golden.unpacked(golden.FOLDER + "utxo_14131.dat.xz")
        self.crate = interop_env.testdata_path(golden.FOLDER + "mainnet14131.hints")
        self.made = self.dir / "made"
        self.tool("generate", f"--snapshot={self.snapshot}", self.blocks, self.made)

    def test_generated_files_are_the_references(self):
        self.assertFalse((self.dir / "made.work").exists())
        for name in ("container", "bitmap"):
            ours, theirs = self.dir / f"ours.{name}", self.dir / f"theirs.{name}"
            own_name = name.replace("container", "container1")
            self.tool("generate", f"--format={own_name}", f"--snapshot={self.snapshot}",
                      self.blocks, ours)
            self.reference("booster-gen.py", f"--format={name}", self.blocks, self.snapshot,
                           theirs)
            self.assertEqual(ours.read_bytes(), theirs.read_bytes())
        sys.path.insert(0, str(REFERENCE))
        from hintsgen import container2
        data = self.made.read_bytes()
        hints = container2.blocks(data)
        written = container2.write(hints, data[12:16], data[24:56])
        self.assertEqual(written, data, "the readable reference writes the same bytes")

    def test_generated_from_blocks_alone(self):
        out = self.dir / "joined"
        self.tool("generate", self.blocks, out)
        self.assertEqual(out.read_bytes(), self.made.read_bytes())
        self.assertFalse((self.dir / "joined.work").exists())
        lower = self.dir / "lower"
        self.tool("generate", "--height=7000", "--format=bip456-crate", self.blocks, lower)
        self.assertIn("right: ", self.tool("verify", f"--blocks={self.blocks}", lower))
        self.assertIn("terminal height: 7000\n", self.tool("info", lower))

    def test_every_format_and_back(self):
        for name in WRITTEN:
            with self.subTest(format=name):
                out, back = self.dir / name, self.dir / f"{name}.back"
                self.tool("convert", f"--format={name}", f"--blocks={self.blocks}", self.made, out)
                self.tool("convert", f"--blocks={self.blocks}", out, back)
                self.assertEqual(back.read_bytes(), self.made.read_bytes())
                self.assertIn("right: 13416 coins",
                              self.tool("verify", f"--blocks={self.blocks}", out))
                self.assertIn(f"format: {name}\n", self.tool("info", out))
        self.assertEqual((self.dir / "bip456-crate").read_bytes(), self.crate.read_bytes())
        for first in ALONE:
            for second in set(ALONE) - {"container1"}:
                out = self.dir / "alone"
                self.tool("convert", "--force", f"--format={second}", self.dir / first, out)
                self.assertEqual(out.read_bytes(), (self.dir / second).read_bytes())

    def test_swifthints_and_back(self):
        """It is read and written beside the blocks alone, and says where it ends by its groups."""
        blocks = f"--blocks={self.blocks}"
        swift, back, again = (self.dir / name for name in ("swift", "back", "again"))
        self.tool("convert", "--format=swifthints", blocks, self.made, swift)
        self.assertLess(swift.stat().st_size, 1500)
        self.tool("convert", "--from=swifthints", blocks, swift, back)
        self.assertEqual(back.read_bytes(), self.made.read_bytes())
        bitmap = self.dir / "bitmap"
        self.tool("convert", "--format=bitmap", blocks, self.made, bitmap)
        self.tool("convert", "--from=swifthints", "--format=bitmap", "--force", blocks, swift, back)
        self.assertEqual(back.read_bytes(), bitmap.read_bytes())
        self.tool("convert", "--format=swifthints", blocks, bitmap, again)
        self.assertEqual(again.read_bytes(), swift.read_bytes())
        self.tool("convert", "--from=swifthints", "--format=swifthints", "--force", blocks, swift,
                  again)
        self.assertEqual(again.read_bytes(), swift.read_bytes())

    def test_swifthints_refusals(self):
        blocks = f"--blocks={self.blocks}"
        swift, out = self.dir / "swift", self.dir / "out"
        self.tool("convert", "--format=swifthints", blocks, self.made, swift)
        for command in (("info", swift), ("verify", blocks, swift), ("convert", blocks, swift, out),
                        ("info", "--from=swifthints", swift)):
            self.assertIn("convert --from=swifthints --blocks=DIR", self.tool(*command, status=1))
        for options in (("--from=swifthints", swift), ("--format=swifthints", self.made)):
            self.assertIn("give the blocks with --blocks=DIR",
                          self.tool("convert", *options, out, status=1))
        self.assertIn("make a container and convert it",
                      self.tool("generate", "--format=swifthints", self.blocks, out, status=1))
        damaged = bytearray(swift.read_bytes())
        damaged[-1] ^= 1
        swift.write_bytes(damaged)
        self.assertIn("damaged, or made from other blocks",
                      self.tool("convert", "--from=swifthints", blocks, swift, out, status=1))
        self.assertFalse(out.exists())

    def test_diff_info_and_bench(self):
        self.assertIn("0 of 14131 blocks differ", self.tool("diff", self.made, self.crate))
        text = self.dir / "text"
        self.tool("convert", "--format=gaps", self.made, text)
        lines = text.read_text().split("\n")
        lines[99], lines[199] = "5", ""
        text.write_text("\n".join(lines))
        out = self.tool("diff", self.made, text, status=1)
        self.assertEqual(out.split("\n")[2], "2 of 14131 blocks differ")
        self.assertIn("block 200: 1 outputs differ, first 0", out)
        self.assertIn("the hints are wrong",
                      self.tool("verify", f"--blocks={self.blocks}", text, status=1)
                      .replace("hints give", "the hints are wrong")
                      .replace("hints mark", "the hints are wrong"))
        plot = self.dir / "plot.svg"
        self.assertIn("hints id: ", self.tool("info", f"--plot={plot}", self.made))
        self.assertTrue(plot.read_text().startswith("<svg "))
        self.assertIn("M unspent outputs/s", self.tool("bench", self.crate))

    def test_hints_that_are_wrong_by_one_output(self):
        text = self.dir / "text"
        self.tool("convert", "--format=gaps", self.made, text)
        lines = text.read_text().split("\n")
        self.assertEqual(lines[6000], "0")
        lines[6000] = ""
        text.write_text("\n".join(lines))
        self.assertIn("the hints are wrong",
                      self.tool("verify", f"--blocks={self.blocks}", text, status=1))

    def test_refusals(self):
        self.assertIn("exists", self.tool("convert", "--format=btcd", self.made, self.made,
                                          status=1))
        self.assertIn("--blocks=DIR", self.tool("convert", "--format=bitmap", self.made,
                                                self.dir / "x", status=1))
        self.assertIn("--blocks=DIR", self.tool("convert", self.crate, self.dir / "x", status=1))
        self.assertIn("no such format", self.tool("convert", "--format=x", self.made, "y",
                                                  status=1))
        self.assertIn("no option", self.tool("info", "--blocks=x", self.made, status=1))
        self.assertIn("no such command", self.tool("frobnicate", status=1))
        empty = self.dir / "empty"
        empty.mkdir()
        self.assertIn("no block files", self.tool("verify", f"--blocks={empty}", self.made,
                                                  status=1))
        snapshot = self.dir / "foreign"
        data = bytearray(self.snapshot.read_bytes())
        data[7:11] = bytes.fromhex("fabfb5da")
        snapshot.write_bytes(data)
        self.assertIn("another network", self.tool("generate", f"--snapshot={snapshot}",
                                                   self.blocks, self.dir / "x", status=1))
        self.assertFalse((self.dir / "x").exists())

    def test_a_coin_that_no_block_made(self):
        snapshot = self.dir / "wrong"
        data = bytearray(self.snapshot.read_bytes())
        data[51] ^= 1  # the first txid
        snapshot.write_bytes(data)
        self.assertIn("are outputs of that block", self.tool("generate", f"--snapshot={snapshot}",
                                                          self.blocks, self.dir / "x", status=1))

    def test_killed_and_gone_on(self):
        out = self.dir / "killed"
        command = [program("bitcoin-hints"), "generate", f"--snapshot={self.snapshot}",
                   str(self.blocks), str(out)]
        wait = 0.02
        for _ in range(40):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if out.exists():
                break
            wait *= 1.3
        self.tool("generate", "--force", f"--snapshot={self.snapshot}", self.blocks, out)
        self.assertEqual(out.read_bytes(), self.made.read_bytes())


class Alone(ToolTest):
    def test_what_is_there_stays_until_it_is_replaced(self):
        made, out = small_chain(), self.dir / "out"
        out.write_bytes(b"mine")
        args = ["generate", "--network=regtest", f"--height={made.terminal_height}"]
        self.tool(*args, made.blocks, out, status=1)
        work = self.dir / "out.work"
        work.write_bytes(b"in the way")
        self.tool(*args, "--force", made.blocks, out, status=1)
        self.assertEqual(out.read_bytes(), b"mine")
        work.unlink()
        self.tool(*args, "--force", made.blocks, out)
        self.tool("generate", "--network=regtest", f"--height={made.terminal_height}", made.blocks,
                  self.dir / "new")
        self.assertEqual(out.read_bytes(), (self.dir / "new").read_bytes())
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["new", "out"])

    def test_help(self):
        told = self.tool("--help")
        for words in (["help"], ["-h"], ["generate", "-h"], ["convert", "--help"]):
            self.assertEqual(self.tool(*words), told)

    def test_version(self):
        self.assertRegex(self.tool("--version"), r"^bitcoin-hints version v[0-9.]+\n$")

    def test_a_flag_takes_no_value(self):
        """`--force=0` does not replace the file."""
        made, out = small_chain(), self.dir / "out"
        out.write_text("mine")
        for value in ("0", "no", "1"):
            told = self.tool("generate", f"--force={value}", made.blocks, out, status=1)
            self.assertIn(f"--force={value}: takes no value", told)
        self.assertEqual(out.read_text(), "mine")

    def test_the_synopsis_has_the_options_that_a_command_takes(self):
        text = self.tool("--help")
        usage = text.partition("\nUsage:\n")[2].partition("\n\n")[0]
        options = re.findall(r"^  (--[a-z-]+)", text.partition("\nOptions:\n")[2], re.M)
        self.assertIn("--force", options)
        for synopsis in usage.split("  bitcoin-hints ")[1:]:
            command = synopsis.split()[0]
            for option in options:
                if option in ("--version", "--help"):
                    continue
                with self.subTest(command, option=option):
                    refused = "has no option" in self.tool(command, option, status=1)
                    self.assertEqual(refused, option not in synopsis)

    def test_a_result_is_told(self):
        made, out, other = small_chain(), self.dir / "out", self.dir / "other"
        told = self.tool("generate", f"--height={made.terminal_height}", made.blocks, out)
        self.assertRegex(told, f"^{out}: container, {out.stat().st_size} bytes, blocks 1 to "
                               f"{made.terminal_height}, [0-9]+ unspent outputs, hints id "
                               "[0-9a-f]{64}\n$")
        self.assertIn(f"hints id: {told.split()[-1]}\n", self.tool("info", out))
        self.assertIn("bip456-core, ", self.tool("convert", "--format=bip456-core", out, other))


class OthersFiles(ToolTest):
    """A user's files beside the output file are neither removed nor overwritten."""

    def setUp(self):
        super().setUp()
        self.made, self.out = small_chain(), self.dir / "out"
        self.generate = ["generate", f"--height={self.made.terminal_height}", self.made.blocks]
        self.convert = ["convert", "--format=bip456-core", self.made.container]
        self.mine = self.dir / "mine"
        self.mine.mkdir()
        for name in ("state", "hints", "000000.coins", "join.dat", "spill000000.dat", "photo"):
            (self.mine / name).write_text("mine")

    def snapshot(self):
        node = self.made.place(self.node())
        node.run("-reindex", f"-stopatheight={self.made.terminal_height}")
        node.start()
        file = self.dir / "coins"
        node.rpc("dumptxoutset", str(file), "rollback", {"rollback": self.made.terminal_height})
        node.stop()
        return f"--snapshot={file}"

    def test_a_folder_that_it_has_not_made(self):
        before = tree_digest(self.mine)
        work = self.dir / "out.work"
        ways = [self.generate, self.convert, ["generate", self.snapshot(), self.made.blocks]]
        for place in (lambda: shutil.copytree(self.mine, work), lambda: work.symlink_to(self.mine)):
            place()
            for command in ways:
                with self.subTest(command=command, link=work.is_symlink()):
                    told = self.tool(*command, self.out, status=1)
                    self.assertIn("was not made by it", told)
                    self.assertEqual(tree_digest(work), before)
                    self.assertFalse(self.out.exists())
            self.assertEqual(tree_digest(self.mine), before)
            if not work.is_symlink():
                shutil.rmtree(work)

    def test_a_folder_that_is_not_there(self):
        for command in (self.generate, self.convert):
            told = self.tool(*command, self.dir / "unmounted" / "disk" / "out", status=1)
            self.assertIn("unmounted/disk: there is no such folder", told)
            self.assertFalse((self.dir / "unmounted").exists())

    def test_a_file_put_into_its_folder(self):
        for command in (self.generate, self.convert):
            work = self.dir / "out.work"
            work.mkdir(exist_ok=True)
            (work / "made-by-bitcoin-hints").touch()
            (work / "photo").write_text("mine")
            (work / "nested").mkdir(exist_ok=True)
            (work / "nested" / "photo").write_text("mine")
            self.tool(*command, "--force", self.out)
            self.assertEqual(sorted(path.name for path in work.iterdir()),
                             ["made-by-bitcoin-hints", "nested", "photo"])
            self.assertEqual((work / "nested" / "photo").read_text(), "mine")

    def test_a_link_to_an_empty_folder(self):
        """Another disk for the work: its folder that existed before is kept, empty."""
        room = self.dir / "room"
        room.mkdir()
        (self.dir / "out.work").symlink_to(room)
        self.tool(*self.generate, self.out)
        self.assertTrue((self.dir / "out.work").is_symlink())
        self.assertEqual([path.name for path in room.iterdir()], ["made-by-bitcoin-hints"])
        self.tool(*self.convert, "--force", self.out)

    def test_names_beside_the_file(self):
        """Whatever the names of earlier versions, and of files that lie beside it."""
        for ending in (".part", ".part.gaps", ".incomplete", ".tmp", ".new"):
            beside = self.dir / f"out{ending}"
            shutil.copy(self.made.container, beside)
            for command in (self.generate, ["convert", "--format=btcd", beside]):
                self.tool(*command, "--force", self.out)
                self.assertEqual(beside.read_bytes(), self.made.container.read_bytes())
            beside.unlink()

    def test_an_input_in_the_folder_of_the_work(self):
        work = self.dir / "out.work"
        work.mkdir()
        (work / "made-by-bitcoin-hints").touch()
        shutil.copy(self.made.container, work / "hints")
        (self.dir / "link").symlink_to(work / "hints")
        for path in (work / "hints", self.dir / "link"):
            told = self.tool("convert", "--format=btcd", path, self.out, status=1)
            self.assertIn("move it elsewhere", told)
        self.assertEqual((work / "hints").read_bytes(), self.made.container.read_bytes())

    def test_work_of_a_file_that_is_finished(self):
        """Killed when the file had its name."""
        work = self.dir / "out.work"
        work.mkdir()
        (work / "made-by-bitcoin-hints").touch()
        (work / "000000.coins").write_bytes(bytes(2000))
        shutil.copy(self.made.container, self.out)
        for command in (self.generate, self.convert):
            told = self.tool(*command, self.out, status=1)
            self.assertIn("out.work has 2.0 kB of unfinished work", told)
        self.tool(*self.generate, "--force", self.out)
        self.assertFalse(work.exists())

    def test_what_is_no_file_is_not_replaced(self):
        os.mkfifo(self.dir / "fifo")
        for name in ("mine", "fifo"):
            for command in (self.generate, self.convert):
                told = self.tool(*command, "--force", self.dir / name, status=1)
                self.assertIn("exists and is no file", told)
        self.assertFalse((self.dir / "mine.work").exists())

    def test_behind_a_link(self):
        target = self.dir / "elsewhere" / "target"
        target.parent.mkdir()
        target.write_text("old")
        self.out.symlink_to(target)
        self.tool(*self.convert, self.out, status=1)
        self.tool(*self.convert, "--force", self.out)
        self.assertTrue(self.out.is_symlink())
        self.assertIn("terminal height", self.tool("info", target))

    def test_plot(self):
        plot, beside = self.dir / "a.svg", self.dir / "a.svg.new"
        beside.write_text("mine")
        told = self.tool("info", f"--plot={plot}", self.made.container, status=1)
        self.assertIn("File exists", told)
        self.assertEqual(beside.read_text(), "mine")
        beside.unlink()
        self.tool("info", f"--plot={plot}", self.made.container)
        self.tool("info", f"--plot={plot}", self.made.container, status=1)


class Stopped(ToolTest):
    """SIGINT and SIGTERM: finished work is kept, and the same command resumes after it."""

    MOST_STARTS = 300

    def setUp(self):
        super().setUp()
        self.made = medium_chain()
        self.chance = random.Random(1)
        self.out = self.dir / "out"
        self.work = self.dir / "out.work"

    def coins_read(self):
        """The state's record of the split (see snapshot_match.cpp); nothing if it is done."""
        data = (self.work / "state").read_bytes() if (self.work / "state").exists() else b""
        rest = data.partition(b"\n")[2].partition(b"\n")[2][:-8]
        return struct.unpack_from("<Q", rest, 8)[0] if rest else None

    def next_height(self):
        """The first height that is not matched with the coins."""
        begun = sorted(self.work.glob("*.begun"))
        if begun:
            return struct.unpack("<I", begun[-1].read_bytes()[-12:-8])[0]
        return 256 * len(list(self.work.glob("*.done")))

    def joined(self):
        """Bytes of blocks that the join has read (doc/formats/spill.md)."""
        path = self.work / "join.dat"
        data = path.read_bytes() if path.exists() else bytes(158)
        return struct.unpack_from("<Q", data, 150)[0]

    def phase(self):
        """Where it was stopped, and how far that is."""
        if (self.work / "join.dat").exists():
            whole = self.joined() == self.whole
            return ("joining" if whole else "reading", self.joined())
        if (self.work / "state").exists():
            coins = self.coins_read()
            return ("splitting", coins) if coins is not None else ("matching", self.next_height())
        return ("beginning", 0)

    def stop_often(self, command, phases):
        """Repeats until the tool was stopped in each of these phases, and then continued to its
        end.

        The time before a kill grows from start to start, because a busy machine can be slower than
        in the first run. It is often short, because the first phase is."""
        order = ["beginning", *phases]
        whole = self.dir / "whole"
        begin = time.monotonic()
        self.tool(*command, whole)
        seconds = time.monotonic() - begin
        met, before, starts = set(), (0, 0), 0
        while not met >= set(phases) or not self.out.exists():
            starts += 1
            self.assertLess(starts, self.MOST_STARTS, f"met {met} only")
            if self.out.exists():
                self.out.unlink()
                before = (0, 0)
            process = subprocess.Popen([program("bitcoin-hints"), *map(str, command), self.out],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(self.chance.random() ** 3 * (0.7 + starts / 50) * seconds)
            which = self.chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
            process.send_signal(which)
            errors = process.communicate()[1]
            if process.returncode == 0:
                self.assertEqual(self.out.read_bytes(), whole.read_bytes())
                self.assertFalse(self.work.exists())
                continue
            self.assertFalse(self.out.exists())
            if process.returncode == -which:  # it had not yet come to heed it
                continue
            self.assertEqual(process.returncode, 128 + which, errors)
            self.assertIn("interrupted", errors)
            phase, done = self.phase()
            here = (order.index(phase), done)
            self.assertGreaterEqual(here, before)
            if "the same command continues" in errors:
                met.add(phase)
            before = here

    def test_from_blocks_alone(self):
        self.whole = sum(path.stat().st_size for path in self.made.blocks.glob("blk*.dat"))
        self.stop_often(["generate", f"--height={self.made.terminal_height}", self.made.blocks],
                        ["reading"])

    def test_with_a_snapshot(self):
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", f"-stopatheight={self.made.terminal_height}")[0], 0)
        node.start()
        coins_file = self.dir / "coins"
        node.rpc("dumptxoutset", str(coins_file), "rollback",
                 {"rollback": self.made.terminal_height})
        node.stop()
        self.stop_often(["generate", f"--snapshot={coins_file}", self.made.blocks],
                        ["splitting", "matching"])

    def test_converting(self):
        """Nothing is kept of it."""
        made, out = self.made, self.out
        command = [program("bitcoin-hints"), "convert", "--format=indexed",
                   f"--blocks={made.blocks}", str(made.container), str(out)]
        for _ in range(10):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(self.chance.uniform(0, 0.3))
            process.terminate()
            status = process.wait()
            self.assertIn(status, (0, -signal.SIGTERM, 128 + signal.SIGTERM))
            self.assertEqual(out.exists(), status == 0)
            self.assertFalse(self.work.exists() and status != -signal.SIGTERM)
            out.unlink(missing_ok=True)


class Node(ToolTest):
    def test_the_node_takes_every_format(self):
        made = small_chain()
        main = made.place(self.node())
        self.assertEqual(main.run("-reindex", made.to_tip)[0], 0)
        main.start()
        serial = coins(main)
        main.stop()
        blocks = f"--blocks={made.blocks}"
        for name in WRITTEN:
            with self.subTest(format=name):
                file = self.dir / name
                self.tool("convert", f"--format={name}", blocks, made.container, file)
                (main.net_dir / "debug.log").unlink()
                status, errors = main.run(*booster(file), *made.trust, made.to_tip)
                self.assertEqual((status, errors), (0, ""))
                self.assertIn("succeeded. ***", main.log_text)
                main.start()
                self.assertEqual(coins(main), serial)
                main.stop()
        self.assertEqual((self.dir / "bitmap").read_bytes(), made.bitmap.read_bytes())
        self.assertEqual((self.dir / "container1").read_bytes(), made.container.read_bytes())

    def test_a_node_without_the_blocks_says_what_to_do_with_swifthints(self):
        made = small_chain()
        main = self.node()
        file, container = self.dir / "swift", self.dir / "container"
        blocks = f"--blocks={made.blocks}"
        self.tool("convert", "--format=swifthints", blocks, made.container, file)
        self.assert_refused(main, *booster(file), *made.trust,
                            saying="bitcoin-hints convert --from=swifthints --blocks=DIR")
        self.tool("convert", "--from=swifthints", blocks, file, container)
        self.tool("convert", "--force", "--format=container1", blocks, container, file)
        self.assertEqual(file.read_bytes(), made.container.read_bytes())

    def test_the_node_chooses_of_its_folder_and_holds_to_a_hash(self):
        made = small_chain()
        main = made.place(self.node())
        self.assertEqual(main.run("-reindex", made.to_tip)[0], 0)
        folder = main.net_dir / "hints"
        folder.mkdir()
        (folder / "nonsense").write_text("nonsense")
        shutil.copy(made.container, folder / "chain.hints")
        (main.net_dir / "debug.log").unlink()
        status, errors = main.run(*booster("auto"), *made.trust, made.to_tip)
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("succeeded. ***", main.log_text)
        self.assertIn("left out: hints file", main.log_text)
        pinned = hashlib.sha256(made.container.read_bytes()).hexdigest()
        for digest, right in ((pinned, True), ("0" * 64, False)):
            status, errors = main.run(*booster(made.container), f"-ibdboosterhash={digest}",
                                      *made.trust, made.to_tip)
            self.assertEqual(status == 0, right, errors)
            self.assertEqual("-ibdboosterhash says" in errors, not right)
