"""electrs indexes our node over RPC and P2P and serves Electrum wallets: their queries agree with
the chain, with the pool, and after a reorganisation."""

from electrs_server import ElectrsServer
from paid_wallet import FEE, VALUE, PaidWallet
from regtest_chain import REDEEMED, redeem

SCRIPT = b"\x00\x14" + bytes(range(20))


class WithElectrs(PaidWallet):
    options = ("-rest",)

    def test_balances(self):
        address = self.core.rpc("decodescript", SCRIPT.hex())["address"]
        with ElectrsServer(self.ours, self.dir / "electrs") as server:
            tip = self.ours.rpc("getblockcount")
            server.wait_for_height(tip)
            self.assertEqual(server.balance(SCRIPT), (0, 0))
            coins = self.ours.rpc("scantxoutset", "start", [f"raw({REDEEMED.hex()})"])
            self.assertEqual(server.balance(REDEEMED), (int(coins["total_amount"] * 10**8), 0))

            paid, txs = VALUE - FEE, [self.paying(address), redeem(*self.coins.pop(), FEE)]
            self.send(self.core, *txs)
            server.wait_for_balance(SCRIPT, 0, paid)
            server.wait_for_history(SCRIPT, (0, txs[0].txid()))
            self.mine(server)
            server.wait_for_balance(SCRIPT, paid, 0)
            server.wait_for_history(SCRIPT, (tip + 1, txs[0].txid()))
            for tx in txs:
                self.assertEqual(server.call("blockchain.transaction.get", tx.txid()),
                                 tx.raw().hex())
            place = server.call("blockchain.transaction.get_merkle", txs[0].txid(), tip + 1)
            self.assertEqual(place["block_height"], tip + 1)

            sent = self.paying(address)
            self.assertEqual(server.call("blockchain.transaction.broadcast", sent.raw().hex()),
                             sent.txid())
            self.wait_for_pools(sent.txid())
            server.wait_for_balance(SCRIPT, paid, paid)

            self.replace_tip()
            server.wait_for_height(self.ours.rpc("getblockcount"))
            server.wait_for_balance(SCRIPT, 0, 2 * paid)
            self.mine(server)
            server.wait_for_balance(SCRIPT, 2 * paid, 0)
        self.assertNotIn("[error]", self.ours.log_text)
