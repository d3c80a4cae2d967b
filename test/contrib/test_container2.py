"""Version 2 of the container: the readable reference's vectors, round trips and refusals."""

import os
import random
import tempfile
import unittest

from support import run_tool
from hintsgen import container2

MAGIC = bytes.fromhex("fabfb5da")


class Container2(unittest.TestCase):
    def test_vector_of_the_format_page(self):
        file = container2.write([[3, 9, 10, 13], []], MAGIC, bytes(range(32)))
        self.assertEqual(file[96:124].hex(),
                         "00ab02b20059802c4016000000000000000000000000000000000000")
        self.assertEqual(file[124:132].hex(), "be962222c8160000")
        self.assertEqual(file[88:96].hex(), "ff42ac637453752c")
        self.assertEqual(len(file), 150)

    def test_round_trips(self):
        rng = random.Random(13)
        for density in (0, 0.01, 0.06, 0.5, 0.99, 1):
            hints = [[i for i in range(rng.choice((1, 2, 40, 700, 60_000 if number == 5 else 9)))
                      if rng.random() < density] for number in range(rng.choice((1, 30, 1100)))]
            file = container2.write(hints, MAGIC, bytes(32))
            self.assertEqual(container2.blocks(file), hints)

    def test_every_byte_counts(self):
        file = bytearray(container2.write([[0], [1, 2], []] * 4, MAGIC, bytes(32)))
        for at in range(8, len(file)):
            file[at] ^= 1 << at % 8
            with self.assertRaises((ValueError, IndexError), msg=f"offset {at}"):
                container2.blocks(bytes(file))
            file[at] ^= 1 << at % 8

    def test_dump(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hints")
            with open(path, "wb") as file:
                file.write(container2.write([[3, 9, 10, 13], []], MAGIC, bytes(32)))
            code, out, err = run_tool("hints_dump.py", path)
            self.assertEqual((code, out), (0, "1 - 4\n2 - 0\n"))
            self.assertIn("2 blocks, 4 unspent", err)
            for height in (0, 3):
                code, out, err = run_tool("hints_dump.py", path, f"--height={height}")
                self.assertEqual((code, out), (1, ""))
                self.assertIn("heights are 1 to 2", err)
            with open(path, "r+b") as file:
                file.seek(130)
                file.write(b"\xff")
            code, _, err = run_tool("hints_dump.py", path)
            self.assertEqual(code, 1)
            self.assertIn("checksum", err)


if __name__ == "__main__":
    unittest.main()
