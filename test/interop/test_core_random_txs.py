"""Our pool of transactions and Core's: random transactions, good ones and ones that are wrong in
every way that policy or consensus knows, alone and in packages; the verdicts, the pools, templates,
and the state after blocks and reorganisations must be the same. IBD_TEST_SEED draws others."""

import hashlib
import os
import random

from core_node import PairTest
from regtest_chain import COIN, OP_TRUE
from wire import Tx, sized

SEED = int(os.environ.get("IBD_TEST_SEED", 7))
START = 1_700_000_000
FINAL = 0xffffffff
REWARD = 50 * COIN
KEY = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
BLOCK_SCRIPTS = 130  # mature after 100


def p2wsh(script):
    return b"\x00\x20" + hashlib.sha256(script).digest()


def multisig(keys):
    return b"\x51" + sized(KEY) * keys + bytes([0x50 + keys, 0xae])


def unexecuted(sigops):
    """OP_1 behind signature operations that count but are never executed."""
    return b"\x00\x63" + b"\xac" * sigops + b"\x68\x51"


class Coin:
    """An output that can be spent without a signature."""

    def __init__(self, txid, vout, value, kind):
        self.txid, self.vout, self.value, self.kind = txid, vout, value, kind


class RandomTransactions(PairTest):
    ROUNDS = 220

    def setUp(self):
        super().setUp()
        self.rng = random.Random(SEED)
        print(f"IBD_TEST_SEED={SEED}")
        self.redeem = {}
        for name, script in (("sh", OP_TRUE), ("sigops15", unexecuted(15)),
                             ("sigops16", unexecuted(16))):
            found = self.pair.core.rpc("decodescript", script.hex())
            self.redeem[name] = (script, bytes.fromhex(self.pair.core.rpc(
                "validateaddress", found["p2sh"])["scriptPubKey"]))
        self.scripts = {"wsh": p2wsh(OP_TRUE), "bare": OP_TRUE,
                        **{name: script for name, (_, script) in self.redeem.items()}}
        self.coins = []
        self.now = START
        kinds = ["wsh", "wsh", "sh", "bare", "sigops15", "sigops16"]
        for i in range(BLOCK_SCRIPTS):
            self.mine(kinds[i % len(kinds)], mature=i < BLOCK_SCRIPTS - 100)

    # Coins and transactions.

    def tick(self):
        self.now += 1
        self.ask("setmocktime", self.now)

    def mine(self, kind="wsh", mature=False):
        self.now += 600
        self.ask("setmocktime", self.now)
        block, = self.ask("generatetodescriptor", 1, f"raw({self.scripts[kind].hex()})")
        if mature:
            reward = self.ask("getblock", block, 2)["tx"][0]
            value = int(reward["vout"][0]["value"] * COIN)
            self.coins.append(Coin(reward["txid"], 0, value, kind))
        return block

    def take(self, *kinds):
        fitting = [coin for coin in self.coins if not kinds or coin.kind in kinds]
        coin = self.rng.choice(fitting or self.coins)
        return coin

    def spend(self, coins, outputs, **fields):
        tx = Tx([], list(outputs), **fields)
        for coin in coins:
            script = self.redeem[coin.kind][0] if coin.kind in self.redeem else b""
            tx.inputs.append((coin.txid, coin.vout, sized(script) if script else b"", FINAL))
            tx.witness.append([OP_TRUE] if coin.kind == "wsh" else [])
        return tx

    def split(self, coin, outputs=1, fee=1_000, kind="wsh", **fields):
        each = (coin.value - fee) // outputs
        return self.spend([coin], [(each, self.scripts[kind])] * outputs, **fields)

    def good(self):
        return self.split(self.take("wsh", "sh"), self.rng.randrange(1, 4), self.rng.choice(
            [100, 300, 1_000, 20_000]), self.rng.choice(["wsh", "wsh", "sh"]))

    # The possible faults; each gives a transaction.

    def with_output(self, script, value=10_000):
        coin = self.take("wsh", "sh")
        return self.spend([coin], [(value, script), (coin.value - value - 2_000,
                                                     self.scripts["wsh"])])

    def output_script(self):
        rng = self.rng
        return self.with_output(rng.choice([
            b"\x51\x02\x4e\x73", b"\x52" + sized(bytes(rng.randrange(2, 41))),
            b"\x60" + sized(bytes(40)), b"\x51" + sized(bytes(31)), multisig(rng.randrange(1, 5)),
            sized(KEY) + b"\xac", sized(bytes(33)) + b"\xac", b"\x76", b"", b"\x6a",
            b"\x6a" + sized(bytes(rng.randrange(76))), b"\x6a\x4c\x50" + bytes(80),
            b"\x6a\x05\x00", b"\x00\x14" + bytes(20), b"\x00\x15" + bytes(21), bytes(10_001)]))

    def dust(self):
        kind = self.rng.choice(["wsh", "sh", "bare", "anchor"])
        script = b"\x51\x02\x4e\x73" if kind == "anchor" else self.scripts[kind]
        limit = {"wsh": 330, "sh": 540, "bare": 474, "anchor": 240}[kind]
        tx = self.with_output(script, limit - self.rng.randrange(3))
        if self.rng.random() < 0.3:
            tx.outputs.append((self.rng.randrange(200), script))
        if self.rng.random() < 0.3:  # no fee
            tx.outputs[1] = (tx.outputs[1][0] + 2_000 - sum(v for v, _ in tx.outputs[2:]),
                             tx.outputs[1][1])
        return tx

    def version(self):
        tx = self.good()
        tx.version = self.rng.choice([0, 1, 2, 3, 4, 2**31, 2**32 - 1])
        return tx

    def lock(self):
        tx = self.good()
        height = self.ask("getblockcount")
        tx.lock_time = self.rng.choice([height, height + 1, height + 2, START, self.now,
                                        self.now + 10**6])
        sequence = self.rng.choice([0, 5, 0xfffffffe, FINAL, 1 << 22 | 2, 1 << 22 | 1000, 900])
        tx.inputs = [(*some[:3], sequence) for some in tx.inputs]
        return tx

    def script_sig(self):
        tx = self.split(self.take("bare", "wsh"))
        txid, vout, _, sequence = tx.inputs[0]
        script = self.rng.choice([b"\x51", b"\x76", b"\x51" * 1650, b"\x51" * 1651, b"\x61",
                                  b"\x4c", sized(bytes(520))])
        tx.inputs[0] = (txid, vout, script, sequence)
        return tx

    def witness(self):
        tx = self.split(self.take("wsh", "sh"))
        items = self.rng.choice([[], [b"\x52"], [b"", OP_TRUE], [bytes(80), OP_TRUE],
                                 [bytes(81), OP_TRUE], [b"\x01"] * 101 + [OP_TRUE],
                                 [bytes(3601)], [OP_TRUE, OP_TRUE]])
        tx.witness[0] = items
        return tx

    def fee(self):
        coin = self.take("wsh")
        size = 94  # virtual bytes of one input and one output
        return self.split(coin, fee=self.rng.choice([0, 5, 9, 10, 11, size // 10, size // 10 + 1,
                                                     size, COIN // 100, COIN, coin.value - 400]))

    def values(self):
        coin = self.take("wsh")
        value = self.rng.choice([0, coin.value, coin.value + 1, 21_000_000 * COIN,
                                 21_000_000 * COIN + 1, 2**63 - 1, -1])
        return self.spend([coin], [(value, self.scripts["wsh"])])

    def inputs(self):
        coin, other = self.take("wsh"), self.take("wsh")
        outputs = [(1_000, self.scripts["wsh"])]
        return self.rng.choice([
            self.spend([coin, coin], outputs), self.spend([coin], []),
            self.spend([coin, other] if coin is not other else [coin], outputs),
            self.spend([Coin("11" * 32, 0, 0, "wsh")], outputs),
            self.spend([Coin(coin.txid, 90, 0, "wsh")], outputs),
            self.spend([Coin("00" * 32, 0xffffffff, 0, "bare")], outputs)])

    def size(self):
        coin = self.take("wsh")
        if self.rng.random() < 0.5:
            return self.spend([coin], [(coin.value - 2_000, b"\x6a" * self.rng.randrange(1, 8))])
        count = self.rng.choice([2_300, 2_320, 2_330])
        return self.spend([coin], [(1_000, self.scripts["wsh"])] * count)

    def immature(self):
        block = self.ask("getblockhash", self.ask("getblockcount") - self.rng.randrange(97, 102))
        txid = self.ask("getblock", block)["tx"][0]
        return self.split(Coin(txid, 0, REWARD // 2, "wsh"))

    def input_kind(self):
        return self.split(self.take("bare", "sigops15", "sigops16"))

    KINDS = ("good",) * 8 + ("output_script", "dust", "version", "lock", "script_sig", "witness",
                             "fee", "values", "inputs", "size", "immature", "input_kind")

    def any(self):
        return getattr(self, self.rng.choice(self.KINDS))()

    # The calls made.

    def conflicts(self, tx):
        """Whether something in the pool spends the same: Core might let it be replaced."""
        spent = [{"txid": txid, "vout": vout} for txid, vout, *_ in tx.inputs if vout < 2**31]
        if not spent:
            return False
        found = self.pair.core.rpc("gettxspendingprevout", spent)
        return any("spendingtxid" in one for one in found) and tx.txid() not in \
            self.pair.core.rpc("getrawmempool")

    def send(self, tx, limit=None):
        if self.conflicts(tx):
            return tx.txid()
        raw = tx.raw().hex()
        args = [] if limit is None else [limit]
        self.ask("testmempoolaccept", [raw], *args)
        answer = self.ask("sendrawtransaction", raw, *args)
        if answer == tx.txid():
            spent = {(txid, vout) for txid, vout, *_ in tx.inputs}
            self.coins = [c for c in self.coins if (c.txid, c.vout) not in spent]
            kinds = {script: kind for kind, script in self.scripts.items()}
            self.coins += [Coin(answer, i, value, kinds[script])
                           for i, (value, script) in enumerate(tx.outputs)
                           if script in kinds and value > 5_000]
            self.sent.append(tx)
        return answer

    def package(self):
        txs = [self.any()]
        for _ in range(self.rng.randrange(1, 5)):
            parent = self.rng.choice(txs)
            value, script = parent.outputs[0] if parent.outputs else (0, b"")
            kinds = {script: kind for kind, script in self.scripts.items()}
            if self.rng.random() < 0.6 and script in kinds and 5_000 < value < 2**62:
                coin = Coin(parent.txid(), 0, value, kinds[script])
                txs.append(self.split(coin, version=self.rng.choice([2, 2, 3])))
            else:
                txs.append(self.any())
        if self.rng.random() < 0.1:
            self.rng.shuffle(txs)
        return [tx.raw().hex() for tx in txs]

    def known(self, call, answers):
        """Orders that has no descendants, and the fields about memory."""
        for i, answer in enumerate(answers):
            if call[0] == "getrawmempool" and isinstance(answer, list):
                answers[i] = sorted(answer)
            if call[0] == "getmempoolinfo":
                answer.pop("usage")
            if call[0] == "getblocktemplate":
                ids = [tx["txid"] for tx in answer["transactions"]]
                answer["transactions"] = sorted(
                    ({**tx, "depends": sorted(ids[n - 1] for n in tx["depends"])}
                     for tx in answer["transactions"]), key=lambda tx: tx["txid"])
                for name in ("longpollid", "default_witness_commitment"):
                    answer.pop(name)
            if call[0] == "getmempoolentry" and isinstance(answer, dict):
                answer.pop("chunkweight")  # our order of a cluster is not always the best
                answer["fees"].pop("chunk")
                for name in ("depends", "spentby"):
                    answer[name].sort()
            if call[0] in ("getmempoolancestors", "getmempooldescendants") and \
                    isinstance(answer, list):
                answers[i] = sorted(answer)

    def compare(self):
        pool = self.ask("getrawmempool")
        self.ask("getmempoolinfo")
        for txid in pool:
            self.ask("getmempoolentry", txid)
            self.ask("getmempoolancestors", txid)
            self.ask("getmempooldescendants", txid)
            self.ask("getrawtransaction", txid, 1)
            self.ask("gettxout", txid, 0)
            self.ask("gettxout", txid, 0, False)
        self.now += 10
        self.ask("setmocktime", self.now)
        self.ask("getblocktemplate", {"rules": ["segwit"]})
        return pool

    def test_random_transactions(self):
        self.sent = []
        answers = {}
        for step in range(self.ROUNDS):
            self.tick()
            answer = self.send(self.any(), self.rng.choice([None, None, 0, "0.2"]))
            text = "taken" if isinstance(answer, str) else answer[1].split(",")[0]
            answers[text] = answers.get(text, 0) + 1
            if step % 4 == 0:
                self.ask("testmempoolaccept", self.package())
            if step % 40 == 39:
                self.compare()
            if step % 80 == 79:
                self.step_chain()
        print(dict(sorted(answers.items(), key=lambda item: -item[1])))
        self.assertGreater(len(answers), 15)
        self.assertGreater(answers["taken"], 40)

    def step_chain(self):
        """A block with part of the pool, mined elsewhere; then it and the block before it are
        disconnected."""
        pool = self.pair.core.rpc("getrawmempool", True)
        roots = [txid for txid, entry in pool.items() if not entry["depends"]]
        some = sorted(self.rng.sample(roots, len(roots) // 2))
        block = self.ask("generateblock", f"raw({self.scripts['wsh'].hex()})", some)["hash"]
        self.compare()
        for tx in self.sent[-3:]:
            if not self.conflicts(tx):
                self.ask("sendrawtransaction", tx.raw().hex())
                self.ask("testmempoolaccept", [tx.raw().hex()])
        self.ask("invalidateblock", block)
        self.compare()
        self.ask("reconsiderblock", block)
        self.compare()

    def test_arguments(self):
        raw = self.good().raw().hex()
        burn = self.with_output(b"\x6a", COIN).raw().hex()
        for call in (("testmempoolaccept", []), ("testmempoolaccept", [raw] * 26),
                     ("testmempoolaccept", ["00"]), ("testmempoolaccept", [5]),
                     ("testmempoolaccept", [raw], 1), ("testmempoolaccept", [raw], "0.99999999"),
                     ("testmempoolaccept", [raw, raw]), ("testmempoolaccept", [raw], -1),
                     ("sendrawtransaction", "00"), ("sendrawtransaction", "zz"),
                     ("sendrawtransaction", raw, 1), ("sendrawtransaction", raw, "x"),
                     ("sendrawtransaction", burn), ("sendrawtransaction", burn, 0, "0.5"),
                     ("getmempoolentry", "00" * 32), ("getmempoolancestors", "00" * 32),
                     ("sendrawtransaction", burn, 0, 1), ("sendrawtransaction", burn, 0, 1)):
            self.ask(*call)
        self.mine()
        self.ask("sendrawtransaction", burn, 0, 1)
        self.ask("testmempoolaccept", [burn])

    def test_clusters(self):
        """A chain of 70 and a tree of 70: the 65th of either finds no room."""
        self.sent = []
        coin, other = self.rng.sample([c for c in self.coins if c.kind == "wsh"], 2)
        for _ in range(70):
            tx = self.split(coin)
            if self.send(tx) != tx.txid():
                break
            coin = Coin(tx.txid(), 0, tx.outputs[0][0], "wsh")
        root = self.split(other, 70, 20_000)
        self.send(root)
        for i in range(70):
            self.send(self.split(Coin(root.txid(), i, root.outputs[i][0], "wsh")))
        self.assertEqual(len(self.compare()), 128)
