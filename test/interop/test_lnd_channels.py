"""Two lnds, one on our node and one on Bitcoin Core, with channels between them: funding, payments
and closing transactions of one, cooperative or forced, reach the other through pools and blocks of
both."""

import time

from core_node import CoreNode
from framework import Node, wait_until
from joined_nodes import JoinedNodes
from lnd_node import LndNode
from taproot_proxy import TaprootProxy

COIN = 100_000_000  # satoshis
ELSEWHERE = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
MATURITY = 100
CONFIRMATIONS = 6  # more than lnd asks for channels of this size
CAPACITY = 1_000_000
PAID, PAID_BACK = 300_000, 100_000
PUSHED = PAID - PAID_BACK  # to the second lnd, in satoshis
SUBSIDY = 50 * COIN
MOST_FEES = 20_000  # satoshis; of a transaction that spends an output of a closed channel


class Channels(JoinedNodes):
    def setUp(self):
        super().setUp()
        self.lnds = ()
        self.ours, self.core = self.start(Node), self.start(CoreNode)
        self.join(self.ours, self.core)
        self.mine(self.ours, 1)  # lnd waits for a chain that is not in its initial download

    def mine(self, node, count, address=ELSEWHERE):
        """Blocks of one node that the other follows, and then each lnd."""
        hashes = node.rpc("generatetoaddress", count, address)
        for each in self.nodes:
            each.wait_for_tip(hashes[-1])
        for lnd in self.lnds:
            lnd.wait_for_tip()

    def fund(self, lnd):
        address = lnd.get("/v1/newaddress?type=WITNESS_PUBKEY_HASH")["address"]
        self.mine(self.ours, 1, address)

    def open(self, first, second, miner):
        """A channel that the first funds, over which each pays the other."""
        point = first.open_channel(second, CAPACITY)
        self.wait_for_pools(point[0])
        self.mine(miner, CONFIRMATIONS)
        for lnd in (first, second):
            self.assertEqual(lnd.wait_for_channel()["channel_point"], f"{point[0]}:{point[1]}")
        first.pay(second.invoice(PAID))
        second.pay(first.invoice(PAID_BACK))
        first.wait_for_channel()
        self.assertEqual(int(second.wait_for_channel()["local_balance"]), PUSHED)
        return point

    def confirm(self, miner, closing):
        self.wait_for_pools(closing)
        self.mine(miner, 1)
        self.assertIn(closing, miner.rpc("getblock", miner.rpc("getbestblockhash"))["tx"])

    def sweep(self, miner):
        """Blocks until the wallets have all coins of closed channels."""
        def swept():
            if not any(lnd.pending() for lnd in self.lnds):
                return True
            self.mine(miner, 1)
            time.sleep(1)  # for transactions that the new block allows
            return False
        wait_until(swept, "closed channels")

    def assert_gained(self, lnd, most, fees):
        """It has `most` satoshis more than at the last call, less fees of at most `fees`."""
        before, low = self.balance, most - fees
        self.balance = lnd.wait_for_balance(lambda now: low <= now - before <= most)

    def test_open_pay_close(self):
        with (LndNode(self.ours) as first, TaprootProxy(self.core) as proxy,
              LndNode(self.core, proxy.port) as second):
            for lnd in (first, second):
                lnd.create_wallet()
            self.lnds = (first, second)
            for lnd in self.lnds:
                self.fund(lnd)
            self.mine(self.core, MATURITY)
            for lnd in self.lnds:
                lnd.wait_for_balance(lambda balance: balance == SUBSIDY)
            self.balance = SUBSIDY
            first.connect(second)

            point = self.open(first, second, self.core)
            self.confirm(self.ours, first.close_channel(point))
            self.assert_gained(second, PUSHED, 0)
            for closer, miner in ((second, self.ours), (first, self.core)):
                point = self.open(first, second, miner)
                self.confirm(miner, closer.close_channel(point, force=True))
                self.sweep(miner)
                self.assert_gained(second, PUSHED, MOST_FEES)
        self.assertNotIn("[error]", self.ours.log_text)
