"""Three nodes in a row relay transactions: to the far end and, as packages, through the middle; a
user's transaction is announced again until a peer fetches it; -blocksonly; -blockcompression; calls
about orphans and spenders."""

import os
import time

from framework import SANITIZED, FunctionalTest, free_port, wait_until
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain, child_of, redeem
from wire import Tx

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 10
VALUE = COIN // 10
UNKNOWN = "*other*"  # messages that Core does not know, in getpeerinfo
OP_RETURN_60 = bytes.fromhex("6a3c")  # and a push of 60 bytes


class Row(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = self.chain.split(COINS, VALUE)

    def start(self, *args):
        port = free_port()
        node = self.node("regtest", "-dnsseed=0", "-whitelist=noban@127.0.0.1").start(
            "-listen=1", f"-bind=127.0.0.1:{port}", "-noconnect", *args)
        node.p2p_port = port
        for block in self.chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return node

    @staticmethod
    def join(caller, called):
        before = len(caller.rpc("getpeerinfo"))
        caller.rpc("addnode", f"127.0.0.1:{called.p2p_port}", "onetry")

        def greeted():
            peers = caller.rpc("getpeerinfo")
            return len(peers) > before and all("pong" in peer["bytesrecv_per_msg"]
                                               for peer in peers)
        wait_until(greeted, "a peer")

    def coin(self):
        return (*self.coins.pop(), VALUE)

    def send(self, node, tx):
        node.rpc("sendrawtransaction", tx.raw().hex())

    def wait_for(self, node, *txs):
        wait_until(lambda: {tx.txid() for tx in txs} <= set(node.rpc("getrawmempool")),
                   "transactions in the pool")

    def test_row(self):
        near, middle, far = self.start(), self.start(), self.start()
        self.join(near, middle)
        self.join(far, middle)
        parent = redeem(*self.coin(), 1_000)
        child = child_of(parent, 1_000)
        for tx in (parent, child):
            self.send(near, tx)
        free = redeem(*self.coin(), 0, version=3)
        paying = child_of(free, 2_000, version=3)
        answer = near.rpc("submitpackage", [free.raw().hex(), paying.raw().hex()])
        self.assertEqual(answer["package_msg"], "success")
        self.wait_for(far, parent, child, free, paying)
        self.assertEqual(far.rpc("getorphantxs"), [])
        spent = {"txid": parent.txid(), "vout": 0}
        ask = [spent, {"txid": child.txid(), "vout": 0}]
        self.assertEqual(far.rpc("gettxspendingprevout", ask),
                         [{**spent, "spendingtxid": child.txid()}, ask[1]])
        self.assertEqual(far.rpc("gettxspendingprevout", [spent], {"return_spending_tx": True}),
                         [{**spent, "spendingtxid": child.txid(),
                           "spendingtx": child.raw().hex()}])
        self.assert_rpc_error(-3, "Missing vout", far.rpc, "gettxspendingprevout",
                              [{"txid": parent.txid()}])
        block, = near.rpc("generatetoaddress", 1, ADDRESS)
        far.wait_for_tip(block)
        self.assertEqual(far.rpc("getrawmempool"), [])

    def test_announced_again(self):
        near = self.start()
        tx = redeem(*self.coin(), 1_000)
        self.send(near, tx)
        late = self.start()
        self.join(late, near)
        self.assertEqual(near.rpc("getmempoolinfo")["unbroadcastcount"], 1)
        self.assertEqual(late.rpc("getrawmempool"), [])
        near.rpc("mockscheduler", 15 * 60)
        self.wait_for(late, tx)
        wait_until(lambda: near.rpc("getmempoolinfo")["unbroadcastcount"] == 0, "fetched")

    def test_packed(self):
        for here, there in ((1, 1), (1, 0), (0, 1)):
            near = self.start(f"-blockcompression={here}")
            txs = [Tx([(*coin, REDEEM, FINAL)],
                      [(VALUE - 1_000, REDEEMED), (0, OP_RETURN_60 + os.urandom(60))])
                   for coin in self.coins]
            for tx in txs:
                self.send(near, tx)
            late = self.start(f"-blockcompression={there}")
            self.join(late, near)
            near.rpc("mockscheduler", 15 * 60)  # announces all at once
            self.wait_for(late, *txs)
            peer, = late.rpc("getpeerinfo")
            received = peer["bytesrecv_per_msg"]
            plain, packed = received.get("tx", 0), received.get(UNKNOWN, 0)
            size = sum(len(tx.raw()) for tx in txs)
            if here and there:
                self.assertGreater(packed, 0)
                if not SANITIZED:  # a slow node may request the first one alone
                    self.assertEqual(plain, 0)
                self.assertLess(plain + packed, size)
            else:
                self.assertEqual(packed, 0)
                self.assertGreater(plain, size)

    def test_blocks_only(self):
        near, silent = self.start(), self.start("-blocksonly")
        self.join(near, silent)
        self.assertFalse(near.rpc("getpeerinfo")[0]["relaytxes"])
        self.assertFalse(silent.rpc("getnetworkinfo")["localrelay"])
        self.send(near, redeem(*self.coin(), 1_000))
        own = redeem(*self.coin(), 1_000)
        self.send(silent, own)
        self.wait_for(near, own)
        self.assertEqual(silent.rpc("getrawmempool"), [own.txid()])
