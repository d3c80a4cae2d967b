"""Blocks mined on regtest through the oracle: verdicts, reasons, reorganisations, reopening."""

import copy

import interop_env
from kernel_oracle import Tip, engine_datadir
from oracle_test import OracleTest
from regtest_chain import COINBASE_MATURITY, REGTEST_GENESIS, Chain, next_block, spend
from wire import parse_tx

KERNEL_REGTEST_TIP = 206


class Regtest(OracleTest):
    def connect(self, *blocks):
        verdicts, tip = self.oracle.connect(self.dir, "regtest", [b.raw() for b in blocks])
        return verdicts, tip

    def test_an_empty_directory_starts_at_genesis(self):
        self.assertEqual(self.oracle.tip(self.dir, "regtest"), Tip(0, REGTEST_GENESIS))

    def test_connect_then_reopen(self):
        chain = Chain().grow(3)
        verdicts, tip = self.connect(*chain.blocks)
        self.assertEqual([v.verdict for v in verdicts], ["connected"] * 3)
        self.assertEqual(tip, Tip(3, chain.tip))
        self.assertEqual(self.oracle.tip(self.dir, "regtest"), tip)
        verdicts, _ = self.connect(chain.blocks[1], chain.grow().blocks[-1])
        self.assertEqual([v.verdict for v in verdicts], ["duplicate", "connected"])
        self.assertEqual(self.oracle.chain(self.dir, "regtest"),
                         [REGTEST_GENESIS] + [block.hash() for block in chain.blocks])

    def test_spends_and_undo(self):
        chain = Chain().grow(COINBASE_MATURITY)
        txid, amount = chain.coinbase_of(1)
        chain.add(chain.candidate([spend(txid, 0, amount)]))
        verdicts, tip = self.connect(*chain.blocks)
        self.assertEqual(verdicts[-1].verdict, "connected")
        stored, = self.oracle.read(self.dir, "regtest", tip.height)
        self.assertEqual(stored.raw, chain.blocks[-1].raw())
        coin, = stored.spent
        self.assertEqual((coin.amount, coin.height, coin.coinbase), (amount, 1, True))
        self.assertIsNone(self.oracle.coin(self.dir, txid, 0))
        spender = chain.blocks[-1].txs[1].txid()
        self.assertEqual(self.oracle.coin(self.dir, spender, 0).height, tip.height)

    def assert_rejected(self, block, kind, reject):
        verdicts, _ = self.connect(block)
        verdict = verdicts[0]
        self.assertEqual((verdict.verdict, verdict.kind, verdict.reject),
                         ("invalid", kind, reject))

    def test_invalid_blocks(self):
        chain = Chain().grow(COINBASE_MATURITY + 1)
        self.connect(*chain.blocks)
        early_txid, early_amount = chain.coinbase_of(50)
        txid, amount = chain.coinbase_of(1)
        self.assert_rejected(chain.candidate(fees=1), "BLOCK_CONSENSUS", "bad-cb-amount")
        self.assert_rejected(chain.candidate([spend("ab" * 32, 0, 1)]), "BLOCK_CONSENSUS",
                             "bad-txns-inputs-missingorspent")
        self.assert_rejected(chain.candidate([spend(early_txid, 0, early_amount)]),
                             "BLOCK_CONSENSUS", "bad-txns-premature-spend-of-coinbase")
        self.assert_rejected(chain.candidate([spend(txid, 0, amount + 1)]),
                             "BLOCK_CONSENSUS", "bad-txns-in-belowout")
        twice = [spend(txid, 0, amount), spend(txid, 0, amount - 1)]
        self.assert_rejected(chain.candidate(twice), "BLOCK_CONSENSUS",
                             "bad-txns-inputs-missingorspent")
        false_script = next_block(chain.tip, chain.height + 1, chain.candidate().time,
                                  [spend(txid, 0, amount, script_sig=b"\x6a")])
        self.assert_rejected(false_script, "BLOCK_CONSENSUS",
                             "block-script-verify-flag-failed (OP_RETURN was encountered)")
        wrong_root = chain.candidate()
        wrong_root.root = bytes(32)
        self.assert_rejected(wrong_root.mine(), "BLOCK_MUTATED", "bad-txnmrklroot")
        wrong_height = next_block(chain.tip, chain.height, chain.candidate().time)
        self.assert_rejected(wrong_height, "BLOCK_CONSENSUS", "bad-cb-height")
        too_old = next_block(chain.tip, chain.height + 1, chain.blocks[0].time)
        self.assert_rejected(too_old, "BLOCK_INVALID_HEADER", "time-too-old")
        orphan = next_block("cd" * 32, chain.height + 1, chain.candidate().time)
        self.assert_rejected(orphan, "BLOCK_MISSING_PREV", "prev-blk-not-found")
        self.assertEqual(self.oracle.tip(self.dir, "regtest"), Tip(chain.height, chain.tip))

    def test_undecodable(self):
        raw = Chain().candidate().raw()
        verdicts, tip = self.oracle.connect(self.dir, "regtest", [raw[:-1], b"\x00"])
        self.assertEqual([v.verdict for v in verdicts], ["undecodable"] * 2)
        self.assertEqual(tip.height, 0)

    def test_reorganisation(self):
        short, long = Chain(b"\x01").grow(3), Chain(b"\x02").grow(4)
        verdicts, tip = self.connect(*short.blocks, *long.blocks)
        self.assertEqual([v.verdict for v in verdicts],
                         ["connected"] * 3 + ["stored"] * 3 + ["connected"])
        self.assertEqual(tip, Tip(4, long.tip))

    def test_session(self):
        chain = Chain().grow(2)
        with self.oracle.session(self.dir, "regtest") as session:
            self.assertEqual(session.submit(chain.blocks[0].raw()).verdict, "connected")
            bad = copy.deepcopy(chain.blocks[1])
            bad.txs[0].outputs[0] = (51 * 10**8, b"\x51")
            self.assertEqual(session.submit(bad.mine().raw()).reject, "bad-cb-amount")
            self.assertEqual(session.submit(chain.blocks[1].raw()).verdict, "connected")
            self.assertEqual(session.close(), Tip(2, chain.tip))

    def test_context_free_checks(self):
        block = Chain().candidate()
        spoiled = copy.deepcopy(block)
        spoiled.root = bytes(32)
        answers = self.oracle.check_blocks("regtest", [block.raw(), spoiled.mine().raw(), b"\x01"])
        self.assertEqual(answers, [("ok", ""), ("bad", "BLOCK_MUTATED"), ("undecodable", "")])

    def test_import_takes_blocks_in_any_order(self):
        chain = Chain().grow(20)
        raws = [block.raw() for block in chain.blocks]
        result = engine_datadir(self.oracle, self.dir, "regtest", raws[::-1])
        self.assertEqual((result.tip, result.orphan), (Tip(20, chain.tip), 0))
        missing = engine_datadir(self.oracle, self.dir / "gap", "regtest", raws[:5] + raws[6:])
        self.assertEqual((missing.tip.height, missing.orphan), (5, 14))

    def test_kernels_own_regtest_chain(self):
        path = interop_env.testdata_path("chains/kernel_regtest_206.txt")
        result = self.oracle.import_files(self.dir, "regtest", [path])
        self.assertEqual((result.tip.height, result.rejected), (KERNEL_REGTEST_TIP, 0))
        with_spends = self.oracle.read(self.dir, "regtest", 0, KERNEL_REGTEST_TIP + 1)
        self.assertEqual(sum(len(block.spent) for block in with_spends), 26)

    def test_segwit_block(self):
        """The miner's witness commitment satisfies the engine, and a missing one does not."""
        chain = Chain().grow(COINBASE_MATURITY)
        txid, amount = chain.coinbase_of(1)
        program = b"\x00\x20" + bytes.fromhex(
            "4ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260")
        fund = spend(txid, 0, amount, program)
        claim = spend(fund.txid(), 0, amount)
        claim.witness = [[b"\x51"]]
        block = chain.candidate([fund, claim])
        verdicts, _ = self.connect(*chain.blocks, block)
        self.assertEqual(verdicts[-1].verdict, "connected", verdicts[-1])
        self.assertEqual(parse_tx(claim.raw()), claim)
        bare = copy.deepcopy(block)
        bare.txs[0].outputs.pop()
        bare.txs[0].witness = []
        self.assert_rejected(bare.mine(), "BLOCK_MUTATED", "unexpected-witness")
