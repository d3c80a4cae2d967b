"""Stored blocks that are damaged. With a network they are downloaded again, with and without the
booster. Without a network the node stops with one line that names a remedy, and the remedy works.
"""

import hashlib
import http.client
import re
import shutil
import struct

from framework import NO_UNDO, RpcError, StartError, coins, free_port, hints_tool, wait_until
from generated import small_chain
from scripted_blocks import BlockServer, all_blocks, falsified, undecodable
from socks5 import SocksProxy
from test_network_booster import NetworkBooster

MAGIC = bytes.fromhex("fabfb5da")  # regtest
LIAR, HONEST = "1.2.3.4:8333", "9.10.11.12:8333"
FRAME = 8  # bytes before a block


def frames(folder):
    """(path, offset of the block, block) of all in files that are not obfuscated."""
    for path in sorted(folder.glob("blk*.dat")):
        data = path.read_bytes()
        at = 0
        while data[at:at + 4] == MAGIC:
            size = struct.unpack_from("<I", data, at + 4)[0]
            yield path, at + FRAME, data[at + FRAME:at + FRAME + size]
            at += FRAME + size


def block_hash(block):
    return hashlib.sha256(hashlib.sha256(block[:80]).digest()).digest()[::-1].hex()


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


class Damaged(NetworkBooster):
    """A node, a peer that has all blocks, and one block to damage."""

    CHECK_TIP = ["-checkblocks=1", "-checklevel=0"]  # of the checks at the start

    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.server = self.serve(self.made, copied=True)
        self.height = self.made.terminal_height // 2
        self.hash = self.server.rpc("getblockhash", self.height)
        self.path = self.offset = None
        self.last = 0  # byte of the block

    def stored(self):
        """A node that has all blocks, in files of its own, and their index."""
        node = self.made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", "-ibdbooster=0", self.made.to_tip)[0], 0)
        return node

    def damage(self, node, at=-1):
        """Damages the byte `at` of the block at self.height; the last byte is of a lock time."""
        for path, offset, block in frames(node.blocks_dir):
            if block_hash(block) == self.hash:
                self.path, self.offset = path, offset
                self.last = offset + (at if at >= -FRAME and at != -1 else len(block) - 1)
        flip(self.path, self.last)

    def mend(self):
        flip(self.path, self.last)

    def peer(self):
        return [f"-connect=127.0.0.1:{self.server.p2p_port}", *self.made.trust, NO_UNDO]

    def assert_named(self, text):
        """The block and its place."""
        self.assertIn(f"{self.path}, offset {self.offset}: ", text)
        self.assertIn(f"block {self.hash} at height {self.height}", text)

    WAYS = {"serially": ["-ibdbooster=0"], "own hints": ["-ibdbooster"],
            "own hints, all checks": ["-ibdbooster", "-ibdboosterchecks"],
            "full validation": ["-ibdbooster", "-ibdboosterfullvalidation"]}

    def ways(self):
        return {**self.WAYS, "given hints": [f"-ibdboosterfile={self.made.container}"],
                "given hints, full validation": [f"-ibdboosterfile={self.made.container}",
                                                 "-ibdboosterfullvalidation"]}


class DamagedBlocks(Damaged):
    def assert_fetched(self, node, *options):
        """The node syncs although the block is damaged, and says so; the copy is durable."""
        node.start(*self.peer(), *options)
        self.assert_synced(node, self.server, self.made)
        self.assert_named(node.log_text)
        self.assertIn("1 stored blocks are damaged: they are fetched again from peers",
                      node.log_text)
        self.assertEqual(node.rpc("getblock", self.hash, 0),
                         self.server.rpc("getblock", self.hash, 0))
        node.stop()
        return node

    def test_a_peer_has_it(self):
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node)
                self.assert_fetched(node, "-reindex-chainstate", *options)
                # The index has the position of the new copy.
                node.start("-reindex-chainstate", *self.made.trust, *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()

    def test_where_the_frame_is_damaged(self):
        """Nothing can be read there: neither a block nor its length."""
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node, -FRAME)
                self.assert_fetched(node, "-reindex-chainstate", *options)

    def test_many(self):
        """All blocks of a stretch of the file, in one go."""
        node = self.stored()
        self.damage(node)
        with open(self.path, "r+b") as file:
            file.seek(self.offset)
            file.write(bytes(60_000))
        node.start(*self.peer(), "-reindex-chainstate", "-ibdbooster")
        self.assert_synced(node, self.server, self.made)
        damaged = re.findall(r"(\d+) stored blocks are damaged: they are fetched again",
                             node.log_text)
        self.assertEqual(len(damaged), 1)
        self.assertGreater(int(damaged[0]), 10)

    def test_indexes(self):
        """Those that refer to block files get the position of the new copy."""
        indexes = ["-txindex", "-txospenderindex"]
        node = self.stored()

        def synced():
            return all(index == {"synced": True, "best_block_height": self.made.height}
                       for index in node.rpc("getindexinfo").values())

        node.start(*self.made.trust, *indexes)
        wait_until(synced, "the indexes")
        node.stop()
        self.damage(node)
        node.start(*self.peer(), "-reindex-chainstate", "-ibdbooster=0", *indexes)
        self.assert_synced(node, self.server, self.made)
        wait_until(synced, "the indexes")
        for tx in self.server.rpc("getblock", self.hash, 2)["tx"][1:]:
            found = node.rpc("getrawtransaction", tx["txid"], 1)
            self.assertEqual((found["blockhash"], found["hex"]), (self.hash, tx["hex"]))
            spent = [{"txid": one["txid"], "vout": one["vout"]} for one in tx["vin"]]
            said = node.rpc("gettxspendingprevout", spent)
            self.assertEqual({one["spendingtxid"] for one in said}, {tx["txid"]})

    def test_without_a_network(self):
        """One line names the place; a sound file in its place is enough."""
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node)
                shutil.rmtree(node.net_dir / "chainstate")
                status, errors = node.run(*self.made.trust, *options)
                self.assertEqual(status, 1)
                self.assert_named(errors)
                self.assertIn("put a sound copy of the file in its place, or restart with "
                              "-reindex", errors)
                self.mend()
                node.start(*self.made.trust, *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()


class Connected(Damaged):
    """A damaged block of the active chain that is needed again."""

    FETCHED = "1 stored blocks are damaged: they are fetched again from peers"

    def without_undo(self):
        """A node at the tip, without undo data below the end of the hints, and a damaged block."""
        node = self.made.place(self.node(), copied=True)
        self.assertEqual(node.run("-reindex", f"-ibdboosterfile={self.made.container}",
                                  *self.made.trust, NO_UNDO, self.made.to_tip)[0], 0)
        self.damage(node)
        return node

    def assert_whole(self, node):
        """All blocks can be read and disconnected, from the coins' block down, also after a
        restart."""
        self.assertIn(self.FETCHED, node.log_text)
        self.assert_named(node.log_text)
        self.assertEqual(node.rpc("getblock", self.hash, 0),
                         self.server.rpc("getblock", self.hash, 0))
        node.stop()
        node.start("-checklevel=4", "-checkblocks=0", "-ibdboosterundo=0", "-connect=0")
        self.assertIn("no coin database inconsistencies", node.log_text.lower())
        node.stop()

    def test_undo_data_in_the_background(self):
        node = self.without_undo()
        node.start(f"-connect=127.0.0.1:{self.server.p2p_port}", "-ibdboosterundo=1",
                   "-checkblocks=1", *self.made.trust)
        wait_until(lambda: f"Undo data: all blocks up to height {self.made.terminal_height} have it"
                   in node.log_text, "undo data")
        self.assertIn("Undo data: fetching damaged blocks from peers", node.log_text)
        self.assert_whole(node)

    def test_a_peer_that_sends_something_else(self):
        """At first it is the only peer, also across a kill: the block is requested from it once per
        start. Then the block is received from the next peer, although the first one supplies the
        headers."""
        blocks = all_blocks(self.server)
        sound = blocks[self.height]
        for name, lie in (("falsified", falsified(sound)), ("undecodable", undecodable(sound)),
                          ("cut", sound[:-20])):
            with self.subTest(name):
                node = self.without_undo()
                liar = BlockServer(self, blocks, lambda one, height, lie=lie:
                                   lie if height == self.height else one.blocks[height])
                proxy = SocksProxy(self, {LIAR: liar.port})
                args = ["-listen=0", f"-proxy={proxy.address}", "-v2transport=0",
                        f"-connect={LIAR}", f"-connect={HONEST}", "-ibdboosterundo=1",
                        "-checkblocks=1", *self.made.trust]
                for starts in (1, 2):
                    node.kill()
                    node.start(*args)
                    wait_until(lambda: node.log_text.count("another peer has to send it") == starts,
                               "the line")
                    self.assertEqual(liar.asked[self.height], starts)
                proxy.targets[HONEST] = self.server.p2p_port
                wait_until(lambda: f"Undo data: all blocks up to height {self.made.terminal_height}"
                           " have it" in node.log_text, "undo data")
                self.assertEqual(liar.asked[self.height], 2)
                self.assert_whole(node)

    def test_undo_data_before_the_start(self):
        node = self.without_undo()
        node.start(f"-connect=127.0.0.1:{self.server.p2p_port}", "-ibdboosterundo=now",
                   "-checkblocks=1", *self.made.trust)
        self.assertIn(f"Undo data: all blocks up to height {self.made.terminal_height} have it",
                      node.log_text)
        self.assert_whole(node)

    def test_hints_to_be_converted(self):
        swift = self.dir / "swift"
        hints_tool("convert", "--force", "--network=regtest", "--format=swifthints",
                   f"--blocks={self.made.blocks}", self.made.bitmap, swift)
        node = self.stored()
        self.damage(node)
        node.start("-reindex-chainstate", *self.peer(), f"-ibdboosterfile={swift}")
        self.assert_synced(node, self.server, self.made)
        self.assertIn(self.FETCHED, node.log_text)
        self.assertIn("succeeded. ***", node.log_text)

    def branch_off(self, depth=3):
        """The peer goes to a better branch that leaves the damaged block. Returns its tip."""
        first = self.server.rpc("getblockhash", self.made.height - depth + 1)
        # A block that was left is served if it is not much older than the best header.
        self.server.rpc("setmocktime", self.server.rpc("getblockheader", self.made.tip)["time"])
        self.server.rpc("invalidateblock", first)
        tip = self.server.rpc("generatetodescriptor", depth + 1, "raw(51)")[-1]
        self.server.rpc("reconsiderblock", first)  # it does not serve invalid blocks
        return tip

    def damaged_below_tip(self):
        self.height = self.made.height - 1
        self.hash = self.server.rpc("getblockhash", self.height)
        node = self.stored()
        self.damage(node)
        return node

    def test_a_better_branch(self):
        """It waits for the block, which a peer has although it has left it."""
        self.follow_a_branch()

    def test_a_better_branch_and_another_file(self):
        """Undo data of a block lies in the file of the same number: it moves with the block."""
        node = self.follow_a_branch("-fastprune")
        self.assertTrue((node.blocks_dir / "rev00001.dat").exists())

    def follow_a_branch(self, *args):
        node = self.damaged_below_tip()
        tip = self.branch_off()
        node.start(f"-connect=127.0.0.1:{self.server.p2p_port}", *self.CHECK_TIP, *args)
        node.wait_for_tip(tip)
        self.assertEqual(coins(node), coins(self.server))
        self.assertIn("cannot be followed yet: block "
                      f"{self.hash} at height {self.height} is damaged in the block files. Peers "
                      "are asked for it.", node.log_text)
        wait_until(lambda: not node.rpc("getblockchaininfo")["warnings"], "no warning")
        self.assert_whole(node)
        return node

    def test_a_better_branch_and_no_peer(self):
        """The node stops before any block is disconnected; a sound file repairs it."""
        node = self.damaged_below_tip().start(*self.CHECK_TIP)
        before = coins(node)
        self.branch_off()
        height = self.made.height - 2
        for at in range(height, height + 4):
            block = self.server.rpc("getblock", self.server.rpc("getblockhash", at), 0)
            try:
                node.rpc("submitblock", block)
            except (RpcError, OSError, http.client.HTTPException):
                break
        status, errors = node.wait()
        self.assertEqual(status, 1)
        self.assert_named(errors)
        self.mend()
        # Calls are answered before the branch is followed, as Core's are.
        node.start("-connect=0").wait_for_tip(self.server.rpc("getbestblockhash"))
        self.assertNotEqual(coins(node), before)

    def test_invalidateblock(self):
        node = self.damaged_below_tip()
        node.start(f"-connect=127.0.0.1:{self.server.p2p_port}", *self.CHECK_TIP)
        low = node.rpc("getblockhash", self.height - 1)
        self.assert_rpc_error(-1, f"The stored block {self.hash} at height {self.height} is "
                              "damaged; peers are asked for it: try again later",
                              node.rpc, "invalidateblock", low)
        self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)

        def works():
            try:
                return node.rpc("invalidateblock", low) is None
            except RpcError:
                return False
        wait_until(works, "the block")
        self.assertEqual(node.rpc("getblockcount"), self.height - 2)
        node.rpc("reconsiderblock", low)
        node.wait_for_tip(self.made.tip)
        self.assert_whole(node)


class Vanished(Damaged):
    """A block file that is removed while the node runs."""

    def test_it_lives_and_says_so(self):
        node = self.stored()
        port = free_port()
        node.start("-listen=1", f"-bind=127.0.0.1:{port}", *self.CHECK_TIP)
        path = node.blocks_dir / "blk00000.dat"
        kept = path.read_bytes()
        path.unlink()
        told = f"cannot open for reading '{path}'"
        self.assert_rpc_error(-1, "Block not found on disk", node.rpc, "getblock", self.hash)
        self.assert_rpc_error(-1, told, node.rpc, "getblock", self.hash)
        # A peer that asks for blocks is not left waiting.
        other = self.node()
        other.start(f"-connect=127.0.0.1:{port}", *self.made.trust, "-ibdbooster=0")
        wait_until(lambda: "Cannot load block from disk: " in node.log_text, "the line")
        self.assertIn(told, node.log_text.split("Cannot load block from disk: ")[1])
        other.stop()
        self.assertTrue(node.running)
        self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)
        self.assertEqual(coins(node), coins(self.server))  # they are in no block file
        path.write_bytes(kept)
        self.assertEqual(node.rpc("getblock", self.hash, 0),
                         self.server.rpc("getblock", self.hash, 0))
        node.stop()


class LeftOut(Damaged):
    """By -reindex."""

    def unindexed(self, at=-1):
        """A node with only block files of its own, one block of which is damaged."""
        node = self.made.place(self.node(), copied=True)
        self.damage(node, at)
        return node

    def test_a_peer_has_it(self):
        for name, options in self.ways().items():
            with self.subTest(name):
                node = self.unindexed()
                node.start("-reindex", *self.peer(), *options)
                self.assert_synced(node, self.server, self.made)
                # The line of Bitcoin Core, at its level.
                self.assertIn("[error] AcceptBlock: bad-txnmrklroot, hashMerkleRoot mismatch\n",
                              node.log_text)
                self.assertNotIn("there is no network", node.log_text)
                node.stop()

    def test_a_file_is_cut_after_all_blocks_were_read(self):
        """The node's own hints or the pairs of a join are there, and blocks that the chainstate
        needs are not."""
        given = [f"-ibdboosterfile={self.made.container}", "-ibdboosterfullvalidation"]
        for options, line in ((["-ibdbooster"], "Join: hints of"), (given, "Undo: checking")):
            with self.subTest(options):
                node = self.killed_before_coins(self.stored, line, "-reindex", *self.peer(),
                                                *options)
                shutil.rmtree(node.net_dir / "chainstate.ibdbooster", ignore_errors=True)
                path = node.blocks_dir / "blk00000.dat"
                path.write_bytes(path.read_bytes()[:60_000])
                node.start("-reindex", *self.peer(), *options)
                self.assert_synced(node, self.server, self.made)
                self.assertTrue(node.rpc("verifychain", 1, 0), "all blocks are stored")
                node.stop()

    def test_a_file_is_cut_and_there_is_no_network(self):
        """A single line names the missing block and the remedy."""
        given = [f"-ibdboosterfile={self.made.container}", "-ibdboosterfullvalidation"]
        for options, line in ((["-ibdbooster"], "Join: hints of"), (given, "Undo: checking")):
            with self.subTest(options):
                options = [*self.made.trust, NO_UNDO, *options]
                node = self.killed_before_coins(self.stored, line, "-reindex", *options)
                path = node.blocks_dir / "blk00000.dat"
                whole = path.read_bytes()
                path.write_bytes(whole[:60_000])
                status, errors = node.run("-reindex", *options)
                self.assertEqual(status, 1, errors)
                self.assertIn(f"whose headers reach height 114: {path} holds no whole block from "
                              "offset 55717 on. Restart with -reindex once the file is sound, or "
                              "with a peer\n", errors)
                path.write_bytes(whole)
                node.start("-reindex", *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()

    def test_a_file_is_cut_after_blocks_were_read(self):
        """An unfinished join or fold has read blocks that are lost now: they are downloaded, but
        not read again."""
        ways = self.ways()
        del ways["serially"]
        # It needs undo data, which a new index does not record: no work can be resumed.
        del ways["given hints, full validation"]
        ways["given hints, all checks"] = [*ways["given hints"], "-ibdboosterchecks"]
        ways["given hints, pruned"] = ways["given hints"]
        for name, options in ways.items():
            with self.subTest(name):
                node = self.stored()
                self.damage(node)  # ends the work; finished work is kept
                status, errors = node.run("-reindex-chainstate", *self.made.trust, *options)
                self.assertEqual(status, 1)
                self.assert_named(errors)
                path = node.blocks_dir / "blk00000.dat"
                path.write_bytes(path.read_bytes()[:60_000])
                pruned = ["-prune=550", "-ibdboosterprune=1"] if "pruned" in name else []
                node.start("-reindex", *self.peer(), *options, *pruned)
                self.assert_synced(node, self.server, self.made)
                self.assertRegex(node.log_text, "resuming( from a checkpoint)?: [1-9]")
                self.assertTrue(node.rpc("verifychain", 1, 0), "all blocks are stored")
                node.stop()

    def test_blocks_above_are_indexed(self):
        """Also if a block's end cannot be found: its header is enough."""
        node = self.unindexed(80)  # the number of its transactions
        node.start("-reindex", "-ibdbooster=0", *self.peer())
        self.assert_synced(node, self.server, self.made)
        self.assertIn(f"Reindexing finished: {self.made.height} blocks\n", node.log_text)
        self.assertIn("1 blocks in the block files are damaged and were left out", node.log_text)

    def test_without_a_network(self):
        """The line names block, file and offset; a sound file and a plain start are enough."""
        for name, options in self.ways().items():
            if name in ("serially", "full validation"):
                continue  # these end below the block, as Bitcoin Core does
            with self.subTest(name):
                node = self.unindexed()
                trust = self.made.trust
                for args in (["-reindex"], []):  # the second start has the index
                    status, errors = node.run(*args, *trust, *options)
                    self.assertEqual(status, 1)
                    self.assertIn("1 blocks are missing, and there is no network", errors)
                    self.assertIn(f"block {self.hash} at height {self.height}, which is damaged "
                                  f"in {self.path}, offset {self.offset}: bad-txnmrklroot", errors)
                    self.assertIn("Start with a network, or put a sound copy of the block files "
                                  "in their place and start again", errors)
                self.mend()
                node.start(*trust, *options)
                self.assert_synced(node, self.server, self.made)
                node.stop()

    def test_serially_without_a_network(self):
        for name in ("serially", "full validation"):
            with self.subTest(name):
                node = self.unindexed()
                options = [*self.made.trust, *self.WAYS[name]]
                node.start("-reindex", *options)
                node.wait_for_height(self.height - 1)
                self.assertIn("1 blocks in the block files are damaged and were left out",
                              node.log_text)
                node.stop()
                self.mend()
                node.start(*options)
                node.wait_for_tip(self.made.tip)
                self.assertEqual(coins(node), coins(self.server))
                node.stop()

    def spoil(self, kind):
        """Damages the frame or header of the block at self.height."""
        whole = self.path.read_bytes()
        frame = self.offset - FRAME
        data = bytearray(whole)
        if kind == "cut":
            data = data[:self.offset + 40]
        elif kind == "length":
            struct.pack_into("<I", data, frame + 4, 0x7fffffff)
        elif kind == "zeros":
            size = struct.unpack_from("<I", data, frame + 4)[0]
            data[frame:self.offset + size] = bytes(FRAME + size)
        else:
            data[{"magic": frame, "parent": self.offset + 4, "root": self.offset + 36}[kind]] ^= 1
        self.path.write_bytes(data)
        return whole

    def find(self, node):
        for path, offset, block in frames(node.blocks_dir):
            if block_hash(block) == self.hash:
                self.path, self.offset = path, offset

    # The text that names the position: the end of the last good frame, or the block itself.
    def assert_place(self, kind, text):
        place = re.escape(str(self.path))
        if kind in ("parent", "root"):
            self.assertRegex(text, f"{place}, offset {self.offset} is ")
        else:
            self.assertRegex(text, f"{place} holds no whole block from offset "
                                   f"{self.offset - FRAME} ")
        if kind == "cut":
            self.assertNotIn("the parent ", text)
        elif kind != "parent":
            self.assertIn(f"the parent {self.hash} of the block in {self.path}, offset ", text)

    def test_frames_and_headers(self):
        """The error names file, offset and missing parent; later ones what helps."""
        for kind in ("magic", "length", "parent", "root", "zeros", "cut"):
            for options in (["-ibdbooster"], [f"-ibdboosterfile={self.made.container}"]):
                with self.subTest(kind, options=options):
                    node = self.made.place(self.node(), copied=True)
                    self.find(node)
                    whole = self.spoil(kind)
                    args = [*self.made.trust, *options]
                    error = self.assert_refused(node, "-reindex", *args,
                                                saying="Restart with -reindex once the file is "
                                                "sound, or with a peer")
                    self.assert_place(kind, error)
                    self.assert_place(kind, node.log_text)
                    self.path.write_bytes(whole)
                    self.assert_refused(node, *args, saying="restart with -reindex if a block file "
                                                            "was damaged when it was indexed")
                    node.start("-reindex", *args)
                    self.assert_synced(node, self.server, self.made)
                    node.stop()

    def test_the_last_block_is_cut(self):
        """No block behind it lacks its parent."""
        self.hash = self.made.tip
        node = self.made.place(self.node(), copied=True)
        self.find(node)
        self.spoil("cut")
        node.start("-reindex", "-ibdbooster=0").wait_for_height(self.made.height - 1).stop()
        self.assertIn(f"{self.path} holds no whole block from offset {self.offset - FRAME} on",
                      node.log_text)

    def test_nothing_is_buried(self):
        """Two weeks of blocks lie above genesis, and not yet above the first block."""
        node = self.node()
        node.blocks_dir.mkdir(parents=True)
        count = 2017
        with open(node.blocks_dir / "blk00000.dat", "wb") as file:
            for _, _, block in list(frames(self.made.blocks))[:count + 1]:
                file.write(MAGIC + struct.pack("<I", len(block)) + block)
            file.write(b"no block")  # not the cause of this error
        assumed = self.server.rpc("getblockhash", count)
        self.assert_refused(
            node, "-reindex", "-ibdbooster", f"-assumevalid={assumed}", "-minimumchainwork=0",
            saying=f"of the {count} blocks above genesis none is both below the assumed-valid "
                   "block and under two weeks of work")
        self.assertIn("leave it out", node.errors)
        self.assertIn("holds no whole block from offset ", node.log_text)
        self.assertNotIn("In addition", node.errors)
        node.start().wait_for_height(count).stop()


class Remedies(Damaged):
    """Each error at the start that names an option: a start with that option reaches the tip."""

    OPTION = r"-reindex-chainstate|-reindex"

    def assert_recovers(self, name, spoil, *args):
        """`spoil`: makes a node's files such that a start with `args` is refused."""
        node = self.stored()
        spoil(node)
        status, errors = node.run(*args)
        self.assertEqual(status, 1, name)
        options = set(re.findall(self.OPTION, errors))
        self.assertTrue(options, errors)
        node.kill()
        for option in sorted(options):
            with self.subTest(name, option=option):
                again = self.stored()
                spoil(again)
                again.start(option, *self.peer(), *args)
                self.assert_synced(again, self.server, self.made)
                again.stop()

    def lose_index(self, node):
        shutil.rmtree(node.blocks_dir / "index")

    def spoil_database(self, folder):
        return lambda node: (node.net_dir / folder / "CURRENT").write_text("no name of a file")

    def spoil_snapshot(self, node):
        folder = node.net_dir / "chainstate_snapshot"
        folder.mkdir()
        (folder / "base_blockhash").write_bytes(bytes.fromhex(self.made.tip)[::-1])

    def spoil_last_blocks(self, node):
        self.hash = self.made.tip
        self.damage(node)

    def test_all(self):
        self.assert_recovers("no index", self.lose_index)
        self.assert_recovers("chainstate", self.spoil_database("chainstate"))
        self.assert_recovers("snapshot", self.spoil_snapshot)

    def prune(self, node):
        """All blocks come from the peer again, into small files."""
        shutil.rmtree(node.net_dir)
        node.start("-prune=1", "-fastprune", "-ibdbooster=0", *self.peer())
        node.wait_for_tip(self.made.tip)
        self.assertGreater(node.rpc("pruneblockchain", 1000), 0)
        node.stop()

    def test_killed_while_reindex_removes_files(self):
        """-reindex removes the chainstate, then the index. After a kill in between, a start with
        the option reaches the tip, and so does one without, unless it names an option that does."""
        whole = self.stored()
        names = sorted(path.name for path in (whole.net_dir / "chainstate").iterdir())
        self.assertIn("CURRENT", names)
        for gone in range(1, len(names) + 1):
            for option in ([], ["-reindex"]):
                with self.subTest(gone=names[:gone], option=option):
                    node = self.node()
                    shutil.copytree(whole.net_dir, node.net_dir)
                    for name in names[:gone]:
                        (node.net_dir / "chainstate" / name).unlink()
                    try:
                        node.start(*option, *self.peer())
                    except StartError as error:
                        self.assertEqual(option, [], error)
                        named = re.findall(self.OPTION, str(error))
                        self.assertTrue(named, error)
                        node.start(named[0], *self.peer())
                    self.assert_synced(node, self.server, self.made)
                    node.stop()

    def test_those_of_the_index(self):
        """Here Bitcoin Core's text names -reindex-chainstate, which does not always help."""
        self.OPTION = r"-reindex(?!-)"
        self.assert_recovers("pruned before", self.prune)
        self.assert_recovers("index", self.spoil_database("blocks/index"))
        self.assert_recovers("no block file",
                             lambda node: (node.blocks_dir / "blk00000.dat").unlink())
        self.assert_recovers("last blocks", self.spoil_last_blocks)
