"""Our node and Core's bitcoind are sent the same random packages with submitpackage, and read each
other's mempool.dat: answers and pools are equal. A long run: IBD_POOL_PACKAGES=20000."""

import os

from pool_comparison import PoolPairTest, compare_pools
from regtest_chain import FINAL, REDEEM, REDEEMED
from wire import Tx

PACKAGES = int(os.environ.get("IBD_POOL_PACKAGES", "120"))


def spend(coins, fee, count=1, version=2):
    """coins: [(txid, vout, value)]."""
    value = (sum(coin[2] for coin in coins) - fee) // count
    return Tx([(*coin[:2], REDEEM, FINAL) for coin in coins], [(value, REDEEMED)] * count,
              version=version)


def output(tx, index=0):
    return tx.txid(), index, tx.outputs[index][0]


class Packages(PoolPairTest):
    seed = int(os.environ.get("IBD_TEST_SEED", "36"))

    def setUp(self):
        super().setUp()
        self.used = []
        self.messages = {}

    def fee(self):
        return self.random.choice((0, 0, 5, 10, 200, 1_000, 5_000, 30_000))

    def coin(self):
        if self.used and self.random.random() < 0.3:
            return self.random.choice(self.used)
        return self.random.choice(self.coins)

    def package(self):
        """A child with one to three parents, of which some pay nothing."""
        pick = self.random
        version = pick.choice((2, 2, 2, 3))
        coins, parents = [], []
        for _ in range(pick.choice((1, 1, 1, 2, 3))):
            coin = self.coin()
            if coin in coins:
                continue
            coins.append(coin)
            parents.append(spend([coin], self.fee(), pick.choice((1, 2)), version))
        child_coins = [output(parent) for parent in parents]
        if pick.random() < 0.15:
            extra = self.coin()
            if extra not in coins:
                coins.append(extra)
                child_coins.append(extra)
        child = spend(child_coins, self.fee(), 1, version)
        txs = parents + [child]
        return coins, txs

    def submit(self, txs, *more):
        answer = self.ask("submitpackage", [tx.raw().hex() for tx in txs], *more)
        if isinstance(answer, dict):
            message = answer["package_msg"].split(",")[0]
            self.messages[message] = self.messages.get(message, 0) + 1
        return answer

    def known(self, call, answers):
        """The order of ids is free."""
        if call[0] == "submitpackage":
            for answer in answers:
                if isinstance(answer, dict):
                    answer["replaced-transactions"].sort()

    def test_packages(self):
        for step in range(PACKAGES):
            coins, txs = self.package()
            answer = self.submit(txs)
            if isinstance(answer, dict) and answer["package_msg"] == "success":
                self.used += coins
                self.coins = [coin for coin in self.coins if coin not in coins]
                self.coins.append(output(txs[-1]))
                if self.random.random() < 0.2:
                    self.submit(txs)  # again
            if step % 30 == 29:
                compare_pools(self, self.pair.core, self.pair.ours)
        print("packages:", self.messages)
        self.assertIn("success", self.messages)
        self.assertIn("transaction failed", self.messages)
        self.assertTrue([text for text in self.messages if text.startswith("package RBF failed")])

    def test_forms(self):
        parent = spend(self.coins[:1], 500, 2)
        child = spend([output(parent)], 500)
        grandchild = spend([output(child)], 500)
        both = spend([output(parent, 1), output(child)], 500)
        other = spend(self.coins[1:2], 500)
        for txs in ([], [child, parent], [parent, other], [parent, child, grandchild],
                    [parent, child, both], [parent, parent], [parent] * 26):
            self.submit(txs)
        self.submit([parent, child], 0.00000001)
        self.submit([parent, child], 2)
        burning = spend([output(parent)], 500)
        burning.outputs.append((1_000, b"\x6a"))
        self.submit([parent, burning])
        self.ask("submitpackage", ["zz"])
        self.ask("submitpackage", "zz")
        self.submit([parent])
        self.submit([parent, child])
        compare_pools(self, self.pair.core, self.pair.ours)

    def test_files(self):
        """Each reads the file of the other."""
        first = spend(self.coins[:1], 500, 2)
        child = spend([output(first)], 700)
        for tx in (first, child):
            self.ask("sendrawtransaction", tx.raw().hex(), 0)
        self.ask("prioritisetransaction", child.txid(), 0, 4_000)
        self.ask("prioritisetransaction", "11" * 32, 0, -5)
        files = [node.rpc("savemempool")["filename"] for node in (self.pair.core, self.pair.ours)]
        block = self.chain.candidate([first, child])
        self.pair.submit(block)
        self.assertEqual(self.pair.core.rpc("getrawmempool"), [])
        self.ask("invalidateblock", block.hash())
        # Out of the pools again, by what pays more.
        better = spend(self.coins[:1], 20_000)
        self.ask("sendrawtransaction", better.raw().hex(), 0)
        gone = self.chain.candidate([better])
        self.pair.submit(gone)
        for node, file in ((self.pair.core, files[1]), (self.pair.ours, files[0])):
            self.assertEqual(node.rpc("importmempool", file), {})
            self.assertEqual(node.rpc("getrawmempool"), [])  # in conflict with the block
        other = spend(self.coins[1:2], 900)
        self.ask("sendrawtransaction", other.raw().hex(), 0)
        files = [node.rpc("savemempool")["filename"] for node in (self.pair.core, self.pair.ours)]
        self.ask("sendrawtransaction", spend(self.coins[1:2], 9_000).raw().hex(), 0)
        options = {"apply_fee_delta_priority": True, "use_current_time": False}
        for node, file in ((self.pair.core, files[1]), (self.pair.ours, files[0])):
            self.assertEqual(node.rpc("importmempool", file, options), {})
        compare_pools(self, self.pair.core, self.pair.ours)
        for call in (("importmempool", "/nowhere/mempool.dat"), ("importmempool",),
                     ("importmempool", files[0], {"use_current_time": 5})):
            self.ask(*call)
