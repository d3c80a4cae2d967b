"""A wallet that speaks BIP 157 (bdkpython) has our node as its only peer: it finds by filters of
blocks what Core mines for it, pays, and follows a reorganisation."""

from filter_wallet import FilterWallet
from paid_wallet import ADDRESS, FEE, SPENT, VALUE, PaidWallet
from regtest_chain import redeem


class WithFilterWallet(PaidWallet):
    options = ("-blockfilterindex=1", "-peerblockfilters=1")

    def test_receives_and_sends(self):
        with FilterWallet(self.ours.p2p_port, self.dir / "wallet") as wallet:
            wallet.wait_for_height(self.ours.rpc("getblockcount"))
            self.assertEqual(wallet.confirmed(), 0)
            paid = VALUE - FEE
            self.send(self.core, self.paying(wallet.address), redeem(*self.coins.pop(), FEE))
            self.mine(wallet)
            self.assertEqual(wallet.confirmed(), paid)

            txid = wallet.send(ADDRESS, SPENT)
            self.wait_for_pools(txid)
            left = paid - SPENT - self.fee_of(txid)
            self.mine(wallet)
            self.assertEqual(wallet.confirmed(), left)
            sent = self.wallet_peer("BIP-157")["bytessent_per_msg"]
            for kind in ("cfilter", "cfheaders", "block"):
                self.assertGreater(sent.get(kind, 0), 0, kind)

            self.replace_tip()
            wallet.wait_for_height(self.ours.rpc("getblockcount"))
            self.assertEqual(wallet.confirmed(), 0)
            self.wait_for_pools(txid)
            self.mine(wallet)
            self.assertEqual(wallet.confirmed(), left)
        self.assertNotIn("[error]", self.ours.log_text)
