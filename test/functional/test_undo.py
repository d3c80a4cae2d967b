"""-ibdboosterundo: undo data of blocks that the booster folded, made from the blocks alone. With
the value "now", the files equal those of serial validation byte for byte, even after kills and
stops. With the value 1, undo data is made while the node is in use."""

import collections
import contextlib
import fcntl
import http.client
import os
import pathlib
import random
import re
import shutil
import time

from framework import (BURNT, NO_UNDO, TIMEOUT, FunctionalTest, RpcError, coins, hints_tool,
                       left_by_booster, wait_until)
from generated import TAIL, chain, large_chain, medium_chain, small_chain
from large_coins import chain_of_large_coins
from phases import phase_in, tell
from regtest_chain import COINBASE_MATURITY, Chain, next_block, spend
from test_failures import fill, small_disk
from test_own_hints import REGTEST_MAGIC, place_blocks

CHECKSUM_SIZE = 32
LAST = 288  # blocks whose undo data comes first
KILLS = int(os.environ.get("IBD_KILLS", "8"))
# In the log: how the coins that the last blocks spend are found.
FOUND_IN_FOLD = "are looked for while blocks are folded"
READ_AGAIN = "Undo: looking for"
FULL = r"rev00000\.dat: disk space is too low to add \d+ bytes"
NOW = "-ibdboosterundo=now"
BACKGROUND = "-ibdboosterundo=1"
# The last line of a node that ends because undo data is missing.
CANNOT_DISCONNECT = ("Error: A fatal internal error occurred, see debug.log for details: "
                     "Failed to disconnect block.\n")


def undo_files(node):
    return {path.name: path.read_bytes() for path in node.blocks_dir.glob("rev*.dat")}


def undo_records(files):
    """The set of records in undo files. A record ends with a checksum that also covers the hash of
    the previous block, so the records of two blocks always differ."""
    found = set()
    for data in files.values():
        at = 0
        while data[at:at + 4] == REGTEST_MAGIC:
            end = at + 8 + int.from_bytes(data[at + 4:at + 8], "little") + CHECKSUM_SIZE
            found.add(data[at + 8:end])
            at = end
        assert not data[at:].strip(b"\0"), "no record"
    return found


def hand_in(node, blocks):
    """Submits the blocks in order until a call fails; returns the number of accepted blocks."""
    for number, block in enumerate(blocks):
        try:
            node.rpc("submitblock", block.raw().hex())
        except (RpcError, OSError, http.client.HTTPException):
            return number
    return len(blocks)


def branch_of(node, fork, end):
    """Empty blocks on the active block at height `fork`, up to height `end`."""
    blocks, prev = [], node.rpc("getblockhash", fork)
    start = node.rpc("getblockheader", prev)["time"]
    for height in range(fork + 1, end + 1):
        blocks.append(next_block(prev, height, start + 600 * (height - fork)))
        prev = blocks[-1].hash()
    return blocks


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
        all_have_it = f"Undo data: all blocks up to height {made.terminal_height} have it"
        checked = (f"all blocks up to height {made.terminal_height} keep every rule but scripts; "
                   "their undo data is written")
        for line, args in ((checked, ["-reindex", "-ibdbooster"]),
                           (all_have_it, ["-reindex", "-ibdbooster", "-ibdboosterchecks=0"]),
                           (all_have_it, ["-reindex", given]),
                           (checked, ["-reindex", "-ibdbooster", "-ibdboosterthreads=1",
                                      "-ibdboostermem=1"])):
            with self.subTest(args=args):
                node = made.place(self.node())
                self.assertEqual(node.run(*args, NOW, *made.trust, made.to_tip), (0, ""))
                self.assertIn("succeeded. ***", node.log_text)
                self.assertIn(line, node.log_text)
                self.assert_as_serial(node, made, wanted)

    def test_several_files(self):
        made = large_chain()
        wanted = self.serial(made)
        if "IBD_OUTPUTS" in os.environ and len(wanted[0]) == 1:
            self.skipTest("the chain of IBD_OUTPUTS has a single file of undo data")
        self.assertGreater(len(wanted[0]), 1)
        node = made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdbooster", NOW, *made.trust, made.to_tip),
                         (0, ""))
        self.assert_as_serial(node, made, wanted)

    def test_an_oversized_record(self):
        """Above 16 MiB it is made alone."""
        mined, last = chain_of_large_coins(1_700)
        mined.add(last)
        mined.grow(2)
        files = []
        for args in (["-ibdbooster=0"], ["-ibdbooster", NOW, "-ibdboostermem=1"]):
            node = place_blocks(self, mined.blocks)
            self.assertEqual(node.run("-reindex", *args, f"-stopatheight={mined.height}"), (0, ""))
            files.append(undo_files(node))
        self.assertIn("their undo data is written", node.log_text)
        self.assertGreater(max(map(len, undo_records(files[0]))), 16 << 20)
        self.assertTrue(files[0] == files[1], "undo files differ")

    def test_the_node_is_archival(self):
        """It disconnects blocks below the terminal block, and shows the outputs that they spent."""
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
        self.assertEqual(node.run("-reindex", "-ibdbooster", NO_UNDO, *made.trust, made.to_tip),
                         (0, ""))
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
        self.assert_refused(node, "-ibdboosterundo=soon", saying="must be 0, 1 or now")
        self.assert_refused(node, NOW, "-prune=1", saying="-ibdboosterundo=now with -prune")
        self.assert_refused(node, BACKGROUND, "-prune=1", saying="-ibdboosterundo=1 with -prune")

    def test_a_block_that_breaks_a_rule(self):
        """If that was not checked before: the rule is named, the node stops."""
        mined = breaking_chain()
        node = place_blocks(self, mined.blocks)
        errors = self.assert_refused(node, "-reindex", "-ibdbooster", "-ibdboosterchecks=0", NOW,
                                     saying="Undo data")
        self.assertIn("bad-txns-in-belowout", errors)
        self.assertIn(f"height {mined.height - 2}", errors)
        node.start("-reindex-chainstate", "-ibdbooster=0", NOW)
        node.wait_for_height(mined.height - 3)

    def test_a_missing_block(self):
        made = small_chain()
        node = made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster", NO_UNDO, *made.trust, made.to_tip),
                         (0, ""))
        first = node.blocks_dir / "blk00000.dat"
        shutil.move(first, self.dir / "gone")
        status, errors = node.run(NOW)
        self.assertEqual(status, 1)
        self.assertIn("Error loading block database", errors)
        self.assertIn("blk00000.dat", node.log_text)
        shutil.move(self.dir / "gone", first)
        self.assertEqual(node.run(NOW, made.to_tip), (0, ""))


def breaking_chain(above=2):
    """A chain in which the block `above` blocks below the last spends more than there is."""
    mined = Chain().grow(COINBASE_MATURITY + 10)
    txid, amount = mined.coinbase_of(1)
    mined.add(mined.candidate([spend(txid, 0, amount + 1000)], fees=-5000))
    return mined.grow(above)


def assert_built_on(case, mined, height, ran):
    """The result of a start with a chainstate above the block of `mined` that was found to be
    invalid."""
    status, errors = ran
    case.assertEqual(status, 1, errors)
    case.assertIn(f"The chainstate is built on block {mined.blocks[height - 1].hash()} at height "
                  f"{height}, which is invalid", errors)
    case.assertIn("Please restart with -reindex-chainstate -ibdbooster=0", errors)


@contextlib.contextmanager
def held_up(node):
    """No undo data can be made meanwhile: the folder is locked."""
    folder = node.net_dir / "ibdbooster" / "undo"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


class BackgroundTest(UndoTest):
    def warnings(self, node):
        return [text for call in ("getblockchaininfo", "getnetworkinfo")
                for text in node.rpc(call)["warnings"] if "Undo data" in text]

    def has_all(self, node):
        """Whether all undo data is made. A node asked to stop may still finish it."""
        return "Undo data: all blocks" in node.log_text

    def wait_for_undo(self, node):
        wait_until(lambda: self.has_all(node), "undo data")
        wait_until(lambda: not self.warnings(node), "no warning")

    def assert_whole(self, node, made, wanted):
        self.assertEqual(node.rpc("getbestblockhash"), made.tip)
        self.assertEqual(coins(node), wanted[1])
        self.assertTrue(node.rpc("verifychain", 4, 0))
        self.assertIn("No coin database inconsistencies".lower(), node.log_text.lower())
        node.stop()
        self.assertEqual(left_by_booster(node), [])
        self.assertEqual(len(self.lacking(node, wanted)), 0,
                         "records differ from those of serial validation")

    def lacking(self, node, wanted):
        """Undo records of serial validation that the stopped `node` does not have."""
        return undo_records(wanted[0]) - undo_records(undo_files(node))


class Background(BackgroundTest):
    """-ibdboosterundo=1"""

    def boosted(self, made):
        """A node whose booster left no undo data, with blocks of its own."""
        node = made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster", NO_UNDO, *made.trust, made.to_tip),
                         (0, ""))
        return node

    def test_beside_the_nodes_work(self):
        """The records come behind those of blocks that were connected; more blocks arrive."""
        made = chain("--outputs", "60000", "--tail", "2100", "--seed", "6")
        wanted = self.serial(made)
        node = made.place(self.node(), copied=True)
        node.start("-reindex", "-ibdbooster", BACKGROUND, *made.trust, "-ibdboosterthreads=1")
        node.wait_for_tip(made.tip)
        mined = node.rpc("generatetoaddress", 5, BURNT)
        self.assertEqual(node.rpc("getbestblockhash"), mined[-1])
        self.wait_for_undo(node)
        self.assertTrue(node.rpc("verifychain", 4, 0))
        # The join for the hints kept the pairs.
        self.assertEqual(len(re.findall(r"Join: reading \d+ blocks", node.log_text)), 1)
        node.rpc("invalidateblock", mined[0])
        self.assert_whole(node, made, wanted)

    def test_pairs_of_a_rebuild_that_was_begun(self):
        """A rebuild is killed, and the node starts on its old chainstate. After it has made the
        undo data, nothing of the rebuild is left to continue."""
        made = medium_chain()
        wanted = self.serial(made)
        node = self.boosted(made)
        node.launch("-reindex-chainstate", "-ibdbooster", BACKGROUND, *made.trust,
                    "-ibdboostermem=1", "-ibdboosterintervalbytes=2000000")
        wait_until(lambda: list(node.net_dir.glob("ibdbooster/undo/spill*")), "a spill")
        node.kill()
        self.assertIn("own.hints.incomplete", left_by_booster(node))
        node.start("-ibdbooster", BACKGROUND, *made.trust)
        self.assertIn("keeps an unfinished rebuild", node.log_text)
        self.wait_for_undo(node)
        self.assert_whole(node, made, wanted)

    def test_what_calls_say_meanwhile(self):
        made = small_chain()
        wanted = self.serial(made)
        node = self.boosted(made)
        spending = made.terminal_hash
        with held_up(node):
            node.start(BACKGROUND)
            wait_until(lambda: "Undo data could not be made" in node.log_text, "failure")
            note = f"exists up to height 0 and above {made.terminal_height}"
            told = self.warnings(node)
            self.assertEqual(len(told), 2)
            undo = node.rpc("getboosterinfo")["undo"]
            self.assertEqual([undo[key] for key in ("phase", "height", "terminalheight")],
                             ["failed", 0, made.terminal_height])
            for text in told:
                self.assertIn(note, text)
            txid = node.rpc("getblock", spending)["tx"][1]
            for call in (["getblock", spending, 3], ["getblockstats", made.terminal_height],
                         ["getrawtransaction", txid, 2, spending],
                         ["gettxoutsetinfo", "muhash", made.terminal_height, False],
                         ["invalidateblock", spending]):
                with self.subTest(call=call[0]):
                    with self.assertRaises(RpcError) as raised:
                        node.rpc(*call)
                    self.assertIn(note, str(raised.exception))
            self.assertNotIn("prevout", node.rpc("getblock", spending, 2)["tx"][1]["vin"][0])
            node.stop()
        node.start(BACKGROUND)
        self.wait_for_undo(node)
        for call in (["getblock", spending, 3], ["getblockstats", made.terminal_height],
                     ["getrawtransaction", txid, 2, spending]):
            node.rpc(*call)
        before = undo_files(node)
        self.assert_whole(node, made, wanted)
        node.start(BACKGROUND)  # nothing is left to do
        self.assertEqual(undo_files(node), before)
        self.assertEqual(self.warnings(node), [])

    def test_when_it_will_be_there(self):
        made = medium_chain()
        node = self.boosted(made)
        node.start(BACKGROUND, "-ibdboosterthreads=1")
        told = set()
        while not self.has_all(node):
            told.update(self.warnings(node))
        about = (f"up to height \\d+ and above {made.terminal_height}; "
                 "the rest will be there in about ")
        self.assertTrue([text for text in told if re.search(about, text)], told)

    def test_a_full_disk(self):
        """The records are on the same disk as the blocks. A node in use continues without undo
        data; a node not yet in use stops. With enough space again the rest is made, above the
        existing data."""
        made = medium_chain()
        wanted = self.serial(made)
        for when in (BACKGROUND, NOW):
            with self.subTest(when=when), small_disk(256) as disk:
                node = made.place(self.node("regtest", f"-blocksdir={disk}"), copied=True)
                self.assertEqual(node.run("-reindex", "-ibdbooster", NO_UNDO, *made.trust,
                                          made.to_tip), (0, ""))
                self.fill_while_made(node, when, pathlib.Path(disk, "filler"))
                node.start(when)
                self.wait_for_undo(node)
                self.assert_whole(node, made, wanted)

    def fill_while_made(self, node, when, filler):
        node.launch(when, "-ibdboosterthreads=1", "-ibdboostermem=1")
        wait_until(lambda: "Undo data: making" in node.log_text
                   and list(node.net_dir.glob("ibdbooster/undo/spill*")), "a spill")
        fill(filler, 64 * 1024)
        if when == NOW:
            status, errors = node.wait()
            self.assertEqual(status, 1, errors)
            self.assertRegex(errors, f"^Error: .*{FULL}")
            self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        else:
            wait_until(lambda: "Undo data could not be made" in node.log_text, "failure")
            self.assertRegex(self.warnings(node)[0], f"could not be made: .*{FULL}")
            node.stop()
        filler.unlink()

    def test_what_cannot_be_read(self):
        """The warning does not say that the rest is being made when it is not."""
        made = small_chain()
        wanted = self.serial(made)
        node = self.boosted(made)
        kept = node.net_dir / "ibdbooster" / "undo" / "join.dat"
        kept.mkdir(parents=True)
        node.start(BACKGROUND)
        wait_until(lambda: "Undo data could not be made" in node.log_text, "failure")
        for text in self.warnings(node):
            self.assertRegex(text, "the rest could not be made: .*join.dat")
        self.assertEqual(node.rpc("getboosterinfo")["undo"]["phase"], "failed")
        node.stop()
        kept.rmdir()
        node.start(BACKGROUND)
        self.wait_for_undo(node)
        self.assert_whole(node, made, wanted)

    def test_what_is_not_needed_cannot_be_read(self):
        made = small_chain()
        self.serial(made)
        node = self.boosted(made)
        (node.net_dir / "ibdbooster/undo/join.dat").mkdir(parents=True)
        node.start(NO_UNDO).stop()
        self.assertRegex(node.log_text,
                         "could not be read or removed: .*join.dat.*: Is a directory")

    def test_a_better_branch_below(self):
        """A reorganisation to a branch that starts where undo data is still being made happens once
        that data exists. If it cannot be made the node stops, because it would continue with a
        chain that is not the best."""
        trunk = Chain().grow(COINBASE_MATURITY + 300)
        other = trunk.branch(LAST + 10, LAST + 13)
        node = place_blocks(self, trunk.blocks)
        self.assertEqual(node.run("-reindex", "-ibdbooster", NO_UNDO,
                                  f"-stopatheight={trunk.height}"), (0, ""))
        with held_up(node):
            node.start(BACKGROUND)
            wait_until(lambda: "Undo data could not be made" in node.log_text, "failure")
            self.assertEqual(hand_in(node, other.blocks[-LAST - 13:]), LAST + 10)
            self.assertEqual(node.wait(), (1, CANNOT_DISCONNECT))
        node.start(BACKGROUND)
        node.wait_for_tip(other.blocks[-3].hash())
        self.assertEqual(hand_in(node, other.blocks[-2:]), 2)
        node.wait_for_tip(other.tip)
        self.wait_for_undo(node)
        self.assertEqual(node.rpc("getblockchaininfo")["warnings"], [])

    def test_kills_and_stops(self):
        made = medium_chain()
        wanted = self.serial(made)
        node = self.boosted(made)
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        args = [BACKGROUND, "-ibdboostermem=1", "-ibdboosterintervalbytes=4000000",
                "-ibdboosterthreads=1"]
        ended = 0
        for number in range(KILLS):
            begin = len(node.log_text)
            node.launch(*args)
            wait_until(lambda at=begin: "Undo data: making" in node.log_text[at:]
                       or self.has_all(node), "undo data")
            time.sleep(chance.uniform(0, 0.5) if ended else 0)
            if self.has_all(node):
                break
            if number % 2:
                node.kill()
            else:
                node.process.terminate()
                self.assertEqual(node.wait(), (0, ""))
            ended += 1
            # The end may come between the last record and the line that says so.
            if not self.lacking(node, wanted):
                break
        self.assertGreater(ended, 0)
        nothing_to_log = not node.running and not self.lacking(node, wanted)
        if not node.running:
            node.launch(*args)
        node.wait_for_rpc()
        if not nothing_to_log:
            self.wait_for_undo(node)
        self.assert_whole(node, made, wanted)

    def test_a_block_that_breaks_a_rule(self):
        """It ends the node, and the coins that were built on it are not used again."""
        mined = breaking_chain()
        node = place_blocks(self, mined.blocks)
        status, errors = node.run("-reindex", "-ibdbooster", "-ibdboosterchecks=0",
                                  BACKGROUND)
        self.assertEqual(status, 1)
        for part in ("Undo data: block at height", "bad-txns-in-belowout",
                     "-reindex-chainstate -ibdbooster=0"):
            self.assertIn(part, errors)
        # Without the warning that advises to connect more blocks first.
        self.assertNotIn("Core disconnects", node.log_text)
        assert_built_on(self, mined, mined.height - 2, node.run("-ibdbooster=0"))
        node.start("-reindex-chainstate", "-ibdbooster=0")
        node.wait_for_height(mined.height - 3)


class BrokenFarBelow(UndoTest):
    """A block below the last 288 breaks a rule: the node is in use when that is found."""

    def setUp(self):
        super().setUp()
        self.mined = breaking_chain(LAST + 10 + TAIL)
        self.bad = self.mined.height - LAST - 10 - TAIL
        self.terminal = self.mined.height - TAIL
        self.main = place_blocks(self, self.mined.blocks)
        self.hints = self.dir / "chain.hints"
        hints_tool("generate", "--network=regtest", f"--height={self.terminal}",
                   self.main.blocks_dir, self.hints)

    def run_to_the_end(self, *args):
        """Starts it. Returns the heights seen over RPC until it ended by itself, and its stderr."""
        heights, latest = set(), time.monotonic() + TIMEOUT
        self.main.launch(*args)
        while self.main.running and time.monotonic() < latest:
            with contextlib.suppress(OSError, http.client.HTTPException, RpcError, ValueError):
                # Before that the chain is that of a rebuild: genesis alone.
                if self.main.rpc("getmempoolinfo")["loaded"]:
                    heights.add(self.main.rpc("getblockcount"))
        self.assertFalse(self.main.running, "it did not end")
        status, errors = self.main.wait()
        self.assertEqual(status, 1, errors)
        return heights, errors

    def assert_not_used_again(self, *given):
        """Whatever the next start is given, until the chainstate is rebuilt."""
        for args in ([], [NO_UNDO], ["-ibdbooster=0"], given):
            with self.subTest(args=args):
                assert_built_on(self, self.mined, self.bad, self.main.run(*args))
        self.main.start("-reindex-chainstate", "-ibdbooster=0", "-ibdboosterfile=auto")
        self.main.wait_for_height(self.bad - 1)

    def given(self):
        return [f"-ibdboosterfile={self.hints}", "-minimumchainwork=0",
                f"-assumevalid={self.mined.blocks[self.terminal - 1].hash()}"]

    def test_killed_as_soon_as_it_is_found(self):
        found = self.dir / "found"
        self.main.launch("-reindex", *self.given(), f"-shutdownnotify=touch {found}; sleep 30")
        wait_until(found.exists, "the node is told to stop")
        self.main.kill()
        self.assertIn(f"Undo data: block at height {self.bad} is invalid", self.main.log_text)
        self.assert_not_used_again(*self.given())

    def test_found_while_the_node_is_live(self):
        given = self.given()
        heights, errors = self.run_to_the_end("-reindex", *given)
        self.assertTrue(heights, "RPC never answered")
        self.assertGreaterEqual(min(heights), self.terminal)
        for line in ("succeeded. ***", f"the last {LAST} blocks have it", "Done loading",
                     f"Undo data: making that of blocks 1 to {self.terminal - LAST}"):
            self.assertIn(line, self.main.log_text)
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        bad = self.mined.blocks[self.bad - 1]
        for part in ("Error: ", f"Undo data: block at height {self.bad} is invalid", bad.hash(),
                     "bad-txns-in-belowout", f"transaction {bad.txs[1].txid()}",
                     "-reindex-chainstate -ibdbooster=0"):
            self.assertIn(part, errors)
        self.assert_not_used_again(*given)


class ByDefault(BackgroundTest):
    """Without an option about undo data."""

    def setUp(self):
        super().setUp()
        self.made = small_chain(60000)
        self.given = [f"-ibdboosterfile={self.made.container}", *self.made.trust]

    def test_the_node_is_archival(self):
        wanted = self.serial(self.made)
        for args in (self.given, ["-ibdbooster", *self.made.trust],
                     ["-ibdboosterleast=50000", *self.made.trust]):
            with self.subTest(args=args):
                node = self.made.place(self.node())
                self.assertEqual(node.run("-reindex", *args, self.made.to_tip), (0, ""))
                self.assertIn("succeeded. ***", node.log_text)
                self.assertIn(f"the last {LAST} blocks have it", node.log_text)
                node.start()
                self.wait_for_undo(node)
                self.assertEqual(node.rpc("getblockchaininfo")["warnings"], [])
                low = node.rpc("getblockhash", 3)
                node.rpc("invalidateblock", low)
                self.assertEqual(node.rpc("getblockcount"), 2)
                node.rpc("reconsiderblock", low)
                self.assert_whole(node, self.made, wanted)

    def test_a_better_branch_far_below(self):
        trunk = Chain().grow(COINBASE_MATURITY + 300)
        other = trunk.branch(LAST + 10, LAST + 13)
        node = place_blocks(self, trunk.blocks)
        node.start("-reindex", "-ibdbooster").wait_for_tip(trunk.tip)
        self.wait_for_undo(node)
        for block in other.blocks[-LAST - 13:]:
            node.rpc("submitblock", block.raw().hex())
        node.wait_for_tip(other.tip)

    def test_without_room(self):
        """Without disk space the node logs one line and makes no undo data of these blocks; a later
        start with space makes it."""
        for args in (self.given, ["-ibdboosterleast=50000", "-ibdboosterchecks=0",
                                  *self.made.trust]):
            with self.subTest(args=args), small_disk(1) as disk:
                node = self.made.place(self.node())
                node.start("-reindex", *args, f"-ibdboosterdir={disk}")
                node.wait_for_tip(self.made.tip)
                wait_until(lambda at=node: "is not made" in at.log_text, "the line")
                self.assertIn(f"Undo data of blocks 1 to {self.made.terminal_height - LAST} is "
                              "not made", node.log_text)
                self.assertIn("succeeded. ***", node.log_text)
                self.assertEqual(node.log_text.count("is not made"), 1)
                for text in self.warnings(node):
                    self.assertIn("the rest could not be made: it takes about", text)
                self.assertEqual(node.rpc("getboosterinfo")["undo"]["phase"], "failed")
                node.stop()
                node.start()
                self.wait_for_undo(node)
                self.assertTrue(node.rpc("verifychain", 4, 0))
                node.stop()

    def test_a_better_branch_without_room(self):
        """Its undo data is never made: the node stops as Core does, and does not stay on the worse
        branch. A later start with space follows the better branch."""
        made = self.made
        with small_disk(1) as disk:
            node = made.place(self.node(), copied=True)
            node.start("-reindex", *self.given, f"-ibdboosterdir={disk}").wait_for_tip(made.tip)
            wait_until(lambda: "is not made" in node.log_text, "the shortage")
            better = branch_of(node, made.terminal_height - LAST - 10, made.height + 1)
            self.assertEqual(hand_in(node, better), len(better) - 1)
            self.assertEqual(node.wait(), (1, CANNOT_DISCONNECT))
            # Also if the branch is there from the start.
            self.assertEqual(node.run(f"-ibdboosterdir={disk}"), (1, CANNOT_DISCONNECT))
        node.start().wait_for_tip(better[-1].hash())

    def test_asked_for_without_room(self):
        with small_disk(1) as disk:
            node = self.made.place(self.node())
            node.start("-reindex", *self.given, BACKGROUND, f"-ibdboosterdir={disk}")
            wait_until(lambda: "Undo data could not be made" in node.log_text, "failure")
            self.assertIn("the rest could not be made", self.warnings(node)[0])
            node.stop()
            self.assert_refused(node, NOW, f"-ibdboosterdir={disk}", saying="undo data takes about")

    def test_pruned(self):
        node = self.made.place(self.node())
        node.start("-reindex", "-prune=1", "-ibdboosterprune", *self.given)
        node.wait_for_tip(self.made.tip)
        node.stop()
        self.assertIn("succeeded. ***", node.log_text)
        self.assertNotIn("Undo data", node.log_text)

    def test_pairs_that_nobody_wants(self):
        node = self.made.place(self.node())
        args = ["-ibdbooster", *self.made.trust, self.made.to_tip]
        self.assertEqual(node.run("-reindex", *args), (0, ""))
        self.assertTrue(list(node.net_dir.glob("ibdbooster/undo/spill*")))
        self.assertEqual(node.run(NO_UNDO, self.made.to_tip), (0, ""))
        self.assertEqual(left_by_booster(node), [])
        # No pairs are kept either if all blocks have undo data.
        self.assertEqual(node.run(NOW, self.made.to_tip), (0, ""))
        self.assertEqual(node.run("-reindex-chainstate", *args), (0, ""))
        self.assertEqual(left_by_booster(node), [])


class Interrupted(UndoTest):
    """Killed and stopped in any phase: the next start continues, to the same files."""

    def setUp(self):
        super().setUp()
        self.made = medium_chain()
        self.wanted = self.serial(self.made)
        self.args = ["-ibdbooster", NOW, *self.made.trust, "-ibdboostermem=1",
                     "-ibdboosterintervalbytes=4000000"]

    def undo(self, node):
        try:
            return node.rpc("getboosterinfo").get("undo")
        except (OSError, http.client.HTTPException, RpcError, ValueError):
            return None

    def run_through(self, end):
        """Starts the node until a start finishes; `end` ends a start that joins or makes undo
        data."""
        node = self.made.place(self.node())
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        args, ended, phases = ["-reindex", *self.args], 0, collections.Counter()
        for number in range(KILLS):
            begin = len(node.log_text)
            node.launch(*args)
            work = "checking every rule but scripts of blocks" if number % 2 else "Join: "
            wait_until(lambda: any(line in node.log_text[begin:]
                                   for line in (work, "Done loading")), "undo data")
            args = self.args
            # The first ends as soon as the work has begun, however fast the machine is.
            delay = time.monotonic() + (chance.uniform(0.02, 0.2) if ended else 0)
            while time.monotonic() < delay:
                undo = self.undo(node)
                if undo:
                    self.assertLessEqual(undo["height"], undo["terminalheight"])
            if "Done loading" in node.log_text:
                break
            phases[phase_in(node.log_text[begin:])] += 1
            end(node)
            ended += 1
        if node.running:
            node.kill()
        self.assertGreater(ended, 0)
        self.assertNotIn("undo data is written", self.log_of_first_start(node))
        self.assertEqual(node.run(*args, self.made.to_tip), (0, ""))
        self.assert_as_serial(node, self.made, self.wanted)
        print(f"{ended} starts were ended")
        tell(phases)

    def log_of_first_start(self, node):
        return node.log_text.split(" version v")[1]

    def test_killed(self):
        self.run_through(lambda node: node.kill())

    def test_stopped(self):
        def stop(node):
            node.process.terminate()
            self.assertEqual(node.wait(), (0, ""))
        self.run_through(stop)
