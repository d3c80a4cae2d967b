"""Undo data that is damaged or missing when blocks must be disconnected: the running node rebuilds
it from the blocks and then disconnects them. With -ibdboosterundo=0 the node stops as Bitcoin Core
does, before any block is disconnected, and the remedy that it names works."""

from framework import NO_UNDO, RpcError, coins, wait_until
from regtest_chain import COINBASE_MATURITY, Chain, spend
from test_own_hints import REGTEST_MAGIC, place_blocks
from test_undo import BACKGROUND, CANNOT_DISCONNECT, NOW, UndoTest, hand_in

DEPTH = 5  # blocks that the better branch leaves


def damage(path):
    """A byte of the last record. The file is changed in place, as disks do."""
    with open(path, "r+b") as file:
        record = file.read().rindex(REGTEST_MAGIC) + 8
        file.seek(record)
        byte = file.read(1)[0]
        file.seek(record)
        file.write(bytes([byte ^ 1]))


def cut_off(path):
    """In the last record."""
    data = path.read_bytes()
    path.write_bytes(data[:data.rindex(REGTEST_MAGIC) + 9])


LOSSES = {"damaged": damage, "gone": lambda path: path.unlink(), "cut off": cut_off}


class Damage(UndoTest):
    def setUp(self):
        super().setUp()
        self.trunk = Chain().grow(COINBASE_MATURITY + 20)
        for height in range(1, DEPTH + 1):
            txid, amount = self.trunk.coinbase_of(height)
            self.trunk.add(self.trunk.candidate([spend(txid, 0, amount)]))
        self.other = self.trunk.branch(DEPTH, DEPTH + 1)

    def synced(self, *args):
        """A node that has connected the trunk, in use."""
        node = place_blocks(self, self.trunk.blocks)
        self.assertEqual(node.run("-reindex", f"-stopatheight={self.trunk.height}"), (0, ""))
        return node.start(*args)

    def rev_file(self, node):
        return node.blocks_dir / "rev00000.dat"

    def refused(self, node):
        """The answer of invalidateblock for the first block above the fork."""
        block_hash = node.rpc("getblockhash", self.trunk.height - DEPTH + 1)
        with self.assertRaises(RpcError) as raised:
            node.rpc("invalidateblock", block_hash)
        self.assertEqual(raised.exception.code, -1)
        self.assertRegex(raised.exception.message, "^Undo data of block [0-9a-f]{64} at height ")
        self.assertEqual(node.rpc("getbestblockhash"), self.trunk.tip)
        self.assertEqual([tip["status"] for tip in node.rpc("getchaintips")], ["active"])
        return raised.exception.message

    def offer_branch(self, node):
        hand_in(node, self.other.blocks[-DEPTH - 1:])

    def test_invalidateblock(self):
        """It refuses, the node lives, and once the undo data is made it disconnects the blocks."""
        low = self.trunk.height - DEPTH + 1
        for loss, inflict in LOSSES.items():
            for when in ([], [BACKGROUND], [NOW]):
                with self.subTest(loss=loss, when=when):
                    node = self.synced(*when)
                    before = coins(node)
                    inflict(self.rev_file(node))
                    self.assertIn("it is being made from the blocks", self.refused(node))
                    wait_until(lambda at=node: "Undo data: the last" in at.log_text, "undo data")
                    block_hash = node.rpc("getblockhash", low)
                    node.rpc("invalidateblock", block_hash)
                    self.assertEqual(node.rpc("getblockcount"), low - 1)
                    node.rpc("reconsiderblock", block_hash)
                    self.assertEqual(coins(node), before)
                    self.assertTrue(node.rpc("verifychain", 4, DEPTH))
                    node.stop()

    def test_a_better_branch(self):
        """It is left aside until the undo data is made, and followed then."""
        for loss, inflict in LOSSES.items():
            with self.subTest(loss=loss):
                node = self.synced()
                inflict(self.rev_file(node))
                self.offer_branch(node)
                node.wait_for_tip(self.other.tip)
                wait_until(lambda at=node: not at.rpc("getblockchaininfo")["warnings"],
                           "no warning")
                self.assertTrue(node.rpc("verifychain", 4, DEPTH))
                node.stop()

    def test_nobody_makes_it(self):
        """-ibdboosterundo=0: a call is refused with a remedy, a reorganisation stops the node. Each
        named remedy leads to the better branch."""
        for loss, inflict in LOSSES.items():
            for remedy in ([NOW], ["-reindex-chainstate", "-ibdbooster=0"], []):
                with self.subTest(loss=loss, remedy=remedy):
                    node = self.synced(NO_UNDO)
                    inflict(self.rev_file(node))
                    text = self.refused(node)
                    self.assertIn(" ".join(remedy), text)
                    self.offer_branch(node)
                    self.assertEqual(node.wait(), (1, CANNOT_DISCONNECT))
                    self.assert_said(node, text)
                    node.start(*remedy)
                    node.wait_for_tip(self.other.tip)
                    self.assertEqual(node.rpc("verifychain", 4, DEPTH), True)
                    node.stop()

    def assert_said(self, node, refusal):
        """The log names the block, the remedy and, in Core's words, what failed."""
        stuck = refusal.split()[4]
        log = node.log_text
        self.assertIn(refusal.split("; ")[1], log)
        self.assertIn("[error] DisconnectBlock(): failure reading undo data", log)
        self.assertIn(f"[error] DisconnectTip(): DisconnectBlock {stuck} failed", log)
        self.assertNotIn(f"UpdateTip: new best={self.trunk.blocks[-2].hash()} "
                         f"height={self.trunk.height - 1} ",
                         log.split("DisconnectBlock():")[1])
