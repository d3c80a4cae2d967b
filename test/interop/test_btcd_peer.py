"""btcd as a peer: it starts, answers, and agrees with the oracle about blocks either of them and
our miner made; two of them sync over the network on loopback."""

import pathlib
import tempfile
import unittest

from btcd_peer import BtcdPeer
from kernel_oracle import KernelOracle
from regtest_chain import COINBASE_MATURITY, REGTEST_GENESIS, Chain, spend


class Btcd(unittest.TestCase):
    def test_smoke(self):
        with BtcdPeer("simnet") as peer:
            self.assertEqual(peer.rpc("getblockcount"), 0)
        with BtcdPeer("regtest") as peer:
            self.assertEqual(peer.rpc("getbestblockhash"), REGTEST_GENESIS)

    def test_our_blocks_are_accepted(self):
        chain = Chain().grow(COINBASE_MATURITY)
        txid, amount = chain.coinbase_of(1)
        chain.add(chain.candidate([spend(txid, 0, amount)]))
        with BtcdPeer("regtest") as peer:
            for block in chain.blocks:
                self.assertIsNone(peer.rpc("submitblock", block.raw().hex()))
            self.assertEqual(peer.rpc("getblockcount"), chain.height)
            self.assertEqual(peer.rpc("getbestblockhash"), chain.tip)
            self.assertIsNotNone(peer.rpc("submitblock", chain.candidate(fees=1).raw().hex()))
            self.assertEqual(peer.rpc("getbestblockhash"), chain.tip)

    def test_the_oracle_accepts_its_blocks(self):
        oracle = KernelOracle.find()
        with BtcdPeer("regtest") as peer, tempfile.TemporaryDirectory() as folder:
            hashes = peer.rpc("generate", 5)
            blocks = [peer.block(height) for height in range(1, 6)]
            verdicts, tip = oracle.connect(pathlib.Path(folder), "regtest", blocks)
            self.assertEqual([v.verdict for v in verdicts], ["connected"] * 5)
            self.assertEqual([v.hash for v in verdicts], hashes)
            self.assertEqual(tip.hash, peer.rpc("getbestblockhash"))

    def test_two_peers_sync(self):
        for transport in ((), ("--v2transport",)):
            with self.subTest(transport=transport):
                with BtcdPeer("regtest", extra=transport) as first:
                    tip = first.rpc("generate", 10)[-1]
                    with BtcdPeer("regtest", [first.p2p_address], transport) as second:
                        second.wait_for_tip(tip)
