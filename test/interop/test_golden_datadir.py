"""The oracle against the golden data directory that Bitcoin Core wrote: what our node's own
directories will be held to is first shown to hold for Core's."""

import shutil

import golden
from kernel_oracle import (OracleError, Tip, assert_engine_agrees, assert_same_coins,
                           copied_datadir)
from oracle_test import GoldenTest

GOLDEN_COINS = 13416
GOLDEN_SPENDS = 865
FIRST_SPEND_HEIGHT = 170


class GoldenDatadir(GoldenTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.imported = cls.top / "imported"
        cls.result = cls.oracle.import_files(cls.imported, "main", [golden.block_file()])

    def test_tip_of_cores_directory(self):
        self.assertEqual(self.oracle.tip(self.core, "main"), self.TIP)

    def test_import_gives_the_same_tip(self):
        self.assertEqual(self.result.tip, self.TIP)
        self.assertEqual(self.result.new, self.TIP.height)
        counts = (self.result.rejected, self.result.undecodable, self.result.orphan)
        self.assertEqual(counts, (0, 0, 0))

    def test_import_gives_the_same_coins(self):
        assert_same_coins(self, self.oracle, self.core, self.imported)

    def test_utxo_hashes_are_those_core_answered(self):
        for directory in (self.core, self.imported):
            info = self.oracle.coins_info(directory)
            self.assertEqual((info.best, info.coins), (self.TIP.hash, GOLDEN_COINS))
            for name, wanted in golden.COINS_HASHES.items():
                self.assertEqual(getattr(info, name), wanted)

    def test_reindex_of_cores_block_files(self):
        directory = self.top / "reindexed"
        (directory / "blocks").mkdir(parents=True)
        for name in ("blk00000.dat", "xor.dat"):
            (directory / "blocks" / name).write_bytes((self.core / "blocks" / name).read_bytes())
        tip, _, _ = self.oracle.reindex(directory, "main")
        self.assertEqual(tip, self.TIP)
        self.assertEqual(self.oracle.coins_info(directory), self.oracle.coins_info(self.core))

    def test_blocks_and_undo_data(self):
        blocks = self.oracle.read(self.core, "main", 0, self.TIP.height + 1)
        self.assertEqual(len(blocks), self.TIP.height + 1)
        self.assertEqual(sum(len(block.spent) for block in blocks), GOLDEN_SPENDS)
        coin = blocks[FIRST_SPEND_HEIGHT].spent[0]
        self.assertEqual((coin.amount, coin.height, coin.coinbase), (5_000_000_000, 9, True))
        self.assertEqual(blocks[-1].hash, self.TIP.hash)
        stored = golden.block_file().read_bytes()
        for block in blocks[::500]:
            self.assertIn(block.raw, stored)

    def test_coin_lookup(self):
        listed = self.oracle.coins(self.core)
        self.assertEqual(len(listed), GOLDEN_COINS)
        for coin in listed[::2000]:
            self.assertEqual(self.oracle.coin(self.core, coin.txid, coin.vout), coin)
            self.assertIsNone(self.oracle.coin(self.core, coin.txid, coin.vout + 7777))

    def test_helper_for_our_own_directories(self):
        info = assert_engine_agrees(self, self.oracle, self.core, "main", self.TIP)
        self.assertEqual(info.coins, GOLDEN_COINS)
        with self.assertRaises(AssertionError):
            wrong = Tip(self.TIP.height - 1, self.TIP.hash)
            assert_engine_agrees(self, self.oracle, self.core, "main", wrong)

    def test_a_broken_directory_is_refused(self):
        with self.assertRaises(OracleError):
            self.oracle.coins_info(self.top / "nothing-here")
        with copied_datadir(self.core) as copy:
            shutil.rmtree(copy / "blocks" / "index")
            with self.assertRaises(OracleError):
                self.oracle.tip(copy, "main")
