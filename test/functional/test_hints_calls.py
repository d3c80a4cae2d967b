"""dumptxouthints: hints made by a running node from its blocks."""

import concurrent.futures
import http.client
import re

from framework import (BURNT, FunctionalTest, RpcError, hints_tool, run_tool, wait_until)
from generated import medium_chain, small_chain

BAD_VALUE = -8


class DumpTxOutHints(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.main = self.made.place(self.node())
        self.assertEqual(self.main.run("-reindex", self.made.to_tip), (0, ""))
        self.main.start()

    def tool_made(self, height):
        """Two ways to the hints: the tool converts the file that contrib/ibd-booster-hints-gen
        makes from the node's blocks and its snapshot; and the tool makes them from the blocks
        alone."""
        snapshot, reference = self.dir / f"utxo-{height}", self.dir / f"reference-{height}"
        hints, alone = self.dir / f"tool-{height}", self.dir / f"alone-{height}"
        self.main.rpc("dumptxoutset", path=str(snapshot), options={"rollback": height})
        status, _, errors = run_tool("booster-gen.py", self.main.datadir, snapshot, reference)
        self.assertEqual(status, 0, errors)
        hints_tool("convert", "--network=regtest", "--format=container", reference, hints)
        hints_tool("generate", "--network=regtest", f"--height={height}", self.made.blocks, alone)
        self.assertEqual(hints.read_bytes(), alone.read_bytes())
        return hints.read_bytes()

    def test_any_height(self):
        """Equal, byte for byte, to the generator's hints and to the tool's hints from a snapshot.
        """
        rpc, terminal = self.main.rpc, self.made.terminal_height
        for height in (terminal, 1, 101, terminal - 7, self.made.height):
            name = f"made-{height}.hints"
            answer = rpc("dumptxouthints", name, height)
            path = self.main.net_dir / name
            made = path.read_bytes()
            self.assertTrue(made == self.tool_made(height), f"hints at {height} differ")
            self.assertEqual(list(answer), ["outputs", "unspent", "base_hash", "base_height",
                                            "path", "size", "hintsid"])
            self.assertEqual(answer["base_height"], height)
            self.assertEqual(answer["base_hash"], rpc("getblockhash", height))
            self.assertEqual(answer["path"], str(path))
            self.assertEqual(answer["size"], len(made))
        known = self.dir / "known"
        hints_tool("convert", "--network=regtest", "--format=container", self.made.container, known)
        self.assertTrue((self.main.net_dir / f"made-{terminal}.hints").read_bytes() ==
                        known.read_bytes(), "hints differ from the generator's")
        self.assertEqual(rpc("dumptxouthints", "tip")["base_height"], self.made.height)
        left = list((self.main.net_dir / "ibdbooster/join").iterdir())
        self.assertEqual([file.name for file in left], [".lock"])

    def test_the_booster_takes_them(self):
        """From only blocks to a chainstate, with the node's own hints."""
        hints = self.dir / "own.hints"
        self.main.rpc("dumptxouthints", str(hints), self.made.terminal_height)
        before = self.main.rpc("gettxoutsetinfo", "muhash")
        self.main.stop()
        self.main.start("-reindex-chainstate", f"-ibdboosterfile={hints}", *self.made.trust)
        self.main.wait_for_height(self.made.height)
        self.assertEqual(self.main.rpc("getboosterinfo")["verdict"], "accepted")
        after = self.main.rpc("gettxoutsetinfo", "muhash")
        for field in ("height", "bestblock", "txouts", "muhash", "total_amount"):
            self.assertEqual(after[field], before[field])

    def test_while_blocks_come_and_go(self):
        """They are those of the chain at the time of the call, regardless of later changes."""
        made = medium_chain()
        node = made.place(self.node(), copied=True)
        node.start("-reindex").wait_for_tip(made.tip)
        node.rpc("dumptxouthints", "before")
        before, changes = (node.net_dir / "before").read_bytes(), 0
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            for name in map(str, range(3)):
                dump = pool.submit(node.rpc, "dumptxouthints", name, made.height)
                while not dump.done():
                    node.rpc("generatetoaddress", 2, BURNT)
                    node.rpc("invalidateblock", made.tip)
                    self.assertEqual(node.rpc("getblockcount"), made.height - 1)
                    node.rpc("reconsiderblock", made.tip)
                    changes += 1
                self.assertEqual(dump.result()["base_hash"], made.tip)
                self.assertTrue((node.net_dir / name).read_bytes() == before, "hints differ")
        self.assertGreater(changes, 0)
        self.assertEqual(node.rpc("getblockcount"), made.height + 2 * changes)

    def test_calls_at_once(self):
        """One is served; the others do not touch its file."""
        rpc, said = self.main.rpc, []
        wanted = self.tool_made(self.made.height)

        def dump(_):
            try:
                return rpc("dumptxouthints", "same")["size"]
            except RpcError as error:
                said.append(error.message)
                return None
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            sizes = [size for size in pool.map(dump, range(4)) if size is not None]
        self.assertEqual(sizes, [len(wanted)])
        for message in said:
            self.assertRegex(message, "for another call|already exists")
        self.assertEqual((self.main.net_dir / "same").read_bytes(), wanted)
        self.assertFalse((self.main.net_dir / "same.incomplete").exists())

    def test_refused(self):
        rpc = self.main.rpc
        (self.main.net_dir / "mine").write_text("mine")
        self.assert_rpc_error(BAD_VALUE, "already exists. If you are sure", rpc,
                              "dumptxouthints", "mine")
        self.assertEqual((self.main.net_dir / "mine").read_text(), "mine")
        for height in (-1, self.made.height + 1):
            self.assert_rpc_error(BAD_VALUE, "Block height out of range", rpc, "dumptxouthints",
                                  "other", height)
        self.assert_rpc_error(BAD_VALUE, "height 1", rpc, "dumptxouthints", "other", 0)
        self.assert_rpc_error(BAD_VALUE, "Couldn't open file", rpc, "dumptxouthints", "no/folder")
        self.assertFalse((self.main.net_dir / "other").exists())

    def test_missing_blocks_are_named(self):
        rpc = self.main.rpc
        first = sorted(self.main.blocks_dir.glob("blk*.dat"))[0]
        first.rename(self.dir / "gone")
        self.assert_rpc_error(-20, "block", rpc, "dumptxouthints", "other")
        self.assertFalse((self.main.net_dir / "other").exists())
        (self.dir / "gone").rename(first)
        self.assertEqual(rpc("dumptxouthints", "other")["base_height"], self.made.height)


class KilledMeanwhile(FunctionalTest):
    """Each start logs the unfinished work of a call, until a call resumes it or it is removed."""

    ARGS = ("-ibdboostermem=1", "-ibdboosterintervalbytes=2000000", "-ibdboosterthreads=1")
    KEPT = r"dumptxouthints: '.*join' has unfinished work of a call for height {}"
    REMOVED = "dumptxouthints: removing the unfinished work of a call in .*: .*{}"

    def setUp(self):
        super().setUp()
        self.made = medium_chain()
        self.main = self.made.place(self.node())
        self.main.start("-reindex").wait_for_tip(self.made.tip).stop()
        self.folder = self.main.net_dir / "ibdbooster/join"

    def begin(self):
        self.main.start(*self.ARGS)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            dump = pool.submit(self.main.rpc, "dumptxouthints", "hints")
            wait_until(lambda: len(list(self.folder.glob("spill*"))) > 8 or dump.done(), "spills")
            self.main.kill()
            self.assertIsInstance(dump.exception(),
                                  (OSError, http.client.HTTPException, ValueError))
        self.assertTrue((self.main.net_dir / "hints.incomplete").exists())

    def said_at_start(self, pattern):
        (self.main.net_dir / "debug.log").unlink()
        self.main.start(*self.ARGS)
        return len(re.findall(pattern, self.main.log_text))

    def left(self):
        return [path.name for path in self.folder.iterdir() if path.name != ".lock"]

    def test_goes_on(self):
        self.begin()
        for _ in range(2):
            self.assertEqual(self.said_at_start(self.KEPT.format(self.made.height)), 1)
            self.main.stop()
        self.main.start(*self.ARGS)
        self.main.rpc("dumptxouthints", "hints", self.made.height)
        self.assertIn("Join: resuming", self.main.log_text)
        self.main.rpc("dumptxouthints", "whole")
        self.assertEqual((self.main.net_dir / "hints").read_bytes(),
                         (self.main.net_dir / "whole").read_bytes())
        self.main.stop()
        self.assertEqual(self.left(), [])
        self.assertEqual(self.said_at_start("dumptxouthints:"), 0)

    def test_another_height(self):
        self.begin()
        self.assertEqual(self.said_at_start(self.KEPT.format(self.made.height)), 1)
        self.main.rpc("dumptxouthints", "lower", 1)
        self.assertEqual(self.left(), [])

    def test_damaged(self):
        self.begin()
        state = self.folder / "join.dat"
        data = bytearray(state.read_bytes())
        data[len(data) // 2] ^= 4
        state.write_bytes(data)
        self.assertEqual(self.said_at_start(self.REMOVED.format("join.dat")), 1)
        self.assertEqual(self.left(), [])

    def test_off_the_chain(self):
        self.begin()
        self.main.start(*self.ARGS)
        self.main.rpc("invalidateblock", self.made.tip)
        self.main.stop()
        self.assertEqual(self.said_at_start(self.REMOVED.format(self.made.tip)), 1)
        self.assertEqual(self.left(), [])
