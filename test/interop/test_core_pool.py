"""Our node and Core's bitcoind are sent the same transactions, and their pools say the same, with
families of all shapes, through blocks and reorganisations."""

from pool_comparison import PoolPairTest, compare_pools
from regtest_chain import FINAL, REDEEM, REDEEMED
from wire import Tx


SEQUENCES = (FINAL, FINAL, FINAL, FINAL - 1, FINAL - 2)  # the last signals by BIP125


class Pool(PoolPairTest):
    coins_count = 60
    seed = 11

    def setUp(self):
        super().setUp()
        self.free = list(self.coins)
        self.sent = []

    def make(self):
        """Spends one to three of the free outputs into one to three new ones."""
        pick = self.random
        spent = [self.free.pop(pick.randrange(len(self.free)))
                 for _ in range(pick.choice((1, 1, 2, 3)))]
        count = pick.choice((1, 1, 2, 3))
        fee = pick.choice((200, 1_000, 1_000, 5_000, 20_000))
        value = (sum(coin[2] for coin in spent) - fee) // count
        tx = Tx([(*coin[:2], REDEEM, pick.choice(SEQUENCES)) for coin in spent],
                [(value, REDEEMED)] * count)
        self.free += [(tx.txid(), i, value) for i in range(count)]
        return tx

    def compare(self):
        count = compare_pools(self, self.pair.core, self.pair.ours)
        for txid in sorted(self.pair.core.rpc("getrawmempool")):
            for call in ("getmempoolancestors", "getmempooldescendants"):
                related = [set(node.rpc(call, txid)) for node in (self.pair.core, self.pair.ours)]
                self.assertEqual(related[1], related[0])
        for coin in self.free[:10]:
            self.ask("gettxout", *coin[:2])
            self.ask("gettxout", *coin[:2], False)
        return count

    def step_back(self):
        """invalidateblock of a block with transactions: they return if it is one of ten."""
        waiting = set(self.pair.ours.rpc("getrawmempool"))
        block = self.chain.candidate([tx for tx in self.sent if tx.txid() in waiting])
        height = self.chain.height + 1
        for above in (0, 2, 9, 10, 12):
            while self.chain.height < height + above:
                self.chain.blocks.append(block if above == 0 else self.chain.candidate())
                self.pair.submit(self.chain.blocks[-1])
            self.ask("invalidateblock", block.hash())
            self.assertEqual(self.compare() >= len(self.sent), above < 10)
            self.ask("reconsiderblock", block.hash())
            self.compare()

    def test_families(self):
        for step in range(60):
            tx = self.make()
            self.ask("sendrawtransaction", tx.raw().hex(), 0)
            self.sent.append(tx)
            self.ask("testmempoolaccept", [tx.raw().hex()])
            self.ask("sendrawtransaction", tx.raw().hex())
            if step % 20 != 19:
                continue
            self.assertGreater(self.compare(), 10)
            # The elder half is mined, in the order in which it came.
            block, self.sent = self.sent[:10], self.sent[10:]
            tip = self.chain.candidate(block)
            self.pair.submit(tip)
            self.compare()
            self.ask("invalidateblock", tip.hash())
            self.compare()
            self.ask("reconsiderblock", tip.hash())
            self.chain.blocks.append(tip)
            self.compare()
        self.step_back()
        for call in ((), ("zz",), ("00",), (5,), (tx.raw().hex(), 2), (tx.raw().hex(), 0, -1),
                     (tx.raw().hex(), "x")):
            self.ask("sendrawtransaction", *call)
        for call in ((), ("11" * 32,), ("zz",), (5,)):
            for method in ("getmempoolentry", "getmempoolancestors", "getmempooldescendants",
                           "getmempoolcluster"):
                self.ask(method, *call)
