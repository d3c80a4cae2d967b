"""A wallet that speaks BIP 37 (bitcoinj) has our node as its only peer: it is paid by transactions
and blocks of Core, pays, and follows a reorganisation."""

from bloom_wallet import BloomWallet
from paid_wallet import ADDRESS, FEE, SPENT, VALUE, PaidWallet
from regtest_chain import redeem


class WithBloomWallet(PaidWallet):
    options = ("-peerbloomfilters=1",)

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
            left = paid - SPENT - self.fee_of(txid)
            self.mine(wallet)
            wallet.wait_for_balance(left, left)
            sent = self.wallet_peer("bitcoinj")["bytessent_per_msg"]
            self.assertGreater(sent.get("merkleblock", 0), 0)
            self.assertNotIn("block", sent)

            # bitcoinj sometimes closes the connection when a transaction is confirmed for the
            # second time; it then reconnects.
            self.replace_tip()
            wallet.wait_for_height(self.ours.rpc("getblockcount"))
            self.wait_for_pools(txid)
            self.mine(wallet)
            wallet.wait_for_balance(left, left)
        self.assertNotIn("[error]", self.ours.log_text)
