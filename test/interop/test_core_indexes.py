"""Indexes beside Core's: both nodes take the same blocks, with a reorganisation, with a repeated
coinbase, with more than 65,535 outputs, and real ones; their databases hold the same records; each
continues the indexes that the other began; the calls agree."""

import itertools
import shutil
import subprocess

import generated
import golden
from core_node import CoreNode
from framework import FunctionalTest, Node, RpcError, wait_until
from interop_env import own_program
from regtest_chain import FINAL, OP_TRUE, Chain, redeem
from wire import Tx

INDEXES = {  # option: folder of the database below indexes/
    "-txindex": "txindex",
    "-txospenderindex": "txospenderindex/db",
    "-blockfilterindex": "blockfilter/basic/db",
    "-coinstatsindex": "coinstatsindex/db",
}
SPENDERS = "-txospenderindex"
FILTER_FILE = "blockfilter/basic/fltr00000.dat"
COINS, VALUE, FEE = 40, 10_000_000, 1_000
LEAST_RECORDS = 10  # of an index
COMMON, WINNING = 103, 8  # blocks that both branches share, and of the better one
# A string of 12 bytes, and SipHash-2-4's key, which is random.
HASH_KEY = b"siphash_key\x00".hex()


def story():
    """Blocks in the order of their arrival: a chain, a branch and a better one from below its tip,
    all with transactions. The last block is the tip. Also the chain in the end."""
    trunk = Chain().grow(101)
    spends = [redeem(*name, VALUE, FEE) for name in trunk.split(COINS, VALUE)]
    trunk.add(trunk.candidate(spends[:10], 10 * FEE))
    losing, winning = trunk.branch(1, 0), trunk.branch(1, 0)
    winning.extra = b"\x07"
    losing.add(losing.candidate(spends[5:20], 15 * FEE))
    losing.grow(2)
    winning.add(winning.candidate(spends[:15], 15 * FEE))
    winning.add(winning.candidate(spends[20:], 20 * FEE))
    winning.grow(WINNING - 2)
    return trunk.blocks + losing.blocks[-3:] + winning.blocks[-WINNING:], winning


class IndexTest(FunctionalTest):
    def node(self, kind, name, network="regtest", *options):
        node = kind(self.dir / name, network, (*INDEXES, *options))
        self.nodes.append(node)
        return node

    def wait_synced(self, node):
        def synced():
            wanted = {"synced": True, "best_block_height": node.rpc("getblockcount")}
            states = node.rpc("getindexinfo")
            return len(states) == len(INDEXES) and all(
                state == wanted for state in states.values())
        wait_until(synced, "the indexes are synced")

    def records(self, node, option):
        """The records of an index as (key, value) in hex; the spender index's without its keyed
        hashes, which are random."""
        copy = self.dir / "copy"
        shutil.copytree(node.net_dir / "indexes" / INDEXES[option], copy)
        done = subprocess.run([own_program("ibd-kv-tool"), copy], check=True, capture_output=True,
                              text=True)
        shutil.rmtree(copy)
        found = [tuple(line.split(" ")) for line in done.stdout.splitlines()]
        if option != SPENDERS:
            return found
        return sorted((key[:2] + key[18:] if key.startswith("73") and key != HASH_KEY else key,
                       len(value) if key == HASH_KEY else value) for key, value in found)

    def assert_same_records(self, ours, core):
        for option in INDEXES:
            with self.subTest(option):
                expected, found = self.records(core, option), self.records(ours, option)
                self.assertGreater(len(expected), LEAST_RECORDS)
                for extra, missing in zip(set(found) - set(expected), set(expected) - set(found)):
                    self.assertEqual(extra, missing)
                self.assertEqual(len(found), len(expected))
        files = [(node.net_dir / "indexes" / FILTER_FILE).read_bytes() for node in (ours, core)]
        self.assertTrue(files[0] == files[1])


class Indexes(IndexTest):
    @classmethod
    def setUpClass(cls):
        cls.blocks, cls.chain = story()
        cls.before = len(cls.blocks) - WINNING  # the end of the losing branch

    def feed(self, node, begin, end):
        """At the start of branches, waits for the indexes after each block: otherwise our indexes
        would skip blocks that another branch has replaced meanwhile."""
        for number in range(begin, end):
            if number >= COMMON - 1 and node.args:
                self.wait_synced(node)
            self.assertIn(node.rpc("submitblock", self.blocks[number].raw().hex()),
                          (None, "inconclusive", "duplicate", "duplicate-inconclusive"))

    def whole(self, node):
        node.start()
        self.feed(node, 0, len(self.blocks))
        self.wait_synced(node)
        return node

    def answer(self, node, call):
        try:
            return node.rpc(*call)
        except RpcError as error:
            return error.code, error.message

    def calls(self):
        found = [("getindexinfo",), ("getindexinfo", "txindex"), ("getindexinfo", "none"),
                 ("getrawtransaction", "11" * 32), ("gettxoutproof", ["11" * 32]),
                 ("getblockfilter", "11" * 32), ("getblockfilter", "11"),
                 ("getblockfilter", self.chain.tip, "none"), ("scanblocks", "status"),
                 ("scanblocks", "abort"), ("scanblocks", "none")]
        for block in self.blocks[95:]:
            found.append(("getblockfilter", block.hash()))
            for tx in block.txs[:4]:
                found += [("getrawtransaction", tx.txid(), verbosity) for verbosity in range(3)]
                found += [("getrawtransaction", tx.txid(), 1, block.hash()),
                          ("gettxoutproof", [tx.txid()])]
                spent = [{"txid": txid, "vout": vout} for txid, vout, *_ in tx.inputs]
                made = [{"txid": tx.txid(), "vout": 0}, {"txid": "11" * 32, "vout": 7}]
                found += [("gettxspendingprevout", made + spent, options)
                          for options in ({}, {"mempool_only": True}, {"return_spending_tx": True})]
        for block in (None, 0, 1, 102, 104, 106, *(block.hash() for block in self.blocks[100:])):
            found += [("gettxoutsetinfo", kind, block) for kind in ("muhash", "none")]
            found.append(("gettxoutsetinfo", "muhash", block, False))
        found += [("gettxoutsetinfo", "hash_serialized_3", 102, use) for use in (True, False)]
        scripts = [f"raw({tx.outputs[0][1].hex()})" for tx in self.blocks[104].txs[:2]]
        for ends, check in itertools.product(([], [100], [101, 104], [104, 103], [500]), (0, 1)):
            heights = ends + [None] * (2 - len(ends))
            found.append(("scanblocks", "start", [*scripts, f"raw({OP_TRUE.hex()})"], *heights,
                          "basic", {"filter_false_positives": bool(check)}))
        return found

    def psbt_calls(self, node):
        """utxoupdatepsbt of transactions that spend outputs in blocks. The outputs are not segwit,
        so the whole previous transaction is needed; one output is spent, and one is in no block."""
        for txid, vout in ((self.blocks[1].txs[0].txid(), 0),
                           *((tx.txid(), 0) for tx in self.chain.blocks[-1 - WINNING].txs[1:3]),
                           ("11" * 32, 3)):
            inputs = [{"txid": txid, "vout": vout}]
            psbt = node.rpc("createpsbt", inputs, [{"data": "00"}])
            yield "utxoupdatepsbt", psbt
            yield "descriptorprocesspsbt", psbt, [f"raw({OP_TRUE.hex()})"]

    def damaged(self, kind, option, damage):
        """The status and the last words of a node whose index meets the damage on its way."""
        node = self.node(kind, "damaged")
        node.args = ["-blocksxor=0"]
        node.start()
        self.feed(node, 0, COMMON - 1)
        node.stop()
        damage(node)
        end = node.run("-checklevel=0", option)
        shutil.rmtree(node.datadir)
        return end

    def test_damaged_blocks(self):
        """The data of a block far below the tip, which no check at start reads."""
        middle = self.blocks[49].raw()

        def block(node):
            path = node.blocks_dir / "blk00000.dat"
            raw = path.read_bytes()
            at = raw.index(middle) + 40
            path.write_bytes(raw[:at] + b"\xff" * 8 + raw[at + 8:])

        def undo(node):
            path = node.blocks_dir / "rev00000.dat"
            path.write_bytes(path.read_bytes()[:1000] + b"\xff" * 100)

        for name, damage in (("-txindex", block), ("-blockfilterindex", block),
                             ("-coinstatsindex", undo)):
            with self.subTest(name):
                core, ours = (self.damaged(kind, name, damage) for kind in (CoreNode, Node))
                self.assertEqual(ours, core)
                self.assertEqual(ours[0], 1)
                self.assertIn("Error: A fatal internal error occurred, see debug.log for details: "
                              "Failed to read ", ours[1])

    def test_same_records_and_answers(self):
        core, ours = self.whole(self.node(CoreNode, "core")), self.whole(self.node(Node, "ours"))
        for call in itertools.chain(self.calls(), self.psbt_calls(ours)):
            with self.subTest(call):
                self.assertEqual(self.answer(ours, call), self.answer(core, call))
        for node in (core, ours):
            node.stop()
        self.assert_same_records(ours, core)

    def switched_on_later(self, kind):
        """A node that got its indexes when it had all blocks."""
        node = kind(self.dir / f"later-{kind.__name__}", "regtest")
        self.nodes.append(node)
        node.start()
        self.feed(node, 0, len(self.blocks))
        node.stop()
        later = kind(node.datadir, "regtest", tuple(INDEXES))
        self.nodes.append(later)
        later.start()
        self.wait_synced(later)
        later.stop()
        return later

    def test_built_at_once(self):
        core, ours = (self.switched_on_later(kind) for kind in (CoreNode, Node))
        self.assertIn("Index build: txindex, txospenderindex: done", ours.log_text)
        self.assert_same_records(ours, core)
        core_goes_on = CoreNode(ours.datadir, "regtest", tuple(INDEXES))
        self.nodes.append(core_goes_on)
        core_goes_on.start()
        self.wait_synced(core_goes_on)
        for block in self.chain.blocks[-20:]:
            for tx in block.txs:
                self.assertEqual(core_goes_on.rpc("getrawtransaction", tx.txid(), 1)["blockhash"],
                                 block.hash())

    def goes_on(self, first, second):
        """`first` makes the indexes up to the losing branch, `second` continues in its directory.
        """
        begun = self.node(first, "both").start()
        self.feed(begun, 0, self.before)
        self.wait_synced(begun)
        begun.stop()
        going_on = self.whole(self.node(second, "both"))
        going_on.stop()
        alone = self.whole(self.node(second, "alone"))
        alone.stop()
        self.assert_same_records(going_on, alone)

    def test_we_go_on_where_core_was(self):
        self.goes_on(CoreNode, Node)

    def test_core_goes_on_where_we_were(self):
        self.goes_on(Node, CoreNode)

    def test_killed_and_fed_again(self):
        node = self.node(Node, "ours")
        for end in (30, COMMON, self.before, self.before + 2, len(self.blocks)):
            node.start()
            self.feed(node, 0, end)
            node.kill()
        self.whole(node)
        for block in self.chain.blocks:
            for tx in block.txs:
                found = node.rpc("getrawtransaction", tx.txid(), 1)
                self.assertEqual(found["blockhash"], block.hash())
                spent = [{"txid": txid, "vout": vout} for txid, vout, *_ in tx.inputs]
                if block.txs[0] is not tx:
                    said = node.rpc("gettxspendingprevout", spent)
                    self.assertEqual([one["spendingtxid"] for one in said], [tx.txid()])
        core = self.whole(self.node(CoreNode, "core"))
        for block in self.blocks:
            call = ("getblockfilter", block.hash())
            if block in self.chain.blocks:
                self.assertEqual(node.rpc(*call), core.rpc(*call))

    def test_wiped_by_reindex_and_off_for_a_while(self):
        core, ours = self.whole(self.node(CoreNode, "core")), self.node(Node, "ours").start()
        self.feed(ours, 0, 50)
        self.wait_synced(ours)
        ours.stop()
        off = Node(ours.datadir, "regtest")
        self.nodes.append(off)
        off.start()
        self.assertEqual(off.rpc("getindexinfo"), {})
        self.feed(off, 50, len(self.blocks))
        off.stop()
        self.whole(ours)
        ours.stop()
        ours.start("-reindex")
        self.wait_synced(ours)
        for block in self.chain.blocks[-20:]:
            for call in [("getrawtransaction", block.txs[-1].txid(), 2),
                         ("getblockfilter", block.hash())]:
                self.assertEqual(ours.rpc(*call), core.rpc(*call))


def large_blocks():
    """A transaction with more than 65,535 outputs, a block with two large ones, and spends of
    outputs on both sides of that number."""
    chain = Chain().grow(102)
    names = []
    for block, counts in ((0, (70_000,)), (1, (36_000, 36_000))):
        txid, value = chain.blocks[block].txs[0].txid(), chain.blocks[block].txs[0].outputs[0][0]
        txs = []
        for count in counts:
            txs.append(Tx([(txid, 0, b"", FINAL)], [(value // 2 // count, OP_TRUE)] * count))
            txs[-1].outputs[0] = (value - value // 2, OP_TRUE)
            txid, value = txs[-1].txid(), value - value // 2
            names.append((txs[-1].txid(), count))
        chain.add(chain.candidate(txs))
    spends = []
    for txid, count in names:
        spent = {1, 35_000, 65_534, 65_535, 65_536, count - 1}
        inputs = [(txid, index, b"", FINAL) for index in sorted(spent) if index < count]
        spends.append(Tx(inputs, [(1_000, OP_TRUE)]))
    chain.add(chain.candidate(spends))
    return chain.grow(2)


class UnusualBlocks(IndexTest):
    """The same block files, from which each node makes all indexes; and blocks that it takes one by
    one while its indexes follow."""

    def indexed(self, kind, network, place, height, *options):
        """A node that has ended after its indexes were done."""
        node = self.node(kind, f"{kind.__name__}-{len(self.nodes)}", network, *options)
        place(node)
        node.start("-reindex")
        node.wait_for_height(height)
        self.wait_synced(node)
        node.stop()
        return node

    def assert_same_from_files(self, *args):
        core, ours = (self.indexed(kind, *args) for kind in (CoreNode, Node))
        self.assertIn("Index build: txindex, txospenderindex: done", ours.log_text)
        self.assert_same_records(ours, core)

    def test_real_blocks(self):
        self.assert_same_from_files("main", golden.place_blocks, golden.TIP_HEIGHT)

    def test_repeated_coinbase(self):
        made = generated.chain("--blocks", "300", "--bip30", "20:140", "--bip34", "200", "--stale",
                               "--shuffle", "10")
        self.assert_same_from_files("regtest", lambda node: made.place(node, copied=True),
                                    made.height, "-testactivationheight=bip34@200")

    def test_large_blocks(self):
        blocks = large_blocks().blocks
        followed = []
        for kind in (CoreNode, Node):
            node = self.node(kind, kind.__name__).start()
            for block in blocks:
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
            self.wait_synced(node)
            node.stop()
            followed.append(node)
        core, ours = followed
        self.assert_same_records(ours, core)
        without = shutil.ignore_patterns("index", "rev*")
        self.assert_same_from_files(
            "regtest", lambda node: shutil.copytree(core.blocks_dir, node.blocks_dir,
                                                    ignore=without), len(blocks))
