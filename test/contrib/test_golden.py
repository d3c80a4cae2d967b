"""The tools against the real mainnet chain 0..14131 and Core's answers for it."""

import hashlib
import json
import lzma
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import tarfile
import tempfile
import time
import unittest

from support import command, compact, run_tool, sha256d, testdata, unpack

GOLDEN = "golden_mainnet14131/"


class GoldenChain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hints-golden-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.makedirs(cls.path("plain/blocks"))
        unpack("chains/mainnet_0_14131.blk.xz", cls.path("plain/blocks/blk00000.dat"))
        unpack(GOLDEN + "utxo_14131.dat.xz", cls.path("utxo.dat"))
        with lzma.open(testdata(GOLDEN + "unspent_indices.txt.xz"), "rt") as text:
            cls.indices = text.read()
        with open(testdata(GOLDEN + "golden.json"), encoding="utf-8") as file:
            cls.golden = json.load(file)
        cls.check_tool("booster-gen.py", cls.path("plain"), cls.path("utxo.dat"),
                       cls.path("reference.hints"))
        cls.reference = cls.read("reference.hints")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def read(cls, name):
        with open(cls.path(name), "rb") as file:
            return file.read()

    @classmethod
    def check_tool(cls, tool, *arguments):
        code, out, error = run_tool(tool, *arguments)
        if code:
            raise AssertionError(error)
        return out

    def generate(self, datadir, utxos, out, *options):
        self.check_tool("booster-gen.py", self.path(datadir), self.path(utxos), self.path(out),
                        *options)
        self.assertFalse(os.path.exists(self.path(out + ".work")))
        self.assertFalse(os.path.exists(self.path(out + ".tmp")))
        return self.read(out)

    def test_indices_of_the_container(self):
        self.assertEqual(self.check_tool("hints_dump.py", self.path("reference.hints"),
                                         "--indices"), self.indices)

    def test_header_of_the_container(self):
        fields = struct.unpack("<8sHH4sII32sQQ", self.reference[:72])
        base = bytes.fromhex(self.golden["gettxoutsetinfo_muhash"]["bestblock"])[::-1]
        self.assertEqual(fields[:5], (b"ibdhints", 1, 1, bytes.fromhex("f9beb4d9"), 14131))
        self.assertEqual(fields[6], base)
        self.assertEqual(fields[8], self.golden["gettxoutsetinfo_muhash"]["txouts"])

    def test_bitmap(self):
        data = self.generate("plain", "utxo.dat", "bitmap", "--format=bitmap")
        self.assertEqual(data[:3], b"\x01\x00\x00")
        self.assertEqual(data[-2:], b"\0\0")
        # No output of this chain is unspendable, so both formats count alike.
        self.assertEqual(self.check_tool("hints_dump.py", self.path("bitmap"), "--indices"),
                         self.indices)

    def test_core_data_directory(self):
        with tarfile.open(testdata(GOLDEN + "core_datadir_mainnet14131.tar.xz")) as archive:
            members = [m for m in archive.getmembers() if "blocks/" in m.name + "/"
                       and "index" not in m.name]
            archive.extractall(self.path("core"), members)
        self.assertTrue(any(self.read("core/blocks/xor.dat")))
        for jobs in (1, 3):
            data = self.generate("core", "utxo.dat", f"core{jobs}.hints", f"--jobs={jobs}")
            self.assertEqual(data, self.reference)

    def test_sqlite_in_all_forms(self):
        want = self.golden["gettxoutsetinfo_hash_serialized_3"]["hash_serialized_3"]
        for txid_form, spk_form in (("hex", "hex"), ("raw", "raw"), ("rawle", "hex")):
            name = f"{txid_form}-{spk_form}.sqlite"
            self.check_tool("utxo_to_sqlite.py", self.path("utxo.dat"), self.path(name),
                            f"--txid={txid_form}", f"--spk={spk_form}")
            with self.subTest(name):
                self.assertEqual(self.hash_of_table(name, txid_form, spk_form), want)
                self.assertEqual(self.generate("plain", name, name + ".hints"), self.reference)
                self.forget_origin(name)
                code, _, error = run_tool("booster-gen.py", self.path("plain"), self.path(name),
                                          self.path("refused"))
                self.assertEqual(code, 1)
                self.assertIn("--height or --blockhash", error)
                self.assertEqual(self.generate("plain", name, name + ".hints2", "--height=14131"),
                                 self.reference)

    def hash_of_table(self, name, txid_form, spk_form):
        """Core's hash_serialized_3, from the rows alone."""
        db = sqlite3.connect(self.path(name))
        hasher = hashlib.sha256()
        columns = [row[1:3] for row in db.execute("PRAGMA table_info(utxos)")]
        self.assertEqual(columns, [
            ("txid", "TEXT" if txid_form == "hex" else "BLOB"), ("vout", "INT"), ("value", "INT"),
            ("coinbase", "INT"), ("height", "INT"),
            ("scriptpubkey", "TEXT" if spk_form == "hex" else "BLOB")])
        for txid, vout, value, coinbase, height, script in db.execute("SELECT * FROM utxos"):
            txid = bytes.fromhex(txid) if txid_form == "hex" else txid
            txid = txid if txid_form == "raw" else txid[::-1]
            script = bytes.fromhex(script) if spk_form == "hex" else script
            hasher.update(txid + struct.pack("<IIq", vout, height * 2 + coinbase, value)
                          + compact(len(script)) + script)
        db.close()
        return hashlib.sha256(hasher.digest()).digest()[::-1].hex()

    def forget_origin(self, name):
        """Leave what Core's own tool would have written."""
        db = sqlite3.connect(self.path(name))
        db.execute("DROP TABLE snapshot")
        db.commit()
        db.close()

    def test_wrong_height_of_a_database(self):
        self.check_tool("utxo_to_sqlite.py", self.path("utxo.dat"), self.path("h.sqlite"))
        self.forget_origin("h.sqlite")
        for height, message in ((14130, "above the base block's 14130"),
                                (14132, "below height 14132")):
            code, _, error = run_tool("booster-gen.py", self.path("plain"), self.path("h.sqlite"),
                                      self.path("refused"), f"--height={height}")
            self.assertEqual(code, 1)
            self.assertIn(message, error)
            self.assertFalse(os.path.exists(self.path("refused")))

    def test_existing_output_is_kept(self):
        for tool, arguments in (("booster-gen.py", ("plain", "utxo.dat", "kept")),
                                ("utxo_to_sqlite.py", ("utxo.dat", "kept"))):
            with open(self.path("kept"), "w", encoding="ascii") as file:
                file.write("precious")
            code, _, error = run_tool(tool, *map(self.path, arguments))
            self.assertEqual(code, 1)
            self.assertIn("not overwritten", error)
            self.assertEqual(self.read("kept"), b"precious")

    def test_snapshot_off_the_chain_names_both_hashes(self):
        data = bytearray(self.read("utxo.dat"))
        data[11:43] = sha256d(b"other chain")
        with open(self.path("other.dat"), "wb") as file:
            file.write(data)
        code, _, error = run_tool("booster-gen.py", self.path("plain"), self.path("other.dat"),
                                  self.path("refused"))
        self.assertEqual(code, 1)
        self.assertIn(sha256d(b"other chain")[::-1].hex(), error)
        self.assertIn(self.golden["gettxoutsetinfo_muhash"]["bestblock"], error)
        self.assertNotIn("Traceback", error)
        self.assertFalse(os.path.exists(self.path("refused")))

    def test_kill_and_run_again(self):
        """SIGKILL at ever later moments; the last run ends with the same file."""
        killed = 0
        arguments = command("booster-gen.py", self.path("plain"), self.path("utxo.dat"),
                            self.path("killed.hints"))
        for moment in range(12):
            process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
            try:
                process.wait(0.15 + 0.05 * moment)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
            if os.path.exists(self.path("killed.hints")):
                break
        else:
            self.check_tool("booster-gen.py", *arguments[2:])
        self.assertGreater(killed, 0)
        self.assertEqual(self.read("killed.hints"), self.reference)

    def test_finished_parts_are_not_made_again(self):
        parts = self.path("parts.hints.work/container")
        arguments = command("booster-gen.py", self.path("plain"), self.path("utxo.dat"),
                            self.path("parts.hints"), "--jobs=1", "--keep-work")
        for _ in range(20):
            shutil.rmtree(self.path("parts.hints.work"), ignore_errors=True)
            if os.path.exists(self.path("parts.hints")):
                os.remove(self.path("parts.hints"))
            process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
            while process.poll() is None and not (os.path.isdir(parts) and
                                                  len(os.listdir(parts)) > 3):
                time.sleep(0.001)
            process.kill()
            if process.wait() == -signal.SIGKILL and not os.path.exists(self.path("parts.hints")):
                break
        else:
            self.fail("the tool could not be killed while encoding")
        before = {name: os.stat(os.path.join(parts, name)).st_mtime_ns
                  for name in os.listdir(parts) if name.endswith(".part")}
        self.assertGreaterEqual(len(before), 3)
        self.assertLess(len(before), 14131 // 256 + 1)
        self.check_tool("booster-gen.py", *arguments[2:])
        for name, stamp in before.items():
            self.assertEqual(os.stat(os.path.join(parts, name)).st_mtime_ns, stamp)
        self.assertEqual(self.read("parts.hints"), self.reference)

    def test_damaged_work_is_made_anew(self):
        options = ("damaged.hints", "--keep-work")
        self.generate_keeping_work(*options)
        for name in ("coins/000007.coins", "blocks.index"):
            path = self.path("damaged.hints.work/" + name)
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                file.write(b"\xde\xad")
            shutil.rmtree(self.path("damaged.hints.work/container"))
            os.remove(self.path("damaged.hints"))
            self.assertEqual(self.generate_keeping_work(*options), self.reference)

    def generate_keeping_work(self, out, *options):
        self.check_tool("booster-gen.py", self.path("plain"), self.path("utxo.dat"),
                        self.path(out), *options)
        return self.read(out)

    def test_damaged_snapshot(self):
        data = self.read("utxo.dat")
        cases = {"truncated": (data[:500_000], "offset 500000"),
                 "longer": (data + b"\0", f"offset {len(data)}: 1 bytes after the last coin"),
                 "newer": (data[:5] + b"\x03" + data[6:], "offset 5: snapshot version 3"),
                 "other": (b"hello, world, I am no file of yours" * 9, "offset 0")}
        for name, (content, message) in cases.items():
            with open(self.path(name), "wb") as file:
                file.write(content)
            for tool, inputs in (("booster-gen.py", ("plain", name)),
                                 ("utxo_to_sqlite.py", (name,))):
                with self.subTest(tool=tool, case=name):
                    code, _, error = run_tool(tool, *map(self.path, inputs), self.path("refused"))
                    self.assertEqual(code, 1, error)
                    self.assertIn(message, error)
                    self.assertIn(self.path(name), error)
                    self.assertNotIn("Traceback", error)
                    self.assertFalse(os.path.exists(self.path("refused")))


if __name__ == "__main__":
    unittest.main()
