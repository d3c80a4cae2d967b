"""A light wallet whose only peer is our node, which is joined to Core: what tests of such wallets
share."""

import time

from core_node import CoreNode
from framework import Node
from joined_nodes import JoinedNodes
from regtest_chain import COIN, FINAL, REDEEM, Chain, next_block
from wire import Tx

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 4
VALUE = COIN // 10
FEE = 2_000  # satoshis
SPENT = VALUE // 2
LOG_SHOWN = 8_000  # characters


def chain_with_coins(count):
    """A chain up to now, and coins on it, (txid, output), each of VALUE."""
    chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
    return chain, chain.split(count, VALUE)


def payment(node, coin, address):
    """A transaction of FEE that pays a coin to an address."""
    script = node.rpc("validateaddress", address)["scriptPubKey"]
    return Tx([(*coin, REDEEM, FINAL)], [(VALUE - FEE, bytes.fromhex(script))])


class PaidWallet(JoinedNodes):
    options = ()

    def setUp(self):
        super().setUp()
        chain, coins = chain_with_coins(COINS)
        self.coins = [(*coin, VALUE) for coin in coins]
        self.core = self.start(CoreNode)
        self.ours = self.start(Node, "-debug=net", *self.options)
        self.submit_all(chain)
        self.join(self.ours, self.core)

    def paying(self, address):
        """A transaction of FEE whose only output is the address's."""
        return payment(self.core, self.coins.pop()[:2], address)

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

    def wallet_peer(self, name):
        """The connection of the wallet, whose user agent contains `name`."""
        peers = [peer for peer in self.ours.rpc("getpeerinfo") if name in peer["subver"]]
        self.assertEqual(len(peers), 1, self.ours.log_text[-LOG_SHOWN:])
        return peers[0]

    def fee_of(self, txid):
        return int(self.core.rpc("getmempoolentry", txid)["fees"]["base"] * COIN)
