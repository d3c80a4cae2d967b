"""Difficulty of random header chains, ours against Core's: the short run; the long one is in
doc/develop/differential.md."""

import os

from header_differential import compare
from oracle_test import OracleTest

HEADERS = 25_000
PERIOD = 2016
LEAST = 0x1d00ffff
KNOWN_SEED = 1


class Retargets(OracleTest):
    def bits(self, network):
        """Compares a chain of any seed, and one with a known result: bits of the latter by height
        from 1."""
        seed = int(os.environ.get("IBD_TEST_SEED", int.from_bytes(os.urandom(6), "little")))
        print(f"seed {seed}")
        for chosen in (seed, KNOWN_SEED):
            chain, difference = compare(self.oracle, network, chosen, HEADERS)
            self.assertEqual(difference, "")
        permitted = {line.split()[3] for line in chain}
        self.assertEqual(permitted, {"0", "1"} if network in ("main", "signet") else {"1"})
        return [int(line.split()[1]) for line in chain]

    def changes(self, bits):
        """Heights at which bits change; a few periods at least differ."""
        self.assertGreaterEqual(len(set(bits[PERIOD - 1::PERIOD])), 3)
        return [at + 2 for at, (a, b) in enumerate(zip(bits, bits[1:])) if a != b]

    def test_mainnet_and_signet(self):
        for network in ("main", "signet"):
            changes = self.changes(self.bits(network))
            self.assertEqual({height % PERIOD for height in changes}, {0})

    def test_testnets(self):
        """Minimum difficulty after twenty minutes; on testnet4 the retarget starts from the first
        block of the period (BIP94)."""
        for network in ("test", "testnet4"):
            bits = self.bits(network)
            self.assertGreater(len(self.changes(bits)), 100)
            self.assertIn(LEAST, bits)

    def test_regtest_never_retargets(self):
        self.assertEqual(len(set(self.bits("regtest"))), 1)
