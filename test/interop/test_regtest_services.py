"""contrib/regtest/services.py starts the programs of the other tests on one node, pays the wallets
and ends."""

import re
import subprocess
import sys
import unittest

from framework import ROOT, bindir, free_port

SCRIPT = ROOT / "contrib/regtest/services.py"
SECONDS = 300


class RegtestServices(unittest.TestCase):
    def run_script(self, *options):
        return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True,
                              timeout=SECONDS, check=False)

    def test_blocks(self):
        done = self.run_script("--bindir", bindir(), "--blocks", "3", "--seconds", "1")
        errors = [line for line in done.stderr.splitlines() if not line.startswith("building ")]
        self.assertEqual((done.returncode, errors), (0, []))
        if "left out" in done.stdout:
            self.skipTest(done.stdout)
        blocks = re.findall("^block .*", done.stdout, re.MULTILINE)
        self.assertEqual(len(blocks), 3)
        for name in ("lnd", "BIP 157", "BIP 37"):
            self.assertRegex(blocks[-1], f"{name} [1-9][0-9]+")
        for name in ("RPC", "REST", "P2P", "ZMQ", "electrs"):
            self.assertRegex(done.stdout, f"(?m)^{name} ")

    def test_without_a_build(self):
        done = self.run_script("--bindir", f"/nowhere/{free_port()}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no bitcoind in /nowhere", done.stderr)
