"""-ibdboosterfullvalidation without undo data: every rule and script with coins joined from the
blocks, with nothing assumed valid. Coins and undo files as serial validation has them; a broken
rule is named, and the chain ends below it. With undo data of every block:
test_booster.FullValidation."""

import collections
import os
import random
import re
import time

from framework import NO_UNDO, coins, left_by_booster, wait_until
from generated import chain
from phases import phase_in, tell
from regtest_chain import COINBASE_MATURITY, Chain, spend
from test_network_booster import SUCCESS, NetworkBooster
from test_own_hints import place_blocks
from test_undo import UndoTest, breaking_chain, undo_files, undo_records

KILLS = int(os.environ.get("IBD_KILLS", "6"))
FULL = "-ibdboosterfullvalidation"
CHECKING = "checking every rule and script of blocks {} to {}, with coins that are joined"
WHOLE = "all blocks up to height {} keep every rule and script; their undo data is written"


def signed_chain(*options):
    return chain("--outputs", "12000", "--outputs-per-block", "60", "--tail", "2100", "--signed",
                 "--seed", "11", *options)


def with_damaged_witness(node, height):
    """The first block file, with one bit of a witness at that height or below changed."""
    data = bytearray((node.blocks_dir / "blk00000.dat").read_bytes())
    node.start(NO_UNDO)
    while not node.rpc("getblock", node.rpc("getblockhash", height), 2)["tx"][-1]["vin"][-1].get(
            "txinwitness"):
        height -= 1
    raw = bytes.fromhex(node.rpc("getblock", node.rpc("getblockhash", height), 0))
    node.stop()
    data[data.index(raw) + len(raw) - 5] ^= 1  # the last lock time follows
    return bytes(data)


class FullTest(UndoTest):
    def assert_checked(self, node, height):
        told = "\n".join(re.findall(".*IBD Booster.*", node.log_text))
        for line in (CHECKING.format(1, height), WHOLE.format(height),
                     SUCCESS.format("SHA256", height)):
            self.assertIn(line, told)
        self.assertNotIn("assumed valid", node.log_text)
        self.assertNotIn("Disabling script verification", node.log_text)


class Valid(FullTest):
    def setUp(self):
        super().setUp()
        self.made = signed_chain()
        self.wanted = self.serial(self.made)

    def test_reindex(self):
        """Also where an assumed-valid block is named: it only has its signatures, and those below,
        verified in batches."""
        end = self.made.terminal_height
        for args, known in (
                ([], "libsecp256k1 verifies all signatures, because the assumed-valid block is "
                     "not known"),
                ([f"-assumevalid={'ab' * 32}"], "because the assumed-valid block is not in this"),
                (self.made.trust, f"up to height {end} blocks are assumed-valid"),
                ([f"-assumevalid={self.made.tip}", "-ibdboosterthreads=1", "-ibdboostermem=1"],
                 f"up to height {self.made.height} blocks are assumed-valid")):
            with self.subTest(args=args):
                node = self.made.place(self.node())
                self.assertEqual(node.run("-reindex", FULL, *args, self.made.to_tip), (0, ""))
                self.assert_checked(node, self.made.height)
                self.assert_verified(node, known)
                self.assertEqual("those above with libsecp256k1" in node.log_text,
                                 self.has_lanes(node) and args == self.made.trust)
                self.assert_as_serial(node, self.made, self.wanted)

    @staticmethod
    def has_lanes(node):
        return "not skipped, are verified with avx" in node.log_text

    def assert_verified(self, node, how):
        """Without lanes the start has said all."""
        self.assertEqual(how in node.log_text, self.has_lanes(node), node.log_text)

    def test_ways_to_verify_signatures(self):
        """In batches, one by one, and both ways beside each other: the same chainstate."""
        for mode in ("0", "1", "check"):
            with self.subTest(mode=mode):
                node = self.made.place(self.node())
                args = ["-reindex", FULL, f"-signaturelanes={mode}",
                        f"-assumevalid={self.made.tip}", self.made.to_tip]
                status, errors = node.run(*args)
                self.assertEqual(status, 0, errors)
                # With nothing to compare it says so.
                self.assertEqual("check compares nothing" in errors,
                                 mode == "check" and not self.has_lanes(node))
                self.assert_as_serial(node, self.made, self.wanted)
                node.start(f"-signaturelanes={mode}")
                verifier = node.rpc("getboosterinfo")["verifier"]
                self.assertIn(f"are verified with {verifier}\n", node.log_text)
                if mode == "0":
                    self.assertEqual(verifier, "libsecp256k1")
                self.assertEqual(verifier.endswith(", compared with libsecp256k1"),
                                 mode == "check" and self.has_lanes(node))
                node.stop()
        self.assert_refused(self.node(), "-signaturelanes=2", saying="must be 0, 1 or check")

    def test_reindex_chainstate(self):
        """A block index made by the booster has no undo data; given hints set the end."""
        node = self.made.place(self.node())
        trust = [f"-ibdboosterfile={self.made.container}", *self.made.trust]
        height = self.made.terminal_height
        self.assertEqual(node.run("-reindex", *trust, NO_UNDO, f"-stopatheight={height}"), (0, ""))
        (node.net_dir / "debug.log").unlink()
        self.assertEqual(node.run("-reindex-chainstate", FULL, *trust, self.made.to_tip), (0, ""))
        self.assert_checked(node, height)
        self.assertNotIn("making hints", node.log_text)
        self.assert_as_serial(node, self.made, self.wanted)

    def test_a_block_that_is_mended(self):
        """The join does not notice a damaged witness of a stored block; the check of scripts does.
        After the block is replaced by a sound copy, everything is joined again and the sync
        succeeds."""
        made = self.made
        node = made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster", "-ibdboosterchecks=0", NO_UNDO,
                                  *made.trust, made.to_tip), (0, ""))
        path = node.blocks_dir / "blk00000.dat"
        whole = path.read_bytes()
        path.write_bytes(with_damaged_witness(node, made.terminal_height - 5))
        check = ["-reindex-chainstate", FULL, made.to_tip]
        self.assert_refused(node, *check, saying="put a sound copy of the file in its place")
        path.write_bytes(whole)
        self.assertEqual(node.run(*check), (0, ""))
        self.assertIn("was damaged when it was joined, and is sound now", node.log_text)
        self.assertEqual(undo_records(undo_files(node)), undo_records(self.wanted[0]))
        node.start(NO_UNDO)
        self.assertEqual(coins(node), self.wanted[1])

    def test_with_undo_data_of_every_block(self):
        """Then the coins of the undo data are used: only hints are joined."""
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster=0", self.made.to_tip), (0, ""))
        (node.net_dir / "debug.log").unlink()
        self.assertEqual(node.run("-reindex-chainstate", FULL, self.made.to_tip), (0, ""))
        self.assertIn("checking every rule and script", node.log_text)
        self.assertNotIn("joined from the blocks", node.log_text)
        self.assert_as_serial(node, self.made, self.wanted)

    def test_what_it_says(self):
        node = self.made.place(self.node())
        node.start("-reindex", FULL)
        info = node.rpc("getboosterinfo")
        self.assertEqual((info["state"], info["fullvalidation"]), ("accepted", True))
        self.assertEqual(coins(node), self.wanted[1])

    def test_nothing_is_stored(self):
        node = self.node().start(FULL)
        self.assertEqual(node.rpc("getblockcount"), 0)
        self.assertIn("validating serially", node.log_text)


class FromPeers(NetworkBooster, FullTest):
    def test_an_empty_directory(self):
        """Blocks are fetched in any order up to two weeks below the tip; with hints up to their
        end."""
        made = signed_chain()
        server = self.serve(made)
        # With the last one, and not before, all headers are there.
        age = int(time.time()) - server.rpc("getblockheader", made.tip)["time"]
        peer = [f"-connect=127.0.0.1:{server.p2p_port}", FULL, f"-maxtipage={age + 3600}"]
        hints = [f"-ibdboosterfile={made.container}"]
        for args, height in ([], made.height - 2016 - 1), (hints, made.terminal_height):
            with self.subTest(args=args):
                node = self.node()
                node.start(*peer, *args)
                self.assert_synced(node, server, made)
                self.assert_checked(node, height)
                self.assertIn(f"{height} of {height} blocks are to be fetched", node.log_text)
                self.assertTrue(node.rpc("verifychain", 4, 0))
                node.stop()


class Broken(FullTest):
    def assert_ends_below(self, node, bad, *reasons):
        """With the verdict, the tip and the mark of serial validation."""
        node.wait_for_height(bad - 1)
        wait_until(lambda: "invalid" in [tip["status"] for tip in node.rpc("getchaintips")], "mark")
        info = node.rpc("getboosterinfo")
        self.assertEqual(info["state"], "refused")
        for reason in reasons:
            self.assertIn(reason, info["verdict"])
            self.assertIn(reason, node.log_text)
        self.assertRegex(node.log_text, f"block at height {bad} is invalid: .*validating serially")
        self.assertNotIn("succeeded. ***", node.log_text)
        self.assertEqual(left_by_booster(node), [])

    def test_a_script(self):
        bad = 150
        made = signed_chain("--bad-script", str(bad))
        serial = made.place(self.node())
        serial.start("-reindex", "-ibdbooster=0", "-assumevalid=0").wait_for_height(bad - 1)
        wanted = coins(serial)
        # If its scripts were assumed valid, the block would be accepted.
        for args in ["-reindex"], ["-reindex", f"-ibdboosterfile={made.container}"]:
            with self.subTest(args=args):
                node = made.place(self.node())
                node.start(*args, FULL, *made.trust)
                self.assert_ends_below(node, bad, f"height {bad}", "script", "input")
                self.assertEqual(coins(node), wanted)
                self.assertEqual(node.rpc("getchaintips"), serial.rpc("getchaintips"))
                node.stop()

    def test_amounts_and_maturity(self):
        grown = Chain().grow(COINBASE_MATURITY + 10)
        old, amount = grown.coinbase_of(1)
        young, young_amount = grown.coinbase_of(grown.height - 5)
        cases = {
            "bad-txns-in-belowout": lambda: grown.candidate([spend(old, 0, amount + 1000)], -1000),
            "bad-cb-amount": lambda: grown.candidate([spend(old, 0, amount - 1000)], 1001),
            "bad-txns-premature-spend-of-coinbase":
                lambda: grown.candidate([spend(young, 0, young_amount)]),
            "bad-txns-inputs-missingorspent": lambda: grown.candidate([spend("ab" * 32, 0, 1)]),
        }
        for reason, make in cases.items():
            with self.subTest(reason=reason):
                made = Chain()
                made.blocks = [*grown.blocks, make()]
                bad = made.height
                made.grow(2)
                node = place_blocks(self, made.blocks)
                node.start("-reindex", FULL)
                self.assert_ends_below(node, bad, reason, f"height {bad}")
                node.stop()


class RulesFirst(FullTest):
    """-ibdboosterchecks: all but scripts is checked before the chainstate is written."""

    def test_undo_data_first(self):
        """It is made with the coins that the blocks are checked with."""
        made = signed_chain()
        wanted = self.serial(made)
        for args in ["-ibdbooster"], [f"-ibdboosterfile={made.container}"]:
            with self.subTest(args=args):
                node = made.place(self.node())
                self.assertEqual(node.run("-reindex", *args, "-ibdboosterchecks",
                                          "-ibdboosterundo=now", *made.trust, made.to_tip), (0, ""))
                self.assertIn("checking every rule but scripts of blocks 1 to "
                              f"{made.terminal_height}", node.log_text)
                self.assertNotIn("but also amounts", node.log_text)
                self.assert_as_serial(node, made, wanted)

    def test_undo_data_later(self):
        """The chainstate waits only for the checks, and continues with the files of the join."""
        made = signed_chain()
        wanted = self.serial(made)
        for args in ["-ibdbooster"], [f"-ibdboosterfile={made.container}"]:
            with self.subTest(args=args):
                node = made.place(self.node())
                self.assertEqual(node.run("-reindex", *args, "-ibdboosterchecks", *made.trust,
                                          made.to_tip), (0, ""))
                self.assertIn(f"all blocks up to height {made.terminal_height} keep every rule but "
                              "scripts", node.log_text)
                for text in "but also amounts", "undo data is written", "Undo: checking":
                    self.assertNotIn(text, node.log_text)
                joins = node.log_text.count("Join: reading")
                node.start("-ibdboosterundo=now")
                self.assertEqual(coins(node), wanted[1])
                self.assertIn("Undo data: all blocks up to height", node.log_text)
                self.assertEqual(node.log_text.count("Join: reading"), joins)
                node.stop()
                self.assertEqual(left_by_booster(node), [])

    def test_without_undo_data(self):
        """None is made if none is requested; a later start that requests it makes it."""
        made = signed_chain()
        wanted = self.serial(made)
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster", "-ibdboosterchecks", NO_UNDO,
                                  *made.trust, made.to_tip), (0, ""))
        self.assertIn(f"all blocks up to height {made.terminal_height} keep every rule but scripts",
                      node.log_text)
        self.assertNotIn("undo data is written", node.log_text)
        written, of_all = (sum(len(data.rstrip(b"\0")) for data in files.values())
                           for files in (undo_files(node), wanted[0]))
        self.assertLess(written, of_all / 2)
        self.assertEqual(left_by_booster(node), [])
        node.start("-ibdboosterundo=now")
        self.assertEqual(coins(node), wanted[1])
        self.assertIn("Undo data: all blocks up to height", node.log_text)

    def test_scripts_are_assumed(self):
        made = signed_chain("--bad-script", "150")
        node = made.place(self.node())
        node.start("-reindex", "-ibdbooster", "-ibdboosterchecks", *made.trust)
        node.wait_for_tip(made.tip)

    def test_a_broken_rule(self):
        """It is named before a coin is written, also without requested checks."""
        mined = breaking_chain()
        bad = mined.blocks[mined.height - 3]
        for args in ([], ["-ibdboosterchecks"], ["-ibdboosterundo=now"]):
            args = ["-ibdbooster", *args]
            with self.subTest(args=args):
                node = place_blocks(self, mined.blocks)
                node.start("-reindex", *args)
                node.wait_for_height(mined.height - 3)
                self.assertEqual(node.rpc("getboosterinfo")["state"], "refused")
                line = re.search(r".*\[error\] IBD Booster: block at height .*", node.log_text)[0]
                for text in line, node.rpc("getboosterinfo")["verdict"]:
                    for part in (bad.hash(), f"at height {mined.height - 2}: bad-txns-in-belowout",
                                 f"in transaction {bad.txs[1].txid()}"):
                        self.assertIn(part, text)
                self.assertIn("; validating serially from the same blocks", line)
                self.assertNotIn("succeeded. ***", node.log_text)
                node.stop()
                self.assertEqual(left_by_booster(node), [])

    def test_refused(self):
        self.assert_refused(self.node(), "-ibdboosterchecks", "-prune=1",
                            saying="-ibdboosterchecks with -prune")


class Killed(FullTest):
    def test_goes_on(self):
        """In any phase; checked blocks are not checked again."""
        made = chain("--outputs", "60000", "--outputs-per-block", "300", "--tail", "2100",
                     "--signed", "--seed", "12")
        wanted = self.serial(made)
        node = made.place(self.node())
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        args = ["-reindex", FULL, "-ibdboosterinterval=1", "-ibdboosterthreads=1"]
        ended, phases = 0, collections.Counter()
        for _ in range(KILLS):
            begin = len(node.log_text)
            node.launch(*args)
            args[0] = FULL
            wait_until(lambda at=begin: any(line in node.log_text[at:] for line in
                                            ("Join: reading", "checking every", "succeeded. ***")),
                       "work")
            # The join is over soon.
            time.sleep(chance.uniform(0, 0.1 if ended < KILLS // 2 else 1.5) if ended else 0)
            if "succeeded. ***" in node.log_text:
                break
            node.kill()
            ended += 1
            phases[phase_in(node.log_text[begin:])] += 1
        if node.running:
            node.kill()
        self.assertGreater(ended, 0)
        self.assertEqual(node.run(FULL, made.to_tip), (0, ""))
        self.assertIn(WHOLE.format(made.height), node.log_text)
        self.assert_as_serial(node, made, wanted)
        print(f"{ended} starts were ended")
        tell(phases)
