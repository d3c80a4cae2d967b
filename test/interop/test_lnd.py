"""lnd's wallet on top of our node: it syncs, is paid by blocks, pays, and sees its payment mined,
before and after both were restarted. lnd polls, or subscribes by ZeroMQ."""

from framework import FunctionalTest, free_port
from lnd_node import LndNode

COIN = 100_000_000  # satoshis
ELSEWHERE = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
MATURITY = 100
SUBSIDY = 50 * COIN
PAYMENT = 3 * COIN // 2


class LndWallet(FunctionalTest):
    def mine(self, count, address=ELSEWHERE):
        return self.ours.rpc("generatetoaddress", count, address)

    def pay(self, lnd):
        """A payment is in the pool, then in the next block, and then confirmed for lnd."""
        before = lnd.wait_for_balance(lambda balance: balance > PAYMENT)
        txid = lnd.post("/v1/transactions", addr=ELSEWHERE, amount=str(PAYMENT),
                        sat_per_vbyte="2")["txid"]
        self.assertIn(txid, self.ours.rpc("getrawmempool"))
        (block,) = self.mine(1)
        self.assertIn(txid, self.ours.rpc("getblock", block)["tx"])
        lnd.wait_for_tip()
        after = lnd.wait_for_balance(lambda balance: 0 < balance < before)
        paid = self.ours.rpc("getblock", block, 3)["tx"][1]
        fee = round(paid["fee"] * COIN)
        self.assertGreater(fee, 0)
        self.assertEqual(before - after, PAYMENT + fee)

    def test_polls(self):
        self.ours = self.node().start()
        self.receive_and_send(LndNode(self.ours))

    def test_subscribes(self):
        """lnd does not poll, so it learns of blocks and payments only through our notifications.
        Each of the two topics has an address of its own."""
        urls = {topic: f"tcp://127.0.0.1:{free_port()}" for topic in ("rawblock", "rawtx")}
        options = [f"-zmqpub{topic}={url}" for topic, url in urls.items()]
        self.ours = self.node("regtest", *options).start()
        self.receive_and_send(LndNode(self.ours, zmq=urls))

    def receive_and_send(self, node):
        self.mine(1)  # lnd waits for a chain that is not in its initial download
        with node as lnd:
            lnd.create_wallet()
            address = lnd.get("/v1/newaddress?type=WITNESS_PUBKEY_HASH")["address"]
            self.mine(1, address)
            self.mine(MATURITY)
            lnd.wait_for_tip()
            lnd.wait_for_balance(lambda balance: balance == SUBSIDY)
            self.pay(lnd)

            lnd.stop()
            self.ours.stop().start()
            self.mine(2)
            lnd.start()
            lnd.unlock_wallet()
            lnd.wait_for_tip()
            self.pay(lnd)
