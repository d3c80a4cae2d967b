"""Compressed amounts and scripts of a snapshot; the golden chain covers the rest."""

import os
import random
import sqlite3
import struct
import tempfile
import threading
import unittest

from support import MAGIC, Chain, compress_amount, run_tool
from hintsgen.snapshot import decompress_amount, decompress_script

# The generator point of secp256k1; its y is even.
G_X = bytes.fromhex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
G_Y = bytes.fromhex("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
P = 2**256 - 2**32 - 977


class Compression(unittest.TestCase):
    def test_amounts(self):
        self.assertEqual(decompress_amount(0x32), 50 * 10**8)
        self.assertEqual(decompress_amount(0x1406F40), 21_000_000 * 10**8)
        self.assertEqual([decompress_amount(n) for n in range(4)], [0, 1, 10, 100])
        rng = random.Random(3)
        for _ in range(2000):
            amount = rng.randrange(10**rng.randrange(1, 16)) * 10**rng.randrange(4)
            self.assertEqual(decompress_amount(compress_amount(amount)), amount)

    def test_scripts(self):
        h = bytes(range(20))
        odd_y = (P - int.from_bytes(G_Y, "big")).to_bytes(32, "big")
        for kind, payload, script in (
                (0, h, b"\x76\xa9\x14" + h + b"\x88\xac"), (1, h, b"\xa9\x14" + h + b"\x87"),
                (2, G_X, b"\x21\x02" + G_X + b"\xac"), (3, G_X, b"\x21\x03" + G_X + b"\xac"),
                (4, G_X, b"\x41\x04" + G_X + G_Y + b"\xac"),
                (5, G_X, b"\x41\x04" + G_X + odd_y + b"\xac"), (6, b"", b""), (8, b"ab", b"ab")):
            self.assertEqual(decompress_script(kind, payload), script)

    def test_keys_off_the_curve(self):
        self.assertIsNone(decompress_script(4, (5).to_bytes(32, "big")))
        self.assertIsNone(decompress_script(4, P.to_bytes(32, "big")))


class Conversion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.snapshot = os.path.join(folder.name, "utxo.dat")
        self.database = os.path.join(folder.name, "utxo.sqlite")

    def convert(self):
        return run_tool("utxo_to_sqlite.py", self.snapshot, self.database)

    def test_every_row(self):
        chain = Chain(21)
        chain.grow(150)
        chain.write_snapshot(self.snapshot)
        self.assertEqual(self.convert()[0], 0)
        db = sqlite3.connect(self.database)
        rows = db.execute("SELECT * FROM utxos").fetchall()
        origin = db.execute("SELECT * FROM snapshot").fetchall()
        db.close()
        want = [(txid[::-1].hex(), vout, value, int(coinbase), height, script.hex())
                for (txid, vout), (height, coinbase, value, script) in sorted(chain.coins.items())]
        self.assertEqual(rows, want)
        self.assertEqual(origin, [("regtest", MAGIC["regtest"].hex(),
                                   chain.hashes[-1][::-1].hex(), len(want), "hex")])

    def refuse(self, coin, message, count=1):
        head = b"utxo\xff\x02\x00" + MAGIC["regtest"] + bytes(32) + struct.pack("<Q", count)
        with open(self.snapshot, "wb") as file:
            file.write(head + bytes(32) + coin)
        code, _, error = self.convert()
        self.assertEqual(code, 1)
        self.assertIn(message, error)
        self.assertRegex(error, "offset (43|51|84): ")
        self.assertIn(self.snapshot, error)
        self.assertEqual(os.listdir(os.path.dirname(self.database)), ["utxo.dat"])

    def test_bad_coins(self):
        self.refuse(b"\x01\x00\x02\x01\x04" + (5).to_bytes(32, "big"), "not on the curve")
        self.refuse(b"\x01\x00\x02" + b"\xff" * 8 + b"\x00\x06", "more value")
        self.refuse(b"\x01\x00\x02\x01\x80\xff\x7f" + bytes(20_000), "impossible")
        self.refuse(b"\x02\x00\x02\x01\x06", "2 coins in one transaction")
        for count in (1000, 2**63 - 1, 2**63, 2**64 - 1):
            self.refuse(b"\x01\x00\x02\x01\x06", f"{count:,} coins, more than a file", count)

    def through_a_pipe(self, write):
        """Runs the tool on a pipe into which a thread has `write` put a snapshot."""
        whole = self.snapshot + ".file"
        write(whole)
        os.mkfifo(self.snapshot)

        def feed():
            try:
                with open(whole, "rb") as source, open(self.snapshot, "wb") as pipe:
                    pipe.write(source.read())
            except BrokenPipeError:
                pass

        writer = threading.Thread(target=feed)
        writer.start()
        code, _, error = self.convert()
        writer.join()
        return code, error

    def test_a_pipe(self):
        chain = Chain(21)
        chain.grow(150)
        self.assertEqual(self.through_a_pipe(chain.write_snapshot)[0], 0)
        db = sqlite3.connect(self.database)
        count, = db.execute("SELECT count(*) FROM utxos").fetchone()
        db.close()
        self.assertEqual(count, len(chain.coins))

    def test_a_pipe_that_is_cut_off_or_longer_or_lies(self):
        chain = Chain(21)
        chain.grow(150)
        chain.write_snapshot(self.snapshot)
        with open(self.snapshot, "rb") as file:
            whole = file.read()
        for bad, wanted in ((whole[:-1], "the file ends within its"),
                            (whole + b"x", "bytes after the last coin"),
                            (whole[:43] + struct.pack("<Q", 2**63) + whole[51:],
                             "more than any chain can have")):
            os.remove(self.snapshot)

            def write(path, bad=bad):
                with open(path, "wb") as file:
                    file.write(bad)

            code, error = self.through_a_pipe(write)
            self.assertEqual(code, 1)
            self.assertIn(wanted, error)
            self.assertFalse(os.path.exists(self.database))

    def test_no_regular_file(self):
        os.mkdir(self.snapshot)
        code, _, error = self.convert()
        self.assertEqual(code, 1)
        self.assertIn("no regular file and no pipe", error)
        os.rmdir(self.snapshot)
        os.mkfifo(self.snapshot)
        code, _, error = run_tool("booster-gen.py", os.path.dirname(self.snapshot), self.snapshot,
                                  self.database + ".hints")
        self.assertEqual(code, 1)
        self.assertIn("no regular file; the coins are read more than once", error)

    def test_a_file_of_the_temporary_name(self):
        chain = Chain(21)
        chain.grow(20)
        chain.write_snapshot(self.snapshot)
        beside = self.database + ".tmp"
        for make in (lambda: open(beside, "w").close(), lambda: os.symlink(self.snapshot, beside)):
            make()
            code, _, error = self.convert()
            self.assertEqual(code, 1)
            self.assertIn("move it away", error)
            self.assertTrue(os.path.lexists(beside))
            os.remove(beside)
        self.assertEqual(self.convert()[0], 0)


if __name__ == "__main__":
    unittest.main()
