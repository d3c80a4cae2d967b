"""Block acceptance against Core's engine, the short run (doc/develop/differential.md)."""

import os
import tempfile
import unittest

import block_differential

COUNT = 600
FEWEST_REASONS = 12


class BlockDifferential(unittest.TestCase):
    def test_generated_and_mutated_blocks(self):
        seed = int(os.environ.get("IBD_TEST_SEED", int.from_bytes(os.urandom(6), "little")))
        print(f"seed {seed}")
        with tempfile.TemporaryDirectory(prefix="ibd-interop-") as folder:
            counts, different = block_differential.differential(seed, COUNT, folder)
        self.assertEqual(different[:3], [], f"seed {seed}: {len(different)} differences")
        # The run means something only if many rules were broken and some blocks passed.
        self.assertGreater(len(counts), FEWEST_REASONS)
        self.assertGreater(counts["connected"], 112)
