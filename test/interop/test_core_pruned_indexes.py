"""Indexes with -prune beside Core's: the same files and answers, blocks kept for an index, a start
after blocks went that an index needs, and a reorganisation. Core is built by build_core.sh."""

from core_node import CoreNode
from framework import FunctionalTest, Node, RpcError, wait_until
from regtest_chain import Chain

OPTIONS = ("-fastprune", "-prune=1", "-maxtipage=10000000000", "-blocksxor=0", "-debug=prune")
FILTERS, STATISTICS = "basic block filter index", "coinstatsindex"
CASES = {("-blockfilterindex",): [FILTERS],
         ("-coinstatsindex",): [STATISTICS],
         ("-coinstatsindex", "-blockfilterindex"): [FILTERS, STATISTICS]}


class PrunedIndexes(FunctionalTest):
    @classmethod
    def setUpClass(cls):
        cls.chain = Chain().grow(2500)
        cls.branch = cls.chain.branch(20, 30)

    def both(self, *args):
        self.pair = [kind(self.dir / kind.__name__, "regtest", OPTIONS)
                     for kind in (CoreNode, Node)]
        self.nodes += self.pair
        for node in self.pair:
            node.start(*args)

    def restart(self, *args):
        for node in self.pair:
            node.stop().start(*args)

    def answer(self, node, call):
        try:
            return node.rpc(*call)
        except RpcError as error:
            return error.code, error.message

    def ask(self, *call):
        core, ours = (self.answer(node, call) for node in self.pair)
        self.assertEqual(ours, core, call)
        return ours

    def feed(self, blocks):
        for node in self.pair:
            for block in blocks:
                self.assertIn(node.rpc("submitblock", block.raw().hex()), (None, "inconclusive"))

    def grow_to(self, height):
        """The chain has genesis at its height 0, which is not among the blocks."""
        now = self.ask("getblockcount")
        self.feed(self.chain.blocks[now:height])
        self.assertEqual(self.ask("getblockcount"), height)

    def wait_synced(self, names):
        wanted = {"synced": True, "best_block_height": self.ask("getblockcount")}
        for node in self.pair:
            wait_until(lambda node=node: node.rpc("getindexinfo") == dict.fromkeys(names, wanted),
                       "the indexes are synced")

    def prune(self, height):
        pruned = self.ask("pruneblockchain", height)
        core, ours = (sorted(path.name for path in node.blocks_dir.glob("*.dat"))
                      for node in self.pair)
        self.assertEqual(ours, core)
        return pruned

    def assert_logged(self, text):
        for node in self.pair:
            self.assertIn(text, node.log_text)

    def ask_indexes(self, heights, names):
        """Ours has statistics of stored blocks without the index, too."""
        for height in heights:
            block = self.ask("getblockhash", height)
            self.ask("getblockfilter", block)
            if STATISTICS in names or height == 1:
                self.ask("gettxoutsetinfo", "muhash", block)
                self.ask("gettxoutsetinfo", "muhash", height)

    def assert_start_refused(self, options, name):
        ends = [node.run(*options) for node in self.pair]
        self.assertEqual(ends[1], ends[0])
        self.assertEqual(ends[1][0], 1)
        self.assertTrue(ends[1][1].startswith(f"Error: {name} best block of the index goes "
                                              "beyond pruned data"), ends[1])

    def live(self, options, names):
        self.both(*options)
        self.grow_to(1000)
        self.wait_synced(names)
        gone = self.prune(600)
        self.assertTrue(0 < gone <= 600)
        self.assert_logged(" limited pruning to height 989")
        self.ask_indexes((1, gone, gone + 1, 1000), names)
        self.grow_to(1051)
        self.wait_synced(names)
        self.restart()
        self.ask_indexes((1,), ())
        self.grow_to(2000)
        gone = self.prune(1051)
        self.restart(*options)
        self.wait_synced(names)
        self.ask_indexes((1, gone, gone + 1, 1051, 1052, 2000), names)
        self.restart()
        self.grow_to(2500)
        self.assertGreater(self.prune(2200), 2000)
        for node in self.pair:
            node.stop()
        self.assert_start_refused(options, names[0])
        for node in self.pair:
            node.start(*options, "-reindex")
        self.grow_to(2500)
        self.wait_synced(names)
        self.assertGreater(self.prune(2500), 1500)
        self.assert_logged(" limited pruning to height 2489")
        self.reorganise(names)

    def reorganise(self, names):
        self.feed(self.branch.blocks[-30:])
        self.assertEqual(self.ask("getblockcount"), 2510)
        self.wait_synced(names)
        for name in names:
            self.assert_logged(f"{name} prune lock moved back to 2480")
        self.ask_indexes((2480, 2481, 2510), names)
        self.ask("getblockfilter", self.chain.tip)

    def test_filters(self):
        self.live(*list(CASES.items())[0])

    def test_statistics(self):
        self.live(*list(CASES.items())[1])

    def test_both_indexes(self):
        self.live(*list(CASES.items())[2])
