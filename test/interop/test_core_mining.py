"""Our node and Core's bitcoind as miners: with the same clock the same blocks, byte for byte, and
the same answers to miners."""

import hashlib

from core_node import Pair
from framework import FunctionalTest, RpcError
from regtest_chain import COIN, FINAL, OP_TRUE, Chain, spend
from wire import Tx

ADDRESS = "bcrt1qft5p2uhsdcdc3l2ua4ap5qqfg4pjaqlp250x7us7a8qqhrxrxfsqseac85"
KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
LONG_KEY = ("0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4"
            "fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
XPUB = ("tpubD6NzVbkrYhZ4WZaiWHz59q5EQ61bd6dUYfU4ggRWAtNAyyYRNWT6ktJ7UHJEXURvTfTfskFQmK7Ff4FRkiRN5"
        "wQH8nkGAb6aKB4Yyeqsw5m")
START = 1_700_000_000
SEGWIT = {"rules": ["segwit"]}
GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
WITNESS_OP_TRUE = b"\x00\x20" + hashlib.sha256(OP_TRUE).digest()
MULTISIG = bytes.fromhex(f"5121{KEY}51ae")
BAD_TX = "01000000000100"
REQUESTS = [
    {}, {"rules": []}, {"rules": ["segwit"]}, {"rules": ["segwit", "other"]}, {"rules": [5]},
    {"mode": "template", **SEGWIT}, {"mode": "other", **SEGWIT}, {"mode": 5}, {"mode": "proposal"},
    {"mode": "proposal", "data": "zz"}, {"mode": "proposal", "data": "00"},
    {"longpollid": "x", **SEGWIT}, {"longpollid": "00" * 33, **SEGWIT},
    {"longpollid": GENESIS + "0", **SEGWIT}, {"capabilities": ["longpoll"], **SEGWIT},
]
GENERATE = [
    ("generatetoaddress", 2, ADDRESS), ("generatetoaddress", 0, ADDRESS),
    ("generatetoaddress", -1, ADDRESS), ("generatetoaddress", 1, "x"),
    ("generatetoaddress", 1, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
    ("generatetoaddress", 2**31, ADDRESS), ("generatetoaddress", 1, ADDRESS, 0),
    ("generatetoaddress", "1", ADDRESS), ("generatetoaddress", 1), ("generate", 1), ("generate",),
    ("generatetodescriptor", 2, f"wpkh({KEY})"), ("generatetodescriptor", 1, f"pk({LONG_KEY})"),
    ("generatetodescriptor", 1, f"combo({KEY})"), ("generatetodescriptor", 1, f"combo({LONG_KEY})"),
    ("generatetodescriptor", 1, "raw(6a)"), ("generatetodescriptor", 1, "x"),
    ("generatetodescriptor", 1, f"wpkh({XPUB}/0/*)"),
    ("generatetodescriptor", 1, f"wpkh({XPUB}/<0;1>)"),
    ("generatetodescriptor", 1, f"wpkh({XPUB}/0h)"),
    ("generatetodescriptor", 1, f"wpkh({KEY})", -1), ("generatetodescriptor", 1, f"pk({KEY})", 0),
    ("generateblock", ADDRESS, []), ("generateblock", f"pkh({KEY})", [], True),
    ("generateblock", ADDRESS, [], False), ("generateblock", "x", []),
    ("generateblock", f"wpkh({XPUB}/0/*)", []), ("generateblock", ADDRESS, ["00"]),
    ("generateblock", ADDRESS, ["00" * 32]), ("generateblock", ADDRESS, [5]),
    ("generateblock", ADDRESS), ("generateblock", ADDRESS, "x"),
]


class Pairs(FunctionalTest):
    def pair(self, *options, chain="regtest"):
        pair = Pair(self.dir / f"pair{len(self.nodes)}", chain, options)
        self.nodes += [pair.core, pair.ours]
        for node in (pair.core, pair.ours):
            node.start()
        return pair

    def assert_same_chain(self, pair):
        """All blocks, byte for byte."""
        for height in range(1, pair.ask("getblockcount") + 1):
            pair.ask("getblock", pair.ask("getblockhash", height), 0)

    def ask(self, pair, *call):
        """Help texts differ from Core's but for their first line."""
        answers = []
        for node in (pair.core, pair.ours):
            try:
                answers.append(node.rpc(*call))
                if call[0] == "getmininginfo":
                    answers[-1].pop("warnings")  # Core says that it is a test build
            except RpcError as error:
                text = error.message.split("\n")[0] if error.code == -1 else error.message
                answers.append((error.code, text))
        self.assertEqual(answers[1], answers[0], call)
        return answers[0]


class Mining(Pairs):
    def test_same_blocks(self):
        """Covers the heights at which the coinbase's form changes, a signalling period, and a clock
        that advances, stops and runs backwards."""
        pair = self.pair()
        times = [START, START, START + 600, START - 3600, START + 1, START + 86400]
        for step, time in enumerate(times):
            pair.ask("setmocktime", time)
            hashes = pair.ask("generatetoaddress", 25 + step, ADDRESS)
            self.assertEqual(len(hashes), 25 + step)
            self.ask(pair, "getblocktemplate", SEGWIT)
            self.ask(pair, "getmininginfo")
        self.assert_same_chain(pair)
        pair.finish()

    def test_calls(self):
        pair = self.pair()
        pair.ask("setmocktime", START)
        for call in GENERATE:
            with self.subTest(call):
                self.ask(pair, *call)
        self.assert_same_chain(pair)

    def test_options_and_deployments(self):
        """Before segwit and across it; versions that the option or a deployment asks for."""
        for options in (("-testactivationheight=segwit@20",), ("-blockversion=4",),
                        ("-blockversion=-1", "-blockmintxfee=0.00002"),
                        ("-blockreservedweight=4000", "-blockmaxweight=100000"),
                        ("-vbparams=testdummy:0:999999999999:0",),
                        ("-vbparams=testdummy:-1:0:0",)):
            with self.subTest(options):
                pair = self.pair(*options)
                pair.ask("setmocktime", START)
                for _ in range(5):
                    pair.ask("generatetoaddress", 90 if "vb" in options[0] else 8, ADDRESS)
                    self.ask(pair, "getblocktemplate", SEGWIT)
                    self.ask(pair, "getmininginfo")
                self.assert_same_chain(pair)

    def test_block_of_transactions(self):
        pair = self.pair()
        chain = Chain().grow(110)
        pair.ask("setmocktime", chain.blocks[-1].time + 600)
        for block in chain.blocks:
            pair.submit(block)
        good, other = (spend(*chain.coinbase_of(height)[:1], 0, chain.coinbase_of(height)[1])
                       for height in (1, 2))
        hexes = [tx.raw().hex() for tx in (good, other)]
        early = spend(*chain.coinbase_of(108)[:1], 0, 1000).raw().hex()
        for txs in ([early], [hexes[0], hexes[0]], [hexes[0][:-2]], [hexes[0] + "00"], [BAD_TX],
                    ["02000000000000000000"]):
            self.ask(pair, "generateblock", ADDRESS, txs)
        made = self.ask(pair, "generateblock", ADDRESS, hexes, False)
        self.assertIn(hexes[0], made["hex"])
        self.ask(pair, "generateblock", ADDRESS, hexes)
        self.assertEqual(pair.ask("getblockcount"), 111)
        self.assert_same_chain(pair)

    def test_limits_of_chunks(self):
        """A chunk with many signature operations needs more room than it takes, and its fee rate is
        that of virtual bytes, rounded up."""
        pair = self.pair("-blockmaxweight=16000", "-blockmintxfee=0.00003")
        chain = Chain().grow(101)
        value = COIN // 10
        fan = Tx([(chain.coinbase_of(1)[0], 0, b"", FINAL)], [(value, WITNESS_OP_TRUE)] * 4)
        chain.add(chain.candidate([fan]))
        pair.ask("setmocktime", chain.blocks[-1].time + 600)
        for block in chain.blocks:
            self.assertIsNone(pair.submit(block))

        def make(number, outputs, fee):
            paid = [(value // 20, MULTISIG)] * outputs
            rest = value - sum(amount for amount, _ in paid) - fee
            return Tx([(fan.txid(), number, b"", FINAL)], [*paid, (rest, WITNESS_OP_TRUE)],
                      witness=[[OP_TRUE]])

        # Each output counts for 80 signature operations, and each of these for 20 weight units.
        heavy, lighter = make(0, 10, 100_000), make(1, 4, 50_000)
        size = len(make(2, 0, 0).raw_without_witness()) + 2  # five bytes of witness make two
        cheap, paying = make(2, 0, 3 * size - 1), make(3, 0, 3 * size)
        for tx in (heavy, lighter, cheap, paying):
            pair.ask("sendrawtransaction", tx.raw().hex(), 0)
        for node in (pair.core, pair.ours):
            made = node.rpc("getblocktemplate", SEGWIT)["transactions"]
            self.assertEqual([tx["txid"] for tx in made], [lighter.txid(), paying.txid()])
        pair.finish()

    def test_proposals(self):
        pair = self.pair()
        pair.ask("setmocktime", START)
        pair.ask("generatetoaddress", 3, ADDRESS)
        old = pair.ask("getblock", pair.ask("getblockhash", 2), 0)
        good = pair.ask("generateblock", ADDRESS, [], False)["hex"]
        raw = bytearray.fromhex(good)
        changed = []
        for place in (0, 4, 36, 68, 72, 76, 81, 90, 140, len(raw) - 1, len(raw) - 5):
            copy = bytearray(raw)
            copy[place] ^= 1
            changed.append(copy.hex())
        for block in (good, old, good[:-2], good + "00", *changed):
            with self.subTest(block):
                self.ask(pair, "getblocktemplate", {"mode": "proposal", "data": block, **SEGWIT})
        pair.ask("submitblock", good)
        self.ask(pair, "getblocktemplate", {"mode": "proposal", "data": good, **SEGWIT})
        tip = pair.ask("getbestblockhash")
        pair.ask("invalidateblock", tip)
        self.ask(pair, "getblocktemplate", {"mode": "proposal", "data": good, **SEGWIT})
        pair.finish()

    def test_requests(self):
        pair = self.pair()
        pair.ask("setmocktime", START)
        pair.ask("generatetoaddress", 1, ADDRESS)
        for request in REQUESTS:
            with self.subTest(request):
                self.ask(pair, "getblocktemplate", request)
        self.ask(pair, "getblocktemplate")
        self.ask(pair, "getblocktemplate", [])
        pair.ask("setmocktime", START + 60)
        self.ask(pair, "getblocktemplate", SEGWIT)
        pair.ask("setmocktime", START - 60)  # a template's time never goes back
        self.ask(pair, "getblocktemplate", SEGWIT)

    def test_other_networks(self):
        for chain in ("main", "testnet4", "signet"):
            with self.subTest(chain):
                pair = Pair(self.dir / chain, chain)
                self.nodes += [pair.core, pair.ours]
                for node in (pair.core, pair.ours):
                    node.start()
                for rules in (["segwit"], ["segwit", "signet"], []):
                    answers = []
                    for node in (pair.core, pair.ours):
                        try:
                            answer = node.rpc("getblocktemplate", {"rules": rules})
                            answer.pop("curtime")
                        except RpcError as error:
                            answer = (error.code, error.message.replace("Bitcoin Core",
                                                                        "ibd-booster"))
                        answers.append(answer)
                    self.assertEqual(*answers)
