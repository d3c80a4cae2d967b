"""Our node and Core's engine take turns on one data directory: each opens, checks and extends what
the other wrote."""

from framework import Node, coins
from generated import small_chain
from kernel_oracle import (OracleError, Tip, assert_engine_agrees, assert_same_coins,
                           copied_datadir, engine_datadir)
from oracle_test import OracleTest
from regtest_chain import COINBASE_MATURITY, Chain, spend

CORE_CHECKS_BLOCKS = 6  # -checkblocks, at level 3


def grown_chain():
    """A chain with spends, one in the tip."""
    chain = Chain().grow(COINBASE_MATURITY + 3)
    for height in range(1, 4):
        txid, amount = chain.coinbase_of(height)
        chain.add(chain.candidate([spend(txid, 0, amount)]))
    return chain


class NodeTest(OracleTest):
    def node(self, name="node"):
        node = Node(self.dir / name)
        self.addCleanup(node.kill)
        return node

    def assert_coins_are(self, node, info):
        answer = coins(node)
        self.assertEqual((answer["txouts"], answer["hash_serialized_3"], answer["muhash"]),
                         (info.coins, info.hash_serialized_3, info.muhash))


class Turns(NodeTest):
    def test_the_engine_opens_ours(self):
        chain = grown_chain()
        node = self.node().start()
        for block in chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        ours = coins(node)
        node.stop()
        txid, amount = chain.coinbase_of(4)
        further = chain.candidate([spend(txid, 0, amount)])
        info = assert_engine_agrees(self, self.oracle, node.net_dir, "regtest",
                                    Tip(chain.height, chain.tip), further.raw())
        self.assertEqual((info.hash_serialized_3, info.muhash),
                         (ours["hash_serialized_3"], ours["muhash"]))

    def test_ours_opens_the_engines(self):
        chain = grown_chain()
        node = self.node()
        raws = [block.raw() for block in chain.blocks]
        engine_datadir(self.oracle, node.net_dir, "regtest", raws)
        info = self.oracle.coins_info(node.net_dir)
        node.start("-checklevel=4", "-checkblocks=0")
        self.assertEqual(node.rpc("getbestblockhash"), chain.tip)
        self.assert_coins_are(node, info)
        txid, amount = chain.coinbase_of(4)
        block = chain.add(chain.candidate([spend(txid, 0, amount)]))
        self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.assertEqual(node.rpc("getbestblockhash"), chain.tip)
        # Back over blocks the engine connected, with its undo data, and forward again.
        early = node.rpc("getblockhash", chain.height - 2)
        node.rpc("invalidateblock", early)
        self.assertEqual(node.rpc("getblockcount"), chain.height - 3)
        node.rpc("reconsiderblock", early)
        self.assertEqual(node.rpc("getbestblockhash"), chain.tip)

    def test_many_turns(self):
        """One directory, ten changes of hands, undo data of both, and a reorganisation by each."""
        chain = grown_chain()
        node = self.node().start()
        for block in chain.blocks:
            node.rpc("submitblock", block.raw().hex())
        node.stop()
        height = 4
        for turn in range(10):
            txid, amount = chain.coinbase_of(height + turn)
            block = chain.add(chain.candidate([spend(txid, 0, amount)]))
            if turn % 2:
                node.start()
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
                node.stop()
            else:
                verdicts, _ = self.oracle.connect(node.net_dir, "regtest", [block.raw()])
                self.assertEqual(verdicts[0].verdict, "connected")
        # A longer branch from seven blocks back: Core's engine switches to it, and our node
        # switches to the old branch once that is longer again.
        branch = Chain(extra=b"\x01")
        branch.blocks = chain.blocks[:-7]
        branch.grow(8)
        verdicts, tip = self.oracle.connect(node.net_dir, "regtest",
                                            [block.raw() for block in branch.blocks[-8:]])
        self.assertEqual(tip.hash, branch.tip)
        node.start("-checklevel=4")
        self.assertEqual(node.rpc("getbestblockhash"), branch.tip)
        chain.grow(2)
        for block in chain.blocks[-2:]:
            node.rpc("submitblock", block.raw().hex())
        self.assertEqual(node.rpc("getbestblockhash"), chain.tip)
        ours = coins(node)
        node.stop()
        info = assert_engine_agrees(self, self.oracle, node.net_dir, "regtest",
                                    Tip(chain.height, chain.tip), chain.candidate().raw())
        self.assertEqual(info.muhash, ours["muhash"])


class Booster(NodeTest):
    """The booster's directory under Core's engine."""

    def boosted(self, name, *args, made, stop):
        node = made.place(self.node(name))
        status, errors = node.run("-reindex", *args, f"-stopatheight={stop}")
        self.assertEqual(status, 0, errors)
        return node

    def test_record_by_record(self):
        made = small_chain()
        serial = self.boosted("serial", made=made, stop=made.height)
        for aggregate in ("sha256", "muhash"):
            for loader in ("table", "batch"):
                node = self.boosted(aggregate + loader, f"-ibdboosterfile={made.container}",
                                    f"-ibdboosteraggregate={aggregate}",
                                    f"-ibdboosterloader={loader}", *made.trust,
                                    made=made, stop=made.height)
                with copied_datadir(serial.net_dir) as a, copied_datadir(node.net_dir) as b:
                    assert_same_coins(self, self.oracle, a, b)
                assert_engine_agrees(self, self.oracle, node.net_dir, "regtest",
                                     Tip(made.height, made.tip))

    def test_tip_at_the_terminal_block(self):
        """Blocks up to it have no undo data (-ibdboosterundo=0), and Core disconnects the last six
        blocks when it starts: Core opens the directory once there are six blocks above it, and then
        connects the rest. Our node has no such limit."""
        made = small_chain()
        hints = [f"-ibdboosterfile={made.container}", *made.trust, "-ibdboosterundo=0"]
        for above in (0, 5, 6, 7):
            stop = made.terminal_height + above
            node = self.boosted(f"above{above}", *hints, made=made, stop=stop)
            with copied_datadir(node.net_dir) as copy:
                if above < CORE_CHECKS_BLOCKS:
                    with self.assertRaises(OracleError) as refusal:
                        self.oracle.tip(copy, "regtest")
                    self.assertIn("failure reading undo data", str(refusal.exception))
                else:
                    self.assertEqual(self.oracle.tip(copy, "regtest"), Tip(made.height, made.tip))
            node.start()
            node.wait_for_tip(made.tip)
            node.stop()

    def test_undo_data_of_an_earlier_sync_is_kept(self):
        """Where Core had undo data, as after its own -reindex-chainstate, it opens at once."""
        made = small_chain()
        node = self.boosted("node", made=made, stop=made.height)
        status, errors = node.run("-reindex-chainstate", f"-ibdboosterfile={made.container}",
                                  *made.trust, f"-stopatheight={made.terminal_height}")
        self.assertEqual(status, 0, errors)
        with copied_datadir(node.net_dir) as copy:
            self.assertEqual(self.oracle.tip(copy, "regtest"), Tip(made.height, made.tip))
