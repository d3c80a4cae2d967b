"""Our node and Core's bitcoind are sent the same random transactions, singly and replacing each
other, with prioritisetransaction, blocks and reorganisations between them: verdicts, reasons, fees,
pools, clusters and feerate diagrams are equal. A long run: IBD_POOL_TXS=100000."""

import os

from pool_comparison import PoolPairTest, compare_pools
from regtest_chain import FINAL, REDEEM, REDEEMED
from wire import Tx, parse_tx

TXS = int(os.environ.get("IBD_POOL_TXS", "600"))
TXS_OF_ROUND = 100


class Replacements(PoolPairTest):
    seed = int(os.environ.get("IBD_TEST_SEED", "36"))

    def setUp(self):
        super().setUp()  # self.coins keeps spent coins, too: they make conflicts
        self.used = []
        self.last = None  # the sent transaction and its coins
        self.verdicts = {}

    def make(self):
        """Spends one to three coins, of which some may be spent in the pool, into one to four."""
        pick = self.random
        spent = []
        for _ in range(pick.choice((1, 1, 1, 2, 3, 6))):
            again = self.used and pick.random() < 0.4
            coin = pick.choice(self.used[-60:] if again else self.coins[-40:] + self.coins[:20])
            if coin not in spent:
                spent.append(coin)
        if self.last and pick.random() < 0.05:
            # Its inputs and outputs.
            spent = [self.last[0][0], (self.last[1].txid(), 0, self.last[1].outputs[0][0])]
        total = sum(coin[2] for coin in spent)
        fee = pick.choice((10, 200, 1_000, 1_000, 5_000, 20_000, 50_000, 200_000,
                           pick.randrange(9_999)))
        count = pick.choice((1, 1, 2, 3, 4))
        sequence = pick.choice((FINAL, FINAL, FINAL - 2, 0))
        version = pick.choice((2,) * 9 + (3,))
        outputs = [(max(1, (total - fee) // count), REDEEMED)] * count
        if pick.random() < 0.2:
            outputs.append((0, b"\x6a" + b"\x01" * pick.choice((20, 900, 3_000))))
        return spent, Tx([(*coin[:2], REDEEM, sequence) for coin in spent], outputs,
                         version=version)

    def send(self):
        spent, tx = self.make()
        raw = tx.raw().hex()
        tested = self.ask("testmempoolaccept", [raw], 0)[0]
        reason = tested.get("reject-reason")
        self.verdicts[reason] = self.verdicts.get(reason, 0) + 1
        answer = self.ask("sendrawtransaction", raw, 0)
        if isinstance(answer, str):
            self.last = spent, tx
            self.used += spent
            self.coins = [coin for coin in self.coins if coin not in spent]
            self.coins += [(tx.txid(), i, out[0]) for i, out in enumerate(tx.outputs)
                           if out[1] == REDEEMED]

    def prioritise(self):
        txids = sorted(self.pair.core.rpc("getrawmempool"))
        if txids:
            delta = self.random.choice((-3_000, -200, 300, 10_000))
            self.ask("prioritisetransaction", self.random.choice(txids), 0, delta)

    def mine(self):
        """A block of half the pool, the best by Core's order, taken back and put again."""
        entries = self.pair.core.rpc("getrawmempool", True)
        order = self.pair.core.rpc("getrawmempool")
        order = [txid for txid in order if not entries[txid]["depends"]][:len(order) // 2]
        txs = [parse_tx(bytes.fromhex(self.pair.core.rpc("getrawtransaction", txid)))
               for txid in order]
        tip = self.chain.candidate(txs)
        self.pair.submit(tip)
        self.compare()
        if self.random.random() < 0.7:
            self.ask("invalidateblock", tip.hash())
            self.compare()
            self.ask("reconsiderblock", tip.hash())
        self.chain.blocks.append(tip)

    def compare(self):
        compare_pools(self, self.pair.core, self.pair.ours)

    def test_replacing(self):
        for step in range(1, TXS + 1):
            self.send()
            if step % 20 == 0:
                self.prioritise()
            if step % TXS_OF_ROUND == 0:
                self.compare()
                self.mine()
                self.compare()
        print("verdicts:", self.verdicts)
        for reason in (None, "insufficient fee", "replacement-failed", "TRUC-violation",
                       "bad-txns-spends-conflicting-tx", "min relay fee not met"):
            self.assertIn(reason, self.verdicts)
