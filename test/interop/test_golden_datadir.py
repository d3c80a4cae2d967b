"""The oracle against the golden data directory that Bitcoin Core wrote: what our node's own
directories will be held to is first shown to hold for Core's."""

import json
import pathlib
import shutil
import tarfile
import tempfile
import unittest

import interop_env
from kernel_oracle import (KernelOracle, OracleError, Tip, assert_engine_agrees, assert_same_coins,
                           copied_datadir)

GOLDEN_TIP = Tip(14131, "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c")
GOLDEN_COINS = 13416
GOLDEN_SPENDS = 865
FIRST_SPEND_HEIGHT = 170


class GoldenDatadir(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()
        cls.folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = pathlib.Path(cls.folder.name)
        cls.golden = cls.top / "golden"
        archive = "golden_mainnet14131/core_datadir_mainnet14131.tar.xz"
        with tarfile.open(interop_env.testdata_path(archive)) as tar:
            tar.extractall(cls.golden)
        cls.block_file = cls.top / "mainnet_0_14131.blk"
        cls.block_file.write_bytes(interop_env.read_testdata("chains/mainnet_0_14131.blk.xz"))
        cls.imported = cls.top / "imported"
        cls.result = cls.oracle.import_files(cls.imported, "main", [cls.block_file])
        cls.answers = json.loads(interop_env.read_testdata("golden_mainnet14131/golden.json"))

    def test_tip_of_cores_directory(self):
        self.assertEqual(self.oracle.tip(self.golden, "main"), GOLDEN_TIP)

    def test_import_gives_the_same_tip(self):
        self.assertEqual(self.result.tip, GOLDEN_TIP)
        self.assertEqual(self.result.new, GOLDEN_TIP.height)
        counts = (self.result.rejected, self.result.undecodable, self.result.orphan)
        self.assertEqual(counts, (0, 0, 0))

    def test_import_gives_the_same_coins(self):
        assert_same_coins(self, self.oracle, self.golden, self.imported)

    def test_utxo_hashes_are_those_core_answered(self):
        for directory in (self.golden, self.imported):
            info = self.oracle.coins_info(directory)
            self.assertEqual((info.best, info.coins), (GOLDEN_TIP.hash, GOLDEN_COINS))
            for name in ("hash_serialized_3", "muhash"):
                answer = self.answers[f"gettxoutsetinfo_{name}"]
                self.assertEqual(getattr(info, name), answer[name])

    def test_reindex_of_cores_block_files(self):
        directory = self.top / "reindexed"
        (directory / "blocks").mkdir(parents=True)
        for name in ("blk00000.dat", "xor.dat"):
            (directory / "blocks" / name).write_bytes((self.golden / "blocks" / name).read_bytes())
        tip, _, _ = self.oracle.reindex(directory, "main")
        self.assertEqual(tip, GOLDEN_TIP)
        self.assertEqual(self.oracle.coins_info(directory), self.oracle.coins_info(self.golden))

    def test_blocks_and_undo_data(self):
        blocks = self.oracle.read(self.golden, "main", 0, GOLDEN_TIP.height + 1)
        self.assertEqual(len(blocks), GOLDEN_TIP.height + 1)
        self.assertEqual(sum(len(block.spent) for block in blocks), GOLDEN_SPENDS)
        coin = blocks[FIRST_SPEND_HEIGHT].spent[0]
        self.assertEqual((coin.amount, coin.height, coin.coinbase), (5_000_000_000, 9, True))
        self.assertEqual(blocks[-1].hash, GOLDEN_TIP.hash)
        stored = self.block_file.read_bytes()
        for block in blocks[::500]:
            self.assertIn(block.raw, stored)

    def test_coin_lookup(self):
        listed = self.oracle.coins(self.golden)
        self.assertEqual(len(listed), GOLDEN_COINS)
        for coin in listed[::2000]:
            self.assertEqual(self.oracle.coin(self.golden, coin.txid, coin.vout), coin)
            self.assertIsNone(self.oracle.coin(self.golden, coin.txid, coin.vout + 7777))

    def test_helper_for_our_own_directories(self):
        info = assert_engine_agrees(self, self.oracle, self.golden, "main", GOLDEN_TIP)
        self.assertEqual(info.coins, GOLDEN_COINS)
        with self.assertRaises(AssertionError):
            wrong = Tip(GOLDEN_TIP.height - 1, GOLDEN_TIP.hash)
            assert_engine_agrees(self, self.oracle, self.golden, "main", wrong)

    def test_a_broken_directory_is_refused(self):
        with self.assertRaises(OracleError):
            self.oracle.coins_info(self.top / "nothing-here")
        with copied_datadir(self.golden) as copy:
            shutil.rmtree(copy / "blocks" / "index")
            with self.assertRaises(OracleError):
                self.oracle.tip(copy, "main")


if __name__ == "__main__":
    unittest.main()
