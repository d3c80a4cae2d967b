"""Our bitcoind against Core's over submitblock, the short runs; the long one is in
doc/develop/differential.md."""

import collections
import json
import os
import pathlib
import tempfile
import unittest

import interop_env
import node_differential
from core_node import Pair
from crossings import OFFERS
from regtest_chain import COIN, Block, coinbase
from signet_chain import SignetChain, mine

MAIN_GENESIS = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
ALTERNATE_SCRIPT = bytes.fromhex("76a914eadbac7f36c37e39361168b7aaee3cb24a25312d88ac")
DIFFICULTY_1, DIFFICULTY_4 = 0x1d00ffff, 0x1c3fffc0
RETARGET = 2016
SECRET, OTHER_SECRET = 0x5eed, 0xbad


class PairTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def pair(self, chain, *options):
        return Pair(self.dir, chain, options)


class Crossings(PairTest):
    def test_rules_that_begin_at_a_height(self):
        seed = int(os.environ.get("IBD_TEST_SEED", int.from_bytes(os.urandom(4), "little")))
        print(f"seed {seed}")
        counts = collections.Counter()
        node_differential.play(seed, self.dir, counts)
        # The run means something only if every way to break a rule was tried, if rules were met on
        # both sides of their height, and if many reasons were given.
        tried = {name for name in OFFERS
                 if counts[f"valid: {name}"] or counts[f"refused: {name}"]}
        self.assertEqual(tried, set(OFFERS))
        both = [name for name in OFFERS
                if counts[f"valid: {name}"] and counts[f"refused: {name}"]]
        self.assertGreaterEqual(len(both), 4, counts)
        reasons = [name for name in counts if name.startswith(("bad-", "block-", "unexpected"))]
        self.assertGreaterEqual(len(reasons), 8, counts)


class Bip94(PairTest):
    """The time of a period's first block, with and without the rule."""

    def early(self, *options):
        counts = collections.Counter()
        game = node_differential.Round(self.dir / str(len(options)), None, options, counts)
        with game.pair:
            game.time_warp()
            game.pair.finish()
        return counts

    def test_time_warp(self):
        counts = self.early("-test=bip94")
        self.assertEqual(counts["time-timewarp-attack"], 2)
        self.assertEqual(counts["valid: 600 s early at a period's start"], 1)

    def test_without_the_rule(self):
        self.assertEqual(self.early()["valid: 3600 s early at a period's start"], 1)


class Retarget(PairTest):
    """Core's alternate mainnet: 2,015 blocks of difficulty 1 and the one behind them."""

    def test_alternate_mainnet(self):
        vector = json.loads(interop_env.read_testdata("core/mainnet_alt.json"))
        prev = MAIN_GENESIS
        with self.pair("main", "-minimumchainwork=0") as pair:
            for height, (time, nonce) in enumerate(zip(vector["timestamps"], vector["nonces"]), 1):
                cb = coinbase(height, 50 * COIN, ALTERNATE_SCRIPT, extra=b"")
                if height > 16:  # the height alone; below, with OP_0 to make two bytes
                    cb.inputs[0] = (*cb.inputs[0][:2], cb.inputs[0][2][:-1], 0xffffffff)
                bits = DIFFICULTY_1 if height < RETARGET else DIFFICULTY_4
                block = Block(prev, [cb], time, bits=bits, nonce=nonce)
                if height == RETARGET:
                    easy = Block(prev, [cb], vector["timestamps"][0], bits=DIFFICULTY_1)
                    self.assertEqual(pair.submit(easy), "high-hash")
                self.assertIsNone(pair.submit(block), height)
                prev = block.hash()
            self.assertEqual(pair.tip, prev)
            self.assertEqual(pair.ask("getblockcount"), RETARGET)
            pair.ask("getblockheader", prev)
            pair.ask("getdifficulty")
            pair.finish()


class Signet(PairTest):
    def play(self, chain, wrong):
        """Valid blocks with the wrong ones before each."""
        with self.pair("signet", f"-signetchallenge={chain.challenge.hex()}",
                       "-minimumchainwork=0") as pair:
            for make, reason in wrong:
                self.assertEqual(pair.submit(mine(make())), reason)
                self.assertIsNone(pair.submit(chain.add(mine(chain.solved()))))
            self.assertEqual(pair.ask("getblockcount"), len(wrong))
            pair.finish()

    def test_signed_by_a_key(self):
        chain = SignetChain(SECRET)

        def changed_after_signing():
            block = chain.solved()
            block.time += 1
            return block

        def without_commitment():
            block = chain.solved()
            block.txs[0].outputs.pop()
            block.txs[0].witness = []
            return block
        self.play(chain, [
            (chain.template, "bad-signet-blksig"),
            (lambda: chain.solve(chain.template(), OTHER_SECRET), "bad-signet-blksig"),
            (changed_after_signing, "bad-signet-blksig"),
            (without_commitment, "bad-signet-blksig"),
            (lambda: chain.solve(chain.template(), SECRET, tail=b"\0"), "bad-signet-blksig"),
            (lambda: chain.solve(chain.template(), SECRET, [b"\x01"]), "bad-signet-blksig")])

    def test_anyone(self):
        """OP_TRUE needs no solution; one with a witness or more behind it is wrong."""
        chain = SignetChain()
        self.play(chain, [
            (lambda: chain.solve(chain.template(), None, [b"\x01"]), "bad-signet-blksig"),
            (lambda: chain.solve(chain.template(), None, tail=b"\0"), "bad-signet-blksig")])
        with Pair(self.dir / "plain", "signet", [f"-signetchallenge={chain.challenge.hex()}",
                                                 "-minimumchainwork=0"]) as pair:
            plain = SignetChain()
            for _ in range(2):
                self.assertIsNone(pair.submit(plain.add(mine(plain.template()))))
            pair.finish()


if __name__ == "__main__":
    unittest.main()
