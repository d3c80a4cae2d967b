"""Pruning: the files that pruneblockchain deletes and its answer, the errors of calls about pruned
blocks, and the starts that are refused."""

import shutil

from framework import FunctionalTest, RpcError, free_port
from regtest_chain import Chain

MISC, INVALID_PARAMETER = -1, -8
PRUNED = "Block not available (pruned data)"
NODE_NETWORK, NODE_NETWORK_LIMITED = 1, 1 << 10
HEIGHT = 1300
SMALL_FILES = ("-fastprune", "-maxtipage=10000000000")


class Prune(FunctionalTest):
    def fed(self, *args, height=HEIGHT):
        node = self.node("regtest", *SMALL_FILES)
        node.chain_of_test = Chain().grow(height)
        node.start(*args)
        for block in node.chain_of_test.blocks:
            node.rpc("submitblock", block.raw().hex())
        node.wait_for_height(height)
        return node

    @staticmethod
    def files(node):
        return sorted(path.name for path in node.blocks_dir.glob("*.dat"))

    def services(self, node):
        return int(node.rpc("getnetworkinfo")["localservices"], 16)

    @staticmethod
    def rpc_error_text(node, *call):
        try:
            return f"no error: {node.rpc(*call)}"
        except RpcError as error:
            return error.message

    def test_not_in_prune_mode(self):
        node = self.fed(height=3)
        self.assert_rpc_error(MISC, "Cannot prune blocks because node is not in prune mode.",
                              node.rpc, "pruneblockchain", 1)
        self.assertEqual(node.rpc("getblockchaininfo")["pruned"], False)
        self.assertNotIn("pruneheight", node.rpc("getblockchaininfo"))
        self.assertTrue(self.services(node) & NODE_NETWORK)

    def test_what_goes_and_what_calls_say(self):
        node = self.fed("-prune=1")
        self.assertIn("Block pruning enabled. Use RPC call pruneblockchain(height) to manually "
                      "prune block and undo files.", node.log_text)
        self.assertFalse(self.services(node) & NODE_NETWORK)
        self.assertTrue(self.services(node) & NODE_NETWORK_LIMITED)
        info = node.rpc("getblockchaininfo")
        self.assertEqual((info["pruned"], info["pruneheight"], info["automatic_pruning"]),
                         (True, 0, False))
        self.assertNotIn("prune_target_size", info)
        for height, code, text in (
                (-1, INVALID_PARAMETER, "Negative block height."),
                (HEIGHT + 1, INVALID_PARAMETER,
                 "Blockchain is shorter than the attempted prune height."),
                (2_000_000_000, INVALID_PARAMETER,
                 "Could not find block with at least the specified timestamp.")):
            self.assert_rpc_error(code, text, node.rpc, "pruneblockchain", height)
        self.assertEqual(node.rpc("pruneblockchain", 0), -1)
        before = self.files(node)
        last = node.rpc("pruneblockchain", 500)
        self.assertTrue(0 < last <= 500)
        self.assertEqual(node.rpc("getblockchaininfo")["pruneheight"], last + 1)
        self.assertNotIn("blk00000.dat", self.files(node))
        self.assertNotIn("rev00000.dat", self.files(node))
        self.assertLess(len(self.files(node)), len(before))
        gone, kept = node.rpc("getblockhash", last), node.rpc("getblockhash", last + 1)
        self.assertEqual(node.rpc("getblock", kept)["height"], last + 1)
        self.assertEqual(node.rpc("getblockheader", gone)["nTx"], 1)
        self.assert_rpc_error(MISC, PRUNED, node.rpc, "getblock", gone)
        self.assert_rpc_error(MISC, PRUNED, node.rpc, "getblockstats", last)
        self.assertEqual(node.rpc("getblockstats", last + 1)["height"], last + 1)
        # Older states of the coins cannot be reached without the blocks that made the newer ones.
        for method, *params in (("dumptxoutset", "dump", "", {"rollback": last}),
                                ("dumptxoutset", "dump", "rollback", {"rollback": 1})):
            self.assert_rpc_error(MISC, "Could not roll back to requested height since necessary "
                                  "block data is already pruned.", node.rpc, method, *params)
        self.assert_rpc_error(INVALID_PARAMETER,
                              "Querying specific block heights requires coinstatsindex", node.rpc,
                              "gettxoutsetinfo", "none", 1)
        dump = node.rpc("dumptxoutset", "dump", "", {"rollback": last + 1})
        self.assertEqual(dump["base_height"], last + 1)
        text = self.rpc_error_text(node, "invalidateblock", gone)
        self.assertIn("restart with -reindex, which", text)
        self.assertNotIn("ibdboosterundo", text)
        # By time: up to the first block that is no more than two hours older.
        when = node.rpc("getblockheader", node.rpc("getblockhash", 950))["time"] + 2 * 60 * 60
        by_time = node.rpc("pruneblockchain", when)
        self.assertTrue(last < by_time <= 950)
        # The last 288 stay, regardless of the requested height.
        most = node.rpc("pruneblockchain", HEIGHT)
        self.assertTrue(by_time <= most <= HEIGHT - 288)
        self.assertEqual(node.rpc("verifychain", 4, 288), True)
        self.assertEqual(node.rpc("verifychain", 4, 0), False)  # not all of it

        node.stop().start("-prune=1")
        self.assertIn("Block files have previously been pruned", node.log_text)
        self.assertEqual(node.rpc("getblockchaininfo")["pruneheight"], most + 1)
        self.assertEqual(node.rpc("getblockcount"), HEIGHT)

    def test_starts_that_are_refused(self):
        node = self.fed("-prune=1")
        node.rpc("pruneblockchain", 500)
        node.stop()
        status, errors = node.run()
        self.assertEqual(status, 1)
        self.assertEqual(errors, "You need to rebuild the database using -reindex to go back to "
                         "unpruned mode.  This will redownload the entire blockchain.\n"
                         "Please restart with -reindex or -reindex-chainstate to recover.\n")
        status, errors = node.run("-reindex-chainstate")
        self.assertEqual((status, "to go back to unpruned mode" in errors), (1, True))
        for args, text in (
                (("-prune=1", "-reindex-chainstate"),
                 "Prune mode is incompatible with -reindex-chainstate. Use full -reindex instead."),
                (("-prune=549",),
                 "Prune configured below the minimum of 550 MiB.  Please use a higher number."),
                (("-prune=-1",), "Prune cannot be configured with a negative value."),
                (("-prune=1", "-txindex"), "Prune mode is incompatible with -txindex.")):
            self.assert_refused(node, *args, saying=text)
        node.start("-prune=550")
        info = node.rpc("getblockchaininfo")
        self.assertEqual((info["automatic_pruning"], info["prune_target_size"]), (True, 550 << 20))
        self.assertEqual(info["blocks"], HEIGHT)

    def test_a_reindex_begins_with_what_connects(self):
        node = self.fed("-prune=1")
        hashes = [block.hash() for block in node.chain_of_test.blocks]
        node.stop()
        # All files are there: all blocks come back.
        node.start("-prune=1", "-reindex").wait_for_height(HEIGHT)
        self.assertEqual(node.rpc("getblockchaininfo")["pruneheight"], 0)
        node.rpc("pruneblockchain", 500)
        node.stop()
        # The first are not: none is usable, and files and index start empty.
        node.start("-prune=1", "-reindex")
        self.assertEqual(node.rpc("getblockcount"), 0)
        self.assertEqual([name for name in self.files(node) if name.startswith("blk")],
                         ["blk00000.dat"])
        for block in node.chain_of_test.blocks:
            node.rpc("submitblock", block.raw().hex())
        node.wait_for_tip(hashes[-1])
        self.assertEqual(node.rpc("getblockchaininfo")["pruneheight"], 0)

    def test_a_kill_leaves_what_the_next_start_deletes(self):
        node = self.fed("-prune=1")
        node.stop()
        copy = self.dir / "copy"
        shutil.copytree(node.blocks_dir, copy)
        node.start("-prune=1")
        node.rpc("pruneblockchain", 500)
        pruned = self.files(node)
        node.kill()
        # As if it had been killed before the files were deleted, or after some were.
        shutil.copy(copy / "blk00000.dat", node.blocks_dir)
        shutil.copy(copy / "rev00000.dat", node.blocks_dir)
        node.start("-prune=1")
        self.assertEqual(self.files(node), pruned)
        self.assertEqual(node.rpc("getblockcount"), HEIGHT)

    def test_a_lost_chainstate_is_built_from_peers(self):
        address = f"127.0.0.1:{free_port()}"
        self.fed("-listen=1", f"-bind={address}", "-noconnect")
        pruned = self.fed("-prune=1")
        pruned.rpc("pruneblockchain", 1000)
        self.assertNotIn("blk00000.dat", self.files(pruned))
        pruned.stop()
        shutil.rmtree(pruned.net_dir / "chainstate")
        pruned.start("-prune=1")
        self.assertEqual(pruned.rpc("getblockcount"), 0)
        pruned.stop()
        pruned.start("-prune=1", f"-connect={address}")
        pruned.wait_for_height(HEIGHT)
