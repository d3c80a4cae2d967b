"""Calls while the node builds its index or its chainstate: calls without coins are answered as
soon as the index is open, in every mode and without a network; the others answer -28. Progress is
the same figure wherever it is shown."""

import http.client
import itertools
import re
import shutil
import threading
import time

from framework import (NEEDS_COINS, FunctionalTest, RPC_IN_WARMUP, RpcError, free_port, hints_tool,
                       wait_until)
from generated import medium_chain
from message_relay import MessageRelay

# The calls of a monitor: about the program, the chain, blocks and peers.
EARLY = [("getblockchaininfo",), ("getblockcount",), ("getbestblockhash",), ("getblockhash", 0),
         ("getnetworkinfo",), ("getpeerinfo",), ("getconnectioncount",), ("getnettotals",),
         ("getchaintips",), ("getchainstates",), ("getchaintxstats",), ("getdifficulty",),
         ("getmemoryinfo",), ("logging",), ("help",), ("uptime",), ("getrpcinfo",),
         ("getboosterinfo",), ("listbanned",), ("getaddednodeinfo",), ("getnodeaddresses",),
         ("addnode", "127.0.0.1:1", "onetry"), ("getmempoolinfo",), ("getrawmempool",),
         ("getmininginfo",), ("getnetworkhashps",), ("getdeploymentinfo",), ("getindexinfo",),
         ("estimatesmartfee", 6), ("validateaddress", "x"), ("decodescript", "51")]
# Answers of the node while the index is open and there is no chainstate yet.
WORK = ("Reindexing blocks on disk", "Building the chainstate", "Converting hints")
FIGURE = r"… \(step (\d) of (\d), (\d+) %(?:, [\dhmins ]+ left)?\)"


class DuringRebuild(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = medium_chain()
        self.main = self.made.place(self.node())
        self.assertEqual(self.main.run("-reindex", "-ibdbooster=0", self.made.to_tip), (0, ""))

    def at_work(self, node):
        """The text of the -28 while index or chainstate are built; "": it has ended."""
        while True:
            try:
                node.rpc(*NEEDS_COINS)
                return ""
            except RpcError as error:
                self.assertEqual(error.code, RPC_IN_WARMUP)
                text = str(error)
                if any(work in text for work in WORK):
                    return text
            except (OSError, http.client.HTTPException, ValueError):
                self.assertTrue(node.running, node.errors)

    def look(self, told):
        """The fields of the calls about all steps, if present: (step, steps, progress) of each."""
        booster, chain = self.main.rpc("getboosterinfo"), self.main.rpc("getblockchaininfo")
        shown = re.search(FIGURE, told)
        if shown:
            step, steps, percent = map(int, shown.groups())
            yield step, steps, percent / 100
        for info in (booster, chain.get("syncprogress", {})):
            if "step" in info:
                self.assertGreaterEqual(info["timeleft"], 0)
                yield info["step"], info["steps"], float(info["progress"])

    def test_one_figure(self):
        """Step and share never decrease, for any order of the error and the calls."""
        for mode, last in ((["-reindex-chainstate", "-ibdbooster"], 5),
                           (["-reindex-chainstate", f"-ibdboosterfile={self.made.container}"], 2),
                           (["-reindex", "-ibdbooster"], 7),
                           (["-reindex", "-ibdbooster", "-ibdboosterundo=now"], 4),
                           (["-reindex", f"-ibdboosterfile={self.made.container}",
                             "-ibdboosterundo=now"], 3),
                           (["-reindex", f"-ibdboosterfile={self.made.container}",
                             "-ibdboosterfullvalidation"], 3),
                           (["-reindex", "-ibdbooster=0"], 1)):
            seen = []
            with self.subTest(mode=mode):
                while len(seen) < 6 or seen[-1][0] < last:
                    seen = []
                    self.main.launch(*self.made.trust, "-ibdboosterthreads=1", *mode)
                    while told := self.at_work(self.main):
                        seen += self.look(told)
                    self.main.wait_for_tip(self.made.tip)
                    self.assertNotIn("syncprogress", self.main.rpc("getblockchaininfo"))
                    self.main.stop()
                steps = [step for step, _, _ in seen]
                self.assertEqual(steps, sorted(steps))
                self.assertEqual(len({of for _, of, _ in seen}), 1, seen)  # as planned at first
                for (_, _, before), (_, _, after) in zip(seen, seen[1:]):
                    self.assertLess(before, after + 0.01)  # one of them is in whole percent
                self.assertLess(max(done for _, _, done in seen), 1)

    def test_blocks_from_peers(self):
        """Also if blocks are connected one after the other on arrival."""
        port = free_port()
        self.main.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{port}")
        node = self.node().start(f"-connect=127.0.0.1:{port}", "-ibdbooster=0", *self.made.trust)
        seen = []
        while node.rpc("getbestblockhash") != self.made.tip:
            info = node.rpc("getboosterinfo")
            if "step" in info:
                self.assertEqual((info["step"], info["steps"]), (1, 1))
                seen.append(float(info["progress"]))
        self.assertEqual(seen, sorted(seen))
        self.assertTrue(seen)
        wait_until(lambda: "step" not in node.rpc("getboosterinfo"), "the end of the figure")

    def held_line(self, port, blocks):
        """A peer that sends this many blocks and no more before the event: (port, event)."""
        left, released = itertools.count(blocks, -1), threading.Event()

        def hold(kind, payload):
            if kind == "block" and next(left) <= 0:
                released.wait()
            return payload

        relay = MessageRelay(port, hold)
        self.addCleanup(relay.close)
        self.addCleanup(released.set)
        return relay.port, released

    def test_blocks_from_peers_for_the_booster(self):
        """The steps include the blocks above the booster's. The share has no upper bound here: it
        is a share of time, and a slow start of the connection counts as work done."""
        port = free_port()
        self.main.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{port}")
        half = self.made.terminal_height // 2
        for mode, steps in (("-ibdbooster", 7),
                            (f"-ibdboosterfile={self.made.container}", 4)):
            with self.subTest(mode=mode):
                line, released = self.held_line(port, half)
                node = self.node()
                node.launch(f"-connect=127.0.0.1:{line}", "-v2transport=0", "-ibdboosterundo=0",
                            mode, *self.made.trust)
                node.wait_for_rpc("getboosterinfo")
                seen = []

                def look():
                    info = node.rpc("getboosterinfo")
                    if "step" in info:
                        seen.append((info["step"], info["steps"], float(info["progress"])))
                    return info

                wait_until(lambda: look().get("download", {}).get("received") == half, "a half")
                time.sleep(1)  # two checks of the node for received blocks
                look()
                self.assertEqual(seen[-1][:2], (2, steps))
                self.assertGreater(seen[-1][2], 0.1)
                released.set()
                wait_until(lambda: look() and node.rpc("getbestblockhash") == self.made.tip,
                           "the tip")
                wait_until(lambda: "step" not in look(), "the end of the figure")
                self.assertEqual(seen, sorted(seen))
                self.assertEqual({of for _, of, _ in seen}, {steps}, seen)
                node.stop()

    def test_conversion_of_hints(self):
        """The first of three steps; getboosterinfo names it."""
        file, seen = self.dir / "swift", []
        hints_tool("convert", "--network=regtest", "--format=swifthints",
                   f"--blocks={self.made.blocks}", self.made.bitmap, file)
        while not seen:
            shutil.rmtree(self.main.net_dir / "hints", ignore_errors=True)
            self.main.launch("-reindex-chainstate", f"-ibdboosterfile={file}", *self.made.trust)
            while self.at_work(self.main):
                info = self.main.rpc("getboosterinfo")
                if info["state"] == "converting":
                    seen.append((info["step"], info["steps"]))
            self.main.wait_for_tip(self.made.tip).stop()
        self.assertEqual(set(seen), {(1, 3)})

    def rebuild(self, *args):
        """Asks until the end of the rebuild, and returns how often it was in progress."""
        node, met = self.main, 0
        node.launch(*self.made.trust, *args)
        while self.at_work(node):
            for call in EARLY:
                answer = node.rpc(*call)  # raises what is refused
                if call[0] == "getblockchaininfo":
                    self.assertGreaterEqual(answer["headers"], answer["blocks"])
            header = node.rpc("getblockheader", node.rpc("getbestblockhash"))
            try:
                self.assertEqual(node.rpc("getblock", header["hash"])["height"], header["height"])
            except RpcError as error:  # -reindex has not reached it yet
                self.assertIn("-1: Block not available", str(error))
            with self.assertRaises(RpcError) as refused:
                node.rpc("nosuchcall")
            self.assertEqual(refused.exception.code, -32601)
            done = node.cli("-getinfo")
            self.assertEqual(done.returncode, 0, done.stderr)
            met += 1
        node.wait_for_tip(self.made.tip).stop()
        return met

    def first_tip(self, *args):
        """Asks for the tip until it is above genesis; returns its height."""
        self.main.launch(*self.made.trust, *args)
        while True:
            try:
                info = self.main.rpc("getblockchaininfo")
                if info["blocks"] > 0:
                    return info["blocks"]
                self.assertTrue(info["initialblockdownload"])
            except RpcError as error:
                self.assertEqual(error.code, RPC_IN_WARMUP)
            except (OSError, http.client.HTTPException, ValueError):
                self.assertTrue(self.main.running, self.main.errors)

    def test_a_call_that_shows_the_tip(self):
        """Then all calls are answered. Until then the node is in its initial download."""
        booster = ["-ibdbooster", "-maxtipage=4000000000"]  # its tip is recent enough
        for mode in (["-reindex-chainstate", *booster], ["-reindex", *booster],
                     ["-reindex", *booster, "-ibdboosterundo=now"], ["-reindex", "-ibdbooster=0"],
                     ["-reindex", f"-ibdboosterfile={self.made.container}"]):
            with self.subTest(mode=mode):
                self.first_tip(*mode)
                self.main.rpc(*NEEDS_COINS)  # raises if it is refused
                self.main.wait_for_tip(self.made.tip).stop()

    def test_a_start_that_makes_undo_data(self):
        """Shows the tip that it has, while calls about coins wait."""
        status, errors = self.main.run("-reindex", f"-ibdboosterfile={self.made.container}",
                                       "-ibdboosterundo=0", *self.made.trust, self.made.to_tip)
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.first_tip("-ibdboosterundo=now"), self.made.height)
        with self.assertRaises(RpcError) as refused:
            self.main.rpc(*NEEDS_COINS)
        self.assertIn("Making undo data", str(refused.exception))
        self.main.wait_for_rpc()
        self.main.stop()

    def test_calls_without_coins(self):
        for mode in (["-reindex-chainstate", "-ibdbooster"],
                     ["-reindex-chainstate", f"-ibdboosterfile={self.made.container}"],
                     ["-reindex", "-ibdbooster"],
                     ["-reindex", f"-ibdboosterfile={self.made.container}"],
                     ["-reindex", "-ibdbooster=0"],
                     ["-reindex-chainstate", "-ibdboosterfullvalidation"],
                     ["-reindex-chainstate", f"-ibdboosterfile={self.made.container}",
                      "-ibdboosterundo=now"]):
            with self.subTest(mode=mode):
                # A fast machine may be through before it is asked; then it is asked again.
                while not self.rebuild("-ibdboosterthreads=1", *mode):
                    pass
