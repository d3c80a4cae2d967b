"""A wallet that speaks BIP 37 (bitcoinj) has our node as its only peer: it is paid by transactions
and blocks of Core, pays, and follows a reorganisation."""

import time

from bloom_wallet import BloomWallet
from core_node import CoreNode
from framework import Node
from joined_nodes import JoinedNodes
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain, next_block, redeem
from wire import Tx

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 4
VALUE = COIN // 10
FEE = 2_000  # satoshis
SPENT = VALUE // 2
LOG_SHOWN = 8_000  # characters


class WithBloomWallet(JoinedNodes):
    def setUp(self):
        super().setUp()
        chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = [(*coin, VALUE) for coin in chain.split(COINS, VALUE)]
        self.core = self.start(CoreNode)
        self.ours = self.start(Node, "-peerbloomfilters=1", "-debug=net")
        self.submit_all(chain)
        self.join(self.ours, self.core)

    def paying(self, address):
        """A transaction of FEE whose only output is the address's."""
        script = self.core.rpc("validateaddress", address)["scriptPubKey"]
        txid, vout, value = self.coins.pop()
        return Tx([(txid, vout, REDEEM, FINAL)], [(value - FEE, bytes.fromhex(script))])

    def send(self, node, *txs):
        for tx in txs:
            node.rpc("sendrawtransaction", tx.raw().hex())
        self.wait_for_pools(*(tx.txid() for tx in txs))

    def mine(self, wallet):
        block, = self.core.rpc("generatetoaddress", 1, ADDRESS)
        self.ours.wait_for_tip(block)
        wallet.wait_for_height(self.ours.rpc("getblockcount"))

    def replace_tip(self):
        """Two empty blocks take the place of the last one."""
        height = self.ours.rpc("getblockcount")
        prev = self.ours.rpc("getblockhash", height - 1)
        first_time = self.ours.rpc("getblockheader", prev)["time"] + 1
        for i in range(2):
            block = next_block(prev, height + i, first_time + i, extra=b"\x02")
            self.assertIn(self.core.rpc("submitblock", block.raw().hex()), (None, "inconclusive"))
            prev = block.hash()
        self.ours.wait_for_tip(prev)

    def wallet_peer(self):
        peers = [peer for peer in self.ours.rpc("getpeerinfo") if "bitcoinj" in peer["subver"]]
        self.assertEqual(len(peers), 1, self.ours.log_text[-LOG_SHOWN:])
        return peers[0]

    def test_receives_and_sends(self):
        with BloomWallet(self.ours.p2p_port) as wallet:
            wallet.wait_for_height(self.ours.rpc("getblockcount"))
            paid = VALUE - FEE
            self.send(self.core, self.paying(wallet.address), redeem(*self.coins.pop(), FEE))
            wallet.wait_for_balance(paid, 0)
            self.mine(wallet)
            wallet.wait_for_balance(paid, paid)

            txid = wallet.send(ADDRESS, SPENT)
            self.wait_for_pools(txid)
            fee = int(self.core.rpc("getmempoolentry", txid)["fees"]["base"] * COIN)
            left = paid - SPENT - fee
            self.mine(wallet)
            wallet.wait_for_balance(left, left)
            sent = self.wallet_peer()["bytessent_per_msg"]
            self.assertGreater(sent.get("merkleblock", 0), 0)
            self.assertNotIn("block", sent)

            # A transaction that is confirmed for the second time makes bitcoinj close the
            # connection now and then; it comes back.
            self.replace_tip()
            wallet.wait_for_height(self.ours.rpc("getblockcount"))
            self.wait_for_pools(txid)
            self.mine(wallet)
            wallet.wait_for_balance(left, left)
        self.assertNotIn("[error]", self.ours.log_text)
