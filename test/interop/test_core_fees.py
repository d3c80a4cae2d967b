"""Our node and Core's bitcoind see the same transactions wait and be confirmed: their fee estimates
are equal, and each reads the other's fee_estimates.dat."""

import random
import struct

from core_node import PairTest
from regtest_chain import COIN, REDEEM, REDEEMED, Chain
from wire import Tx

REPLACEABLE = 0xfffffffd
COINS = 400
VALUE = COIN // 100
ROUNDS = 120
TARGETS = (1, 2, 3, 6, 12, 13, 24, 25, 48, 49, 144, 504, 1008)
SEED = 17


def read_estimates(path):
    """[integers of the head, doubles]."""
    data = path.read_bytes()
    head, at = struct.unpack_from("<IIII", data), 16
    numbers = []

    def row():
        nonlocal at
        size, at = data[at], at + 1
        if size == 0xfd:
            size, at = struct.unpack_from("<H", data, at)[0], at + 2
        numbers.extend(struct.unpack_from(f"<{size}d", data, at))
        at += 8 * size

    def rows():
        nonlocal at
        count, at = data[at], at + 1
        for _ in range(count):
            row()

    row()
    for _ in range(3):
        numbers.extend(struct.unpack_from("<dI", data, at))
        at += 12
        row()
        row()
        rows()
        rows()
    assert at == len(data)
    return head, numbers


class Fees(PairTest):
    options = ("-limitclustercount=64",)

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.chain = Chain().grow(101)
        self.confirmed = [(*coin, VALUE) for coin in self.chain.split(COINS, VALUE)]
        self.submit(self.chain.blocks)
        self.waiting = []  # [transaction, rate]

    def submit(self, blocks):
        """Blocks up to the end of the chain, which is just now."""
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", blocks[-1].time + 1)
        for block in blocks:
            self.pair.submit(block)

    def mine(self, txs):
        self.submit([self.chain.add(self.chain.candidate(txs))])

    def make(self, coin, rate):
        tx = Tx([(*coin[:2], REDEEM, REPLACEABLE)], [(0, REDEEMED)])
        fee = rate * len(tx.raw()) // 1000 + 1
        return Tx([(*coin[:2], REDEEM, REPLACEABLE)], [(coin[2] - fee, REDEEMED)])

    def pay(self, coin, rate):
        """Replaces the fee of an earlier transaction of the coin."""
        tx = self.make(coin, rate)
        self.ask("sendrawtransaction", tx.raw().hex(), 0)
        return tx

    def pay_as_package(self, coin, rate):
        """Parent and child, of which each pays enough; such transactions are not counted."""
        parent = self.make(coin, rate)
        child = self.make((parent.txid(), 0, parent.outputs[0][0]), rate)
        answer = self.ask("submitpackage", [parent.raw().hex(), child.raw().hex()], 0)
        self.assertEqual(answer["package_msg"], "success")
        return parent, child

    def send(self):
        """Rates spread over three powers of ten; some spend what is unconfirmed, some are replaced
        later; some come as packages."""
        pick = self.random
        for _ in range(pick.randrange(4, 9)):
            if not self.confirmed:
                return
            rate = int(100 * 10 ** pick.uniform(0, 3))
            coin = self.confirmed.pop(pick.randrange(len(self.confirmed)))
            if pick.random() < 0.1:
                parent, child = self.pay_as_package(coin, rate)
                self.waiting += [(parent, rate, coin), (child, rate, None)]
                continue
            tx = self.pay(coin, rate)
            if pick.random() < 0.1:
                tx, rate = self.pay(coin, rate * 2 + 1000), rate * 2 + 1000
            self.waiting.append((tx, rate, coin))
            if pick.random() < 0.15:
                child = self.pay((tx.txid(), 0, tx.outputs[0][0]), rate)
                self.waiting.append((child, rate, None))

    def confirm(self):
        """A block takes what pays more than its price; parents before children."""
        price = 100 * 10 ** self.random.uniform(0, 2.5)
        taken, left, txids = [], [], set()
        for tx, rate, coin in self.waiting:
            ready = coin is not None or tx.inputs[0][0] in txids
            ready = ready or all(other.txid() != tx.inputs[0][0] for other, _, _ in self.waiting)
            if rate >= price and ready:
                taken.append(tx)
                txids.add(tx.txid())
            else:
                left.append((tx, rate, coin))
        self.waiting = left
        self.mine(taken)
        spent = {tx.inputs[0][:2] for tx in taken}
        self.confirmed += [(tx.txid(), 0, tx.outputs[0][0]) for tx in taken
                           if (tx.txid(), 0) not in spent
                           and all(other.inputs[0][0] != tx.txid() for other, _, _ in left)]

    def compare(self, answers=None):
        for node in (self.pair.core, self.pair.ours):
            node.rpc("syncwithvalidationinterfacequeue")
        rates = set()
        for target in TARGETS:
            for mode in ("economical", "conservative"):
                rates.add(self.ask("estimatesmartfee", target, mode).get("feerate"))
            for threshold in (0.1, 0.6, 0.85, 0.95):
                self.ask("estimaterawfee", target, threshold)
        return rates

    def test_estimates(self):
        seen = self.compare()
        self.assertEqual(seen, {None})
        for number in range(ROUNDS):
            self.send()
            self.confirm()
            if number % 8 == 7:
                seen |= self.compare()
            if number == ROUNDS // 2:  # a reorganisation: returned ones do not count again
                tip = self.chain.tip
                self.ask("invalidateblock", tip)
                self.ask("reconsiderblock", tip)
                seen |= self.compare()
        self.assertGreater(len(seen), 10, seen)
        self.restart()

    def restart(self):
        nodes = (self.pair.core, self.pair.ours)
        files = [node.datadir / "regtest/fee_estimates.dat" for node in nodes]
        for node in nodes:
            node.stop()
        (theirs, their_numbers), (ours, our_numbers) = map(read_estimates, files)
        self.assertEqual(ours, theirs)
        self.assertEqual(len(our_numbers), len(their_numbers))
        for a, b in zip(our_numbers, their_numbers):
            self.assertAlmostEqual(a, b, delta=1e-9 * max(abs(b), 1e-9))
        data = [file.read_bytes() for file in files]
        for file, other in zip(files, reversed(data)):
            file.write_bytes(other)
        for node in nodes:
            node.start(f"-mocktime={self.chain.blocks[-1].time + 1}")
        self.assertGreater(len(self.compare()), 1)
