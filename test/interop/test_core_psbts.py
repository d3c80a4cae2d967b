"""Our node and Core's make, update, sign, combine, analyse and finish the same PSBTs."""

import base64
import json
import random
import unittest

import testdata
from core_node import PairTest

VECTORS = "core-functional/core/test/functional/data/rpc_psbt.json"  # beside testdata
BAD_SIZES = "ReadCompactSize(): size too large", "non-canonical ReadCompactSize()"
TOO_SHORT = "SpanReader::read(): end of data"
TXID = "11" * 32
ADDRESS = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
INPUT = {"txid": TXID, "vout": 0}
# Secrets of these numbers, and an extended one.
SECRETS = ["cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA",
           "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87K7XCyj5v",
           "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87KcLPVfXz"]
KEYS = ["0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5",
        "02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9"]
XPRV = ("tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5e"
        "cvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m")
XPUB = ("tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUG"
        "LnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B")
# Output descriptors: {0} to {2} are keys, {3} an extended one, x0 to x2 x-only keys.
SHAPES = [
    "pkh({0})", "wpkh({0})", "sh(wpkh({0}))", "wsh(pk({0}))", "wsh(pkh({0}))", "sh(pk({0}))",
    "sh(multi(2,{0},{1},{2}))", "wsh(multi(2,{0},{1},{2}))", "sh(wsh(sortedmulti(1,{0},{1})))",
    "tr({0})", "tr({0},pk({1}))", "tr({x2},{{pk({0}),multi_a(2,{1},{0})}})", "rawtr({0})",
    "wpkh([d34db33f/84h]{3}/0/*)", "tr({3}/1/*,{{pk({3}/2),pk({x0})}})", "multi(1,{0},{3}/5)",
    "wsh(multi(2,{3}/0,{3}/1))", "combo({0})", "pk({1})",
    "wsh(thresh(2,pk({0}),s:pk({1}),s:pk({2})))", "sh(wsh(and_v(v:pkh({0}),pk({1}))))",
    "wsh(or_d(pk({2}),and_v(v:pkh({0}),older(1))))",
    "tr({x2},{{and_v(v:pk({0}),pk({1})),or_i(pkh({1}),and_v(v:pk({0}),after(9)))}})",
    "tr({x2},multi_a(1,{0},{1},{0}))", "tr({x2},{{pkh({0}),{{pk({1}),and_v(v:pk({0}),pk({1}))}}}})",
]
HASH_TYPES = [None, "DEFAULT", "ALL", "NONE", "SINGLE|ANYONECANPAY"]


def x_only(key):
    return key if key[0] == "c" else key[2:]


def described(shape, secret):
    """The descriptor with those of the keys secret that `secret` names by their place."""
    keys = [(SECRETS if i in secret else KEYS)[i] for i in range(3)]
    return shape.format(*keys, XPRV if 3 in secret else XPUB,
                        **{f"x{i}": x_only(key) for i, key in enumerate(keys)})


def decoded(text):
    return base64.b64decode(text, validate=True)


def encoded(raw):
    return base64.b64encode(raw).decode()


class Psbts(PairTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(174)
        self.complete = 0

    def known(self, call, answers):
        """Inside a transaction ours does not tell a bad size from too few bytes."""
        core, ours = (answer[1] if isinstance(answer, tuple) else "" for answer in answers)
        if any(text in core for text in BAD_SIZES) and TOO_SHORT in ours:
            answers[1] = answers[0]

    def look(self, psbt):
        """All calls about a PSBT. Neither signs by MuSig2 here (doc/rpc.md)."""
        shown = self.ask("decodepsbt", psbt)
        if "musig2_partial_sigs" not in str(shown):
            for method in ("analyzepsbt", "finalizepsbt", "utxoupdatepsbt"):
                self.ask(method, psbt)
            self.ask("finalizepsbt", psbt, False)
        return self.ask("combinepsbt", [psbt])

    def spoiled(self, raw):
        """The bytes with something wrong: a few others, fewer, or more."""
        raw = bytearray(raw)
        kind = self.random.randrange(4)
        at = self.random.randrange(len(raw))
        if kind == 0:
            raw[at] = self.random.randrange(256)
        elif kind == 1:
            del raw[at:at + self.random.choice((1, 4, 33))]
        elif kind == 2:
            raw[at:at] = self.random.randbytes(self.random.choice((1, 2, 34)))
        else:
            raw[at] ^= 1 << self.random.randrange(8)
        return bytes(raw)

    def vectors(self):
        path = testdata.SHARED.parent / VECTORS
        if not path.exists():
            raise unittest.SkipTest(f"no ../shared/{VECTORS}")
        return json.loads(path.read_text())

    def test_vectors(self):
        """Core's own vectors, and spoiled ones."""
        vectors = self.vectors()
        good = [decoded(text) for text in vectors["valid"]]
        for text in vectors["invalid"] + [text for text, _ in vectors["invalid_with_msg"]]:
            self.look(text)
        for raw in good:
            self.look(encoded(raw))
        for _ in range(800):
            self.ask("decodepsbt", encoded(self.spoiled(self.random.choice(good))))
        for raw in good:
            for _ in range(2):
                self.look(encoded(self.spoiled(raw)))

    def test_vectors_of_signer_and_combiner(self):
        vectors = self.vectors()
        for vector in vectors["combiner"]:
            for order in (1, -1):
                self.ask("combinepsbt", vector["combine"][::order])
        for vector in vectors["signer"]:
            keys = [f"combo({key})" for key in vector["privkeys"]]
            for finalize in (True, False):
                self.ask("descriptorprocesspsbt", vector["psbt"], keys, None, True, finalize)

    def test_create(self):
        tx = self.ask("createrawtransaction", [INPUT], {ADDRESS: 1}, 7, False, 3)
        empty = self.ask("createrawtransaction", [], {ADDRESS: 1})
        signed = tx[:84] + "0151" + tx[86:]
        for version in (0, 1, 2, 3, -1, 2**32, "2"):
            for made in (self.ask("createpsbt", [INPUT], {ADDRESS: 1}, 7, True, 2, version),
                         self.ask("createpsbt", [], {}, 0, None, 1, version),
                         self.ask("converttopsbt", tx, None, None, version),
                         self.ask("converttopsbt", empty, False, False, version)):
                if isinstance(made, str):
                    self.look(made)
        for call in ((), ("zz",), ("",), (signed,), (signed, False), (signed, True), (tx, "x"),
                     (tx, True, True), (tx, True, False), (empty, True, True), (empty,)):
            self.ask("converttopsbt", *call, *[None] * (3 - len(call)), 0)
        self.ask("converttopsbt")
        for method in ("decodepsbt", "combinepsbt", "joinpsbts", "finalizepsbt", "analyzepsbt",
                       "utxoupdatepsbt", "descriptorprocesspsbt"):
            for call in ((), (5,), ("x",), ("",), ([],), ([5],), (["x"],), (["x", "x"],),
                         ("x", 5), ("x", []), ("x", [5]), ("x", ["x"]), ("x", [{}]), ("x", [""])):
                self.ask(method, *call)

    def test_version_by_default(self):
        """0, as of Core 31, which the pinned Core makes on request."""
        calls = (("createpsbt", [INPUT], {ADDRESS: 1}, 7, True, 2),
                 ("converttopsbt", self.ask("createrawtransaction", [INPUT], {ADDRESS: 1}), False,
                  True))
        for call in calls:
            self.assertEqual(self.pair.ours.rpc(*call), self.pair.core.rpc(*call, 0))
            self.assertEqual(self.pair.ours.rpc(*call, None), self.pair.core.rpc(*call, 0))

    def fund(self, shapes):
        """Outpoints of coins that pay to the descriptors, in that order."""
        self.pair.ask("setmocktime", 1_700_000_000)
        coins = []
        for shape in shapes:
            text = described(shape, ())
            text = self.ask("getdescriptorinfo", text)["descriptor"]
            if "*" in text:
                address = self.ask("deriveaddresses", text, [3, 3])[0]
                made = self.pair.ask("generatetoaddress", 1, address)
            else:
                made = self.pair.ask("generatetodescriptor", 1, text)
            block = self.pair.ask("getblock", made[0], 2)
            coins.append({"txid": block["tx"][0]["txid"], "vout": 0, "hex": block["tx"][0]["hex"]})
        self.pair.ask("generatetoaddress", 100, ADDRESS)
        return coins

    def pay(self, coins, shapes, version):
        outputs = []
        for shape in shapes:
            text = self.ask("getdescriptorinfo", described(shape, ()))["descriptor"]
            ranged = [[4, 4]] if "*" in text else []
            address = self.ask("deriveaddresses", text, *ranged)
            if isinstance(address, list) and address[-1] not in outputs:
                outputs.append(address[-1])
        inputs = [{name: coin[name] for name in ("txid", "vout")} for coin in coins]
        return self.ask("createpsbt", inputs,
                        {address: 1 + i for i, address in enumerate(outputs)}, 0, True, 2, version)

    def with_transactions(self, psbt, coins):
        """The PSBT, of version 0 and just made, with the transactions that it spends from."""
        raw, at = decoded(psbt), 5 + 2
        size = raw[at]
        if size == 253:
            size, at = int.from_bytes(raw[at + 1:at + 3], "little"), at + 2
        rest = raw[at + 1 + size + 1:]
        out = raw[:at + 1 + size + 1]
        for coin in coins:
            tx = bytes.fromhex(coin["hex"])
            length = bytes([len(tx)]) if len(tx) < 253 else b"\xfd" + len(tx).to_bytes(2, "little")
            out += b"\x01\x00" + length + tx + b"\x00"
        return encoded(out + rest[len(coins):])

    def sign(self, psbt, texts):
        """By these descriptors in several ways; the last answer."""
        for options in [(kind,) for kind in HASH_TYPES] + [(None, False), (None, True, False),
                                                           ("ALL", False, False)]:
            signed = self.ask("descriptorprocesspsbt", psbt, texts, *options)
            if isinstance(signed, dict):
                self.complete += signed["complete"]
                self.look(signed["psbt"])
        return signed

    def test_every_shape(self):
        coins = self.fund(SHAPES)
        for at, (shape, coin) in enumerate(zip(SHAPES, coins)):
            for version in ((0, 2), (0,), (2,))[at % 3]:
                psbt = self.pay([coin], self.random.sample(SHAPES, 2) + [shape], version)
                if version == 0 and self.random.random() < 0.7:
                    psbt = self.with_transactions(psbt, [coin])
                parts = []
                for secret in ((), (0,), (1,), (0, 1, 2, 3)):
                    text = described(shape, secret)
                    text = [{"desc": text, "range": [0, 5]}] if "*" in text else [text]
                    updated = self.ask("utxoupdatepsbt", psbt, text)
                    self.look(updated)
                    parts.append(self.sign(self.random.choice((psbt, updated)), text))
                parts = [part["psbt"] for part in parts if isinstance(part, dict)]
                for some in (parts, parts[1:3], parts[::-1], parts[:2] * 2):
                    if some:
                        self.look(self.ask("combinepsbt", some))
        self.assertGreater(self.complete, 30)

    def test_many_inputs(self):
        """Random PSBTs of several inputs, signed by one after the other; spends are valid."""
        coins = self.fund(SHAPES)
        spent = 0
        for _ in range(12):
            chosen = self.random.sample(range(len(SHAPES)), self.random.randrange(1, 5))
            version = self.random.choice((0, 2))
            psbt = self.pay([coins[i] for i in chosen], self.random.sample(SHAPES, 3), version)
            if version == 0:
                psbt = self.with_transactions(psbt, [coins[i] for i in chosen])
            for secret in ((2,), (0,), (1, 3)):
                texts = [described(SHAPES[i], secret) for i in chosen]
                signed = self.ask("descriptorprocesspsbt", psbt, texts, None,
                                  self.random.random() < 0.5, self.random.random() < 0.5)
                if isinstance(signed, dict):
                    psbt = signed["psbt"]
            self.look(psbt)
            for _ in range(20):
                self.ask("decodepsbt", encoded(self.spoiled(decoded(psbt))))
            done = self.ask("finalizepsbt", psbt)
            if done.get("complete"):
                block = self.pair.ask("generateblock", ADDRESS, [done["hex"]], False)
                spent += len(block["hex"]) > 500
        self.assertGreater(spent, 3)

    def test_coins_of_the_pool(self):
        """Transactions that spend unconfirmed ones are signed, in full and in part."""
        shapes = SHAPES[:2]
        coins = self.fund(shapes)
        texts = [described(shape, (0,)) for shape in shapes]
        psbt = self.with_transactions(self.pay(coins, shapes, 0), coins)
        parent = self.ask("descriptorprocesspsbt", psbt, texts)["hex"]
        txid = self.ask("sendrawtransaction", parent, 0)
        inputs = [{"txid": txid, "vout": i} for i in (0, 1)]
        psbt = self.ask("createpsbt", inputs, {ADDRESS: 2.9999}, 0, True, 2, 2)
        self.look(self.ask("utxoupdatepsbt", psbt))
        self.look(self.ask("utxoupdatepsbt", psbt, texts))
        signed = self.ask("descriptorprocesspsbt", psbt, texts)
        self.assertTrue(signed["complete"])
        raw = self.ask("createrawtransaction", inputs, {ADDRESS: 2.9999})
        halves = [self.ask("signrawtransactionwithkey", raw, [secret])["hex"]
                  for secret in SECRETS[:2]]
        whole = self.ask("combinerawtransaction", halves)
        self.assertTrue(self.ask("testmempoolaccept", [whole])[0]["allowed"])
        self.ask("sendrawtransaction", whole, 0)
        self.ask("signrawtransactionwithkey", raw, SECRETS[:1])  # spent by the pool
        self.ask("utxoupdatepsbt", psbt, texts)

    def test_join(self):
        """Order is random: the sets are compared."""
        one = self.ask("createpsbt", [INPUT], {ADDRESS: 1}, 9, True, 1, 0)
        two = self.ask("createpsbt", [{"txid": TXID, "vout": i} for i in (1, 2)],
                       [{"data": "00"}], 5, True, 3, 0)
        newer = self.ask("createpsbt", [INPUT], {ADDRESS: 1}, 0, True, 2, 2)
        for bad in ([one], [one, one], [one, newer], [newer, newer], [one, "x"], [two, one, two]):
            self.ask("joinpsbts", bad)
        answers = []
        for node in (self.pair.core, self.pair.ours):
            tx = node.rpc("decodepsbt", node.rpc("joinpsbts", [one, two]))["tx"]
            inputs = sorted((entry["vout"], entry["sequence"]) for entry in tx["vin"])
            outputs = sorted(entry["scriptPubKey"]["hex"] for entry in tx["vout"])
            answers.append((tx["version"], tx["locktime"], inputs, outputs))
        self.assertEqual(answers[1], answers[0])
        self.assertEqual(answers[0][:2], (3, 5))
