"""Pruning beside Bitcoin Core: the same blocks and calls, the same answers, the same files left;
each node opens the directory that the other has pruned and continues with it. Core is built by
build_core.sh; IBD_CORE names a folder of its programs instead."""

import contextlib
import http.client
import re

import generated
from core_node import CoreNode, Pair
from framework import FunctionalTest, Node, RpcError, coins, free_port, wait_until
from regtest_chain import Chain

OPTIONS = ("-fastprune", "-prune=1", "-maxtipage=10000000000", "-blocksxor=0")


def files(node):
    return {path.name: path.stat().st_size for path in node.blocks_dir.glob("*.dat")
            if path.name != "xor.dat"}


class PruneDifferential(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain()

    def grow(self, pair, count):
        for _ in range(count):
            pair.submit(self.chain.add(self.chain.candidate()))

    @staticmethod
    def chain_info(pair):
        """The log lines about pruning."""
        answers = []
        for node in (pair.core, pair.ours):
            info = node.rpc("getblockchaininfo")
            answers.append({key: info.get(key) for key in (
                "blocks", "bestblockhash", "pruned", "pruneheight", "automatic_pruning",
                "prune_target_size")})
        assert answers[0] == answers[1], answers
        return answers[0]

    def compare(self, pair):
        self.assertEqual(sorted(files(pair.ours)), sorted(files(pair.core)))
        info = self.chain_info(pair)
        for height in range(0, info["blocks"] + 1, 23):
            block = pair.ask("getblockhash", height)
            pair.ask("getblock", block, 0)
        return info

    def test_same_files_and_answers(self):
        with Pair(self.dir, options=OPTIONS) as pair:
            self.nodes += [pair.core, pair.ours]
            pair.ask("pruneblockchain", 0)
            self.grow(pair, 90)
            pair.ask("pruneblockchain", 50)  # too short
            self.grow(pair, 910)
            self.compare(pair)
            for height in (-1, 1001, 2_000_000_000, 0, 1, 100, 217, 250, 300):
                pair.ask("pruneblockchain", height)
                self.compare(pair)
            block_time = pair.ask("getblockheader", pair.ask("getblockhash", 470))["time"]
            for seconds in (0, 7199, 7200, 7201):
                pair.ask("pruneblockchain", block_time + seconds)
                self.compare(pair)
            self.grow(pair, 50)
            pair.ask("pruneblockchain", 1050)
            pruned = self.compare(pair)
            self.assertGreater(pruned["pruneheight"], 400)
            for level in range(5):
                pair.ask("verifychain", level, 288)
            for node in (pair.core, pair.ours):
                node.stop().start()
            self.assertEqual(self.compare(pair), pruned)
            for node in (pair.core, pair.ours):
                node.stop()
            self.change_places(pair, pruned)

    def change_places(self, pair, pruned):
        """Each on the directory of the other."""
        for node in (pair.core, pair.ours):
            node.datadir = node.datadir.rename(node.datadir.with_suffix(".was"))
        pair.core.datadir, pair.ours.datadir = pair.ours.datadir, pair.core.datadir
        for node in (pair.core, pair.ours):
            node.start()
        self.assertEqual(self.chain_info(pair), pruned)
        self.grow(pair, 300)
        pair.ask("pruneblockchain", 1300)
        self.assertGreater(self.compare(pair)["pruneheight"], pruned["pruneheight"])
        self.assertEqual(coins(pair.ours), coins(pair.core))
        for node in (pair.core, pair.ours):
            node.stop()
        self.refusals(pair)

    def refusals(self, pair):
        """Both programs' errors for impossible starts."""
        for node in (pair.core, pair.ours):
            node.args = ["-fastprune", "-blocksxor=0"]
        for args in ((), ("-reindex-chainstate",), ("-prune=1", "-reindex-chainstate"),
                     ("-prune=1", "-txindex"), ("-prune=549",), ("-prune=-5",)):
            ends = [node.run(*args) for node in (pair.core, pair.ours)]
            self.assertEqual(ends[0], ends[1], args)
            self.assertEqual(ends[0][0], 1)

    def test_reindex_of_what_is_left(self):
        with Pair(self.dir, options=OPTIONS) as pair:
            self.nodes += [pair.core, pair.ours]
            self.grow(pair, 1000)
            for node in (pair.core, pair.ours):
                node.stop().start("-reindex")
                node.wait_for_height(1000)
            self.compare(pair)
            self.assertGreater(pair.ask("pruneblockchain", 500), 0)
            for node in (pair.core, pair.ours):
                node.stop().start("-reindex")
            self.assertEqual(self.compare(pair)["blocks"], 0)


class DeepBranch(FunctionalTest):
    """A better branch that forks below the stored blocks of a pruned node."""

    LENGTH = 1000
    DEPTH = 600

    def pruned(self, kind, trunk, *args):
        node = kind(self.dir / kind.__name__, "regtest", OPTIONS)
        self.nodes.append(node)
        node.start(*args)
        for block in trunk.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.assertGreater(node.rpc("pruneblockchain", self.LENGTH - 300), 0)
        return node

    def outcome(self, node, branch):
        """(answers to the blocks of the branch, how the node ended), then what a start says."""
        answers = []
        for block in branch.blocks[-self.DEPTH - 1:]:
            try:
                answers.append(node.rpc("submitblock", block.raw().hex()))
            except RpcError as error:
                answers.append((error.code, error.message))
            except (OSError, http.client.HTTPException):
                break
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not node.running, "the end", 20)
        if node.running:
            return answers, "lives", node.rpc("getbestblockhash")
        status, errors = node.wait()
        return answers, status, errors

    def test_both_end_alike(self):
        trunk = Chain().grow(self.LENGTH)
        branch = trunk.branch(self.DEPTH, self.DEPTH + 1)
        ends, tips = [], []
        for kind in (CoreNode, Node):
            node = self.pruned(kind, trunk)
            lowest = node.rpc("getblockchaininfo")["pruneheight"]
            ends.append((*self.outcome(node, branch), *node.run()))
            moves = re.findall(r"UpdateTip: new best=\w+ height=(\d+)", node.log_text)
            tips.append(int(moves[-1]))
        (core_answers, *core), (our_answers, *ours) = ends
        # Answer and tip at the end differ (doc/develop/differential.md).
        self.assertEqual(core_answers[-1], "inconclusive")
        self.assertEqual(our_answers[-1], (-20, "Failed to disconnect block."))
        self.assertEqual(tips, [lowest - 1, self.LENGTH])
        self.assertEqual(our_answers[:-1], core_answers[:-1])
        self.assertEqual(set(core_answers[:-1]), {"inconclusive"})
        self.assertEqual(len(our_answers), len(core_answers))
        for answer in (core_answers, our_answers):
            self.assertEqual(len(answer), self.DEPTH + 1)
        self.assertEqual(ours[:3], core[:3])
        self.assertEqual(core[0], 1)
        self.assertIn("Failed to disconnect block.", core[1])
        # A start ends in the same way. Core adds a line with its height.
        self.assertTrue(core[3].startswith(ours[3]), (core[3], ours[3]))


class BoosterPruned(FunctionalTest):
    """The directory after the booster folded blocks from peers without storing them."""

    def test_core_opens_it(self):
        made = generated.chain("--outputs", "24000", "--outputs-per-block", "40", "--tail",
                               str(generated.TAIL), "--seed", "9")
        server = made.place(self.node())
        self.assertEqual(server.run("-reindex", made.to_tip), (0, ""))
        port = free_port()
        server.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{port}")
        ours = self.node()
        ours.start(f"-connect=127.0.0.1:{port}", f"-ibdboosterfile={made.container}", *made.trust,
                   "-prune=1", "-ibdboosterprune=1", "-fastprune").wait_for_tip(made.tip)
        pruned = ours.rpc("getblockchaininfo")
        told = coins(ours)
        ours.stop()
        core = CoreNode(ours.datadir, "regtest", ["-prune=1", "-fastprune"])
        self.nodes.append(core)
        core.start()
        info = core.rpc("getblockchaininfo")
        for key in ("blocks", "bestblockhash", "pruned", "pruneheight", "size_on_disk"):
            self.assertEqual(info[key], pruned[key], key)
        self.assertEqual(coins(core), told)
        last = made.terminal_height - 288
        self.assert_rpc_error(-1, "Block not available (pruned data)", core.rpc, "getblock",
                              core.rpc("getblockhash", last))
        self.assertEqual(core.rpc("getblock", core.rpc("getblockhash", last + 1), 0),
                         server.rpc("getblock", core.rpc("getblockhash", last + 1), 0))
        core.stop()
