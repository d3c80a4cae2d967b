"""-testactivationheight moves the height at which a rule begins, to the block."""

from framework import FunctionalTest
from regtest_chain import COINBASE_MATURITY, Chain, coinbase, spend, subsidy

HEIGHT = COINBASE_MATURITY + 5


class Deployments(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain()

    def start(self, *options):
        node = self.node("regtest", *options).start()
        for block in self.chain.grow(HEIGHT - 2 - self.chain.height).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return node

    def refused_from(self, node, candidate, reason):
        """What `candidate` makes is fine right below HEIGHT and refused at it."""
        self.assertEqual(self.chain.height, HEIGHT - 2)
        early = candidate().mine()
        self.assertIsNone(node.rpc("submitblock", early.raw().hex()))
        self.chain.add(early)
        self.assertEqual(node.rpc("submitblock", candidate().mine().raw().hex()), reason)
        self.assertEqual(node.rpc("getblockcount"), HEIGHT - 1)
        good = self.chain.candidate()
        self.assertIsNone(node.rpc("submitblock", good.raw().hex()))

    def wrong_height(self):
        block, height = self.chain.candidate(), self.chain.height + 1
        block.txs[0] = coinbase(height + 1000, subsidy(height))
        return block

    def with_version(self, version):
        block = self.chain.candidate()
        block.version = version
        return block

    def test_bip34(self):
        node = self.start(f"-testactivationheight=bip34@{HEIGHT}")
        self.refused_from(node, self.wrong_height, "bad-cb-height")

    def test_versions(self):
        for name, version in (("bip34", 1), ("dersig", 2), ("cltv", 3)):
            # Those that a version also stands for come later.
            later = [f"-testactivationheight={other}@{HEIGHT + 100}"
                     for other in ("bip34", "dersig", "cltv") if other != name]
            self.chain = Chain()
            node = self.start(f"-testactivationheight={name}@{HEIGHT}", *later)
            self.refused_from(node, lambda v=version: self.with_version(v),
                              f"bad-version(0x{version:08x})")
            node.stop()

    def test_csv(self):
        def too_young():
            """Spends a coin one block old that asks for more (BIP68)."""
            txid, amount = self.chain.coinbase_of(1 if self.chain.height < HEIGHT - 1 else 2)
            tx = spend(txid, 0, amount)
            age = self.chain.height + 10
            tx.inputs[0] = (*tx.inputs[0][:3], age)
            return self.chain.candidate([tx])
        node = self.start(f"-testactivationheight=csv@{HEIGHT}")
        self.refused_from(node, too_young, "bad-txns-nonfinal")

    def test_segwit(self):
        def witness():
            txid, amount = self.chain.coinbase_of(1)
            tx = spend(txid, 0, amount)
            tx.witness = [[b"\x01"]]
            return self.chain.candidate([tx])
        node = self.start(f"-testactivationheight=segwit@{HEIGHT}")
        self.assertEqual(self.chain.height, HEIGHT - 2)
        self.assertEqual(node.rpc("submitblock", witness().raw().hex()), "unexpected-witness")
        for _ in range(2):
            block = self.chain.candidate()
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
            self.chain.add(block)
        # The commitment is right now; what spends an output without witness must have none.
        reason = node.rpc("submitblock", witness().raw().hex())
        self.assertIn("Witness provided for non-witness script", reason)
