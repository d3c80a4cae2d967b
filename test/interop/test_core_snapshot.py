"""UTXO snapshots (loadtxoutset) of our node and of Core: each continues the other's work, and
accepts the other's files; both answer the same, also to files that are damaged. A rebuild goes
without the snapshot. With the same files missing at a start both nodes say the same."""

import hashlib
import shutil

from core_node import CoreNode, PairTest
from framework import NO_UNDO, FunctionalTest, Node, coins, wait_until
from regtest_chain import REGTEST_BITS, REGTEST_GENESIS, Block, height_push, subsidy
from wire import Tx, sized

# The chain that Core's parameters of regtest know a snapshot of (chainparams.cpp: of a fuzz target,
# whose blocks hold nothing but their coinbase).
BASE, BASE_HASH = 200, "385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9"
GENESIS_TIME, OLD_VERSION, MAY_BE_LOCKED = 1296688602, 4, 0xfffffffe
HEIGHT = BASE + 2100  # so that the booster takes the block of the snapshot for buried
REINDEX = "Please restart with -reindex or -reindex-chainstate to recover.\n"


def chain(height):
    """The blocks above genesis, raw; the hash of the last."""
    script = b"\x00" + sized(hashlib.sha256(b"\x51").digest())
    tip, blocks = REGTEST_GENESIS, []
    for h in range(1, height + 1):
        made = Tx([("00" * 32, 0xffffffff, height_push(h) + b"\x00", MAY_BE_LOCKED)],
                  [(subsidy(h), script)], lock_time=h - 1)
        block = Block(tip, [made], GENESIS_TIME + h, OLD_VERSION, REGTEST_BITS).mine()
        blocks.append(block.raw().hex())
        tip = block.hash()
        assert h != BASE or tip == BASE_HASH
    return blocks, tip


def states(node):
    return [(state["blocks"], state.get("snapshot_blockhash"), state["validated"])
            for state in node.rpc("getchainstates")["chainstates"]]


def begun(older, height):
    """The coins of a snapshot in use, beside older ones."""
    return [(older, None, True), (height, BASE_HASH, False)]


class Snapshots(FunctionalTest):
    @classmethod
    def setUpClass(cls):
        cls.blocks, cls.tip = chain(HEIGHT)

    def core(self, folder):
        node = CoreNode(folder, "regtest")
        self.nodes.append(node)
        return node

    def ours(self, folder, *args):
        node = Node(folder, "regtest", args)
        self.nodes.append(node)
        return node

    def feed(self, node, begin, end):
        for block in self.blocks[begin:end]:
            self.assertIn(node.rpc("submitblock", block), (None, "inconclusive"))

    def snapshot_of(self, make):
        """A file with the coins at the base, written by a new node of this kind."""
        path = self.dir / "snapshot.dat"
        source = make(self.dir / "source").start()
        self.feed(source, 0, BASE)
        source.rpc("dumptxoutset", str(path), "latest")
        source.stop()
        return path

    def load(self, node, path):
        for block in self.blocks[:BASE + 20]:
            node.rpc("submitheader", block[:160])
        answer = node.rpc("loadtxoutset", str(path))
        self.assertEqual((answer["base_height"], answer["tip_hash"]), (BASE, BASE_HASH))

    def with_snapshot(self, stored, make=None):
        """A directory with a snapshot in use and the blocks up to height `stored`, made by Core or
        by the node of `make`; the snapshot file was written by the other program."""
        make = make or self.core
        snapshot = self.snapshot_of(self.ours if make == self.core else self.core)
        node = make(self.dir / "with").start()
        self.load(node, snapshot)
        self.feed(node, 0, stored)
        self.assertEqual(node.rpc("getchainstates")["chainstates"][-1]["snapshot_blockhash"],
                         BASE_HASH)
        node.stop()
        self.assertTrue((node.net_dir / "chainstate_snapshot" / "base_blockhash").exists())
        return node

    def copy_of(self, core, name):
        shutil.copytree(core.datadir, self.dir / name)
        return self.dir / name

    def chainstate_folders(self, node):
        return sorted(path.name for path in node.net_dir.iterdir() if "chainstate" in path.name)

    def test_ours_goes_on_with_cores_and_back(self):
        core = self.with_snapshot(50)
        ours = self.ours(core.datadir).start()
        self.assertEqual(states(ours), begun(50, BASE))
        self.feed(ours, BASE, BASE + 10)
        self.assertEqual(states(ours), begun(50, BASE + 10))
        wanted = coins(ours)
        ours.stop().start().stop()
        core.start()
        self.assertEqual(states(core), begun(50, BASE + 10))
        self.assertEqual(coins(core), wanted)
        self.feed(core, 50, 60)
        core.stop()
        ours.start()
        self.assertEqual(states(ours), begun(60, BASE + 10))
        self.feed(ours, 60, BASE - 1)  # stored
        ours.stop()
        core.start()
        core.wait_for_height(BASE + 10)
        self.assertEqual(core.rpc("getchainstates")["chainstates"][-1]["blocks"], BASE + 10)
        self.feed(core, BASE - 1, BASE)
        self.assertEqual(core.rpc("getchainstates")["chainstates"][-1]["validated"], True)
        core.stop()
        self.assertEqual(self.chainstate_folders(core), ["chainstate", "chainstate_snapshot"])

        ours.start()  # validated by Core, which has not been restarted
        self.assertIn(f"snapshot beginning at {BASE_HASH} has been fully validated", ours.log_text)
        self.assertEqual(states(ours), [(BASE + 10, None, True)])
        self.assertEqual(coins(ours), wanted)
        self.assertIn("NETWORK", ours.rpc("getnetworkinfo")["localservicesnames"])
        self.assertEqual(self.chainstate_folders(ours), ["chainstate"])
        self.feed(ours, BASE + 10, BASE + 12)
        self.assert_core_goes_on(ours.datadir, coins(ours), BASE + 12)

    def test_core_goes_on_with_ours(self):
        ours = self.with_snapshot(50, self.ours)
        core = self.core(ours.datadir).start()
        self.assertEqual(states(core)[-1], begun(0, BASE)[-1])  # it validates stored blocks
        self.feed(core, 50, BASE + 10)
        self.assertEqual(states(core)[-1][2], True)
        core.stop().start()
        self.assertEqual(states(core), [(BASE + 10, None, True)])
        wanted = coins(core)
        core.stop()
        ours.start()
        self.assertEqual((coins(ours), states(ours)), (wanted, [(BASE + 10, None, True)]))

    def test_core_opens_what_ours_has_proven(self):
        """The chainstates of a snapshot that one of them loaded; Core's older coins have part of
        the chain."""
        for make in (self.ours, self.core):
            with self.subTest(make.__name__):
                self.dir = self.dir / make.__name__
                begun_there = self.with_snapshot(50, make)
                ours = self.ours(begun_there.datadir).start()
                self.feed(ours, 50, BASE + 10)
                wait_until(lambda node=ours: states(node) == [(BASE + 10, None, True)],
                           "the proof of the history")
                wait_until(lambda node=ours: "undo" not in node.rpc("getboosterinfo"),
                           "undo data below the base")
                wanted = coins(ours)
                ours.stop()
                self.assertEqual(self.chainstate_folders(ours), ["chainstate"])
                core = self.core(ours.datadir).start("-checklevel=4", "-checkblocks=0")
                self.assertEqual(states(core), [(BASE + 10, None, True)])
                self.assertEqual(coins(core), wanted)
                self.assertIn("NETWORK", core.rpc("getnetworkinfo")["localservicesnames"])
                self.feed(core, BASE + 10, BASE + 12)
                core.stop()
                self.assertEqual(states(ours.start()), [(BASE + 12, None, True)])
                ours.stop()

    def test_older_coins_that_differ(self):
        core = self.with_snapshot(BASE)
        folder = core.net_dir / "chainstate_snapshot" / "base_blockhash"
        self.assertEqual(folder.read_bytes()[::-1].hex(), BASE_HASH)
        other = "-assumeutxo=" + f"{BASE + 1}:{'11' * 32}:{BASE + 2}"
        ours = self.ours(core.datadir, other).start()  # another height: of no concern
        self.assertEqual(states(ours), [(BASE, None, True)])

    def test_rebuilds_go_without_it(self):
        core = self.with_snapshot(50)
        for way in ("-reindex", "-reindex-chainstate"):
            with self.subTest(way):
                node = self.ours(self.copy_of(core, way), NO_UNDO)
                node.start(way).wait_for_height(50)
                self.assertFalse((node.net_dir / "chainstate_snapshot").exists())
                self.assertIn("[snapshot] deleting snapshot chainstate due to reindexing",
                              node.log_text)
                self.feed(node, 50, BASE + 10)
                node.wait_for_height(BASE + 10).stop()
                self.assert_core_goes_on(node.datadir, coins(node.start()), BASE + 10)

    def test_rebuilds_with_the_booster(self):
        core = self.with_snapshot(HEIGHT)
        for way in ("-reindex", "-reindex-chainstate"):
            with self.subTest(way):
                node = self.ours(self.copy_of(core, way), f"-assumevalid={BASE_HASH}")
                node.start(way, "-ibdbooster").wait_for_tip(self.tip)
                self.assertIn("succeeded. ***", node.log_text)
                self.assertFalse((node.net_dir / "chainstate_snapshot").exists())
                self.assert_core_goes_on(node.datadir, coins(node), HEIGHT)

    def assert_core_goes_on(self, datadir, wanted, height):
        """Core opens what our node, which runs, leaves there."""
        next(node for node in self.nodes if node.datadir == datadir and node.running).stop()
        core = self.core(datadir).start().wait_for_height(height)
        self.assertEqual(len(core.rpc("getchainstates")["chainstates"]), 1)
        self.assertEqual(coins(core), wanted)
        core.stop()

    def test_a_folder_without_a_base_is_passed_over(self):
        core = self.core(self.dir / "bare").start().stop()
        (core.net_dir / "chainstate_snapshot").mkdir()
        for node in (core, self.ours(core.datadir)):
            node.start().stop()
            self.assertIn("snapshot chainstate dir is malformed! no base blockhash file exists at "
                          f"path {core.net_dir / 'chainstate_snapshot'}", node.log_text)
            (node.net_dir / "debug.log").unlink()

    def test_kills_of_ours_leave_it_to_core(self):
        ours = self.ours(self.dir / "killed").start()
        self.load(ours, self.snapshot_of(self.core))
        ours.kill()
        core = self.core(ours.datadir).start()
        self.assertEqual(states(core), begun(0, BASE))
        self.feed(core, 0, BASE + 5)
        core.stop().start()
        self.assertEqual(states(core), [(BASE + 5, None, True)])
        core.stop()

    def test_missing_block_file(self):
        core = self.core(self.dir / "lost").start()
        self.feed(core, 0, 10)
        core.stop()
        (core.blocks_dir / "blk00000.dat").unlink()
        for node in (core, self.ours(core.datadir)):
            for args in ([], ["-reindex-chainstate"]):
                status, errors = node.run(*args)
                self.assertEqual((status, errors.endswith(REINDEX)), (1, True), errors)
                self.assertTrue(errors.startswith("Error loading block database.\n"), errors)


class SameAnswers(PairTest):
    """Both nodes have the headers and get the same files."""

    # `verificationprogress` depends on the moment of the call.
    options = ("-mocktime=1800000000",)

    def setUp(self):
        super().setUp()
        self.blocks, _ = chain(BASE + 10)
        source = CoreNode(self.dir / "source", "regtest")
        self.nodes.append(source)
        source.start()
        for block in self.blocks[:BASE]:
            source.rpc("submitblock", block)
        self.file = self.dir / "snapshot.dat"
        source.rpc("dumptxoutset", str(self.file), "latest")
        self.data = self.file.read_bytes()

    def known(self, call, answers):
        for answer in answers:
            if isinstance(answer, dict):
                for member in ("size_on_disk", "time", "disk_size", "warnings"):
                    answer.pop(member, None)
                for state in answer.get("chainstates", []):
                    for cache in ("coins_db_cache_bytes", "coins_tip_cache_bytes"):
                        state.pop(cache)

    def headers(self, end):
        for block in self.blocks[:end]:
            self.ask("submitheader", block[:160])

    def load(self, data):
        path = self.dir / "damaged.dat"
        path.write_bytes(data)
        return self.ask("loadtxoutset", str(path))

    def load_changed(self, at, new):
        if (changed := self.changed(at, new)) != self.data:
            self.load(changed)

    def changed(self, at, new):
        return self.data[:at] + new + self.data[at + len(new):]

    def test_damaged_files(self):
        self.headers(BASE + 10)
        for network in ("f9beb4d9", "0b110907", "1c163f28", "0a03cf40", "00010203"):
            self.load_changed(7, bytes.fromhex(network))
        for version in (0, 1, 3, 65535):
            self.load_changed(5, version.to_bytes(2, "little"))
        for count in (0, 1, BASE - 1, BASE + 1, 1 << 60):
            self.load_changed(43, count.to_bytes(8, "little"))
        for size in (0, 3, 6, 9, 20, 50, 51, 52, 83, 84, 90, len(self.data) - 1):
            self.load(self.data[:size])
        self.load(self.data + b"x")
        self.load_changed(11, b"\5" * 32)  # of another block
        self.load_changed(0, b"utxp")
        for at, new in ((51, b"\xff" * 32), (83, b"\2"), (83, b"\xfd\xff\xff"), (84, b"\1"),
                        (84, b"\xff" + b"\xff" * 8), (84, b"\xfe\xff\xff\xff\xff"),
                        (85, b"\x82"), (85, b"\x80"), (85, b"\x84\x58"), (86, b"\xff" * 8)):
            self.load_changed(at, new)
        random = __import__("random").Random(38)
        for _ in range(60):
            at = random.randrange(len(self.data))
            self.load_changed(at, bytes([self.data[at] ^ 1 << random.randrange(8)]))
        self.ask("loadtxoutset", str(self.dir / "absent.dat"))
        self.assertEqual(len(self.ask("getchainstates")["chainstates"]), 1)  # none was taken

    def test_a_snapshot_in_use(self):
        for end in (0, BASE - 1):
            self.headers(end)
            self.load(self.data)
        self.headers(BASE + 10)
        for block in self.blocks[:30]:
            self.ask("submitblock", block)
        for call in (("invalidateblock", BASE_HASH), ("loadtxoutset", str(self.file)),
                     ("reconsiderblock", BASE_HASH), ("loadtxoutset", str(self.file)),
                     ("loadtxoutset", str(self.file))):
            self.ask(*call)
        self.ask_all()
        for block in self.blocks[BASE:]:
            self.ask("submitblock", block)
        self.ask_all()
        for node in (self.pair.core, self.pair.ours):
            node.stop().start()
        self.ask_all()

    def ask_all(self):
        hashes = [self.ask("getblockhash", height) for height in (0, 1, 30, 31, BASE - 1, BASE)]
        for call in (("getchainstates",), ("getblockchaininfo",), ("getblockcount",),
                     ("getbestblockhash",), ("getchaintips",), ("getchaintxstats", 5),
                     ("getmempoolinfo",), ("gettxoutsetinfo", "muhash"),
                     *((name, block) for block in hashes
                       for name in ("getblock", "getblockheader", "getblockstats",
                                    "getblockfilter"))):
            self.ask(*call)


if __name__ == "__main__":
    import unittest
    unittest.main()
