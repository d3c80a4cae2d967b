"""The booster without a hints file: bitcoind joins all outputs with all inputs, makes its own hints
and runs the booster with them. Coins as after serial validation; when it runs unasked; its
reactions to bad blocks, bad disks and stops. Kills are in test_crash.OwnHintsPoints."""

import contextlib
import http.client
import pathlib
import re
import shutil

from framework import (NO_UNDO, FunctionalTest, RpcError, building, coins, left_by_booster,
                       wait_until)
from generated import TAIL, medium_chain, small_chain
from regtest_chain import COINBASE_MATURITY, OP_TRUE, Chain, spend
from test_failures import fill, small_disk

SUCCESS = "*** IBD Booster: {} check at block height {} succeeded. ***"
MAKING = "IBD Booster: making hints from the blocks up to height {}"
REGTEST_MAGIC = bytes.fromhex("fabfb5da")


def place_blocks(test, blocks):
    """A node with these blocks in a file and no index."""
    node = test.node().start()
    genesis = bytes.fromhex(node.rpc("getblock", node.rpc("getblockhash", 0), 0))
    node.stop()
    shutil.rmtree(node.net_dir)
    node.blocks_dir.mkdir(parents=True)
    with open(node.blocks_dir / "blk00000.dat", "wb") as file:
        for raw in [genesis, *(block.raw() for block in blocks)]:
            file.write(REGTEST_MAGIC + len(raw).to_bytes(4, "little") + raw)
    return node


def right_bitmap(blocks):
    """The hints of these blocks as a bitmap, which names no block."""
    spent = {outpoint[:2] for block in blocks for tx in block.txs for outpoint in tx.inputs}
    out = b"\x01\x00\x00"  # the genesis block
    for block in blocks:
        flags = [(tx.txid(), vout) not in spent
                 for tx in block.txs for vout in range(len(tx.outputs))]
        bits = sum(flag << at for at, flag in enumerate(flags))
        out += len(flags).to_bytes(2, "little") + bits.to_bytes((len(flags) + 7) // 8, "little")
    return out + b"\x00\x00"


class OwnHintsTest(FunctionalTest):
    def indexed(self, made, copied=False):
        """A node that has validated the chain serially."""
        node = made.place(self.node(), copied)
        self.assertEqual(node.run("-reindex", made.to_tip), (0, ""))
        return node

    def coins_after(self, node, made, *args, left=()):
        """Runs to the tip, then reads the coins in a second start; the booster left nothing."""
        with contextlib.suppress(FileNotFoundError):
            (node.net_dir / "debug.log").unlink()
        self.assertEqual(node.run(*args, NO_UNDO, made.to_tip), (0, ""))
        log = node.log_text
        node.start("-ibdbooster=0", NO_UNDO, "-checklevel=4", "-checkblocks=6")
        out = coins(node)
        node.stop()
        self.assertEqual(left_by_booster(node), list(left))
        (node.net_dir / "debug.log").write_text(log)
        return out

    def assert_made(self, node, height, aggregate="SHA256"):
        self.assertIn(MAKING.format(height), node.log_text)
        self.assertIn(SUCCESS.format(aggregate, height), node.log_text)

    def assert_coins_only(self, node, expected=True):
        """Whether the fold relied on the checks of the join."""
        self.assertEqual("which are checked already: coins only" in node.log_text, expected)


class SameCoins(OwnHintsTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.main = self.indexed(self.made)
        self.serial = self.coins_after(self.main, self.made, "-reindex-chainstate",
                                       "-ibdbooster=0")

    def test_reindex_chainstate(self):
        for more in ([], ["-ibdboosterthreads=1", "-ibdboostermem=1", "-ibdboosterloader=batch"],
                     ["-ibdboosteraggregate=muhash", f"-ibdboosterdir={self.dir / 'elsewhere'}"]):
            with self.subTest(more=more):
                self.assertEqual(self.coins_after(self.main, self.made, "-reindex-chainstate",
                                                  "-ibdbooster", *self.made.trust, *more),
                                 self.serial)
                self.assert_made(self.main, self.made.terminal_height,
                                 "MuHash" if "muhash" in str(more) else "SHA256")
                self.assert_coins_only(self.main)
                self.assertIn(f"all blocks up to height {self.made.terminal_height} keep every "
                              "rule but scripts", self.main.log_text)
                self.assertNotIn("checking every rule", self.main.log_text)
        self.assertNotIn("not only scripts are assumed valid", self.main.log_text)
        self.coins_after(self.main, self.made, "-reindex-chainstate", "-ibdbooster",
                         "-ibdboosterchecks=0", *self.made.trust)
        self.assertRegex(self.main.log_text, "not only scripts are assumed valid.*amounts against"
                                             ".* will not be checked later")
        left = [path.name for path in (self.dir / "elsewhere").glob("*/*")]
        self.assertEqual(left, [".lock"])

    def test_reindex(self):
        """The join reads the blocks in the pass that makes the index."""
        node = self.made.place(self.node())
        self.assertEqual(self.coins_after(node, self.made, "-reindex", "-ibdbooster",
                                          *self.made.trust), self.serial)
        self.assert_made(node, self.made.terminal_height)
        log = node.log_text
        self.assertLess(log.index("Join: hints of"), log.index("Building the chainstate"))
        self.assert_coins_only(node)

    def test_without_an_assumed_valid_block(self):
        """Asked for, the best stored block will do, and the log explains it."""
        self.assertEqual(self.coins_after(self.main, self.made, "-reindex-chainstate",
                                          "-ibdbooster"), self.serial)
        self.assert_made(self.main, self.made.height)
        self.assertRegex(self.main.log_text,
                         f"no assumed-valid block.*up to height {self.made.height}")

    def test_up_to_what_is_buried(self):
        """With the tip as assumed-valid block, two weeks of work are left to serial validation."""
        trust = [f"-assumevalid={self.made.tip}", "-minimumchainwork=0"]
        self.assertEqual(self.coins_after(self.main, self.made, "-reindex-chainstate",
                                          "-ibdbooster", *trust), self.serial)
        made = re.search(MAKING.format(r"(\d+)"), self.main.log_text)
        self.assertEqual(int(made[1]), self.made.height - 2016 - 1)

    def test_given_hints_win(self):
        file = f"-ibdboosterfile={self.made.container}"
        self.assertEqual(self.coins_after(self.main, self.made, "-reindex-chainstate",
                                          "-ibdbooster", file, *self.made.trust), self.serial)
        self.assertNotIn("Join:", self.main.log_text)
        self.assert_coins_only(self.main, False)
        self.assertIn(SUCCESS.format("SHA256", self.made.terminal_height), self.main.log_text)

    def test_full_validation(self):
        """With undo data of an earlier validation nothing needs to be assumed valid."""
        self.assertEqual(self.coins_after(self.main, self.made, "-reindex-chainstate",
                                          "-ibdbooster", "-ibdboosterfullvalidation"), self.serial)
        self.assert_made(self.main, self.made.height)
        self.assert_coins_only(self.main, False)

    def test_a_chainstate_is_not_built_twice(self):
        self.main.start("-ibdbooster", *self.made.trust)
        self.assertEqual(coins(self.main), self.serial)
        self.assertEqual(self.main.rpc("getboosterinfo")["state"], "off")
        self.assertNotIn("Join:", self.main.log_text)
        self.main.stop()


class ByDefault(OwnHintsTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.main = self.indexed(self.made)
        self.bytes = sum(path.stat().st_size for path in self.made.blocks.glob("blk*"))

    def used(self, *args, node=None, start="-reindex-chainstate"):
        """Whether the booster ran; if it did not, nothing at all is said of it."""
        node = node or self.main
        (node.net_dir / "debug.log").unlink(missing_ok=True)
        self.assertEqual(node.run(start, *args, self.made.to_tip), (0, ""))
        used = "Join: reading" in node.log_text
        self.assertEqual(used, "succeeded. ***" in node.log_text)
        if not used:
            self.assertNotRegex(re.sub("(Command-line|Config file) arg.*", "", node.log_text),
                                "Booster|Join")
        return used

    def test_where_it_is_worth_it(self):
        worth = ["-ibdboosterleast=50000", *self.made.trust]
        self.assertTrue(self.used(*worth))
        self.assertFalse(self.used(*worth, "-ibdbooster=0"))
        self.assertFalse(self.used(*worth, "-noibdbooster"))
        self.assertFalse(self.used(f"-ibdboosterleast={self.bytes}", *self.made.trust))
        self.assertFalse(self.used(*self.made.trust))  # less than 1 GiB
        self.assertFalse(self.used("-ibdboosterleast=50000"))  # no assumed-valid block
        unknown = f"-assumevalid={'ab' * 32}"
        self.assertFalse(self.used("-ibdboosterleast=50000", unknown))
        self.assertFalse(self.used(*worth, "-minimumchainwork=ffffffffffffffff"))
        self.assertTrue(self.used("-ibdboosterfullvalidation"))  # that asks for it
        self.assertFalse(self.used("-ibdboosterfullvalidation", "-ibdbooster=0"))

    def test_where_the_disk_suffices(self):
        worth = ["-ibdboosterleast=50000", *self.made.trust]
        with small_disk(1) as disk:
            fill(pathlib.Path(disk) / "filler", 32 * 1024)
            self.assertFalse(self.used(*worth, f"-ibdboosterdir={disk}"))

    def test_not_with_prune(self):
        """Blocks that are removed cannot be read twice."""
        worth = ["-ibdboosterleast=50000", *self.made.trust]
        for prune, used in ([], True), (["-prune=550"], False), (["-prune=1"], False):
            with self.subTest(prune=prune):
                node = self.made.place(self.node())
                self.assertEqual(self.used(*worth, *prune, node=node, start="-reindex"), used)
                node.start(*prune)
                self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)
                self.assertEqual(node.rpc("getblockchaininfo")["pruned"], bool(prune))
                node.stop()

    def test_reindex(self):
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", "-ibdboosterleast=50000", *self.made.trust,
                                  self.made.to_tip), (0, ""))
        self.assert_made(node, self.made.terminal_height)
        node = self.made.place(self.node())
        self.assertEqual(node.run("-reindex", *self.made.trust, self.made.to_tip), (0, ""))
        self.assertNotRegex(re.sub("Command-line arg.*", "", node.log_text), "Booster|Join")


    def test_after_wrong_hints(self):
        """The join replaces them; without an option, only if it is worth its time."""
        bad = bytearray(self.made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        hints = self.dir / "bad.bitmap"
        hints.write_bytes(bad)
        args = [f"-ibdboosterfile={hints}", *self.made.trust]
        serial = self.coins_after(self.main, self.made, "-reindex-chainstate", "-ibdbooster=0")
        for start in ("-reindex-chainstate", "-reindex"):
            for more, joined in (("-ibdbooster", True), ("-ibdboosterleast=50000", True),
                                 ("-ibdboosterleast=50000000", False)):
                with self.subTest(start=start, more=more):
                    self.assertEqual(self.coins_after(self.main, self.made, start, *args, more,
                                                      left=["badhints.txt"]), serial)
                    log = self.main.log_text
                    self.assertEqual(log.count("IBD Booster: the hints are wrong"), 1)
                    self.assertEqual("IBD Booster: validating serially" in log, not joined)
                    if joined:
                        self.assert_made(self.main, self.made.terminal_height)
                    (self.main.net_dir / "ibdbooster" / "badhints.txt").unlink()


class Refused(OwnHintsTest):
    def test_options(self):
        node = self.node()
        for args, saying in (
                (["-ibdbooster", "-prune=1"], "-ibdbooster with -prune"),
                (["-ibdbooster", "-assumevalid=0"], "-assumevalid=0 says that none is"),
                (["-ibdbooster=0", "-ibdboosterfile=some"], "-ibdbooster=0 means never"),
                (["-ibdbooster=yes"], "-ibdbooster"),
                (["-ibdboosterleast=-1"], "-ibdboosterleast=-1")):
            with self.subTest(args=args):
                self.assert_refused(node, *args, saying=saying)

    def test_gate(self):
        """Asked for, it says why it may not, and nothing is touched."""
        made = small_chain()
        node = self.indexed(made)
        rebuild = ["-reindex-chainstate", "-ibdbooster"]
        unknown = f"-assumevalid={'ab' * 32}"
        self.assert_refused(node, *rebuild, unknown, saying="assumevalid hash not in headers")
        self.assert_refused(node, *rebuild, f"-assumevalid={made.tip}",
                            "-minimumchainwork=ffffffffffffffff",
                            saying="best header chainwork below minimumchainwork")
        self.assert_refused(self.node(), "-ibdbooster", saying="nothing for -ibdbooster to do")
        node.start()
        self.assertEqual(node.rpc("getbestblockhash"), made.tip)


class BadBlocks(OwnHintsTest):
    def spending(self, *outpoints):
        """A chain whose last blocks but three spend one of these outputs each; the last spend."""
        mined = Chain().grow(COINBASE_MATURITY + 10)
        for number, (height, vout) in enumerate(outpoints, 1):  # no two equal transactions
            txid, amount = mined.coinbase_of(height)
            tx = spend(txid, vout, amount - number)
            mined.add(mined.candidate([tx], fees=number))
        bad = mined.height
        mined.grow(3)
        return mined, bad, tx

    def assert_serial_after(self, mined, bad, *named):
        """The join names what is wrong; the serial engine decides, as without it."""
        before = mined.blocks[bad - 2].hash()
        node = place_blocks(self, mined.blocks)
        reindexed = place_blocks(self, mined.blocks)
        reindexed.start("-reindex", "-ibdbooster").wait_for_tip(before)
        # With an index that has not seen the coins yet.
        self.assertEqual(node.run("-reindex", "-stopatheight=10", "-ibdbooster=0")[0], 0)
        node.start("-reindex-chainstate", "-ibdbooster").wait_for_tip(before)
        for each in (node, reindexed):
            line = re.search(".*IBD Booster: block at height .*", each.log_text)[0]
            self.assertIn(f"block at height {bad} is invalid: block {mined.blocks[bad - 1].hash()} "
                          f"at height {bad}: bad-txns-inputs-missingorspent", line)
            for part in named:
                self.assertIn(part, line)
            self.assertIn("; validating serially from the same blocks", line)
            tips = {tip["status"]: tip for tip in each.rpc("getchaintips")}
            self.assertEqual(tips["active"]["height"], bad - 1)
            self.assertEqual(tips["invalid"]["height"], mined.height)
            each.stop()
            self.assertEqual(left_by_booster(each), [])

    def test_spent_twice(self):
        mined, bad, tx = self.spending((1, 0), (2, 0), (1, 0))
        txid, _ = mined.coinbase_of(1)
        self.assert_serial_after(mined, bad, f"{tx.txid()} spends {txid}:0")

    def test_spent_out_of_nothing(self):
        mined, bad, tx = self.spending((1, 0), (2, 7))
        txid, _ = mined.coinbase_of(2)
        self.assert_serial_after(mined, bad, f"{tx.txid()} spends {txid}:7")

    def with_a_valid_branch(self):
        """A chain with a block that spends an output twice, a longer chain without such a block,
        and hints that are right for both."""
        bad = Chain().grow(COINBASE_MATURITY + 10)
        txid, amount = bad.coinbase_of(1)
        bad.add(bad.candidate([spend(txid, 0, amount)]))
        good = Chain(bad.extra)
        good.blocks = list(bad.blocks)
        bad.add(bad.candidate([spend(txid, 0, amount - 1)], fees=1))
        two_outputs = good.candidate()
        two_outputs.txs[0].outputs.append((0, OP_TRUE))
        good.add(two_outputs.mine())
        end = bad.height + 1
        bad.grow(TAIL)
        good.grow(TAIL + 1)
        bitmap = right_bitmap(good.blocks[:end])
        self.assertEqual(bitmap, right_bitmap(bad.blocks[:end]))
        hints = self.dir / "right.bitmap"
        hints.write_bytes(bitmap)
        return bad, good, end, hints

    def test_right_hints_where_an_output_is_spent_twice(self):
        """The block is found invalid; the hints are not recorded as wrong, because they are for
        another branch."""
        bad, good, end, hints = self.with_a_valid_branch()
        before = bad.blocks[end - 3].hash()
        branch = self.dir / "branch.dat"
        with branch.open("wb") as file:
            for block in good.blocks[end - 2:]:
                file.write(REGTEST_MAGIC + len(block.raw()).to_bytes(4, "little") + block.raw())

        def given(chain):
            return [f"-ibdboosterfile={hints}", f"-assumevalid={chain.blocks[end - 1].hash()}",
                    "-minimumchainwork=0"]
        for command, more, says in (("-reindex", [], "IBD Booster: validating serially"),
                                    ("-reindex-chainstate", ["-ibdbooster"],
                                     f"IBD Booster: block at height {end - 1} is invalid")):
            with self.subTest(command=command):
                node = place_blocks(self, bad.blocks)
                if command == "-reindex-chainstate":
                    status, _ = node.run("-reindex", "-stopatheight=9", "-ibdbooster=0")
                    self.assertEqual(status, 0)
                node.start(command, *given(bad), *more).wait_for_tip(before)
                self.assertIn("the hints are wrong, or a block up to height "
                              f"{end} is invalid: ", node.log_text)
                self.assertIn(says, node.log_text)
                wait_until(lambda at=node: "invalid" in {
                    tip["status"] for tip in at.rpc("getchaintips")}, "the verdict on the block")
                node.stop()
                self.assertEqual(left_by_booster(node), ["suspecthints.txt"])
                node.start(f"-loadblock={branch}").wait_for_tip(good.tip)
                serial = coins(node)
                node.stop()
                node.start("-reindex-chainstate", *given(good), NO_UNDO).wait_for_tip(good.tip)
                self.assertIn(SUCCESS.format("SHA256", end), node.log_text)
                self.assertEqual(coins(node), serial)
                node.stop()

    def test_no_room_to_find_out_where(self):
        """The join fits on the disk, but not all events, which show the fault and the block."""
        mined, bad, _ = self.spending((1, 0), (2, 0), (1, 0))
        for _ in range(4):
            large = mined.candidate()
            large.txs[0].outputs.append((0, b"\x6a" + bytes(990_000)))
            mined.add(large.mine())
        before = mined.blocks[bad - 2].hash()
        for command in "-reindex", "-reindex-chainstate":
            node = place_blocks(self, mined.blocks)
            if command == "-reindex-chainstate":
                self.assertEqual(node.run("-reindex", "-stopatheight=10", "-ibdbooster=0")[0], 0)
            with small_disk(1) as disk:
                fill(pathlib.Path(disk) / "filler", 600 * 1024)
                node.start(command, "-ibdbooster", f"-ibdboosterdir={disk}").wait_for_tip(before)
                self.assertRegex(node.log_text,
                                 "IBD Booster: an outpoint occurs more than once, or a block is "
                                 "invalid; .* MB free, but the join needs about .* MB to find out "
                                 "in which block; validating serially from the same blocks")
                self.assertEqual(node.rpc("getboosterinfo")["state"], "refused")
                node.stop()
                self.assertEqual(left_by_booster(node), [])


class LongRebuild(OwnHintsTest):
    """A rebuild in many steps, of coins that are known."""

    STEP = 2_000_000
    MORE = ()

    def setUp(self):
        super().setUp()
        self.made = medium_chain("--stale")
        self.main = self.indexed(self.made)
        self.main.start()
        self.wanted = coins(self.main)
        self.main.stop()
        self.rebuild = ["-reindex-chainstate", "-ibdbooster", *self.made.trust, "-ibdboostermem=1",
                        f"-ibdboosterintervalbytes={self.STEP}", *self.MORE]

    @property
    def folder(self):
        return self.main.net_dir / "ibdbooster"

    def kill_when(self, there, *args):
        self.main.launch(*self.rebuild, *args)
        wait_until(lambda: there() or not self.main.running, "what the test waits for")
        self.main.kill()

    def spills(self):
        return sorted(self.folder.glob("spill*.dat"))


class BegunThenOtherwise(LongRebuild):
    """Killed in the join; then the chainstate comes another way, or is used as it is."""

    REMOVED = "IBD Booster: removing"

    def begin(self):
        self.kill_when(lambda: len(self.spills()) > 8)
        self.assertTrue((self.folder / "join.dat").exists())
        (self.main.net_dir / "debug.log").unlink()

    def assert_removed(self, why, *args):
        self.begin()
        self.main.start(*args).wait_for_tip(self.made.tip)
        self.assertRegex(self.main.log_text,
                         rf"{self.REMOVED} [\d.]+ [kM]?B of unfinished work in .*{why}")
        self.assertEqual(coins(self.main), self.wanted)
        self.main.stop()
        self.assertEqual(left_by_booster(self.main), [])
        (self.main.net_dir / "debug.log").unlink()
        self.main.start(*args[-1:]).stop()
        self.assertNotIn("begun", self.main.log_text)

    def test_given_hints(self):
        for undo in (NO_UNDO, "-ibdboosterundo=1"):
            with self.subTest(undo=undo):
                self.begin()
                self.main.start("-reindex-chainstate", f"-ibdboosterfile={self.made.container}",
                                undo, *self.made.trust).wait_for_tip(self.made.tip)
                self.assertIn(SUCCESS.format("SHA256", self.made.terminal_height),
                              self.main.log_text)
                self.assertEqual(coins(self.main), self.wanted)
                self.main.stop()
                self.assertEqual(left_by_booster(self.main), [])

    def test_given_hints_and_pairs(self):
        """The pairs for undo data are kept while it is wanted, and removed with it."""
        for undo in (NO_UNDO, "-ibdboosterundo=1"):
            with self.subTest(undo=undo):
                self.main = self.made.place(self.node())
                self.main.launch("-reindex", "-ibdboosterundo=1", *self.rebuild[1:])
                wait_until(lambda: len(list(self.folder.glob("undo/spill*"))) > 8, "spills")
                self.main.kill()
                (self.main.net_dir / "debug.log").unlink()
                self.main.start("-reindex", f"-ibdboosterfile={self.made.container}", undo,
                                *self.made.trust).wait_for_tip(self.made.tip)
                self.assertEqual(coins(self.main), self.wanted)
                if undo != NO_UNDO:
                    wait_until(lambda: "have it" in self.main.log_text and
                               not (self.folder / "undo").exists(), "undo data")
                    self.assertIn("Join: resuming", self.main.log_text)
                self.main.stop()
                self.assertEqual(left_by_booster(self.main), [])

    def test_given_hints_beside_a_chainstate(self):
        self.begin()
        self.main.start(f"-ibdboosterfile={self.made.container}", *self.made.trust).stop()
        self.assertIn("keeps an unfinished rebuild", self.main.log_text)

    def test_prune(self):
        self.assert_removed("-prune blocks are not kept", "-prune=550")
        self.assert_removed("-prune blocks are not kept", "-reindex", "-prune=550")

    def test_prune_with_finished_hints(self):
        """The coins that were folded with them go, too."""
        self.main.launch(*self.rebuild)
        wait_until(lambda: list(self.folder.glob("run*")) or not self.main.running, "a run")
        self.main.kill()
        self.assertIn("own.hints", left_by_booster(self.main))
        self.main.start("-prune=550")
        self.assertEqual(coins(self.main), self.wanted)
        self.main.stop()
        self.assertEqual(left_by_booster(self.main), [])

    def test_rebuilt_serially(self):
        for rebuild in ("-reindex-chainstate", "-reindex"):
            self.assert_removed("rebuilt without", rebuild, "-ibdbooster=0")

    def test_kept_while_nothing_is_rebuilt(self):
        self.begin()
        said = rf"'{self.folder}' keeps an unfinished rebuild \([\d.]+ [kM]?B\); -reindex-chain"
        for args, more in ((["-ibdbooster=0"], "with -ibdbooster continues"),
                           ([], "with -ibdbooster"), (self.made.trust, "continues it\n")):
            for start in (1, 2):
                self.main.start(*args)
                self.assertEqual(coins(self.main), self.wanted)
                self.main.stop()
                found = re.findall(rf"{said}state {more}", self.main.log_text)
                self.assertEqual(len(found), start, self.main.log_text)
            (self.main.net_dir / "debug.log").unlink()
        self.main.start(*self.rebuild).wait_for_tip(self.made.tip)
        self.assertIn("Join: resuming", self.main.log_text)
        self.assertEqual(coins(self.main), self.wanted)
        self.main.stop()
        self.assertEqual(left_by_booster(self.main), [])


class BadDisks(LongRebuild):
    def assert_ends_well(self, *args):
        self.main.start(*self.rebuild, *args).wait_for_tip(self.made.tip)
        self.assertEqual(coins(self.main), self.wanted)
        self.assertIn(SUCCESS.format("SHA256", self.made.terminal_height), self.main.log_text)
        self.main.stop()
        self.assertEqual(left_by_booster(self.main), [])

    def test_damaged_spills(self):
        """The damage is noticed at the next start or on reading; the blocks are read again."""
        # The last four files may not be in a recorded state yet.
        self.kill_when(lambda: len(self.spills()) > 8)
        for path in self.spills():
            data = bytearray(path.read_bytes())
            for at in range(48, len(data), 512):
                data[at] ^= 0x10
            path.write_bytes(data)
        self.assert_ends_well()
        self.assertRegex(self.main.log_text, "Join: cannot resume|starting over")

    def test_damaged_hints(self):
        self.kill_when((self.folder / "own.hints").exists)
        path = self.folder / "own.hints"
        self.assertTrue(path.exists())
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
        self.assert_ends_well()
        self.assertIn("hints made before are made anew", self.main.log_text)

    def test_finished_hints_are_used_again(self):
        self.kill_when((self.folder / "own.hints").exists)
        self.assertTrue((self.folder / "own.hints").exists())
        (self.main.net_dir / "debug.log").unlink()
        self.assert_ends_well()
        self.assertNotIn("Join:", self.main.log_text)
        self.assert_coins_only(self.main)

    def test_a_first_pass_under_other_rules(self):
        """Its result for the rules about coins is not used."""
        self.kill_when((self.folder / "own.hints").exists, "-testactivationheight=csv@5000")
        self.assertTrue((self.folder / "own.hints").exists())
        (self.main.net_dir / "debug.log").unlink()
        self.assert_ends_well()
        self.assertIn(f"checking every rule but scripts of blocks 1 to {self.made.terminal_height}",
                      self.main.log_text)

    def test_damaged_first_pass(self):
        """Then the fold checks all blocks again, and the rules are checked from a new join."""
        self.kill_when((self.folder / "own.hints").exists)
        path = self.folder / "join.dat"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
        (self.main.net_dir / "debug.log").unlink()
        self.assert_ends_well()
        self.assertIn("IBD Booster: blocks are checked again: state of a join",
                      self.main.log_text)
        self.assertIn(f"all blocks up to height {self.made.terminal_height} keep every rule but "
                      "scripts", self.main.log_text)
        self.assertNotIn("but also amounts", self.main.log_text)
        self.assert_coins_only(self.main, False)

    def test_a_block_that_rots_between_the_passes(self):
        """It is damaged, there is no verdict on the hints, and finished work is kept."""
        self.kill_when((self.folder / "own.hints").exists)
        path = self.main.blocks_dir / "blk00000.dat"
        whole = path.rename(path.with_suffix(".whole"))  # other nodes have it, too
        data = bytearray(whole.read_bytes())
        for at in range(len(data) // 2, len(data) // 2 + 100_000, 500):
            data[at] ^= 0x10
        path.write_bytes(data)
        self.assert_refused(self.main, *self.rebuild, saying="should be there: put a sound copy")
        self.assertTrue((self.folder / "own.hints").exists())
        whole.rename(path)
        self.assert_ends_well()
        self.assertNotIn("hints are wrong", self.main.log_text)
        self.assert_coins_only(self.main)

    def test_too_little_room_is_said_before(self):
        with small_disk(1) as disk:
            fill(pathlib.Path(disk) / "filler", 256 * 1024)
            self.assert_refused(self.main, *self.rebuild, f"-ibdboosterdir={disk}",
                                saying="the join needs about")
        self.main.start()
        self.assertEqual(coins(self.main), self.wanted)

    def test_what_is_spilled_needs_no_room_again(self):
        """Killed on a disk with little more than the join takes, while the files are surveyed."""
        node = self.made.place(self.node(), copied=True)
        with small_disk(64) as disk:
            fill(pathlib.Path(disk) / "filler", 15 << 20)
            args = [*self.rebuild[1:], NO_UNDO, f"-ibdboosterdir={disk}"]
            node.launch("-reindex", *args)
            wait_until(lambda: "Join: joining" in node.log_text, "the end of the reading")
            node.kill()
            node.start(*args).wait_for_tip(self.made.tip)
            self.assertIn("Join: resuming: 598 of 598 blocks are read", node.log_text)
            self.assertEqual(coins(node), self.wanted)
            self.assertIn(SUCCESS.format("SHA256", self.made.terminal_height), node.log_text)
            node.stop()

    def test_unasked_and_without_room_by_now(self):
        with small_disk(64) as disk:
            place = pathlib.Path(disk)
            args = [arg for arg in self.rebuild if arg != "-ibdbooster"]
            args += ["-ibdboosterleast=50000", f"-ibdboosterdir={disk}"]
            self.main.launch(*args)
            wait_until(lambda: list(place.rglob("spill*")), "a spill")
            self.main.kill()
            fill(place / "filler", 256 * 1024)
            self.main.start(*args).wait_for_tip(self.made.tip)
            self.assertRegex(self.main.log_text,
                             "MB free, but the join needs about .* MB; unfinished work is removed: "
                             "validating serially")
            self.assertEqual(coins(self.main), self.wanted)
            self.main.stop()
            self.assertEqual(list(place.rglob("spill*")), [])

    def test_full_disk(self):
        """A clean stop with one error; with enough space again it continues."""
        with small_disk(64) as disk:
            place = pathlib.Path(disk)
            args = [*self.rebuild, f"-ibdboosterdir={disk}"]
            self.main.launch(*args)
            wait_until(lambda: list(place.glob("*/spill*")) or not self.main.running, "a spill")
            fill(place / "filler", 64 * 1024)
            status, errors = self.main.wait()
            self.assertEqual(status, 1, errors)
            self.assertRegex(errors, "^Error: .*No space left on device")
            self.assertEqual(len(errors.strip().splitlines()), 1, errors)
            (place / "filler").unlink()
            self.main.start(*args).wait_for_tip(self.made.tip)
            self.assertEqual(coins(self.main), self.wanted)
            self.main.stop()


class Stops(LongRebuild):
    """Asked to stop in any phase it ends soon, and the next start continues; meanwhile it answers.
    """

    STEP = 4_000_000
    MORE = ("-ibdboosterthreads=1",)

    def phase(self):
        try:
            info = self.main.rpc("getboosterinfo")
        except (OSError, http.client.HTTPException, RpcError, ValueError):
            return None
        if info["state"] == "joining":
            return info["join"]["phase"]
        return info["state"]

    def ask_to_stop(self, by_call):
        if by_call:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.main.rpc("stop")
                return
        self.main.process.terminate()

    def test_stop_in_each_phase(self):
        folder, met = self.main.net_dir / "ibdbooster", 0
        for there in (lambda: self.phase() == "reading",
                      lambda: list(folder.glob("spill*.dat")),
                      lambda: self.phase() == "joining",
                      lambda: (folder / "own.hints.incomplete").exists(),
                      lambda: (folder / "own.hints").exists(),
                      lambda: self.phase() == "folding",
                      lambda: list(building(self.main).glob("new*"))):
            for by_call in (False, True):
                self.main.launch(*self.rebuild)
                # A phase may be over before anybody looks: then it stops behind all of them.
                wait_until(lambda: self.phase() and there() or self.phase() == "accepted",
                           "a phase")
                met += self.phase() != "accepted"
                self.ask_to_stop(by_call)
                self.assertEqual(self.main.wait(), (0, ""))
        self.assertGreater(met, 4)
        self.main.start(*self.rebuild).wait_for_tip(self.made.tip)
        self.assertEqual(coins(self.main), self.wanted)
        self.main.stop()
        self.assertEqual(left_by_booster(self.main), [])

    def test_what_it_says_meanwhile(self):
        seen = {}
        self.main.launch(*self.rebuild)
        while self.main.running and not {"folding", "accepted"} & set(seen):
            with contextlib.suppress(OSError, http.client.HTTPException, RpcError, ValueError):
                info = self.main.rpc("getboosterinfo")
                state = info["state"]
                seen[info["join"]["phase"] if state == "joining" else state] = info
        self.assertIn("reading", seen)
        info = seen["reading"]
        self.assertEqual(info["terminalblock"], {"height": self.made.terminal_height,
                                                 "hash": self.made.terminal_hash})
        join = info["join"]
        self.assertEqual(set(join) - {"timeleft"},
                         {"phase", "bytes", "totalbytes", "partitions", "joined", "rate"})
        self.assertLessEqual(join["bytes"], join["totalbytes"])
        self.assertGreater(join["totalbytes"], 0)
        self.assertGreaterEqual(join["partitions"], 64)
        self.assertNotIn("join", seen.get("folding", seen.get("accepted")))
        self.main.wait_for_rpc()
        self.assertEqual(self.main.rpc("getboosterinfo")["state"], "accepted")
        self.main.stop()
        # The log has it with rates.
        self.assertRegex(self.main.log_text, r"Join: reading: .* MB in .* s, .*/s")
