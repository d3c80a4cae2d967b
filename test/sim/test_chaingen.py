#!/usr/bin/env python3
"""The program ibd-chaingen: same options, same bytes; its hints agree with each other; bad options
are one clear line. Usage: test_chaingen.py PATH-OF-IBD-CHAINGEN"""
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
MAGIC = bytes.fromhex("fabfb5da")


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)


def file_hashes(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def blocks_in(folder):
    """Header hashes of all records of the block files, in file order."""
    key = (folder / "xor.dat").read_bytes() if (folder / "xor.dat").exists() else bytes(8)
    out = []
    for path in sorted(folder.glob("blk*.dat")):
        raw = path.read_bytes()
        pad = (key * (len(raw) // 8 + 1))[:len(raw)]
        raw = (int.from_bytes(raw, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(raw), "big")
        at = 0
        while raw[at:at + 4] == MAGIC:
            size = struct.unpack_from("<I", raw, at + 4)[0]
            if at + 8 + size > len(raw):
                break
            header = raw[at + 8:at + 88]
            out.append(hashlib.sha256(hashlib.sha256(header).digest()).digest()[::-1].hex())
            at += 8 + size
    return out


def bitmap_ones(raw):
    """Number of ones per height of original bitmap hints."""
    out, at = [], 0
    while True:
        count = struct.unpack_from("<H", raw, at)[0]
        at += 2
        if count == 0:
            assert at == len(raw)
            return out
        size = (count + 7) // 8
        out.append(int.from_bytes(raw[at:at + size], "little").bit_count())
        at += size


class Chaingen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def generate(self, name, *words):
        done = run("--out", self.dir / name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_same_options_same_bytes(self):
        words = ["--outputs", 5000, "--seed", 3, "--shuffle", 10, "--xor", "--stale", "--torn"]
        first, second = self.generate("a", *words), self.generate("b", *words)
        self.assertEqual(first, second)
        self.assertEqual(file_hashes(self.dir / "a"), file_hashes(self.dir / "b"))
        other = self.generate("c", *words, "--seed", 4)
        self.assertNotEqual(first["tip"], other["tip"])

    def test_shuffle_and_obfuscation_do_not_change_the_chain(self):
        plain = self.generate("plain", "--outputs", 5000)
        mixed = self.generate("mixed", "--outputs", 5000, "--shuffle", 30, "--xor", "--stale",
                              "--preallocate")
        self.assertEqual(plain["tip"], mixed["tip"])
        ordered = blocks_in(self.dir / "plain/regtest/blocks")
        found = blocks_in(self.dir / "mixed/regtest/blocks")
        self.assertEqual(len(ordered), plain["height"] + 1)
        self.assertEqual(ordered[-1], plain["tip"])
        self.assertLess(set(ordered), set(found))
        distinct = len(ordered) + mixed["stale_blocks"]
        self.assertEqual(len(set(found)), distinct)
        self.assertEqual(len(found), distinct + mixed["repeated_blocks"])
        self.assertNotEqual([h for h in found if h in set(ordered)], ordered)

    def test_hints_agree(self):
        text, bitmap = self.dir / "hints.txt", self.dir / "hints.bin"
        container = self.dir / "hints.ibd"
        made = self.generate("a", "--outputs", 20000, "--hints-height", 400, "--hints", text,
                             "--bitmap", bitmap, "--container", container)
        ones = bitmap_ones(bitmap.read_bytes())
        lines = text.read_text().splitlines()
        self.assertEqual(ones, [0] + [len(line.split()) for line in lines])
        self.assertEqual((made["hints_height"], len(lines)), (400, 400))
        raw = container.read_bytes()
        self.assertEqual(struct.unpack_from("<I", raw, 16)[0], 400)
        self.assertEqual(raw[24:56][::-1].hex(), made["hints_hash"])
        self.assertEqual(struct.unpack_from("<Q", raw, 64)[0], sum(ones))

    def test_bad_options_are_one_line(self):
        (self.dir / "full/regtest/blocks").mkdir(parents=True)
        (self.dir / "full/regtest/blocks/blk00000.dat").touch()
        out = ["--out", self.dir / "x"]
        for words in ([], [*out, "--nonsense"], [*out, "--seed"], [*out, "--seed", "-1"],
                      [*out, "--outputs-per-block", 7001], [*out, "--bip30", "5"],
                      [*out, "--bip30", "20:135"], [*out, "--hints-height", 10**6],
                      ["--out", self.dir / "full"], ["--out", "/proc/nowhere"]):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertTrue(done.stderr.startswith("ibd-chaingen: "))
        self.assertFalse((self.dir / "x").exists())
        self.assertEqual(run("--help").returncode, 0)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
