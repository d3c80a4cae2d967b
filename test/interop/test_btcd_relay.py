"""btcd and our node relay transactions to each other and mine them, also after a reorganisation
gave them back."""

import time

from btcd_peer import BtcdPeer
from framework import FunctionalTest, free_port, wait_until
from regtest_chain import COIN, Chain, child_of, next_block, redeem

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 10
VALUE = COIN // 10
FEE = 2_000  # satoshis; btcd relays from 1,000 for 1,000 bytes on


class WithBtcd(FunctionalTest):
    def setUp(self):
        super().setUp()
        # Its last block is of now, as btcd takes no transactions while it is behind.
        self.chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = self.chain.split(COINS, VALUE)
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.ours = self.node("regtest", "-dnsseed=0", "-whitelist=noban@127.0.0.1").start(
            "-listen=1", f"-bind={self.address}", "-noconnect")

    def coin(self):
        return (*self.coins.pop(), VALUE)

    def pools(self):
        return [set(node.rpc("getrawmempool")) for node in (self.ours, self.btcd)]

    def wait_for_pools(self, *txs):
        """Both hold these transactions and no others."""
        wanted = {tx.txid() for tx in txs}
        wait_until(lambda: self.pools() == [wanted, wanted], "equal pools", 60)

    def join(self, btcd):
        self.btcd = btcd
        for block in self.chain.blocks:
            for node in (self.ours, btcd):
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.ours.rpc("addnode", btcd.p2p_address, "onetry")
        wait_until(lambda: any(peer["version"] and "pong" in peer["bytesrecv_per_msg"]
                               for peer in self.ours.rpc("getpeerinfo")), "a peer")
        wait_until(lambda: btcd.rpc("getpeerinfo"), "a peer of btcd")

    def send(self, node, *txs):
        for tx in txs:
            self.assertEqual(node.rpc("sendrawtransaction", tx.raw().hex()), tx.txid())

    def mine(self, miner, *txs):
        """A block of one node's that has these transactions; the other follows."""
        if miner is self.btcd:
            block, = miner.rpc("generate", 1)
        else:
            block, = miner.rpc("generatetoaddress", 1, ADDRESS)
        for node in (self.ours, self.btcd):
            node.wait_for_tip(block)
        mined = self.ours.rpc("getblock", block)["tx"][1:]
        self.assertEqual(set(mined), {tx.txid() for tx in txs})
        self.wait_for_pools()
        return block

    def both_ways(self):
        return ((self.ours, self.btcd), (self.btcd, self.ours))

    def test_relay_and_mining(self):
        """Each mines the transactions that the other has sent, with chains of two."""
        with BtcdPeer("regtest") as btcd:
            self.join(btcd)
            for sender, miner in self.both_ways() * 2:
                parent = redeem(*self.coin(), FEE)
                txs = [parent, child_of(parent, FEE), redeem(*self.coin(), FEE)]
                self.send(sender, *txs)
                self.wait_for_pools(*txs)
                self.mine(miner, *txs)
            peer = self.ours.rpc("getpeerinfo")[0]
            self.assertIn("btcd", peer["subver"])
            self.assertGreater(peer["last_transaction"], 0)

    def replace_tip(self, node):
        """Two empty blocks from one node take the place of the last one, on both."""
        height = self.ours.rpc("getblockcount")
        prev = self.ours.rpc("getblockhash", height - 1)
        time_of_first = self.ours.rpc("getblockheader", prev)["time"] + 1
        for i in range(2):
            block = next_block(prev, height + i, time_of_first + i, extra=b"\x02")
            self.assertIn(node.rpc("submitblock", block.raw().hex()), (None, "inconclusive"))
            prev = block.hash()
        for each in (self.ours, self.btcd):
            each.wait_for_tip(prev)

    def test_reorganisation(self):
        """Transactions of a block that is taken back are in both pools again, and mined again."""
        with BtcdPeer("regtest") as btcd:
            self.join(btcd)
            for miner, other in self.both_ways():
                parent = redeem(*self.coin(), FEE)
                txs = [parent, child_of(parent, FEE)]
                self.send(other, *txs)
                self.wait_for_pools(*txs)
                self.mine(miner, *txs)
                self.replace_tip(miner)
                self.wait_for_pools(*txs)
                block = self.mine(other, *txs)
                same = [node.rpc("getblock", block, 0) for node in (self.ours, btcd)]
                self.assertEqual(same[1], same[0])
