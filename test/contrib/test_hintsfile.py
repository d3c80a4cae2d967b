"""Version 1 of the container and the bitmap: worked example, oracles, refused input."""

import io
import os
import random
import struct
import tempfile
import unittest

from support import read_hints
from hintsgen.common import ToolError
from hintsgen.hintsfile import (BitmapWriter, ContainerWriter, HintsReader, MAX_RICE, best_rice,
                                decode_record, encode_bitmap, encode_record, gaps_of)


def slow_record(outputs, indices):
    """The record by the letter of doc/formats/hints.md: every r tried, bit by bit."""
    def leb(n):
        return bytes((n,)) if n < 128 else bytes((n & 127 | 128,)) + leb(n >> 7)
    if not indices:
        return leb(outputs) + leb(0)
    gaps = gaps_of(indices)
    choices = []
    for r in range(MAX_RICE + 1):
        bits = []
        for gap in gaps:
            bits += [1] * (gap >> r) + [0] + [gap >> i & 1 for i in range(r)]
        choices.append((len(bits), r, bits))
    _, r, bits = min(choices)
    packed = bytearray((len(bits) + 7) // 8)
    for at, bit in enumerate(bits):
        packed[at // 8] |= bit << at % 8
    return leb(outputs) + leb(len(indices)) + bytes((r,)) + bytes(packed)


def random_block(rng):
    outputs = rng.choice((0, 1, 2, 14, 300, 5000))
    density = rng.choice((0, 0.01, 0.06, 0.5, 1))
    return outputs, [i for i in range(outputs) if rng.random() < density]


def container(blocks):
    file = io.BytesIO()
    writer = ContainerWriter(file, b"\xfa\xbf\xb5\xda", bytes(range(32)), len(blocks))
    for outputs, indices in blocks:
        writer.add(outputs, len(indices), encode_record(outputs, indices))
    writer.finish()
    return file.getvalue()


def bitmap(blocks):
    file = io.BytesIO()
    writer = BitmapWriter(file)
    for outputs, indices in blocks:
        writer.add(outputs, len(indices), encode_bitmap(outputs, indices))
    writer.finish()
    return file.getvalue()


class Formats(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.rng = random.Random(7)

    def write(self, data):
        path = os.path.join(self.folder.name, "hints")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_worked_example(self):
        indices = [at for at, bit in enumerate("00010000011001") if bit == "1"]
        self.assertEqual(gaps_of(indices), [3, 5, 0, 2])
        self.assertEqual(best_rice([3, 5, 0, 2]), (1, 12))
        self.assertEqual(encode_record(14, indices).hex(), "0e04015d02")
        self.assertEqual(decode_record(bytes.fromhex("0e04015d02")), (14, indices))

    def test_records_equal_the_slow_reference(self):
        for _ in range(300):
            outputs, indices = random_block(self.rng)
            data = encode_record(outputs, indices)
            self.assertEqual(data, slow_record(outputs, indices))
            self.assertEqual(decode_record(data), (outputs, indices))
        far = encode_record(500_000, [499_999])
        self.assertEqual(far, slow_record(500_000, [499_999]))
        self.assertEqual(decode_record(far), (500_000, [499_999]))

    def test_files_round_trip(self):
        blocks = [(n or 1, ones) for n, ones in (random_block(self.rng) for _ in range(2500))]
        for data in (container(blocks), bitmap(blocks)):
            self.assertEqual(read_hints(self.write(data)), blocks)

    def test_groups_close_as_described(self):
        full = (5000, list(range(5000)))
        data = container([(1, [])] * 1025 + [full] * 8)
        index_at, = struct.unpack_from("<Q", data, 72)
        entries = [entry[:2] + entry[4:5] for entry in struct.iter_unpack("<IIQII8s",
                                                                          data[index_at:])]
        self.assertEqual(entries, [(1, 1024, 0), (1025, 8, 35_000), (1033, 1, 5000)])

    def test_every_single_bit_flip_of_a_container_is_refused(self):
        blocks = [(14, [3, 9, 10, 13]), (3, []), (1, [0])]
        data = container(blocks)
        for bit in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            with self.subTest(bit=bit), self.assertRaises(ToolError):
                read_hints(self.write(flipped))

    def test_truncation_is_refused(self):
        blocks = [(14, [3, 9, 10, 13]), (3, []), (300, [0, 299])]
        for whole in (container(blocks), bitmap(blocks)):
            for size in range(len(whole)):
                with self.subTest(size=size), self.assertRaises(ToolError):
                    read_hints(self.write(whole[:size]))
            with self.assertRaises(ToolError):
                read_hints(self.write(whole + b"\0"))

    def test_malformed_records_are_refused(self):
        cases = {"too many ones": "0e0f01", "run past the end": "0e04015d06",
                 "padding set": "0e04015d12", "byte too many": "0e04015d0200",
                 "byte too few": "0e04015d", "long number": "8e0004015d02", "rice": "0e04135d02",
                 "outputs": "a1c21e00", "bytes after none": "0e0000", "empty": ""}
        for name, record in cases.items():
            with self.subTest(name), self.assertRaises((ValueError, IndexError)):
                decode_record(bytes.fromhex(record))
        self.assertEqual(decode_record(bytes.fromhex("a0c21e00")), (500_000, []))

    def test_bitmap_layout(self):
        self.assertEqual(bitmap([(14, [3, 9, 10, 13])]).hex(), "010000" + "0e000826" + "0000")

    def test_bits_beyond_the_outputs_are_refused(self):
        with self.assertRaises(ToolError):
            read_hints(self.write(bytes.fromhex("010002" + "0000")))

    def test_newer_version_is_named(self):
        data = bytearray(container([(1, [0])]))
        data[8] = 2
        with self.assertRaisesRegex(ToolError, "version 2"):
            HintsReader(self.write(data))


if __name__ == "__main__":
    unittest.main()
