"""Hints that are wrong, damaged or not for this chain: they are refused with one line, or the final
check fails and the chain is validated serially. The result is never a wrong chainstate or a crash.
"""

import os
import random
import shutil
import struct

from framework import FunctionalTest, coins, hints_tool, tree_digest, wait_until
from generated import TAIL, chain, small_chain
from test_booster import booster

# Every flip and a thousand mutations run in one process in unit_swiftsync; here is a sample.
FLIPS = int(os.environ.get("IBD_FLIPS", "24"))
VOLATILE = ("debug.log", ".lock", ".cookie", "settings.json", "bitcoind.pid")
REFUSED = "Error: "


class HintsTest(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.main = self.made.place(self.node())
        self.assertEqual(self.main.run("-reindex", self.made.to_tip)[0], 0)
        self.main.start()
        self.serial = coins(self.main)
        self.main.stop()

    def write(self, data, name="bad.hints"):
        path = self.dir / name
        path.write_bytes(data)
        return path


class Mutations(HintsTest):
    def outcome(self, data):
        """'refused', 'serial' or 'accepted'; the coins are right in each case."""
        (self.main.net_dir / "debug.log").unlink(missing_ok=True)
        status, errors = self.main.run(*booster(self.write(data)), *self.made.trust,
                                       self.made.to_tip)
        if status != 0:
            self.assertEqual(status, 1, errors)
            self.assertTrue(errors.startswith(REFUSED) and errors.count("\n") == 1, errors)
            outcome = "refused"
        else:
            wrong = "validating serially" in self.main.log_text
            outcome = "serial" if wrong else "accepted"
            self.assertEqual("succeeded. ***" in self.main.log_text, not wrong)
        self.main.start()
        self.assertEqual(coins(self.main), self.serial)
        self.main.stop()
        return outcome

    def test_flips_in_a_container(self):
        good = self.made.container.read_bytes()
        chance = random.Random(1)
        for bit in chance.sample(range(8 * len(good)), FLIPS):
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            with self.subTest(bit=bit):
                self.assertEqual(self.outcome(bytes(bad)), "refused")

    def test_flips_in_a_bitmap(self):
        """This format has no checksums: a damaged file that still parses fails the final check."""
        good = self.made.bitmap.read_bytes()
        chance = random.Random(2)
        outcomes = []
        for bit in chance.sample(range(8 * len(good)), FLIPS):
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            with self.subTest(bit=bit):
                outcomes.append(self.outcome(bytes(bad)))
                # Bits of padding or of unspendable outputs may change nothing.
                self.assertIn(outcomes[-1], ("refused", "serial", "accepted"))
        self.assertIn("serial", outcomes)

    def test_a_claim_that_all_is_unspent_or_spent(self):
        good = self.made.bitmap.read_bytes()
        for fill in (b"\x00", b"\xff"):
            out, at = bytearray(), 0
            while True:
                count, = struct.unpack_from("<H", good, at)
                size = (count + 7) // 8
                out += good[at:at + 2] + fill * size
                at += 2 + size
                if count == 0:
                    break
            if fill == b"\xff":
                self.assertIn(self.outcome(bytes(out)), ("refused", "serial"))
            else:
                self.assertEqual(self.outcome(bytes(out)), "serial")

    def test_random_changes(self):
        chance = random.Random(3)
        for source in (self.made.container, self.made.bitmap):
            good = source.read_bytes()
            for number in range(FLIPS // 4):
                bad = bytearray(good)
                for _ in range(chance.randrange(1, 9)):
                    at = chance.randrange(len(bad))
                    change = chance.randrange(3)
                    if change == 0:
                        bad[at] = chance.randrange(256)
                    elif change == 1:
                        del bad[at:at + chance.randrange(1, 20)]
                    else:
                        bad[at:at] = chance.randbytes(chance.randrange(1, 20))
                with self.subTest(source=source.name, number=number):
                    self.assertIn(self.outcome(bytes(bad)), ("refused", "serial"))


class InTheFolder(HintsTest):
    """-ibdboosterfile=auto and hints in the node's folder that it must not use."""

    def rebuild(self, *args):
        """Its log; the chainstate is right."""
        (self.main.net_dir / "debug.log").unlink(missing_ok=True)
        self.assertEqual(self.main.run("-reindex-chainstate", "-ibdboosterfile=auto", *args,
                                       self.made.to_tip), (0, ""))
        log = self.main.log_text
        self.main.start()
        self.assertEqual(coins(self.main), self.serial)
        self.main.stop()
        return log

    def put(self, *files):
        folder = self.main.net_dir / "hints"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for number, file in enumerate(files):
            shutil.copy(file, folder / f"{number}.hints")

    def test_never_means_never(self):
        self.put(self.made.container)
        self.assertIn("succeeded. ***", self.rebuild(*self.made.trust))
        for never in ("-ibdbooster=0", "-noibdbooster"):
            for start in ([], ["-reindex"]):
                with self.subTest(never=never, start=start):
                    log = self.rebuild(*self.made.trust, never, *start)
                    self.assertNotIn("IBD Booster", log)
        self.assert_refused(self.main, *booster(self.made.container), "-ibdbooster=0",
                            saying="-ibdbooster=0 means never")

    def test_the_next_file_after_a_wrong_one(self):
        wrong = bytearray(self.made.bitmap.read_bytes())
        wrong[len(wrong) // 2] ^= 0x18
        hints_tool("convert", "--network=regtest", "--format=container",
                   f"--blocks={self.made.blocks}", self.write(wrong), self.dir / "wrong.hints")
        self.put(self.dir / "wrong.hints", self.made.container)
        for again in (False, True):  # the second start knows the first file
            with self.subTest(again=again):
                (self.main.net_dir / "debug.log").unlink(missing_ok=True)
                self.main.start("-reindex-chainstate", "-ibdboosterfile=auto", "-connect=0",
                                *self.made.trust)
                self.main.wait_for_tip(self.made.tip)
                self.assertEqual(coins(self.main), self.serial)
                log = self.main.log_text
                self.assertEqual(log.count("IBD Booster: the hints are wrong"), int(not again))
                self.assertIn("succeeded. ***", log)
                trust = "not only scripts are assumed valid"
                self.assertEqual(log.count(trust), 1)
                wrong = "failed in an earlier sync: " if again else "the hints are wrong"
                self.assertLess(log.index(wrong), log.index(trust))
                info = self.main.rpc("getboosterinfo")
                self.assertEqual(info["verdict"], "accepted")
                self.assertEqual("left out: " in log, again)
                self.main.stop()

    def test_getboosterinfo_tells_why_hints_were_refused(self):
        self.put(self.made.container)
        self.main.start("-reindex-chainstate", "-ibdboosterfile=auto", "-connect=0")
        self.main.wait_for_tip(self.made.tip)
        info = self.main.rpc("getboosterinfo")
        self.assertEqual(info["state"], "refused")
        self.assertIn("whose scripts must be run", info["verdict"])
        self.assertNotIn("not only scripts are assumed valid", self.main.log_text)
        self.main.stop()

    def test_what_does_not_fit_is_left_out(self):
        """A named file is refused; with auto another choice is allowed."""
        longer = chain("--outputs", "12000", "--outputs-per-block", "2", "--tail", str(TAIL))
        other = chain("--outputs", "6000", "--outputs-per-block", "40", "--tail", str(TAIL),
                      "--seed", "8")
        self.assertGreater(longer.terminal_height, self.made.height)
        for file, trust, why in (
                (longer.container, self.made.trust, "above the best header"),
                (other.container, self.made.trust, "but the best header chain has"),
                (self.made.container, [], "whose scripts must be run")):
            for start in ([], ["-reindex"], ["-ibdbooster"]):
                with self.subTest(why=why, start=start):
                    self.put(file)
                    log = self.rebuild(*trust, *start)
                    self.assertRegex(log, f"IBD Booster: left out: .*{why}")
                    self.assertEqual("succeeded. ***" in log, "-ibdbooster" in start)
            self.assert_refused(self.main, *booster(file), *trust, saying=why)


class ChangedInUse(FunctionalTest):
    """The file is truncated, emptied or overwritten while the booster reads it: the node prints one
    line that names the file, does not crash, publishes no coins and records no verdict on the
    hints. The right file works afterwards."""

    def changed(self, source, change):
        made = small_chain(60000)
        node = made.place(self.node())
        hints = self.dir / "used.hints"
        hints.write_bytes(source(made).read_bytes())
        args = ["-reindex", f"-ibdboosterfile={hints}", *made.trust, "-ibdboosteraggregate=muhash",
                "-ibdboosterthreads=1", made.to_tip]
        node.launch(*args)  # muhash: so that there is time
        wait_until(lambda: "Booster: folding" in node.log_text, "folding")
        change(hints)
        status, errors = node.wait()
        self.assertEqual(status, 1, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertTrue(errors.startswith(f"Error: hints file {hints} was "), errors)
        self.assertIn("while in use", errors)
        self.assertFalse((node.net_dir / "chainstate" / "CURRENT").exists())
        self.assertFalse((node.net_dir / "ibdbooster" / "badhints.txt").exists())
        hints.write_bytes(source(made).read_bytes())
        node.start(*[arg for arg in args if arg not in ("-reindex", made.to_tip)])
        node.wait_for_tip(made.tip)
        self.assertIn("succeeded. ***", node.log_text)
        got = coins(node)
        node.stop()
        serial = made.place(self.node())
        serial.start("-reindex")
        serial.wait_for_tip(made.tip)
        self.assertEqual(got, coins(serial))

    @staticmethod
    def container(made):
        return made.container

    @staticmethod
    def bitmap(made):
        return made.bitmap

    def test_emptied(self):
        self.changed(self.container, lambda path: os.truncate(path, 0))

    def test_cut_in_the_middle(self):
        self.changed(self.bitmap, lambda path: os.truncate(path, path.stat().st_size // 2))

    def test_written_over(self):
        def scribble(path):
            with open(path, "r+b") as file:
                file.seek(200)
                file.write(b"\xff" * (path.stat().st_size - 200))
        for source in (self.container, self.bitmap):
            self.changed(source, scribble)


class Refusals(HintsTest):
    """One line, a status that is not zero, and nothing on disk has changed."""

    def content(self, node):
        """All files but those of the block index: LevelDB turns its log over when it is opened."""
        files = tree_digest(node.net_dir, VOLATILE)
        return {name: digest for name, digest in files.items()
                if not name.startswith("blocks/index/")}

    def refused(self, file, saying, *args, index_opened=False):
        before, index = self.content(self.main), tree_digest(self.main.blocks_dir / "index")
        args = args or booster(file)
        self.assert_refused(self.main, *args, *self.made.trust, saying=saying)
        self.assertEqual(self.content(self.main), before)
        if not index_opened:
            self.assertEqual(tree_digest(self.main.blocks_dir / "index"), index)
        else:
            self.main.start()
            self.assertEqual(coins(self.main), self.serial)
            self.main.stop()

    def test_missing(self):
        self.refused(self.dir / "none.hints", "none.hints")

    def test_a_directory(self):
        self.refused(self.dir, str(self.dir))

    def test_empty(self):
        self.refused(self.write(b""), "bad.hints")

    def test_not_hints(self):
        self.refused(self.write(b"\x89PNG\r\n" + bytes(1000)), "bad.hints")

    def test_truncated(self):
        good = self.made.container.read_bytes()
        for size in (1, 7, 8, 127, 128, len(good) // 2, len(good) - 1):
            self.refused(self.write(good[:size]), "bad.hints")

    def test_longer(self):
        self.refused(self.write(self.made.container.read_bytes() + b"\x00"), "bad.hints")

    def test_truncated_bitmap(self):
        good = self.made.bitmap.read_bytes()
        for size in (1, 3, len(good) // 2, len(good) - 1):
            self.refused(self.write(good[:size]), "bad.hints")

    def test_newer_version(self):
        bad = bytearray(self.made.container.read_bytes())
        bad[8] = 3
        self.refused(self.write(bytes(bad)), "version")

    def test_another_network(self):
        node = self.node("signet")
        node.start()
        node.stop()
        before = self.content(node)
        self.assert_refused(node, *booster(self.made.container), "-minimumchainwork=0",
                            saying="another network")
        self.assertEqual(self.content(node), before)

    def test_another_network_with_reindex(self):
        """Found out when the file is opened, before -reindex removes anything."""
        node = self.node("signet").start().stop()
        before = tree_digest(node.net_dir, VOLATILE)
        self.assert_refused(node, "-reindex", f"-ibdboosterfile={self.made.container}",
                            saying="another network")
        self.assertEqual(tree_digest(node.net_dir, VOLATILE), before)

    def test_no_regular_file(self):
        """Opening a pipe, or reading a device, might never end."""
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, "/dev/zero"):
            self.refused(path, "no regular file")
        self.refused(self.dir, "Is a directory")

    def test_above_the_tip(self):
        longer = chain("--outputs", "9000", "--outputs-per-block", "40", "--tail", "4000",
                       "--seed", "7", "--hints-height", str(self.made.height + 1))
        self.refused(longer.container, "above the best header", index_opened=True)

    def test_off_the_chain(self):
        other = chain("--outputs", "6000", "--outputs-per-block", "40", "--tail", "2100",
                      "--seed", "8")
        self.refused(other.container, other.terminal_hash, index_opened=True)

    def test_bad_options(self):
        good = self.made.container
        for bad in ("-ibdboosteraggregate=xor", "-ibdboosterloader=floppy", "-ibdboostermem=0",
                    "-ibdboostermem=99999999999", "-ibdboosterthreads=0",
                    "-ibdboosterfullvalidation=true"):
            self.refused(good, bad, *booster(good), bad)
        self.refused(good, "-ibdboosterfile", "-reindex-chainstate", "-ibdboosterfile=")
        self.refused(good, "-ibdboosterdir: names no", *booster(good), "-ibdboosterdir=")

    def test_a_fresh_directory(self):
        """No blocks at all: every hints file is above the tip."""
        node = self.node()
        self.assert_refused(node, f"-ibdboosterfile={self.made.container}", *self.made.trust,
                            saying="above the best header")
