"""-assumevalid and -minimumchainwork: when a script that fails goes unnoticed, and when not."""

import json

from framework import FunctionalTest
from regtest_chain import COINBASE_MATURITY, Chain, coinbase, spend, subsidy

BAD = COINBASE_MATURITY + 2  # height of a block with a script that fails
TWO_WEEKS = 2016  # blocks at ten minutes each
EVAL_FALSE = ("block-script-verify-flag-failed (Script evaluated without error but finished with "
              "a false/empty top stack element)")
BLOCK_WORK = 2  # of regtest's target


class AssumeValid(FunctionalTest):
    @classmethod
    def setUpClass(cls):
        chain = Chain()
        first = chain.candidate()
        first.txs[0] = coinbase(1, subsidy(1), script=b"\x00")  # OP_0
        chain.add(first.mine())
        chain.grow(BAD - 2)
        txid, amount = chain.coinbase_of(1)
        chain.add(chain.candidate([spend(txid, 0, amount)]))
        cls.chain = chain.grow(TWO_WEEKS + 1)
        cls.bad = chain.blocks[BAD - 1]

    def start(self, headers, *options):
        """A node that knows headers up to a height, and all blocks below the bad one."""
        node = self.node("regtest", *options).start()
        self.submit_all(node, "submitheader",
                        [block.header() for block in self.chain.blocks[:headers]])
        self.submit_all(node, "submitblock", [block.raw() for block in self.chain.blocks[:BAD - 1]])
        return node

    def submit_all(self, node, method, raws):
        calls = [{"id": i, "method": method, "params": [raw.hex()]} for i, raw in enumerate(raws)]
        status, text = node.post(json.dumps(calls))
        self.assertEqual(status, 200)
        self.assertEqual([answer["error"] or answer["result"] for answer in json.loads(text)],
                         [None] * len(raws))

    def submit_bad(self, node):
        return node.rpc("submitblock", self.bad.raw().hex())

    def assert_refused_for(self, node, reason):
        self.assertEqual(self.submit_bad(node), EVAL_FALSE)
        self.assertEqual(node.rpc("getblockcount"), BAD - 1)
        self.assertIn(f"{reason}.", node.log_text)

    def test_by_default_all_scripts_run(self):
        node = self.start(BAD + TWO_WEEKS + 1)
        self.assert_refused_for(node, "assumevalid=0 (always verify)")
        # All headers on top are of a failed chain now.
        self.assertEqual(node.rpc("getblockchaininfo")["headers"], BAD - 1)

    def test_assumed_and_deep_enough(self):
        node = self.start(BAD + TWO_WEEKS + 1, f"-assumevalid={self.bad.hash()}")
        self.assertIsNone(self.submit_bad(node))
        self.assertEqual(node.rpc("getbestblockhash"), self.bad.hash())
        self.assertIn("Disabling script verification at block #1 (", node.log_text)
        # The next block is above it: its scripts are run, and all other rules hold for both.
        self.assertIsNone(node.rpc("submitblock", self.chain.blocks[BAD].raw().hex()))
        self.assertIn(f"Enabling script verification at block #{BAD + 1} (", node.log_text)
        self.assertIn("block height above assumevalid height.", node.log_text)
        self.assertTrue(node.rpc("verifychain", 4, 0))
        # Without the option the same chain does not pass.
        node.stop()
        node.args = ()
        node.start("-checkblocks=1")
        self.assertFalse(node.rpc("verifychain", 4, 0))

    def test_two_weeks_are_not_more_than_two_weeks(self):
        node = self.start(BAD + TWO_WEEKS, f"-assumevalid={self.bad.hash()}")
        self.assertIn("Disabling script verification at block #1 (", node.log_text)
        self.assert_refused_for(node, "block too recent relative to best header")

    def test_too_little_work(self):
        headers = BAD + TWO_WEEKS + 1
        work = (headers + 1) * BLOCK_WORK  # with genesis
        node = self.start(headers, f"-assumevalid={self.bad.hash()}",
                          f"-minimumchainwork={work + 1:x}")
        self.assert_refused_for(node, "best header chainwork below minimumchainwork")
        node = self.start(headers, f"-assumevalid={self.bad.hash()}",
                          f"-minimumchainwork={work:x}")
        self.assertIsNone(self.submit_bad(node))

    def test_unknown(self):
        node = self.start(BAD + TWO_WEEKS + 1, f"-assumevalid={'ab' * 32}")
        self.assert_refused_for(node, "assumevalid hash not in headers")

    def test_another_branch(self):
        """The best header must be on top of the block; assuming it is not enough."""
        branch = Chain(extra=b"\x05")
        branch.blocks = self.chain.blocks[:BAD - 1]
        branch.grow(TWO_WEEKS + 3)
        node = self.start(BAD + TWO_WEEKS + 1, f"-assumevalid={self.bad.hash()}")
        self.submit_all(node, "submitheader", [block.header() for block in branch.blocks[BAD - 1:]])
        self.assert_refused_for(node, "block not in best header chain")
        # Nor is it enough that another block of that height is assumed.
        node = self.start(BAD + TWO_WEEKS + 1, f"-assumevalid={self.chain.blocks[-1].hash()}")
        other = branch.blocks[BAD - 1]
        self.assertIsNone(node.rpc("submitblock", other.raw().hex()))
        self.assertIn("block not in assumevalid chain.", node.log_text)
