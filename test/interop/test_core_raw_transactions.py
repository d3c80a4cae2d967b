"""Our node and Core's bitcoind make, take apart, sign and combine the same transactions."""

from address_cases import LONG_KEY, LONG_SECRET, SECRET, SIGNER, WITNESS
from core_node import PairTest
from descriptor_cases import KEY, X

PLAIN = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
TXID = "11" * 32
SECRETS = [SECRET, LONG_SECRET, "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87K7XCyj5v"]
G = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"  # of the secret 1
G2 = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"  # of the secret 2
INPUT = {"txid": TXID, "vout": 0}
CREATE = [
    ([INPUT], {PLAIN: 1}), ([INPUT], [{PLAIN: 1}]), ([], {}), ([], []), ([INPUT], {"data": "00"}),
    ([INPUT], {"data": "51" * 80, WITNESS: "0.00000001"}), ([INPUT], [{PLAIN: 1}, {"data": "51"}]),
    ([INPUT], {PLAIN: 21000000}), ([INPUT], {PLAIN: 21000000.00000001}), ([INPUT], {PLAIN: -1}),
    ([INPUT], {PLAIN: "x"}), ([INPUT], {PLAIN: True}), ([INPUT], {PLAIN: 0.000000001}),
    ([INPUT], {"x": 1}), ([INPUT], {"x": "y"}), ([INPUT], [{PLAIN: 1}, {PLAIN: 2}]),
    ([INPUT], [{"data": "00"}, {"data": "01"}]), ([INPUT], {"data": ""}), ([INPUT], {"data": "0"}),
    ([INPUT], {"data": 12}), ([INPUT], [{PLAIN: 1, WITNESS: 1}]), ([INPUT], [5]), ([INPUT], [{}]),
    ([INPUT], "x"), ([INPUT], None), ([INPUT], 5), ([INPUT],), ("x", {}), (None, {}), ([5], {}),
    ([{}], {}), ([{"txid": TXID}], {}), ([{"txid": "11", "vout": 0}], {}),
    ([{"txid": TXID, "vout": -1}], {}), ([{"txid": TXID, "vout": "0"}], {}),
    ([{"txid": TXID, "vout": 2**31}], {}), ([{"txid": 5, "vout": 0}], {}),
    *(([{**INPUT, "sequence": sequence}], {}, 0, replaceable)
      for sequence in (0, 2**32 - 1, 2**32 - 2, 2**32 - 3, 2**32, -1, "x")
      for replaceable in (None, True, False)),
    *(([INPUT, INPUT], {PLAIN: 1}, lock, replaceable)
      for lock in (None, 0, 1, 2**32 - 1, 2**32, -1, "1") for replaceable in (True, False)),
    *(([INPUT], {PLAIN: 1}, 0, False, version) for version in (None, 0, 1, 2, 3, 4, -1, 2**32)),
]
SCRIPTS = [
    "", "00", "51", "5100", "ac", "21" + KEY + "ac", "41" + LONG_KEY + "ac",
    "76a914" + "11" * 20 + "88ac", "a914" + "11" * 20 + "87", "0014" + "11" * 20,
    "0020" + "11" * 32, "5120" + X, "5120" + "11" * 32, "51024e73", "5202" + "1111", "6a", "6a51",
    "6a02" + "1111", "5121" + KEY + "21" + KEY + "52ae", "5121" + KEY + "41" + LONG_KEY + "52ae",
    "5221" + KEY + "51ae", "ba", "50", "7e", "ff", "bb", "4c", "02ff", "63", "b1", "b2",
    "63" + "21" + KEY + "ad670320a107b17568" + "21" + KEY + "ac", "x", "0", "4d0902" + "00" * 521,
    "00" * 10001, "21" + "05" + X + "ac", "5e" + "21" + KEY, "01" + "51", "0151",
]


class RawTransactions(PairTest):
    def test_create(self):
        for call in CREATE:
            made = self.ask("createrawtransaction", *call)
            if isinstance(made, str):
                self.ask("decoderawtransaction", made)

    def test_decode_script(self):
        for script in SCRIPTS:
            self.ask("decodescript", script)

    def outputs(self):
        """Output scripts with the data needed to spend them."""
        multi = "5121" + "02" + G + "21" + G2 + "52ae"
        both = "5221" + "02" + G + "21" + G2 + "52ae"
        long = "5141" + LONG_KEY + "51ae"
        found = [({"scriptPubKey": self.ask("validateaddress", address)["scriptPubKey"]}, None)
                 for address in (SIGNER, PLAIN)]
        found += [({"scriptPubKey": "2102" + G + "ac"}, None),
                  ({"scriptPubKey": "41" + LONG_KEY + "ac"}, None),
                  ({"scriptPubKey": multi}, None), ({"scriptPubKey": both}, None),
                  ({"scriptPubKey": "5120" + G}, None), ({"scriptPubKey": "51024e73"}, None),
                  ({"scriptPubKey": "51"}, None), ({"scriptPubKey": "0014" + "11" * 20}, None)]
        for inner in (multi, both, long, "2102" + G + "ac", "51", "0014" + "00" * 20):
            wrapped = self.ask("decodescript", inner)
            names = [wrapped.get("p2sh")]
            if "segwit" in wrapped:
                names += [wrapped["segwit"]["address"], wrapped["segwit"]["p2sh-segwit"]]
            for address in filter(None, names):
                script = self.ask("validateaddress", address)["scriptPubKey"]
                for name in ("redeemScript", "witnessScript"):
                    found.append(({"scriptPubKey": script, name: inner}, None))
        key_hash = self.ask("decodescript", "2102" + G + "ac")["segwit"]
        found.append(({"scriptPubKey": key_hash["hex"]}, None))
        nested = self.ask("validateaddress", key_hash["p2sh-segwit"])["scriptPubKey"]
        found.append(({"scriptPubKey": nested, "redeemScript": key_hash["hex"]}, None))
        return [previous for previous, _ in found]

    def test_sign(self):
        tx = self.ask("createrawtransaction", [INPUT], {PLAIN: 1})
        complete = 0
        for previous in self.outputs():
            for amount in ({"amount": 2}, {}):
                entry = {**INPUT, **previous, **amount}
                for secrets in (SECRETS, SECRETS[:1], []):
                    signed = self.ask("signrawtransactionwithkey", tx, secrets, [entry])
                    complete += isinstance(signed, dict) and signed["complete"]
        self.assertGreater(complete, 30)

    def test_hash_types(self):
        two = self.ask("createrawtransaction", [INPUT, {"txid": TXID, "vout": 1}], {PLAIN: 1})
        script = self.ask("decodescript", "2102" + G + "ac")["segwit"]["hex"]
        for scripts in ((script, script), (script, "5120" + G), ("2102" + G + "ac", "51")):
            entries = [{"txid": TXID, "vout": i, "scriptPubKey": scripts[i], "amount": 1}
                       for i in range(2)]
            for name in (None, "DEFAULT", "ALL", "NONE", "SINGLE", "ALL|ANYONECANPAY", "x", "",
                         "NONE|ANYONECANPAY", "SINGLE|ANYONECANPAY", "DEFAULT|ANYONECANPAY", 5):
                self.ask("signrawtransactionwithkey", two, SECRETS, entries, name)
                self.ask("signrawtransactionwithkey", two, SECRETS, entries[:1], name)

    def test_bad_previous_outputs(self):
        tx = self.ask("createrawtransaction", [INPUT], {PLAIN: 1})
        pays = self.ask("decodescript", "51")["p2sh"]
        script = self.ask("validateaddress", pays)["scriptPubKey"]
        good = {**INPUT, "scriptPubKey": script, "redeemScript": "51", "amount": 1}
        for name in good:
            self.ask("signrawtransactionwithkey", tx, SECRETS,
                     [{key: value for key, value in good.items() if key != name}])
            for value in ("x", 5, -1, None, "00", [], True):
                self.ask("signrawtransactionwithkey", tx, SECRETS, [{**good, name: value}])
        self.ask("signrawtransactionwithkey", tx, SECRETS, [{**good, "witnessScript": "52"}])
        self.ask("signrawtransactionwithkey", tx, SECRETS, [{**good, "witnessScript": "51"}])
        self.ask("signrawtransactionwithkey", tx, SECRETS, [good, {**good, "scriptPubKey": "51"}])
        for call in (("zz", SECRETS), (tx, ["x"]), (tx, [5]), (tx, SECRETS, [5]), (tx, 5),
                     (tx, SECRETS, {}), ("00", []), (tx[:-2], []), (tx,)):
            self.ask("signrawtransactionwithkey", *call)

    def test_combine(self):
        """Two of two keys sign apart, on the chain's coins."""
        both = "5221" + "02" + G + "21" + G2 + "52ae"
        wrapped = self.ask("decodescript", both)
        self.pair.ask("setmocktime", 1_700_000_000)
        names = [wrapped["p2sh"], wrapped["segwit"]["address"], wrapped["segwit"]["p2sh-segwit"]]
        for address in names:
            self.pair.ask("generatetoaddress", 1, address)
        self.pair.ask("generatetodescriptor", 1, f"raw({both})")
        self.pair.ask("generatetoaddress", 100, PLAIN)
        coins = [self.pair.ask("getblock", self.pair.ask("getblockhash", height))["tx"][0]
                 for height in range(1, 5)]
        tx = self.ask("createrawtransaction", [{"txid": txid, "vout": 0} for txid in coins],
                      {PLAIN: 199})
        entries = [{"txid": txid, "vout": 0, "amount": 50, "redeemScript": both, "scriptPubKey":
                    self.ask("validateaddress", name)["scriptPubKey"]}
                   for txid, name in zip(coins, names)]
        parts = [self.ask("signrawtransactionwithkey", tx, [secret], entries)["hex"]
                 for secret in (SECRETS[0], SECRETS[2])]
        merged = self.ask("combinerawtransaction", parts)
        self.ask("combinerawtransaction", [tx, tx])
        self.ask("combinerawtransaction", [parts[1], parts[0], tx])
        for variants in ([], [tx], [tx, "x"], [tx, 5], "x", [
                tx, self.ask("createrawtransaction", [INPUT], {PLAIN: 1})]):
            self.ask("combinerawtransaction", variants)
        foreign = self.ask("createrawtransaction", [INPUT], {PLAIN: 1})
        self.ask("combinerawtransaction", [foreign, foreign])
        self.ask("generateblock", PLAIN, [merged])
        self.assertEqual(self.pair.ask("getblockcount"), 105)
        self.ask("signrawtransactionwithkey", tx, SECRETS)  # its coins are gone
