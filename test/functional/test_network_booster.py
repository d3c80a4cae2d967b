"""The booster fed by peers: a fresh node with hints syncs over loopback from a node of ours, in any
order, through kills, wrong hints and hints of another chain, to the coins of serial validation. The
long form of the kills: test/functional/run.py -v --kills 100 test_network_booster.Killed
"""

import os
import random
import re
import shutil
import time

from framework import (NO_UNDO, RPC_IN_WARMUP, FunctionalTest, RpcError, coins, free_port,
                       left_by_booster, wait_until)
from generated import TAIL, chain, small_chain
from relay import Relay

KILLS = int(os.environ.get("IBD_KILLS", "3"))
SUCCESS = "*** IBD Booster: {} check at block height {} succeeded. ***"


class NetworkBooster(FunctionalTest):
    def serve(self, made, *options, copied=False):
        """A node that has the chain and listens; `copied`: it may be given further blocks."""
        server = made.place(self.node(), copied)
        self.assertEqual(server.run("-reindex", made.to_tip), (0, ""))
        server.p2p_port = free_port()
        server.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{server.p2p_port}", *options)
        self.assertEqual(server.rpc("getbestblockhash"), made.tip)
        return server

    def from_peer(self, made, port, hints=None):
        return [f"-connect=127.0.0.1:{port}", f"-ibdboosterfile={hints or made.container}",
                *made.trust, NO_UNDO]

    def serve_slowly(self, rate):
        """A chain, a node that serves it, and a relay to that with `rate` bytes a second."""
        made = chain("--outputs", "60000", "--outputs-per-block", "100", "--tail", str(TAIL),
                     "--seed", "9")
        server = self.serve(made)
        relay = Relay(server.p2p_port, rate)
        self.addCleanup(relay.close)
        return made, server, relay

    def spoilt_hints(self, made):
        bad = bytearray(made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        hints = self.dir / "bad.bitmap"
        hints.write_bytes(bad)
        return hints

    def killed_before_coins(self, make, line, *args):
        """Starts a node without coins and kills it once its log has `line`. If all is checked by
        then, so that the next start may only have to put the coins into their place, it tries again
        with another node."""
        for _ in range(10):
            node = make()
            shutil.rmtree(node.net_dir / "chainstate", ignore_errors=True)
            node.launch(*args)
            wait_until(lambda node=node: line in node.log_text, line)
            node.kill()
            if "Booster: all checks passed" not in node.log_text:
                return node
        return self.fail("each kill came too late")

    def kill_on_the_way(self, node, args, step, times):
        """Lets it fold `step` blocks and kills it, so often or until it is through."""
        folded = 0
        for _ in range(times):
            if "succeeded. ***" in node.log_text:
                return
            node.launch(*args)
            node.wait_for_rpc("getboosterinfo")

            def more():
                nonlocal folded
                info = node.rpc("getboosterinfo")
                if info.get("folded", 0) < folded + step:
                    return "succeeded. ***" in node.log_text
                folded = info["folded"]
                return True
            wait_until(more, "blocks")
            node.kill()

    def assert_synced(self, node, server, made, left=()):
        node.wait_for_tip(made.tip)
        self.assertEqual(coins(node), coins(server))
        self.assertEqual(left_by_booster(node), list(left))


class WhereHeadersEnd(NetworkBooster):
    """The chain of all peers ends before what is waited for."""

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.server = self.serve(self.made)
        self.node_ = self.node()
        self.peer = [f"-connect=127.0.0.1:{self.server.p2p_port}", "-minimumchainwork=0", NO_UNDO]

    def test_the_assumed_valid_block_is_the_tip(self):
        """The highest block that is buried is taken, as of stored blocks."""
        node = self.node_
        node.start(*self.peer, "-ibdbooster", f"-assumevalid={self.made.tip}")
        self.assert_synced(node, self.server, self.made)
        log = node.log_text
        self.assertIn(f"IBD Booster: the headers end at height {self.made.height}: 1 of 1 peers "
                      "have sent all their headers", log)
        made = re.search(r"making hints from the blocks up to height (\d+)", log)
        self.assertIsNotNone(made)
        self.assertGreater(int(made[1]), self.made.terminal_height)
        self.assertLess(int(made[1]), self.made.height)

    def test_the_assumed_valid_block_is_not_on_the_chain(self):
        node = self.node_
        node.start(*self.peer, "-ibdbooster", f"-assumevalid={'ab' * 32}")
        self.assert_synced(node, self.server, self.made)
        self.assertIn("the sync continues without it: no stored block may be assumed valid "
                      "(assumevalid hash not in headers)", node.log_text)

    def test_hints_end_above(self):
        """It waits for a peer with a longer chain, and says so."""
        node, made = self.node_, self.made
        cut = self.server.rpc("getblockhash", made.terminal_height - 20)
        self.server.rpc("invalidateblock", cut)
        node.launch(*self.peer, f"-ibdboosterfile={made.container}", *made.trust)
        wait_until(lambda: "the best header is at height "
                   f"{made.terminal_height - 21}, and the hints end above it, at height "
                   f"{made.terminal_height}: waiting for a peer" in node.log_text, "the line")
        self.server.rpc("reconsiderblock", cut)
        self.server.wait_for_tip(made.tip)
        # The peer announces its chain on request only.
        node.kill()
        node.start(*self.peer, f"-ibdboosterfile={made.container}", *made.trust)
        self.assert_synced(node, self.server, made)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)


class Whole(NetworkBooster):
    def test_an_empty_directory(self):
        made = small_chain()
        server = self.serve(made)
        for aggregate, name in (("sha256", "SHA256"), ("muhash", "MuHash")):
            with self.subTest(aggregate=aggregate):
                node = self.node()
                node.start(*self.from_peer(made, server.p2p_port),
                           f"-ibdboosteraggregate={aggregate}", "-ibdboosterpeers=8")
                self.assert_synced(node, server, made)
                log = node.log_text
                self.assertIn(SUCCESS.format(name, made.terminal_height), log)
                self.assertIn(f"{made.terminal_height} of {made.terminal_height} blocks are to be "
                              "fetched from peers", log)
                info = node.rpc("getboosterinfo")
                self.assertEqual(info["state"], "accepted")
                self.assertEqual(info["download"]["received"], made.terminal_height)
                # It serves the fetched blocks.
                node.stop()
                node.start("-checklevel=0", "-checkblocks=0")
                for height in (1, made.terminal_height, made.height):
                    block = node.rpc("getblockhash", height)
                    self.assertEqual(node.rpc("getblock", block, 0),
                                     server.rpc("getblock", block, 0))
                node.stop()

    def test_undo_data_of_the_last_blocks(self):
        """They are fetched first, and the coins that they spend are found in the others as these
        arrive."""
        made = small_chain(30000)
        server = self.serve(made)
        for threads in (1, 3):
            with self.subTest(threads=threads):
                node = self.node()
                args = self.from_peer(made, server.p2p_port)
                args.remove(NO_UNDO)
                self.assertEqual(node.run(*args, "-ibdboosterundo=1",
                                          f"-ibdboosterthreads={threads}",
                                          f"-stopatheight={made.terminal_height}"), (0, ""))
                log = node.log_text
                self.assertIn("the last 288 blocks spend are looked for while blocks are folded",
                              log)
                self.assertNotIn("Undo: looking for", log)
                self.assertIn("Undo data: the last 288 blocks have it", log)
                node.start(NO_UNDO, "-checklevel=4", "-checkblocks=288", "-connect=0")
                self.assertIn("no coin database inconsistencies", node.log_text.lower())
                node.stop()

    def test_some_blocks_are_there_already(self):
        """No stored block is fetched again."""
        made = chain("--outputs", "6000", "--outputs-per-block", "40", "--tail", str(TAIL),
                     "--seed", "8")
        server = self.serve(made)
        node = self.node()
        shutil.copytree(made.blocks, node.blocks_dir)
        last = sorted(node.blocks_dir.glob("blk*.dat"))[-1]
        os.truncate(last, last.stat().st_size // 2)
        stored = 40
        self.assertEqual(node.run("-reindex", f"-stopatheight={stored}")[0], 0)
        node.start("-reindex-chainstate", *self.from_peer(made, server.p2p_port))
        self.assert_synced(node, server, made)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)

    def test_a_peer_that_comes_late(self):
        """Until there is one it waits, says so, and can be stopped."""
        made = small_chain()
        node = self.node()
        port = free_port()
        node.launch(*self.from_peer(made, port))
        node.wait_for_rpc("getboosterinfo")
        wait_until(lambda: node.rpc("getboosterinfo")["state"] == "waiting", "waiting")
        self.assertEqual(node.rpc("getboosterinfo")["headers"], 0)
        self.assertIn("IBD Booster: waiting for headers", node.log_text)
        # Calls that need no coins are answered.
        chain = node.rpc("getblockchaininfo")
        self.assertEqual((chain["blocks"], chain["headers"], chain["initialblockdownload"]),
                         (0, 0, True))
        self.assertEqual(node.rpc("getpeerinfo"), [])
        self.assertTrue(node.rpc("getnetworkinfo")["networkactive"])
        with self.assertRaises(RpcError) as refused:
            node.rpc("gettxoutsetinfo")
        self.assertEqual(refused.exception.code, RPC_IN_WARMUP)
        self.assertIn("Booster: waiting for headers, 0 of them known",
                      node.cli("-getinfo").stdout)
        node.stop()
        server = self.serve(made)
        node.start(*self.from_peer(made, server.p2p_port))
        self.assert_synced(node, server, made)


class Killed(NetworkBooster):
    def test_goes_on_from_what_is_stored(self):
        made, server, relay = self.serve_slowly(2_000_000)
        node = self.node()
        args = [*self.from_peer(made, relay.port), "-ibdboosterintervalbytes=200000"]
        self.kill_on_the_way(node, args, 30, KILLS)
        node.start(*args)
        self.assert_synced(node, server, made)
        self.assertIn("resuming from a checkpoint", node.log_text)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)

    def test_at_random(self):
        """At any moment, with hints and without: each start continues, and the coins are right."""
        made, server, relay = self.serve_slowly(3_000_000)
        chance, kills, runs = random.Random(), 0, 0
        while kills < KILLS:
            node, hinted = self.node(), runs % 2 == 0
            args = self.from_peer(made, relay.port)
            if not hinted:
                args = [arg for arg in args if not arg.startswith("-ibdboosterfile")]
            for _ in range(min(KILLS - kills, chance.randint(2, 8))):
                node.launch(*args)
                time.sleep(chance.uniform(0.01, 2))
                node.kill()
                kills += 1
            node.start(*args)
            self.assert_synced(node, server, made)
            self.assertEqual(hinted, "succeeded. ***" in node.log_text)
            node.stop()
            shutil.rmtree(node.datadir)
            runs += 1
        print(f"{kills} kills in {runs} syncs from a peer; right coins after each")


def long_chain():
    """Whose hints end far above the 288 blocks that pruning keeps."""
    return chain("--outputs", "24000", "--outputs-per-block", "40", "--tail", str(TAIL), "--seed",
                 "9")


class OwnHints(NetworkBooster):
    """Without a hints file: blocks are joined as they come, then folded from the disk."""

    def from_peer(self, made, port, hints=None):
        return [f"-connect=127.0.0.1:{port}", "-ibdbooster", *made.trust, NO_UNDO]

    def test_an_empty_directory(self):
        made = small_chain()
        server = self.serve(made)
        node = self.node()
        node.start(*self.from_peer(made, server.p2p_port), "-ibdboosterpeers=8")
        self.assert_synced(node, server, made)
        log = node.log_text
        self.assertIn("waiting for headers: the assumed-valid block must be among them", log)
        self.assertIn(f"making hints from the blocks up to height {made.terminal_height}", log)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), log)
        self.assertIn(f"{made.terminal_height} of {made.terminal_height} blocks are to be fetched "
                      "from peers", log)
        node.stop()
        node.start("-checklevel=0", "-checkblocks=0")
        for height in (1, made.terminal_height, made.height):
            block = node.rpc("getblockhash", height)
            self.assertEqual(node.rpc("getblock", block, 0), server.rpc("getblock", block, 0))

    def test_with_undo_data(self):
        """An empty directory becomes that of an archival node."""
        made = small_chain()
        server = self.serve(made)
        node = self.node()
        node.start(*self.from_peer(made, server.p2p_port), "-ibdboosterundo=now")
        self.assert_synced(node, server, made)
        self.assertIn(f"all blocks up to height {made.terminal_height} keep every rule but "
                      "scripts; their undo data is written", node.log_text)
        self.assertTrue(node.rpc("verifychain", 4, 0))
        self.assertEqual(coins(node), coins(server))

    def test_without_an_assumed_valid_block(self):
        """Nothing says up to where to fetch; not even a network helps."""
        self.assert_refused(self.node(), f"-connect=127.0.0.1:{free_port()}", "-ibdbooster",
                            saying="nothing for -ibdbooster to do")

    def test_kills_and_what_it_says(self):
        made, server, relay = self.serve_slowly(2_000_000)
        node = self.node()
        args = [*self.from_peer(made, relay.port), "-ibdboosterintervalbytes=200000"]
        read = 0
        for _ in range(3):
            node.launch(*args)
            node.wait_for_rpc("getboosterinfo")

            def more():
                nonlocal read
                info = node.rpc("getboosterinfo")
                if info["state"] not in ("joining", "waiting", "off", "idle"):
                    return True
                join = info.get("join", {"phase": "", "bytes": 0})
                if join["phase"] != "reading" or join["bytes"] < read + 500_000:
                    return False
                read = join["bytes"]
                self.assertEqual(info["download"]["peers"], 1)
                self.assertEqual(node.rpc("getblockchaininfo")["blocks"], 0)
                self.assertEqual(len(node.rpc("getpeerinfo")), 1)
                self.assertIn("Booster: making hints, reading", node.cli("-getinfo").stdout)
                return True
            wait_until(more, "blocks")
            node.kill()
        self.assertGreater(read, 0)
        node.start(*args)
        self.assert_synced(node, server, made)
        self.assertIn("Join: resuming: ", node.log_text)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)

    def test_an_interrupted_sync_goes_on_without_a_network(self):
        """All blocks were there: the next start needs no peer."""
        made = small_chain()
        server = self.serve(made)
        node = self.killed_before_coins(self.node, "Join: hints of",
                                        *self.from_peer(made, server.p2p_port))
        node.start("-connect=0", "-ibdbooster", *made.trust)
        self.assertGreaterEqual(node.rpc("getblockcount"), made.terminal_height)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)


class Pruned(NetworkBooster):
    """Blocks are folded and not stored."""

    MODE = ("-prune=1", "-ibdboosterprune=1", "-fastprune")
    PRUNED = "Block not available (pruned data)"

    def assert_pruned(self, node, server, made):
        first = made.terminal_height - 288 + 1
        self.assertIn(f"blocks below height {first} are not stored (-prune)", node.log_text)
        for height in (1, first // 2, first - 1):
            block = node.rpc("getblockhash", height)
            self.assert_rpc_error(-1, self.PRUNED, node.rpc, "getblock", block)
            self.assertEqual(node.rpc("getblockheader", block)["nTx"],
                             server.rpc("getblockheader", block)["nTx"])
        for height in (first, made.terminal_height, made.height):
            block = node.rpc("getblockhash", height)
            self.assertEqual(node.rpc("getblock", block, 0), server.rpc("getblock", block, 0))
        info = node.rpc("getblockchaininfo")
        self.assertEqual((info["pruned"], info["pruneheight"]), (True, made.terminal_height + 1))
        self.assertEqual(node.rpc("getchaintxstats")["txcount"],
                         server.rpc("getchaintxstats")["txcount"])

    def test_a_sync_that_keeps_the_last_blocks_only(self):
        made = long_chain()
        server = self.serve(made)
        node = self.node()
        args = self.from_peer(made, server.p2p_port)
        self.assert_refused(node, *args, "-prune=1", saying="Add -ibdboosterprune=1")
        node.start(*args, *self.MODE)
        self.assert_synced(node, server, made)
        self.assert_pruned(node, server, made)
        node.stop()
        self.assertEqual(node.run()[0], 1)  # no way back but -reindex
        node.start(*args, *self.MODE)
        self.assert_synced(node, server, made)
        self.assert_pruned(node, server, made)

    def test_kills(self):
        made = long_chain()
        server = self.serve(made)
        relay = Relay(server.p2p_port, 400_000)
        self.addCleanup(relay.close)
        node = self.node()
        args = [*self.from_peer(made, relay.port), "-ibdboosterintervalbytes=1", *self.MODE]
        self.kill_on_the_way(node, args, 60, 4)
        node.start(*args)
        self.assert_synced(node, server, made)
        self.assertIn("resuming from a checkpoint", node.log_text)
        self.assert_pruned(node, server, made)

    def test_wrong_hints_cost_a_fresh_download(self):
        made = long_chain()
        server = self.serve(made)
        node = self.node()
        node.start(*self.from_peer(made, server.p2p_port, self.spoilt_hints(made)), *self.MODE)
        self.assert_synced(node, server, made, left=["badhints.txt"])
        (line,) = [line for line in node.log_text.splitlines() if "the hints are wrong" in line]
        self.assertIn("the blocks were not kept (-prune): all are fetched again", line)
        self.assertEqual(node.rpc("getblockchaininfo")["pruneheight"], 0)  # now they are kept
        self.assertEqual(node.rpc("verifychain", 4, 0), True)


class Refused(NetworkBooster):
    def test_wrong_hints(self):
        """Serial validation continues from the fetched blocks."""
        made = small_chain()
        server = self.serve(made)
        node = self.node()
        node.start(*self.from_peer(made, server.p2p_port, self.spoilt_hints(made)))
        self.assert_synced(node, server, made, left=["badhints.txt"])
        self.assertIn("the hints are wrong", node.log_text)
        self.assertNotIn("succeeded. ***", node.log_text)

    def test_hints_of_another_chain(self):
        made = small_chain()
        other = chain("--outputs", "6000", "--outputs-per-block", "40", "--tail", str(TAIL),
                      "--seed", "8")
        server = self.serve(made)
        node = self.node()
        node.start(*self.from_peer(made, server.p2p_port, other.container))
        self.assert_synced(node, server, made)
        self.assertEqual(node.log_text.count("the hints are refused, and the sync continues "
                                             "without them"), 1)

    def test_without_a_network(self):
        made = small_chain()
        self.assert_refused(self.node(), f"-ibdboosterfile={made.container}", *made.trust,
                            saying="above the best header")
