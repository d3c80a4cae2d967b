"""Our script engine against Core's on generated spends of every kind: same verdict, same error.

The long run, whose result stands in doc/develop/differential.md:

    build/bin/script_differential --oracle "$(test/interop/build_oracle.sh)" \\
        --seed 1 --count 1000000
"""

import os
import subprocess
import unittest

from interop_env import built_program, own_program
import real_blocks
from kernel_oracle import KernelOracle, ScriptCase

COUNT = 20_000
CASES_PER_BLOCK = 40


class Differential(unittest.TestCase):
    def test_generated_spends(self):
        oracle = built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        seed = os.environ.get("IBD_TEST_SEED", str(int.from_bytes(os.urandom(6), "little")))
        done = subprocess.run([own_program("script_differential"), "--oracle", oracle, "--seed",
                               seed, "--count", str(COUNT)], capture_output=True, text=True,
                              check=False)
        print(done.stdout.splitlines()[0] if done.stdout else "")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\n0 differences", done.stdout)

    def test_mutated_real_spends(self):
        """Bits flipped all over real transactions: decoding and verdict must agree."""
        lines = []
        for real in real_blocks.REAL_BLOCKS:
            _, txs, _ = real_blocks.load(real)
            small = [tx for tx in txs if len(tx[1]) <= 2][:CASES_PER_BLOCK]
            for number, (raw, coins) in enumerate(small):
                for at in range(number % 7, len(raw), 7):
                    changed = bytearray(raw)
                    changed[at] ^= 1 << (at + number) % 8
                    lines.append(ScriptCase(bytes(changed), number % len(coins), "MANDATORY",
                                            coins))
        theirs = KernelOracle.find().verify_scripts(lines, par=2)
        flags = int(self.flag_bits()["MANDATORY"])
        text = "".join(ScriptCase(case.tx, case.index, flags, case.spent).line() + "\n"
                       for case in lines)
        done = subprocess.run([own_program("script_differential"), "--answer"], input=text,
                              capture_output=True, text=True, check=True)
        ours = done.stdout.split("\n")[:-1]
        self.assertEqual(len(ours), len(theirs))
        different = [(case.line(), a, b) for case, a, b in zip(lines, theirs, ours) if a != b]
        self.assertEqual(different[:3], [], f"{len(different)} of {len(lines)} differ")
        self.assertGreater(len(lines), 10_000)
        self.assertGreater(len(set(theirs)), 10)

    @staticmethod
    def flag_bits():
        oracle = built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        out = subprocess.run([oracle, "flags"], capture_output=True, text=True, check=True).stdout
        return dict(line.split() for line in out.splitlines())
