"""Our node and Bitcoin Core's are peers and relay transactions to each other: alone, orphans whose
parents must be requested, and a parent that pays nothing with its child. Blocks of either then
reach the other as compact blocks without a request."""

import re
import time

from core_node import CoreNode
from framework import Node, wait_until
from joined_nodes import JoinedNodes
from regtest_chain import COIN, Chain, child_of, redeem

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 20
VALUE = COIN // 10
LOGGED = ("-debug=net", "-debug=cmpctblock", "-debug=mempoolrej", "-debug=txpackages")


class Relay(JoinedNodes):
    def setUp(self):
        super().setUp()
        chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = chain.split(COINS, VALUE)
        self.core, self.ours = (self.start(kind, *LOGGED) for kind in (CoreNode, Node))
        self.submit_all(chain)

    def both_ways(self):
        return ((self.ours, self.core), (self.core, self.ours))

    def part(self):
        self.ours.rpc("disconnectnode", "", self.ours.rpc("getpeerinfo")[0]["id"])
        for node in (self.ours, self.core):
            wait_until(lambda node=node: not node.rpc("getpeerinfo"), "no peer")

    def coin(self):
        return (*self.coins.pop(), VALUE)

    def send(self, node, tx):
        node.rpc("sendrawtransaction", tx.raw().hex())

    def wait_for(self, node, *txs):
        wait_until(lambda: {tx.txid() for tx in txs} <= set(node.rpc("getrawmempool")),
                   "transactions in the pool")

    def check_pools(self):
        pools = [set(node.rpc("getrawmempool")) for node in (self.ours, self.core)]
        self.assertEqual(*pools)

    def test_single(self):
        self.join(self.ours, self.core)
        for sender, receiver in self.both_ways():
            tx = redeem(*self.coin(), 1_000)
            self.send(sender, tx)
            self.wait_for(receiver, tx)
            wait_until(lambda node=sender: not node.rpc("getmempoolinfo")["unbroadcastcount"],
                       "fetched")
        self.check_pools()
        peer = self.ours.rpc("getpeerinfo")[0]
        self.assertTrue(peer["relaytxes"])
        self.assertGreater(peer["last_transaction"], 0)
        self.assertEqual(peer["minfeefilter"], self.core.rpc("getpeerinfo")[0]["minfeefilter"])
        self.assertTrue(self.ours.rpc("getnetworkinfo")["localrelay"])

    def test_replacement(self):
        self.join(self.core, self.ours)
        for sender, receiver in self.both_ways():
            coin = self.coin()
            first, second = redeem(*coin, 1_000), redeem(*coin, 5_000)
            for tx in (first, second):
                self.send(sender, tx)
                self.wait_for(receiver, tx)
            self.assertNotIn(first.txid(), receiver.rpc("getrawmempool"))

    def test_orphans(self):
        """The receiver lacks two ancestors, which were in the sender's pool before."""
        for sender, receiver in self.both_ways():
            grandparent = redeem(*self.coin(), 1_000)
            parent = child_of(grandparent, 1_000)
            child = child_of(parent, 1_000)
            for tx in (grandparent, parent):
                self.send(sender, tx)
            self.join(receiver, sender)
            self.send(sender, child)
            self.wait_for(receiver, grandparent, parent, child)
            self.assertEqual(receiver.rpc("getorphantxs"), [])
            self.part()
        self.check_pools()

    def test_parent_and_child_pay_together(self):
        self.join(self.core, self.ours)
        for sender, receiver in self.both_ways():
            parent = redeem(*self.coin(), 0, version=3)
            child = child_of(parent, 2_000, version=3)
            answer = sender.rpc("submitpackage", [parent.raw().hex(), child.raw().hex()])
            self.assertEqual(answer["package_msg"], "success")
            self.wait_for(receiver, parent, child)
            self.assertIn("package evaluation for parent " + parent.txid(), receiver.log_text)
        self.check_pools()

    def test_compact_blocks_from_the_pool(self):
        self.join(self.ours, self.core)
        for sender, receiver in self.both_ways():
            for _ in range(3):
                txs = [redeem(*self.coin(), 1_000) for _ in range(2)]
                for tx in txs:
                    self.send(sender, tx)
                self.wait_for(receiver, *txs)
                block, = sender.rpc("generatetoaddress", 1, ADDRESS)
                receiver.wait_for_tip(block)
                done = re.search(f"reconstructed block {block} with 1 txn prefilled, 2 txn from "
                                 r"mempool \(incl at least 0 from extra pool\) and 0 txn",
                                 receiver.log_text)
                self.assertIsNotNone(done, block)
                self.assertEqual(receiver.rpc("getrawmempool"), [])
