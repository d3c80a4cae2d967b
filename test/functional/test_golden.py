"""The first 14,132 mainnet blocks, by every way into the node, against Bitcoin Core's answers."""

import golden
import interop_env
from framework import FunctionalTest, besides_disk_warning, coins, run_tool, wait_until

# Fields that Core returns with its coin statistics index, and this node for a named block.
INDEX_FIELDS = {"total_unspendable_amount", "block_info"}


def without(answer, *names):
    return {key: value for key, value in answer.items() if key not in names}


class Answers(FunctionalTest):
    """RPC answers, field for field."""

    def setUp(self):
        super().setUp()
        self.golden = golden.answers()
        self.main = self.node("main")
        status, errors = self.main.run(f"-loadblock={golden.block_file()}",
                                       f"-stopatheight={golden.TIP_HEIGHT}")
        self.assertEqual((status, besides_disk_warning(errors)), (0, ""))
        self.main.start()

    def test_blocks(self):
        rpc = self.main.rpc
        self.assertEqual(rpc("getblockcount"), golden.TIP_HEIGHT)
        self.assertEqual(rpc("getbestblockhash"), golden.TIP_HASH)
        hashes = [rpc("getblockhash", height) for height in range(0, golden.TIP_HEIGHT, 250)]
        self.assertEqual(hashes, self.golden["block_hash_every_250"])
        block = rpc("getblockhash", 170)
        for verbosity in range(4):
            answer = rpc("getblock", block, verbosity)
            wanted = self.golden[f"getblock_170_verbosity_{verbosity}"]
            self.assertEqual(answer, wanted)
            if verbosity:
                self.assertEqual(list(answer), list(wanted), "order of the fields")
        self.assertEqual(rpc("getblockheader", golden.TIP_HASH),
                         self.golden["getblockheader_14131_verbose"])

    def test_heights(self):
        rpc = self.main.rpc
        for height, wanted in self.golden["heights"].items():
            block = rpc("getblockhash", int(height))
            self.assertEqual(block, wanted["hash"])
            self.assertEqual(rpc("getblockheader", block, False), wanted["header_hex"])
            if "getblockstats" in wanted:
                self.assertEqual(rpc("getblockstats", int(height)), wanted["getblockstats"])
                self.assertEqual(rpc("getblockstats", block), wanted["getblockstats"])

    def test_chain_info(self):
        answer, wanted = self.main.rpc("getblockchaininfo"), self.golden["getblockchaininfo"]
        # The progress depends on the date, and the size on preallocated files.
        clock = ("verificationprogress", "size_on_disk")
        self.assertEqual(list(answer), list(wanted))
        self.assertEqual(without(answer, *clock, "warnings"), without(wanted, *clock, "warnings"))

    def test_coins(self):
        for kind in ("hash_serialized_3", "muhash"):
            answer = self.main.rpc("gettxoutsetinfo", kind)
            wanted = self.golden[f"gettxoutsetinfo_{kind}"]
            wanted = without(wanted, *INDEX_FIELDS, "disk_size")
            self.assertEqual({key: answer[key] for key in wanted}, wanted)

    def test_coins_at_each_height(self):
        rpc = self.main.rpc
        heights = sorted(map(int, self.golden["heights"]), reverse=True)
        for height in heights:
            wanted = self.golden["heights"][str(height)]["gettxoutsetinfo_muhash_at_height"]
            answer = rpc("gettxoutsetinfo", "muhash", height)
            self.assertEqual(answer, wanted, f"height {height}, asked for from the tip")
            self.assertEqual(list(answer), list(wanted), "order of the fields")
        for height in heights:
            if height < rpc("getblockcount"):
                rpc("invalidateblock", rpc("getblockhash", height + 1))
            wanted = self.golden["heights"][str(height)]["gettxoutsetinfo_muhash_at_height"]
            wanted = without(wanted, *INDEX_FIELDS)
            answer = rpc("gettxoutsetinfo", "muhash")
            self.assertEqual({key: answer[key] for key in wanted}, wanted, f"height {height}")

    def test_snapshot_and_hints(self):
        """The snapshot is Core's byte for byte, and the tool makes the known hints from it."""
        wanted = golden.unpacked(golden.FOLDER + "utxo_14131.dat.xz").read_bytes()
        snapshot = self.dir / "utxo.dat"
        answer = self.main.rpc("dumptxoutset", str(snapshot), "latest")
        self.assertEqual(answer["base_hash"], golden.TIP_HASH)
        self.assertEqual(answer["txoutset_hash"],
                         self.golden["gettxoutsetinfo_hash_serialized_3"]["hash_serialized_3"])
        self.assertEqual(snapshot.read_bytes(), wanted)
        hints = self.dir / "main.hints"
        status, _, errors = run_tool("booster-gen.py", self.main.datadir, snapshot, hints)
        self.assertEqual(status, 0, errors)
        status, out, errors = run_tool("hints_dump.py", "--indices", hints)
        self.assertEqual(status, 0, errors)
        text = interop_env.read_testdata(golden.FOLDER + "unspent_indices.txt.xz").decode()
        self.assertEqual(out.splitlines(), text.splitlines())


class WaysIn(FunctionalTest):
    """The same coins whichever way the blocks came."""

    def assert_golden(self, node):
        node.wait_for_tip(golden.TIP_HASH)
        answer = coins(node)
        for kind, wanted in golden.COINS_HASHES.items():
            self.assertEqual(answer[kind], wanted)

    def reindexed(self, key):
        node = self.node("main")
        golden.place_blocks(node, key)
        before = (node.blocks_dir / "blk00000.dat").read_bytes()
        status, errors = node.run("-reindex", f"-stopatheight={golden.TIP_HEIGHT}")
        self.assertEqual((status, besides_disk_warning(errors)), (0, ""))
        node.start()
        self.assert_golden(node)
        node.stop()
        self.assertEqual((node.blocks_dir / "blk00000.dat").read_bytes(), before)

    def test_reindex_plain(self):
        self.reindexed(b"")

    def test_reindex_obfuscated(self):
        self.reindexed(bytes.fromhex("0123456789abcdef"))

    def test_reindex_chainstate(self):
        node = self.node("main")
        golden.place_blocks(node)
        node.run("-reindex", f"-stopatheight={golden.TIP_HEIGHT}")
        status, errors = node.run("-reindex-chainstate", f"-stopatheight={golden.TIP_HEIGHT}")
        self.assertEqual((status, besides_disk_warning(errors)), (0, ""))
        node.start("-checklevel=4", "-checkblocks=0")
        self.assert_golden(node)

    def test_import_in_two_parts(self):
        """Stopped on the way, the import continues; a file given twice does no harm."""
        node = self.node("main")
        node.run(f"-loadblock={golden.block_file()}", "-stopatheight=5000")
        node.start()
        self.assertLess(node.rpc("getblockcount"), golden.TIP_HEIGHT)
        node.stop()
        again = f"-loadblock={golden.block_file()}"
        node.start(again, again)
        self.assert_golden(node)

    def test_cores_own_directory(self):
        """Opened, checked at the deepest level from tip to genesis, read, and continued."""
        node = self.node("main")
        golden.unpack_core_datadir(node.datadir)
        node.start("-checklevel=4", "-checkblocks=0")
        self.assert_golden(node)
        self.assertIs(node.rpc("verifychain", 4, 0), True)
        for height in (170, 9999, golden.TIP_HEIGHT):
            block = node.rpc("getblockhash", height)
            self.assertEqual(node.rpc("getblock", block, 0)[:160],
                             node.rpc("getblockheader", block, False))
        # Back a hundred blocks with Core's undo data, and forward again.
        early = node.rpc("getblockhash", golden.TIP_HEIGHT - 99)
        node.rpc("invalidateblock", early)
        self.assertEqual(node.rpc("getblockcount"), golden.TIP_HEIGHT - 100)
        node.rpc("reconsiderblock", early)
        self.assert_golden(node)
        node.stop()
        node.start("-reindex-chainstate")
        self.assert_golden(node)
        node.stop()
        node.start()
        self.assert_golden(node)

    def test_torn_file(self):
        """Cut within a block, with the first part repeated in another file."""
        node = self.node("main")
        golden.place_blocks(node)
        whole = (node.blocks_dir / "blk00000.dat").read_bytes()
        (node.blocks_dir / "blk00000.dat").write_bytes(whole[:1_000_001])
        (node.blocks_dir / "blk00001.dat").write_bytes(whole)
        node.start("-reindex")
        self.assert_golden(node)


class TestChains(FunctionalTest):
    """Other real files: ragged ends, other networks."""

    def test_testnet_file_with_a_cut_block(self):
        node = self.node("test")
        source = interop_env.testdata_path("chains/testnet3_first402_truncated.blk")
        node.start(f"-loadblock={source}")
        wait_until(lambda: node.rpc("getblockcount") == 400, "all whole blocks")
        self.assertEqual(node.rpc("getblockchaininfo")["chain"], "test")

    def test_regtest_blocks(self):
        node = self.node("regtest").start()
        text = interop_env.testdata_path("chains/kernel_regtest_206.txt").read_text()
        lines = text.split()
        for line in lines:
            self.assertIsNone(node.rpc("submitblock", line))
        self.assertEqual(node.rpc("getblockcount"), len(lines))
        self.assertEqual(node.rpc("submitblock", lines[-1]), "duplicate")
