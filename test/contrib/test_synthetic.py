"""The generator on made-up chains with everything real block files and histories contain."""

import os
import random
import sqlite3
import struct
import tempfile
import unittest

from support import (MAGIC, Chain, Tx, make_block, read_hints, record, run_tool, sha256d,
                     write_blocks)
from hintsgen.common import ToolError
from hintsgen.hintsfile import HintsReader
from hintsgen.partition import Partition, load_coins

KEY = bytes.fromhex("1fa2b3c4d5e6f708")


class MadeUpChain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def generate(self, datadir="node", out="out", *options):
        code, _, error = run_tool("booster-gen.py", self.path(datadir), self.path("utxo.dat"),
                                  self.path(out), *options)
        self.assertNotIn("Traceback", error)
        self.assertEqual(os.path.exists(self.path(out)), code == 0)
        return error if code else None

    def check(self, chain, datadir="node", *options):
        """Both formats agree with the chain builder's result."""
        for form in ("container", "bitmap"):
            out = f"{datadir.replace('/', '-')}.{form}"
            error = self.generate(datadir, out, f"--format={form}", *options)
            self.assertIsNone(error)
            self.assertEqual(read_hints(self.path(out)), chain.hints(form == "bitmap"))
        return self.path(f"{datadir.replace('/', '-')}.container")

    def node(self, chain, datadir="node", **options):
        write_blocks(self.path(datadir + "/blocks"), [[record(b) for b in chain.blocks]], **options)
        chain.write_snapshot(self.path("utxo.dat"))


class Synthetic(MadeUpChain):
    def test_all_kinds_of_outputs(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                chain = Chain(seed)
                chain.grow(300)
                self.assertTrue(any(None in created for created in chain.created))
                self.node(chain, f"node{seed}")
                reader = HintsReader(self.check(chain, f"node{seed}"))
                self.assertEqual((reader.magic, reader.base_hash, reader.top),
                                 (MAGIC["regtest"], chain.hashes[-1], chain.top))
                self.assertEqual(reader.unspent, len(chain.coins))
                self.assertEqual(reader.outputs, sum(n for n, _ in chain.hints()))
                reader.close()

    def test_snapshot_below_the_tip(self):
        chain = Chain(11)
        chain.grow(280)
        chain.write_snapshot(self.path("utxo.dat"))
        want = chain.hints()
        chain.grow(20)
        write_blocks(self.path("node/blocks"), [[record(b) for b in chain.blocks]])
        self.assertIsNone(self.generate())
        self.assertEqual(read_hints(self.path("out")), want)

    def test_disorder_in_the_block_files(self):
        """Any order, copies, a branch, rubbish, zeros, torn records within and at the end."""
        chain = Chain(5)
        chain.grow(300)
        chain.write_snapshot(self.path("utxo.dat"))
        rng = random.Random(5)
        whole = [record(b) for b in chain.blocks + rng.sample(chain.blocks, 40)]
        branch, previous = [], chain.hashes[200]
        for height in range(201, 215):
            block = make_block(previous, [Tx(struct.pack("<I", height), [(1, b"\x52")])], height)
            branch.append(record(block))
            previous = sha256d(block[:80])
        records = whole + branch
        rng.shuffle(records)
        big = max(chain.blocks, key=len)
        torn = record(big)[:len(big) // 2]
        third = len(records) // 3
        files = [records[:third] + [torn] + records[third:2 * third] + [bytes(70_000)],
                 [rng.randbytes(1022)] + records[2 * third:] + [MAGIC["regtest"] * 5, torn]]
        for name, key in (("plain", None), ("xored", KEY)):
            with self.subTest(name):
                write_blocks(self.path(f"{name}/regtest/blocks"), files, key)
                if key:  # space reserved by the node is zeros on disk, not in the plain text
                    with open(self.path("xored/regtest/blocks/blk00001.dat"), "ab") as file:
                        file.write(bytes(50_000))
                self.check(chain, name)

    def test_a_bad_copy_does_not_matter(self):
        chain = Chain(6)
        chain.grow(260)
        damaged = []
        for block in chain.blocks[1:]:
            damaged.append(record(block[:-1] + bytes((block[-1] ^ 1,))))
        write_blocks(self.path("node/blocks"), [damaged + [record(b) for b in chain.blocks]])
        chain.write_snapshot(self.path("utxo.dat"))
        self.check(chain)

    def test_a_damaged_block_is_named(self):
        chain = Chain(6)
        chain.grow(20)
        blocks = [record(b) for b in chain.blocks]
        blocks[9] = blocks[9][:-1] + b"\x77"
        write_blocks(self.path("node/blocks"), [blocks])
        chain.write_snapshot(self.path("utxo.dat"))
        offset = sum(map(len, blocks[:9])) + 8
        self.assertIn(f"blk00000.dat: offset {offset}: bad block", self.generate())

    def test_bip30_pairs(self):
        """The earlier coinbase of a pair is not counted, unless it was spent before."""
        chain = Chain(9)
        chain.grow(10)
        outputs = [(50, b"\x51"), (0, b"\x6a"), (7, b"\x53")]
        overwritten, spent, partly = (Tx(tag, outputs) for tag in (b"one", b"two", b"three"))
        for first in (overwritten, spent, partly):
            chain.add([first])
            chain.grow(3)
        chain.add([Tx(b"x", [(1, b"\x51")]),
                   Tx([(spent.txid, 0), (spent.txid, 2), (partly.txid, 2)], [(1, b"\x51")])])
        for tx in (overwritten, spent, partly, spent):
            chain.add([tx])
            chain.add([Tx(b"y" + struct.pack("<I", chain.top), [(1, b"\x51")])])
        ids = {(txid, vout) for txid, vout, _ in chain.overwritten}
        self.assertTrue({(overwritten.txid, 0), (overwritten.txid, 2), (partly.txid, 0),
                         (spent.txid, 0), (spent.txid, 2)} <= ids)
        self.assertNotIn((partly.txid, 2), ids)
        self.node(chain)
        self.check(chain)

    def test_branch_with_less_work_is_refused(self):
        chain = Chain(3)
        chain.grow(50)
        extra, previous = [], chain.hashes[40]
        for height in range(41, 53):
            block = make_block(previous, [Tx(struct.pack("<I", height), [(1, b"\x52")])], height)
            extra.append(record(block))
            previous = sha256d(block[:80])
            if height == 50:
                at_base = previous
        write_blocks(self.path("node/blocks"), [extra + [record(b) for b in chain.blocks]])
        chain.write_snapshot(self.path("utxo.dat"))
        error = self.generate()
        base = chain.hashes[-1][::-1].hex()
        for block in (chain.hashes[-1], at_base, previous):
            self.assertIn(block[::-1].hex(), error)
        self.assertIsNone(self.generate("node", "out", f"--blockhash={base}"))
        self.assertEqual(read_hints(self.path("out")), chain.hints())

    def test_more_work_beats_more_blocks(self):
        chain = Chain(3)
        chain.grow(30)
        block = make_block(chain.hashes[20], [Tx(b"!", [(1, b"\x52")])], 1, bits=0x1D00FFFF)
        write_blocks(self.path("node/blocks"), [[record(b) for b in chain.blocks + [block]]])
        chain.write_snapshot(self.path("utxo.dat"))
        self.assertIn(sha256d(block[:80])[::-1].hex(), self.generate())

    def test_missing_blocks_are_named(self):
        chain = Chain(4)
        chain.grow(30)
        blocks = [record(b) for b in chain.blocks]
        del blocks[12]
        write_blocks(self.path("node/blocks"), [blocks])
        chain.write_snapshot(self.path("utxo.dat"))
        self.assertIn(f"block {chain.hashes[12][::-1].hex()} is missing", self.generate())

    def test_coins_that_do_not_fit_are_refused(self):
        """Invented, repeated, missing and too young coins."""
        def coin(chain, **change):
            (txid, vout), entry = next(iter(chain.coins.items()))
            height, coinbase, value, script = entry
            height = height % 19 + 1 if change.get("height") == "other" else height
            key = (change.get("txid", txid), change.get("vout", vout))
            del chain.coins[txid, vout]
            if isinstance(change.get("height"), int):
                height = change["height"]
            chain.coins[key] = (height, coinbase, value, script)

        def drop_coinbase(chain):
            for key in [key for key, entry in chain.coins.items() if entry[0] == chain.top]:
                del chain.coins[key]

        cases = [(lambda c: coin(c, txid=bytes(32)), "is no spendable output of the block"),
                 (lambda c: coin(c, vout=400), "is no spendable output of the block"),
                 (lambda c: coin(c, height="other"), "is no spendable output of the block"),
                 (lambda c: coin(c, height=0), "at height 0"),
                 (lambda c: coin(c, height=21), "above the base block's 20"),
                 (drop_coinbase, "it was not made at this height")]
        for number, (spoil, message) in enumerate(cases):
            with self.subTest(message):
                chain = Chain(8)
                chain.grow(19)
                chain.add([Tx(b"last", [(1, b"\x51")])])
                spoil(chain)
                self.node(chain, f"node{number}")
                self.assertIn(message, self.generate(f"node{number}", f"out{number}"))

    def test_a_truncated_snapshot_is_refused(self):
        """The scan of the block files is kept, and the whole snapshot then uses it."""
        chain = Chain(8)
        chain.grow(20)
        self.node(chain)
        with open(self.path("utxo.dat"), "rb") as file:
            whole = file.read()
        with open(self.path("utxo.dat"), "wb") as file:
            file.write(whole[:-10])
        error = self.generate()
        self.assertIn("the file ends within its", error)
        self.assertIn("out.work keeps the scan", error)
        self.assertIn("blocks.index", os.listdir(self.path("out.work")))
        self.assertNotIn("coins", os.listdir(self.path("out.work")))
        with open(self.path("utxo.dat"), "wb") as file:
            file.write(whole)
        self.assertIsNone(self.generate())
        self.assertFalse(os.path.exists(self.path("out.work")))

    def test_networks(self):
        chain = Chain(2)
        chain.grow(20)
        chain.write_snapshot(self.path("utxo.dat"))
        write_blocks(self.path("node/blocks"), [[record(b, MAGIC["main"]) for b in chain.blocks]])
        self.assertIn("blocks are of main, but regtest is needed", self.generate())
        write_blocks(self.path("node/regtest/blocks"), [[record(b) for b in chain.blocks]])
        self.check(chain)
        self.assertIn("but regtest is needed", self.generate("node", "out", "--network=main"))
        self.check(chain, "node/regtest")
        self.check(chain, "node/regtest/blocks", "--network=regtest")
        os.makedirs(self.path("empty"))
        self.assertIn("no block files", self.generate("empty"))
        self.assertIn("no such directory", self.generate("nowhere"))

    def test_too_many_outputs_for_a_bitmap(self):
        chain = Chain(1)
        chain.grow(3)
        chain.add([Tx(b"wide", [(0, b"")] * 65_536)])
        self.node(chain)
        self.assertIn("65536 outputs", self.generate("node", "out", "--format=bitmap"))
        self.assertIsNone(self.generate())
        self.assertEqual(read_hints(self.path("out")), chain.hints())


class OthersFiles(MadeUpChain):
    """Files of a user in the tool's folder are neither removed nor overwritten."""

    def setUp(self):
        super().setUp()
        self.chain = Chain(4)
        self.chain.grow(30)
        self.node(self.chain)
        self.mine = self.path("mine")
        os.makedirs(self.path("mine/coins"))
        for name in ("photo", "run.json", "coins/000000.coins"):
            self.put("mine/" + name)

    def put(self, name):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write("mine")

    def tree(self, folder):
        return sorted(os.path.relpath(os.path.join(at, name), folder)
                      for at, _, names in os.walk(folder) for name in names)

    def test_a_folder_that_it_has_not_made(self):
        before = self.tree(self.mine)
        os.symlink(self.mine, self.path("out.work"))
        for options in ((f"--work-dir={self.mine}",), ()):
            self.assertIn("was not made by this tool", self.generate("node", "out", *options))
            self.assertEqual(self.tree(self.mine), before)
        self.assertTrue(os.path.islink(self.path("out.work")))

    def test_a_folder_of_the_users_that_is_empty(self):
        os.mkdir(self.path("room"))
        os.symlink(self.path("room"), self.path("link"))
        for name in ("room", "link"):
            self.assertIsNone(self.generate("node", f"out-{name}", f"--work-dir={self.path(name)}"))
            self.assertEqual(os.listdir(self.path(name)), [])
        self.assertTrue(os.path.islink(self.path("link")))

    def test_files_put_into_its_folder(self):
        options = ("--keep-work",)
        self.assertIsNone(self.generate("node", "out", *options))
        for name in ("photo", "coins/photo", "coins/my.coins", "container/photo.part"):
            self.put("out.work/" + name)
        os.remove(self.path("out"))
        self.node(self.chain)  # another modification time: the coins are split again
        self.assertIsNone(self.generate())
        self.assertEqual(self.tree(self.path("out.work")),
                         ["coins/my.coins", "coins/photo", "container/photo.part",
                          "made-by-booster-gen", "photo"])

    def test_a_file_of_the_temporary_name(self):
        self.put("out.tmp")
        self.assertIn("move it away", self.generate())
        with open(self.path("out.tmp"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")
        os.remove(self.path("out.tmp"))
        self.assertIsNone(self.generate())

    def test_what_a_killed_run_left_under_the_temporary_name(self):
        self.put("out.tmp")
        self.generate()  # refused: all but the last step is done
        with open(self.path("out.work/output"), "w", encoding="utf-8") as note:
            note.write(self.path("out.tmp"))
        self.assertIsNone(self.generate())
        self.assertFalse(os.path.exists(self.path("out.tmp")))
        self.assertFalse(os.path.exists(self.path("out.work")))

    def test_an_input_in_the_work_folder(self):
        for utxos, work in (("utxo.dat", self.folder), ("utxo.dat", self.path("."))):
            code, _, error = run_tool("booster-gen.py", self.path("node"), self.path(utxos),
                                      self.path("out"), f"--work-dir={work}")
            self.assertEqual(code, 1)
            self.assertIn("the folder of unfinished work", error)
        self.assertTrue(os.path.exists(self.path("utxo.dat")))

    def test_a_database_of_odd_values(self):
        for column, value in (("vout", 2**62), ("height", 1.5), ("height", 2**62), ("vout", "x")):
            with self.subTest(column=column, value=value):
                database = self.path("odd.sqlite")
                run_tool("utxo_to_sqlite.py", self.path("utxo.dat"), database)
                db = sqlite3.connect(database)
                db.execute(f"UPDATE utxos SET {column} = ?", (value,))
                db.commit()
                db.close()
                code, _, error = run_tool("booster-gen.py", self.path("node"), database,
                                          self.path("out"))
                self.assertEqual((code, error.count("Traceback")), (1, 0), error)
                os.remove(database)


class FakeCoins:
    """Coins that stop after a while, as if the process had been killed there."""

    path, count = "fake", 5000

    def __init__(self, coins, stop=None):
        self.all, self.stop, self.at = coins, stop, 0

    def coins(self, mark, done):
        self.at = mark or 0
        assert self.at == done
        for coin in self.all[self.at:]:
            self.at += 1
            if self.at == self.stop:
                raise InterruptedError
            yield coin

    def mark(self):
        return self.at


class PartitionResume(unittest.TestCase):
    def test_a_killed_pass_is_taken_up(self):
        import hintsgen.partition as module
        rng = random.Random(1)
        coins = [(rng.randbytes(32), rng.randrange(9), rng.randrange(2000)) for _ in range(5000)]
        old, module._REPORT = module._REPORT, 100
        self.addCleanup(setattr, module, "_REPORT", old)
        with tempfile.TemporaryDirectory() as folder:
            for stop in (50, 1234, 1235, 4000, None):
                partition = Partition(folder, flush_bytes=300 * 24)
                if stop:
                    with self.assertRaises(InterruptedError):
                        partition.build(FakeCoins(coins, stop), 2000)
                    # The files left by a flush that the kill interrupted.
                    for part in (0, 3, 99):
                        with open(partition.path(part), "ab") as file:
                            file.write(b"half a record")
                else:
                    self.assertEqual(partition.build(FakeCoins(coins), 2000), 5000)
            found = []
            for part in range(8):
                for height, by_txid in load_coins(partition.path(part),
                                                  *partition.size_and_crc(part)):
                    self.assertEqual(height // 256, part)
                    found += [(key, vout, height) for key, v in by_txid.items() for vout in v]
            self.assertFalse(os.path.exists(partition.path(99)))
        self.assertEqual(sorted(found), sorted((t[:16], v, h) for t, v, h in coins))

    def test_a_repeated_coin_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            partition = Partition(folder)
            partition.build(FakeCoins([(b"a" * 32, 1, 5), (b"a" * 32, 1, 5)]), 10)
            with self.assertRaisesRegex(ToolError, "twice"):
                list(load_coins(partition.path(0), *partition.size_and_crc(0)))


if __name__ == "__main__":
    unittest.main()
