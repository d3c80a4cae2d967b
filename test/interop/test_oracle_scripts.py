"""The oracle's script verification on real inputs and on the taproot assets: what our interpreter
will be compared with is first shown to give the known answers."""

import json
import unittest

import interop_env
import real_blocks
from kernel_oracle import KernelOracle, ScriptCase
from wire import Reader, parse_tx

CASES_PER_BLOCK = 150


def mutated(raw):
    """The transaction with another lock time: every signature that commits to it must fail."""
    tx = parse_tx(raw)
    tx.lock_time ^= 1
    return tx.raw()


class RealInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()
        interop_env.testdata_path("bcoin")

    def test_every_input_verifies(self):
        total = 0
        for real in real_blocks.REAL_BLOCKS:
            with self.subTest(real.name):
                block, _, coins = real_blocks.load(real)
                run, = self.oracle.verify_block(block, coins, real.flags)
                self.assertEqual((run.inputs, run.failed), (len(coins), 0))
                total += run.inputs
        self.assertGreater(total, 50_000)

    def test_line_protocol_gives_the_same_answers(self):
        for real in real_blocks.REAL_BLOCKS:
            with self.subTest(real.name):
                _, txs, _ = real_blocks.load(real)
                small = [tx for tx in txs if len(tx[1]) <= 3][:CASES_PER_BLOCK]
                cases = [ScriptCase(raw, "*", real.flags, coins) for raw, coins in small]
                self.assertEqual(self.oracle.verify_scripts(cases, par=2), ["OK"] * len(cases))
                explicit = [ScriptCase(raw, i, real.flags, coins, script, amount)
                            for raw, coins in small
                            for i, (amount, script) in enumerate(coins)]
                self.assertEqual(self.oracle.verify_scripts(explicit), ["OK"] * len(explicit))

    def test_a_mutated_copy_fails(self):
        for real in real_blocks.REAL_BLOCKS:
            with self.subTest(real.name):
                _, txs, _ = real_blocks.load(real)
                small = [tx for tx in txs if len(tx[1]) <= 3][:CASES_PER_BLOCK]
                cases = [ScriptCase(mutated(raw), "*", real.flags, coins) for raw, coins in small]
                verdicts = self.oracle.verify_scripts(cases)
                # SIGHASH does not exempt the lock time, so only spends without any signature pass.
                passed = verdicts.count("OK")
                self.assertLessEqual(passed, len(cases) // 50)


class LineProtocol(unittest.TestCase):
    """A transaction that spends OP_TRUE or OP_FALSE, so that no test data is needed."""

    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()
        cls.tx = bytes.fromhex("02000000" "01" + "11" * 32 + "00000000" "00" "ffffffff"
                               "01" "0100000000000000" "0151" "00000000")

    def verdict(self, **changes):
        fields = {"tx": self.tx, "index": 0, "flags": 0, "script": b"\x51", "amount": 1, **changes}
        return self.oracle.verify_scripts([ScriptCase(**fields)])[0]

    def test_verdicts(self):
        self.assertEqual(self.verdict(), "OK")
        self.assertEqual(self.verdict(script=b"\x00"), "EVAL_FALSE")
        self.assertEqual(self.verdict(script=b""), "EVAL_FALSE")
        self.assertEqual(self.verdict(script=b"\x51\x51", flags="P2SH,WITNESS,CLEANSTACK"),
                         "CLEANSTACK")
        self.assertEqual(self.verdict(script=b"\xb9\x51", flags="DISCOURAGE_UPGRADABLE_NOPS"),
                         "DISCOURAGE_UPGRADABLE_NOPS")
        self.assertEqual(self.verdict(script=None, amount=None, spent=((1, b"\x51"),)), "OK")
        self.assertEqual(self.verdict(index="*", script=None, amount=None, spent=((1, b"\x6a"),)),
                         "OP_RETURN 0")

    def test_bad_questions_get_an_answer(self):
        self.assertEqual(self.verdict(tx=self.tx + b"\x00"), "TX_DECODE")
        self.assertEqual(self.verdict(tx=self.tx[:-1]), "TX_DECODE")
        self.assertEqual(self.verdict(index=1), "BAD_INPUT_INDEX")
        self.assertEqual(self.verdict(flags="WITNESS"), "BAD_FLAGS")
        self.assertEqual(self.verdict(flags=1 << 40), "BAD_FLAGS")
        self.assertEqual(self.verdict(flags="ALL"), "SPENT_OUTPUTS_REQUIRED")
        self.assertTrue(self.verdict(flags="NO_SUCH_FLAG").startswith("BAD_LINE"))

    def test_context_free_rules(self):
        twice = parse_tx(self.tx)
        twice.inputs *= 2
        empty = parse_tx(self.tx)
        empty.outputs = []
        raws = [self.tx, twice.raw(), empty.raw(), self.tx[:-1], b""]
        self.assertEqual(self.oracle.check_txs(raws),
                         ["OK", "bad-txns-inputs-duplicate", "bad-txns-vout-empty", "TX_DECODE",
                          "TX_DECODE"])

    def test_order_is_kept_across_threads(self):
        scripts = [b"\x51" if i % 3 else b"\x00" for i in range(10_000)]
        cases = [ScriptCase(self.tx, 0, 0, script=script, amount=1) for script in scripts]
        expected = ["OK" if i % 3 else "EVAL_FALSE" for i in range(10_000)]
        self.assertEqual(self.oracle.verify_scripts(cases, par=2), expected)

    def test_flags(self):
        flags = self.oracle.flags()
        self.assertEqual(flags["P2SH"], 1)
        self.assertEqual(flags["MANDATORY"], flags["API"])
        self.assertEqual(flags["MANDATORY"] & ~flags["STANDARD"], 0)
        self.assertEqual(flags["STANDARD"] & ~flags["ALL"], 0)


class TaprootAssets(unittest.TestCase):
    """script_assets_test: success data passes, failure data does not, under the flags given."""

    def case(self, asset, data):
        tx = parse_tx(bytes.fromhex(asset["tx"]))
        index = asset["index"]
        txid, vout, _, sequence = tx.inputs[index]
        tx.inputs[index] = (txid, vout, bytes.fromhex(data["scriptSig"]), sequence)
        tx.witness = tx.witness or [[] for _ in tx.inputs]
        tx.witness[index] = [bytes.fromhex(item) for item in data["witness"]]
        coins = tuple(Reader(bytes.fromhex(raw)).output() for raw in asset["prevouts"])
        return ScriptCase(tx.raw(), index, asset["flags"], coins)

    def test_assets(self):
        oracle = KernelOracle.find()
        assets = json.loads(interop_env.read_testdata("taproot/script_assets_test.json.xz"))
        cases, expected = [], []
        for asset in assets:
            for kind in ("success", "failure"):
                if kind in asset:
                    cases.append(self.case(asset, asset[kind]))
                    expected.append(kind == "success")
        verdicts = oracle.verify_scripts(cases, par=2)
        self.assertEqual([verdict == "OK" for verdict in verdicts], expected)
        self.assertGreater(len(cases), 5000)
