"""Blocks over RPC: submission, refusal, reorganisation, and that they last."""

import copy

from framework import FunctionalTest, coins
from regtest_chain import COINBASE_MATURITY, Chain, commit_to_witness, spend


class Reorg(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.main = self.node().start()
        self.chain = Chain().grow(COINBASE_MATURITY + 2)
        self.submit(self.chain.blocks)

    def submit(self, blocks):
        for block in blocks:
            self.assertIsNone(self.main.rpc("submitblock", block.raw().hex()))

    def tips(self):
        return {(tip["hash"], tip["height"], tip["branchlen"], tip["status"])
                for tip in self.main.rpc("getchaintips")}

    def branch(self, below, count):
        """A branch that leaves the chain `below` blocks under its tip, with `count` of its own."""
        branch = Chain(extra=b"\x07")
        branch.blocks = self.chain.blocks[:len(self.chain.blocks) - below]
        return branch.grow(count)

    def test_longer_branch_wins(self):
        txid, amount = self.chain.coinbase_of(1)
        self.submit([self.chain.add(self.chain.candidate([spend(txid, 0, amount)]))])
        first = self.chain.blocks[0].hash()
        self.assertIn(f"Enabling script verification at block #1 ({first}): "
                      "assumevalid=0 (always verify).", self.main.log_text)
        self.assertEqual(self.main.log_text.count("script verification at block"), 1)
        old, old_coins = self.chain.tip, coins(self.main)
        self.assertIsNone(self.main.rpc("gettxout", txid, 0))
        branch = self.branch(3, 4)
        for block in branch.blocks[-4:-1]:
            self.assertEqual(self.main.rpc("submitblock", block.raw().hex()), "inconclusive")
        self.assertEqual(self.main.rpc("getbestblockhash"), old)
        self.submit([branch.blocks[-1]])
        self.assertEqual(self.main.rpc("getbestblockhash"), branch.tip)
        self.assertEqual(self.tips(), {(branch.tip, branch.height, 0, "active"),
                                       (old, self.chain.height, 3, "valid-fork")})
        self.assertEqual(self.main.rpc("gettxout", txid, 0)["confirmations"], branch.height)
        self.assertEqual(self.main.rpc("getblock", old)["confirmations"], -1)
        for block in self.chain.grow(2).blocks[-2:]:
            self.main.rpc("submitblock", block.raw().hex())
        self.assertEqual(self.main.rpc("getbestblockhash"), self.chain.tip)
        self.main.rpc("invalidateblock", self.chain.blocks[-2].hash())
        self.main.rpc("invalidateblock", branch.tip)
        self.assertEqual(coins(self.main), old_coins)

    def test_invalidate_and_reconsider(self):
        before = coins(self.main)
        branch = self.branch(5, 4)
        for block in branch.blocks[-4:]:
            self.main.rpc("submitblock", block.raw().hex())
        bad = self.chain.blocks[-4].hash()
        self.main.rpc("invalidateblock", bad)
        self.assertEqual(self.main.rpc("getbestblockhash"), branch.tip)
        self.assertIn((self.chain.tip, self.chain.height, 5, "invalid"), self.tips())
        self.main.stop()
        self.main.start()
        self.assertEqual(self.main.rpc("getbestblockhash"), branch.tip)
        self.main.rpc("reconsiderblock", bad)
        self.assertEqual(self.main.rpc("getbestblockhash"), self.chain.tip)
        self.assertEqual(coins(self.main), before)
        self.assert_rpc_error(-5, "Block not found", self.main.rpc, "invalidateblock", "ab" * 32)
        # Genesis stays, and so does the node.
        self.assertIsNone(self.main.rpc("invalidateblock", self.main.rpc("getblockhash", 0)))
        self.assertEqual(self.main.rpc("getbestblockhash"), self.chain.tip)

    def test_refusals(self):
        rpc = self.main.rpc
        tip = rpc("getbestblockhash")
        txid, amount = self.chain.coinbase_of(1)
        young, young_amount = self.chain.coinbase_of(50)
        twice = spend(txid, 0, amount)
        wrong_root = self.chain.candidate()
        wrong_root.root = bytes(32)
        cases = [(self.chain.candidate(fees=1), "bad-cb-amount"),
                 (self.chain.candidate([spend("ab" * 32, 0, 1)]),
                  "bad-txns-inputs-missingorspent"),
                 (self.chain.candidate([spend(young, 0, young_amount)]),
                  "bad-txns-premature-spend-of-coinbase"),
                 (self.chain.candidate([spend(txid, 0, amount + 1)]), "bad-txns-in-belowout"),
                 (self.chain.candidate([twice, spend(txid, 0, amount - 1)]),
                  "bad-txns-inputs-missingorspent"),
                 (wrong_root.mine(), "bad-txnmrklroot")]
        for block, reason in cases:
            self.assertEqual(rpc("submitblock", block.raw().hex()), reason)
            self.assertEqual(rpc("getbestblockhash"), tip)
        self.assertEqual(rpc("submitblock", self.chain.blocks[5].raw().hex()), "duplicate")
        bad = self.chain.candidate([spend(txid, 0, amount, script_sig=b"\x6a")])
        self.assertIn("script", rpc("submitblock", bad.raw().hex()))
        self.assertEqual(rpc("submitblock", bad.raw().hex()), "duplicate-invalid")
        self.assert_rpc_error(-22, "Block decode failed", rpc, "submitblock", "00")
        unknown = Chain(extra=b"\x0a").grow(2).blocks[-1]
        self.assertEqual(rpc("submitblock", unknown.raw().hex()), "prev-blk-not-found")
        good = self.chain.candidate([twice])
        self.submit([good])

    def test_missing_reserved_value(self):
        """Mining software may leave the coinbase's witness to the node, as with Core."""
        txid, amount = self.chain.coinbase_of(1)
        block = self.chain.candidate([spend(txid, 0, amount)])
        commit_to_witness(block.txs)
        block = self.chain.add(block.mine())
        whole = block.raw().hex()
        block.txs[0].witness = []
        self.assertNotEqual(block.raw().hex(), whole)
        self.submit([block])
        self.assertEqual(self.main.rpc("getblock", block.hash(), 0), whole)

    def test_headers(self):
        rpc = self.main.rpc
        ahead = copy.copy(self.chain)
        ahead.blocks = list(self.chain.blocks)
        ahead.grow(3)
        for block in ahead.blocks[-3:]:
            self.assertIsNone(rpc("submitheader", block.header().hex()))
        self.assertEqual(rpc("getblockchaininfo")["headers"], ahead.height)
        self.assertIn((ahead.tip, ahead.height, 3, "headers-only"), self.tips())
        self.assert_rpc_error(-25, "", rpc, "submitheader",
                              Chain(extra=b"\x09").grow(3).blocks[-1].header().hex())
        # Blocks received in the wrong order wait for their parents.
        for block in reversed(ahead.blocks[-3:]):
            rpc("submitblock", block.raw().hex())
        self.assertEqual(rpc("getbestblockhash"), ahead.tip)

    def test_blocks_last(self):
        before = coins(self.main)
        self.main.kill()
        self.main.start()
        # Unflushed blocks are connected again from the block files, or were never stored.
        self.submit_missing()
        self.assertEqual(coins(self.main), before)
        self.main.stop()
        self.main.start("-checklevel=4", "-checkblocks=0")
        self.assertEqual(coins(self.main), before)
        self.assertIs(self.main.rpc("verifychain", 4, 0), True)

    def submit_missing(self):
        for block in self.chain.blocks:
            self.main.rpc("submitblock", block.raw().hex())
        self.assertEqual(self.main.rpc("getbestblockhash"), self.chain.tip)

    def test_read_transactions(self):
        txid, amount = self.chain.coinbase_of(1)
        tx = spend(txid, 0, amount)
        self.submit([self.chain.add(self.chain.candidate([tx]))])
        raw = self.main.rpc("getrawtransaction", tx.txid(), False, self.chain.tip)
        self.assertEqual(raw, tx.raw().hex())
        decoded = self.main.rpc("getrawtransaction", tx.txid(), True, self.chain.tip)
        self.assertEqual((decoded["txid"], decoded["confirmations"]), (tx.txid(), 1))
        self.assert_rpc_error(-5, "No such transaction found in the provided block", self.main.rpc,
                              "getrawtransaction", tx.txid(), False, self.chain.blocks[0].hash())
        stats = self.main.rpc("getblockstats", self.chain.height)
        self.assertEqual((stats["txs"], stats["ins"], stats["totalfee"]), (2, 1, 0))
