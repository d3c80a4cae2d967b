"""Undo data that is damaged or missing, beside Bitcoin Core's own bitcoind. A reorganisation that
needs it stops both nodes with the same message, if ours runs with -ibdboosterundo=0. A call that
needs it leaves both nodes running on the same chain."""

from core_node import CoreNode
from framework import NO_UNDO, FunctionalTest, Node, wait_until
from regtest_chain import COINBASE_MATURITY, Chain
from test_undo import hand_in
from test_undo_damage import LOSSES

DEPTH = 3  # blocks that the better branch leaves


class UndoDamage(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.trunk = Chain().grow(COINBASE_MATURITY)
        self.other = self.trunk.branch(DEPTH, DEPTH + 1)

    def damaged(self, kind, inflict, *args):
        """A node with the trunk, whose last record is not to be used any more."""
        node = kind(self.dir / f"{kind.__name__}{len(self.nodes)}", "regtest",
                    ["-blocksxor=0", *args])
        self.nodes.append(node)
        node.start()
        for block in self.trunk.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        node.stop().start()  # data not written yet is not damaged
        # The thread of the import looks for the best branch too: on a slow machine it failed as the
        # call did, and Core logged the failure twice.
        wait_until(lambda: node.log_text.count("initload thread exit") == 2, "end of the import")
        inflict(node.blocks_dir / "rev00000.dat")
        return node

    def end_of(self, node):
        """Status, errors and Core's lines of the log."""
        hand_in(node, self.other.blocks[-DEPTH - 1:])
        ended = node.wait()
        lines = [line.split("[error] ")[1] for line in node.log_text.splitlines()
                 if "[error] Disconnect" in line]
        return *ended, lines

    def test_reorganisation(self):
        for loss, inflict in LOSSES.items():
            with self.subTest(loss=loss):
                theirs = self.end_of(self.damaged(CoreNode, inflict))
                self.assertEqual(len(theirs[2]), 2, theirs)
                self.assertEqual(self.end_of(self.damaged(Node, inflict, NO_UNDO)), theirs)

    def test_invalidateblock(self):
        """Core answers as if it had done it; ours says why it has not."""
        for loss, inflict in LOSSES.items():
            with self.subTest(loss=loss):
                core = self.damaged(CoreNode, inflict)
                ours = self.damaged(Node, inflict, NO_UNDO)
                low = self.trunk.blocks[-DEPTH].hash()
                self.assertIsNone(core.rpc("invalidateblock", low))
                self.assert_rpc_error(-1, "is not stored; restart with", ours.rpc,
                                      "invalidateblock", low)
                for node in (core, ours):
                    self.assertEqual(node.rpc("getbestblockhash"), self.trunk.tip)
                    node.stop()
