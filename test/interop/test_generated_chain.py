"""Chains of the generator (test/sim) under Bitcoin Core's own engine: every block is accepted with
full script checks, and as many coins are unspent as the generator says."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import interop_env
from kernel_oracle import KernelOracle


def chaingen():
    program = os.environ.get("IBD_CHAINGEN")
    root = pathlib.Path(__file__).resolve().parents[2]
    path = pathlib.Path(program) if program else root / "build/bin/ibd-chaingen"
    if not path.exists():
        interop_env.unavailable(f"{path} is not built")
    return path


class GeneratedChain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()
        cls.program = chaingen()

    def assert_accepted(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            made = json.loads(subprocess.run(
                [self.program, "--out", folder, *words], check=True, capture_output=True).stdout)
            network_dir = pathlib.Path(folder) / "regtest"
            tip = self.oracle.reindex(network_dir, "regtest")[0]
            self.assertEqual((tip.height, tip.hash), (made["height"], made["tip"]))
            self.assertEqual(self.oracle.coins_info(network_dir).coins, made["unspent"])

    def test_unsigned(self):
        self.assert_accepted("--outputs", "60000", "--seed", "11")

    def test_signed(self):
        self.assert_accepted("--outputs", "15000", "--seed", "12", "--signed")

    def test_untidy_files(self):
        self.assert_accepted("--outputs", "20000", "--seed", "13", "--shuffle", "100", "--xor",
                             "--stale", "--torn", "--preallocate")

    def test_large_blocks(self):
        self.assert_accepted("--blocks", "108", "--outputs-per-block", "7000", "--seed", "14")
