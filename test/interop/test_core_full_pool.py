"""Our pool and Core's count the same memory for the same transactions, so under one -maxmempool
they keep the same ones and require the same minimum fee."""

import contextlib
import hashlib
import random

from core_node import PairTest
from framework import RpcError
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain
from wire import Tx

VALUE = COIN // 10  # of each coin
COINS_OF_BLOCK = 490
MAX_DIFFERENCE = 0.05
# Two items of the sizes of a signature and a key, which the script drops.
SCRIPT = b"\x6d\x51"
WITNESS = [b"\x01" * 72, b"\x02" * 33, SCRIPT]
P2WSH = b"\x00\x20" + hashlib.sha256(SCRIPT).digest()


class FullPool(PairTest):
    # Core checks its whole pool after each transaction by default on regtest.
    options = ("-maxmempool=5", "-checkmempool=0")

    def setUp(self):
        super().setUp()
        self.random = random.Random(36)
        self.chain = Chain().grow(110)
        self.coins = {REDEEMED: [], P2WSH: []}
        splits = []
        for number, block in enumerate(self.chain.blocks[:9]):
            script = P2WSH if number % 2 else REDEEMED
            split = Tx([(block.txs[0].txid(), 0, b"", FINAL)], [(VALUE, script)] * COINS_OF_BLOCK)
            splits.append(split)
            self.coins[script] += [(split.txid(), i) for i in range(COINS_OF_BLOCK)]
        self.chain.add(self.chain.candidate(splits))
        for block in self.chain.blocks:
            self.pair.submit(block)
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", self.chain.first_time + 600 * 200)

    def make(self, spent, value, script, fee, outputs=1, data=0):
        """Spends coins of `script` that have `value` in all."""
        paid = [((value - fee) // outputs, script)] * outputs
        if data:
            paid.append((0, b"\x6a\x4d" + data.to_bytes(2, "little") + bytes(data)))
        sig = REDEEM if script == REDEEMED else b""
        witness = [] if script == REDEEMED else [WITNESS] * len(spent)
        return Tx([(*coin, sig, FINAL) for coin in spent], paid, version=2, witness=witness)

    def send(self, tx):
        """To both; in a full pool one of them may refuse it."""
        for node in (self.pair.core, self.pair.ours):
            with contextlib.suppress(RpcError):
                node.rpc("sendrawtransaction", tx.raw().hex(), 0)

    def take(self, script, count=1):
        taken, self.coins[script] = self.coins[script][:count], self.coins[script][count:]
        return taken

    def send_alone(self, script, inputs, outputs, fee=20_000, data=0):
        self.send(self.make(self.take(script, inputs), VALUE * inputs, script, fee, outputs, data))

    def send_chain(self, script, count, fee=2_000):
        [coin], value = self.take(script), VALUE
        for _ in range(count):
            tx = self.make([coin], value, script, fee)
            self.send(tx)
            coin, value = (tx.txid(), 0), tx.outputs[0][0]

    def compare(self, field, what):
        core, ours = (float(node.rpc("getmempoolinfo")[field])
                      for node in (self.pair.core, self.pair.ours))
        print(f"{what}: {field} of Core {core}, ours {ours}: {ours / core:.3f}")
        self.assertLessEqual(abs(ours - core), MAX_DIFFERENCE * core, what)

    def test_each_kind(self):
        """The same transactions, of one kind after the other, and in all."""
        kinds = {
            "alone": lambda: self.send_alone(REDEEMED, 1, 1),
            "ten outputs": lambda: self.send_alone(REDEEMED, 1, 10),
            "four inputs": lambda: self.send_alone(REDEEMED, 4, 2),
            "witnesses": lambda: self.send_alone(P2WSH, 2, 2),
            "data": lambda: self.send_alone(REDEEMED, 1, 1, data=1_000),
            "a pair": lambda: self.send_chain(REDEEMED, 2),
            "a chain": lambda: self.send_chain(P2WSH, 20),
        }
        for what, send in kinds.items():
            for _ in range(30 if what == "a chain" else 150):
                send()
            self.compare("usage", what)

    def test_full_pools(self):
        """Both keep the transactions that fit."""
        pick = self.random
        while min(map(len, self.coins.values())) > 4:
            script = pick.choice((REDEEMED, P2WSH))
            fee = pick.randrange(2_000, 100_000)
            if pick.random() < 0.2:
                self.send_chain(script, pick.choice((2, 3, 12)), fee)
            else:
                self.send_alone(script, pick.choice((1, 1, 2)), pick.choice((1, 2, 10)), fee,
                                data=pick.choice((0, 0, 0, 900)))
        self.compare("size", "full")
        self.compare("bytes", "full")
        self.compare("mempoolminfee", "full")
        pools = [set(node.rpc("getrawmempool")) for node in (self.pair.core, self.pair.ours)]
        self.assertLessEqual(len(pools[0] ^ pools[1]), MAX_DIFFERENCE * len(pools[0]))
