"""A chain of regtest, a snapshot below its tip, and nodes that load it: for the tests of snapshots.
"""

from framework import BURNT, FunctionalTest, coins, wait_until

BASE, TIP = 115, 125
SPENT = 108  # the block that spends coins, below the base
SPENT_ABOVE = 118  # the block that spends the coin of block 2, which the snapshot has
ANYONE = "raw(51)"
SECOND = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"  # a second output


class SnapshotTest(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.make_source()
        self.known = self.knowing(self.dump["txoutset_hash"])

    def knowing(self, coins_hash):
        return f"-assumeutxo={BASE}:{coins_hash}:{self.dump['nchaintx']}"

    def make_source(self):
        """A node with the whole chain, its blocks, and a snapshot below its tip."""
        self.source = self.node("regtest").start()
        made = self.source.rpc("generatetodescriptor", SPENT - 1, ANYONE)
        first, second = [self.source.rpc("getblock", hash, 1)["tx"][0] for hash in made[:2]]
        self.spend(first, [{BURNT: "24.5"}, {SECOND: "25.4"}])
        self.source.rpc("generatetodescriptor", SPENT_ABOVE - SPENT - 1, ANYONE)
        self.spend(second, [{BURNT: "49.9"}])
        self.source.rpc("generatetodescriptor", TIP - SPENT_ABOVE, ANYONE)
        self.above = second
        self.hashes = [self.source.rpc("getblockhash", h) for h in range(TIP + 1)]
        self.blocks = [self.source.rpc("getblock", h, 0) for h in self.hashes]
        self.file = self.dir / "utxo.dat"
        self.dump = self.source.rpc("dumptxoutset", str(self.file), "", {"rollback": BASE})
        self.wanted = coins(self.source)

    def spend(self, txid, outputs):
        """A block that spends the first output of a transaction."""
        raw = self.source.rpc("createrawtransaction", [{"txid": txid, "vout": 0}], outputs)
        self.source.rpc("generateblock", ANYONE, [raw])

    def with_headers(self, *args, upto=TIP):
        node = self.node("regtest", self.known, *args).start()
        self.send_headers(node, upto)
        return node

    def send_headers(self, node, upto=TIP):
        for block in self.blocks[1:upto + 1]:
            node.rpc("submitheader", block[:160])

    def send(self, node, begin, end):
        """The blocks from `begin` to before `end`."""
        for block in self.blocks[begin:end]:
            self.assertIn(node.rpc("submitblock", block), (None, "inconclusive", "duplicate"))
        return node

    def load(self, node, file=None):
        return node.rpc("loadtxoutset", str(file or self.file))

    def loaded(self, *args):
        node = self.with_headers(*args)
        self.load(node)
        return node

    def states(self, node):
        return [(state["blocks"], state.get("snapshot_blockhash"), state["validated"])
                for state in node.rpc("getchainstates")["chainstates"]]

    def assert_begun(self, node, height=TIP, older=0):
        """The coins are the source's at this height, and began with the snapshot."""
        node.wait_for_height(height)
        self.assertEqual(self.states(node),
                         [(older, None, True), (height, self.hashes[BASE], False)])
        if height == TIP:
            self.assertEqual(coins(node), self.wanted)

    def assert_proven(self, node, height=TIP):
        """The history below the snapshot is proven, and the coins are the source's."""
        node.wait_for_height(height)
        wait_until(lambda: len(self.states(node)) == 1, "the proof of the history")
        self.assertEqual(self.states(node), [(height, None, True)])
        self.assertNotIn("backgroundvalidation", node.rpc("getblockchaininfo"))
        if height == TIP:
            self.assertEqual(coins(node), self.wanted)
