"""Our node and Core's bitcoind give the same verdicts on transactions that are offered to the
mempool: transactions of many shapes, sizes and fees, with each rule broken on its own and with
random combinations."""

import hashlib
import random

from core_node import PairTest
from regtest_chain import COIN, Chain, OP_TRUE
from wire import Tx, sized

FINAL = 0xffffffff
SEED = 20261123
ROUNDS = 400
KEY = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
P2A = bytes.fromhex("51024e73")
STOP = bytes.fromhex("ae")  # CHECKMULTISIG


def hash160(data):
    return hashlib.new("ripemd160", hashlib.sha256(data).digest()).digest()


def p2sh(redeem):
    return b"\xa9\x14" + hash160(redeem) + b"\x87"


def p2wsh(script):
    return b"\x00\x20" + hashlib.sha256(script).digest()


def multisig(required, keys):
    return bytes([0x50 + required]) + sized(KEY) * keys + bytes([0x50 + keys]) + STOP


# Name: output script, input script, witness. Those of the first line may be spent.
DROP = b"\x75\x51"  # DROP 1
SPENDS = {
    "p2sh": (p2sh(OP_TRUE), b"\x01\x51", []),
    "p2wsh": (p2wsh(OP_TRUE), b"", [OP_TRUE]),
    "nested": (p2sh(p2wsh(OP_TRUE)), sized(p2wsh(OP_TRUE)), [OP_TRUE]),
    "p2a": (P2A, b"", []),
    "p2wsh-drop": (p2wsh(DROP), b"", [b"\x01" * 80, DROP]),
    "p2wsh-long-item": (p2wsh(DROP), b"", [b"\x01" * 81, DROP]),
    "p2wsh-100-items": (p2wsh(b"\x6d" * 50 + OP_TRUE), b"", [b""] * 100 + [b"\x6d" * 50 + OP_TRUE]),
    "p2wsh-101-items": (p2wsh(b"\x75" * 101 + OP_TRUE), b"",
                        [b""] * 101 + [b"\x75" * 101 + OP_TRUE]),
    "p2wsh-3600": (p2wsh(b"\x61" * 100 + sized(b"\x01" * 200) * 17 + b"\x75" * 17 + b"\x51"), b"",
                   [b"\x61" * 100 + sized(b"\x01" * 200) * 17 + b"\x75" * 17 + b"\x51"]),
    "bare": (OP_TRUE, b"", []),
    "p2a-witness": (P2A, b"", [b"\x01"]),
    "bare-witness": (p2sh(OP_TRUE), b"\x01\x51", [b"\x01"]),
    "unknown-program": (b"\x52\x02\x01\x01", b"", []),
    "unknown-v1": (b"\x51\x03\x01\x01\x01", b"", []),
    "taproot-key": (b"\x51\x20" + KEY[1:], b"", [bytes(64)]),
    "taproot-annex": (b"\x51\x20" + KEY[1:], b"", [bytes(64), b"\x50\x01"]),
    "taproot-no-witness": (b"\x51\x20" + KEY[1:], b"", []),
    "taproot-script": (b"\x51\x20" + KEY[1:], b"", [b"\x51", b"\xc0" + KEY[1:]]),
    "taproot-item": (b"\x51\x20" + KEY[1:], b"", [b"\x01" * 81, b"\x51", b"\xc0" + KEY[1:]]),
    "taproot-control": (b"\x51\x20" + KEY[1:], b"", [b"\x51", b""]),
    "p2pkh": (b"\x76\xa9\x14" + hash160(KEY) + b"\x88\xac", sized(bytes(9)) + sized(KEY), []),
    "p2pkh-empty": (b"\x76\xa9\x14" + hash160(KEY) + b"\x88\xac", b"\x00" + sized(KEY), []),
    "p2pk": (sized(KEY) + b"\xac", b"\x00", []),
    "p2wpkh": (b"\x00\x14" + hash160(KEY), b"", [b"", KEY]),
    "p2wpkh-stripped": (b"\x00\x14" + hash160(KEY), b"", []),
    "multisig": (multisig(1, 3), b"\x00\x00", []),
    "p2sh-15-sigops": (p2sh(b"\x63" + b"\xac" * 15 + b"\x68\x51"),
                       b"\x00" + sized(b"\x63" + b"\xac" * 15 + b"\x68\x51"), []),
    "p2sh-16-sigops": (p2sh(b"\x63" + b"\xac" * 16 + b"\x68\x51"),
                       b"\x00" + sized(b"\x63" + b"\xac" * 16 + b"\x68\x51"), []),
    "p2sh-no-redeem": (p2sh(b""), b"", []),
    "p2sh-wrong": (p2sh(OP_TRUE), b"\x01\x52", []),
    "p2sh-false": (p2sh(b"\x00"), b"\x01\x00", []),
    "p2sh-return": (p2sh(b"\x6a"), b"\x01\x6a", []),
    "p2sh-unclean": (p2sh(OP_TRUE), b"\x51\x01\x51", []),
    "p2sh-not-minimal": (p2sh(DROP), b"\x4c\x01\x11" + sized(DROP), []),
    "p2sh-nop": (p2sh(b"\xb3\x51"), sized(b"\xb3\x51"), []),
    "p2sh-cltv": (p2sh(b"\x01\x7f\xb1\x75\x51"), sized(b"\x01\x7f\xb1\x75\x51"), []),
    "p2sh-csv": (p2sh(b"\x01\x7f\xb2\x75\x51"), sized(b"\x01\x7f\xb2\x75\x51"), []),
    "p2sh-1650": (p2sh(b"\x75" * 4 + b"\x51"),
                  (b"\x4d\x08\x02" + b"\x01" * 520) * 3 + b"\x4c\x45" + b"\x01" * 0x45
                  + sized(b"\x75" * 4 + b"\x51"), []),
    "p2sh-1651": (p2sh(b"\x75" * 4 + b"\x51"),
                  (b"\x4d\x08\x02" + b"\x01" * 520) * 3 + b"\x4c\x46" + b"\x01" * 0x46
                  + sized(b"\x75" * 4 + b"\x51"), []),
    "not-push-only": (p2sh(OP_TRUE), b"\x61\x01\x51", []),
    "p2wsh-wrong": (p2wsh(OP_TRUE), b"", [b"\x52"]),
    "p2wsh-malleated": (p2wsh(OP_TRUE), b"\x51", [OP_TRUE]),
    "p2wsh-empty": (p2wsh(OP_TRUE), b"", []),
    "nested-malleated": (p2sh(p2wsh(OP_TRUE)), b"\x51" + sized(p2wsh(OP_TRUE)), [OP_TRUE]),
    "p2wsh-sigops": (p2wsh(b"\x00\x63" + b"\xac" * 150 + b"\x68\x51"), b"",
                     [b"\x00\x63" + b"\xac" * 150 + b"\x68\x51"]),
}
GOOD = ("p2sh", "p2wsh", "nested", "p2a")
OUTPUTS = [
    p2sh(OP_TRUE), p2wsh(OP_TRUE), P2A, b"\x00\x14" + bytes(20), b"\x51\x20" + KEY[1:],
    b"\x76\xa9\x14" + bytes(20) + b"\x88\xac", sized(KEY) + b"\xac", b"\x52\x02\x01\x01",
    multisig(1, 1), multisig(3, 3), multisig(1, 4), b"\x6a", b"\x6a\x02\x01\x01",
    b"\x6a" + b"\x4d\xff\x01" + bytes(511), OP_TRUE, b"", b"\x6a\xff", b"\x60\x28" + bytes(40),
    b"\x51\x29" + bytes(41), b"\x53\xae",
]
COINS_OF_EACH = 12
COIN_VALUE = COIN // 100


class TestAccept(PairTest):
    of_options = ("scriptpubkey",)  # reasons that the options bring about
    unsaid = ("missing-ephemeral-spends",)  # reasons that they remove

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.said = {}
        self.make_coins()

    def make_coins(self):
        """A chain on which each shape has coins, and coinbases of all ages."""
        self.chain = Chain().grow(101)
        scripts = [spend[0] for spend in SPENDS.values() for _ in range(COINS_OF_EACH)]
        source = self.chain.blocks[0].txs[0]
        rest = source.outputs[0][0] - COIN_VALUE * len(scripts)
        split = Tx([(source.txid(), 0, b"", FINAL)],
                   [(COIN_VALUE, script) for script in scripts] + [(rest, p2wsh(OP_TRUE))])
        self.chain.blocks.append(self.chain.candidate([split]))
        self.confirmed = Tx([(split.txid(), len(scripts), b"", FINAL)], [(rest, p2wsh(OP_TRUE))],
                            [[OP_TRUE]])
        self.chain.blocks.append(self.chain.candidate([self.confirmed]))
        self.chain.grow(2)
        for block in self.chain.blocks:
            self.pair.submit(block)
        self.assertEqual(self.pair.tip, self.chain.tip)
        now = self.chain.first_time + 600 * (self.chain.height + 1)
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", now)
        self.coins = {name: [(split.txid(), i * COINS_OF_EACH + j) for j in range(COINS_OF_EACH)]
                      for i, name in enumerate(SPENDS)}

    def spend(self, names, outputs, fee=10_000, **fields):
        """Spends one coin for each name; `outputs`: scripts, or pairs with their values. The first
        without one takes what is left."""
        used = {}
        tx = Tx([], [], **fields)
        for name in names:
            at = used[name] = used.get(name, -1) + 1
            _, script_sig, witness = SPENDS[name]
            tx.inputs.append((*self.coins[name][at], script_sig, fields.get("lock_time")
                              and FINAL - 1 or FINAL))
            tx.witness.append(witness)
        given = sum(output[0] for output in outputs if isinstance(output, tuple))
        left = COIN_VALUE * len(names) - fee - given
        for output in outputs:
            if not isinstance(output, tuple):
                output, left = (left, output), 0
            tx.outputs.append(output)
        return tx

    def judge(self, *txs, rate=0):
        answer = self.ask("testmempoolaccept", [tx.raw().hex() for tx in txs], rate)
        if isinstance(answer, list):
            for one in answer:
                why = one.get("reject-reason", one.get("package-error", one.get("allowed")))
                self.said[why] = self.said.get(why, 0) + 1
        return answer

    def assert_said(self, *reasons):
        missing = [reason for reason in reasons if reason not in self.said]
        self.assertEqual([reason for reason in missing if reason not in self.unsaid], [])

    def test_each_spend(self):
        for name in SPENDS:
            self.judge(self.spend([name], [p2wsh(OP_TRUE)]))
            self.judge(self.spend(["p2sh", name], [p2wsh(OP_TRUE)]))
        self.assertGreaterEqual(self.said[True], 2 * len(GOOD))

    def test_each_output(self):
        for script in OUTPUTS:
            for value in (0, 1, 239, 240, 293, 294, 329, 330, 335, 336, 539, 540, 545, 546, 575,
                          576, 600, 20_000):
                self.judge(self.spend(["p2sh"], [(value, script), p2wsh(OP_TRUE)]))
                self.judge(self.spend(["p2sh"], [(value, script), p2wsh(OP_TRUE)], fee=0))
            self.judge(self.spend(["p2sh"], [(0, script), (0, script), p2wsh(OP_TRUE)], fee=0))
        for size in (99_990, 99_993, 99_994, 99_995, 99_996, 100_000):
            data = b"\x6a\x4e" + size.to_bytes(4, "little") + bytes(size)
            self.judge(self.spend(["p2sh"], [(0, data), p2wsh(OP_TRUE)], fee=100_000))
        for size in (49_993, 49_994, 49_995):
            data = b"\x6a\x4e" + size.to_bytes(4, "little") + bytes(size)
            self.judge(self.spend(["p2sh"], [(0, data), (0, data), p2wsh(OP_TRUE)], fee=100_000))

        self.assert_said(*self.of_options)

    def test_fees(self):
        for names in (["p2sh"], ["p2wsh"], ["p2wsh"] * 5):
            for fee in range(0, 40):
                self.judge(self.spend(names, [p2wsh(OP_TRUE)], fee=fee))
        for fee in (-1, COIN_VALUE, COIN_VALUE - 600):
            tx = self.spend(["p2sh"], [p2wsh(OP_TRUE)], fee=fee)
            for rate in (0, 0.00000001, 0.0001, 0.1, 0.99999999):
                self.judge(tx, rate=rate)
        tx = self.spend(["p2sh"], [p2wsh(OP_TRUE)], fee=10_000)
        for rate in (None, 1, 2, -1, "x", "0.1", [], True, 0.000000001, "0.00001"):
            self.judge(tx, rate=rate)
        self.assert_said(True, "min relay fee not met", "max-fee-exceeded", "bad-txns-in-belowout")

    def test_forms(self):
        good = self.spend(["p2sh"], [p2wsh(OP_TRUE)])
        txs = []
        for version in (0, 1, 2, 3, 4, 0x7fffffff, 0xffffffff):
            txs.append(self.spend(["p2sh"], [p2wsh(OP_TRUE)], version=version))
        for lock_time in (0, 1, 104, 105, 106, 107, 499_999_999, 500_000_000,
                          *range(self.chain.first_time, self.chain.first_time + 600 * 108, 600)):
            txs.append(self.spend(["p2sh"], [p2wsh(OP_TRUE)], lock_time=lock_time))
            txs.append(self.spend(["p2sh-cltv"], [p2wsh(OP_TRUE)], lock_time=lock_time))
        for sequence in (0, 1, 2, 3, 4, 5, 6, 126, 127, 128, 0xffff, 1 << 31, FINAL, FINAL - 1,
                         1 << 22, (1 << 22) + 3, (1 << 22) + 4, (1 << 22) + 5, (1 << 22) + 6):
            for name in ("p2sh", "p2sh-csv"):
                for version in (1, 2):
                    tx = self.spend([name], [p2wsh(OP_TRUE)], version=version)
                    tx.inputs[0] = (*tx.inputs[0][:3], sequence)
                    txs.append(tx)
        txs += [Tx(good.inputs, []), Tx([], good.outputs), Tx(good.inputs * 2, good.outputs),
                Tx(good.inputs, [(-1, OP_TRUE)]), Tx(good.inputs, [(21_000_001 * COIN, OP_TRUE)]),
                Tx(good.inputs, [(20_000_000 * COIN, OP_TRUE)] * 2),
                Tx([("00" * 32, FINAL, b"\x51\x51", FINAL)], good.outputs),
                Tx([("00" * 32, FINAL, b"\x51", FINAL)], good.outputs),
                Tx([("00" * 32, FINAL, b"\x51\x51", FINAL), *good.inputs], good.outputs),
                Tx([("11" * 32, 0, b"", FINAL)], good.outputs),
                Tx([(good.inputs[0][0], 100_000, b"", FINAL)], good.outputs)]
        for height in (1, 2, 4, 5, 6, 7, 100, 105):
            source = self.chain.blocks[height - 1].txs[0]
            txs.append(Tx([(source.txid(), 0, b"", FINAL)], good.outputs))
        # Already in a block.
        txs += [self.confirmed, self.chain.blocks[101].txs[1], self.chain.blocks[0].txs[0]]
        # Small ones; one byte more of an output's data each.
        for size in range(0, 8):
            data = b"\x6a" + (bytes([size]) + bytes(size) if size else b"")
            for name in ("p2a", "p2wsh"):
                txs.append(self.spend([name], [(0, data)]))
        for tx in txs:
            self.judge(tx)
        for text in ("", "00", "zz", good.raw().hex()[:-2], good.raw().hex() + "00", 5, None):
            self.ask("testmempoolaccept", [text])
        for array in ([], [good.raw().hex()] * 26, "x", 5, None, {}):
            self.ask("testmempoolaccept", array)
        self.ask("testmempoolaccept")
        self.assert_said(
            "version", "non-final", "non-BIP68-final", "coinbase", "missing-inputs",
            "txn-already-known", "bad-txns-premature-spend-of-coinbase", "tx-size-small",
            "bad-txns-nonstandard-inputs", "bad-txns-vout-empty", "bad-txns-inputs-duplicate")

    def test_sizes(self):
        for weight in (399_996, 400_000, 400_004):
            tx = self.spend(["p2sh"], [p2wsh(OP_TRUE)], fee=500_000)
            tx.outputs.append((0, b"\x6a\x4e" + bytes(4)))
            size = weight // 4 - len(tx.raw()) - 4  # the script's length takes five bytes then
            tx.outputs[1] = (0, b"\x6a\x4e" + size.to_bytes(4, "little") + bytes(size))
            self.judge(tx)
            self.assertEqual(4 * len(tx.raw()), weight)
        self.assert_said(True, "tx-size")
        # Signature operations: their cost, as bytes, and at the limits.
        for count in (1, 2, 12):
            self.judge(self.spend(["p2wsh-sigops"] * count, [p2wsh(OP_TRUE)], fee=100))
            self.judge(self.spend(["p2wsh-sigops"] * count, [p2wsh(OP_TRUE)], fee=10_000))
            self.judge(self.spend(["p2sh-15-sigops"] * count, [p2wsh(OP_TRUE)]))
        for count in (1, 50, 199, 200, 201, 800):
            keys = [(1000, multisig(1, 1))] * count
            self.judge(self.spend(["p2sh"] * 12, [*keys, p2wsh(OP_TRUE)], fee=1_000_000))
        self.assert_said("bad-txns-too-many-sigops", "min relay fee not met")

    def family(self, count, version=2, fee=10_000):
        """Each spends the one before it."""
        txs = [self.spend(["p2sh"], [p2sh(OP_TRUE)], version=version, fee=fee)]
        while len(txs) < count:
            value = txs[-1].outputs[0][0] - fee
            txs.append(Tx([(txs[-1].txid(), 0, b"\x01\x51", FINAL)], [(value, p2sh(OP_TRUE))],
                          version=version))
        return txs

    def test_packages(self):
        for count in (2, 3, 25):
            for version in (2, 3):
                txs = self.family(count, version)
                self.judge(*txs)
                self.judge(*reversed(txs))
                self.judge(*txs[1:])
                self.judge(txs[0], *txs)
        for parent_fee, child_fee in ((0, 10_000), (10_000, 0), (0, 0), (10_000, 10_000)):
            for versions in ((2, 2), (2, 3), (3, 2), (3, 3)):
                parent = self.spend(["p2sh"], [(0, P2A), p2sh(OP_TRUE)], fee=parent_fee,
                                    version=versions[0])
                value = parent.outputs[1][0] - child_fee
                inputs = [(parent.txid(), 1, b"\x01\x51", FINAL),
                          (parent.txid(), 0, b"", FINAL)]
                for spent in (1, 2):
                    self.judge(parent, Tx(inputs[:spent], [(value, p2sh(OP_TRUE))],
                                          version=versions[1]))
        one, two = (self.spend([name], [p2sh(OP_TRUE)], version=3) for name in ("p2sh", "p2wsh"))
        self.judge(one, two)
        both = Tx([(tx.txid(), 0, b"\x01\x51", FINAL) for tx in (one, two)],
                  [(COIN_VALUE, p2sh(OP_TRUE))], version=3)
        self.judge(one, two, both)
        same = self.spend(["p2sh"], [p2wsh(OP_TRUE)], fee=20_000)
        self.judge(one, same)
        wide = self.spend(["p2sh"], [p2sh(OP_TRUE), (COIN_VALUE // 4, p2sh(OP_TRUE))], version=3)
        children = [Tx([(wide.txid(), i, b"\x01\x51", FINAL)], [(1000, p2sh(OP_TRUE))], version=3)
                    for i in range(2)]
        self.judge(wide, *children)
        for size in (200, 700, 850, 900, 960, 9_500, 9_800, 10_000):
            data = (0, b"\x6a\x4d" + size.to_bytes(2, "little") + bytes(size))
            parent = self.spend(["p2wsh"], [p2sh(OP_TRUE), data], version=3)
            child = Tx([(parent.txid(), 0, b"\x01\x51", FINAL)], [(1000, p2sh(OP_TRUE)), data],
                       version=3)
            self.judge(parent)
            self.judge(one, child)
            self.judge(parent, child)
            self.judge(self.spend(["p2sh"], [p2sh(OP_TRUE)]), parent, child)
        large = [self.spend([name], [p2sh(OP_TRUE), (0, b"\x6a\x4e" + (50_600).to_bytes(4, "little")
                                                     + bytes(50_600))], fee=20_000)
                 for name in ("p2sh", "p2wsh")]
        self.judge(*large)
        child = Tx([(tx.txid(), 0, b"\x01\x51", FINAL) for tx in large], [(1000, p2sh(OP_TRUE))])
        self.judge(*large, child)
        for rate in (0.00000001, 0.0001, 0.0009):
            self.judge(*self.family(3), rate=rate)
        self.judge(self.spend(["p2sh-wrong"], [p2sh(OP_TRUE)]), *self.family(2))
        self.judge(*self.family(2), self.spend(["p2wsh-wrong"], [p2sh(OP_TRUE)]))
        self.assert_said(True, None, "package-not-sorted", "package-contains-duplicates",
                         "conflict-in-package", "package-too-large", "TRUC-violation", "dust",
                         "max-fee-exceeded", "missing-ephemeral-spends")

    def test_at_random(self):
        names, weights = list(SPENDS), [30 if name in GOOD else 1 for name in SPENDS]
        for _ in range(ROUNDS):
            pick = self.random
            chosen = pick.choices(names, weights, k=pick.choice((1, 1, 2, 3)))
            outputs = [(pick.choice((0, 300, 600, 10_000)), pick.choice(OUTPUTS[:9]))
                       for _ in range(pick.choice((0, 0, 1, 2)))]
            fields = {"version": pick.choice((1, 2, 2, 2, 3, 3, 4))}
            if pick.random() < 0.1:
                fields["lock_time"] = pick.choice((1, 105, 106, 107))
            tx = self.spend(chosen, [*outputs, pick.choice(OUTPUTS[:6])],
                            fee=pick.choice((0, 5, 20, 10_000, 10_000)), **fields)
            if pick.random() < 0.2:
                at = pick.randrange(len(tx.inputs))
                tx.inputs[at] = (*tx.inputs[at][:3], pick.randrange(10))
            self.judge(tx)
        self.assertGreater(self.said[True], ROUNDS // 10)
        self.assertGreater(len(self.said), 6)


class TestAcceptWithOptions(TestAccept):
    """Likewise where the limits are not the usual ones."""

    options = ("-datacarriersize=83", "-permitbaremultisig=0", "-minrelaytxfee=0.00002",
               "-dustrelayfee=0.00007", "-bytespersigop=50", "-limitclustercount=8",
               "-limitclustersize=40")
    of_options = ("datacarrier", "bare-multisig")
    unsaid = (True, "missing-ephemeral-spends", "tx-size", "TRUC-violation",
              "bad-txns-too-many-sigops")


class TestAcceptNonStandard(TestAccept):
    options = ("-acceptnonstdtxn=1", "-datacarrier=0", "-incrementalrelayfee=0.00003")
    of_options = (True,)
    unsaid = ("version", "bad-txns-nonstandard-inputs", "TRUC-violation", "dust", "tx-size",
              "missing-ephemeral-spends")


class TestAcceptFree(TestAccept):
    options = ("-minrelaytxfee=0",)
    unsaid = ("min relay fee not met",)
