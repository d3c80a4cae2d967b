"""loadtxoutset: a node continues from the coins of a snapshot file, follows the chain from there
and stays consistent through restarts, kills, rebuilds and reorganisations. As long as blocks below
it are missing, each answer says that nothing proves the history."""

import contextlib
import http.client
import os
import random
import shutil
import threading
import time

from framework import BURNT, RpcError, coins, wait_until
from snapshot_chain import ANYONE, BASE, SPENT, TIP, SnapshotTest

MAGIC, VERSION, NETWORK, HASH, COUNT, COINS = 0, 5, 7, 11, 43, 51  # offsets in a snapshot file
LOADING, DAMAGED = -22, -32603  # codes of errors


class Snapshots(SnapshotTest):
    def test_goes_on_from_the_snapshot(self):
        node = self.with_headers()
        self.assertEqual(self.load(node), {
            "coins_loaded": self.dump["coins_written"], "tip_hash": self.hashes[BASE],
            "base_height": BASE, "path": str(self.file)})
        self.assert_begun(node, BASE)
        info = node.rpc("getblockchaininfo")
        self.assertEqual((info["blocks"], info["headers"]), (BASE, TIP))
        self.assertEqual(info["backgroundvalidation"]["snapshotheight"], BASE)
        self.assertEqual(info["backgroundvalidation"]["blocks"], 0)
        self.assertEqual(node.rpc("gettxoutsetinfo")["hash_serialized_3"],
                         self.dump["txoutset_hash"])
        self.assert_rpc_error(-1, "Block not available (not fully downloaded)",
                              node.rpc, "getblock", self.hashes[BASE])
        self.assertNotIn("NETWORK", node.rpc("getnetworkinfo")["localservicesnames"])
        for _ in range(2):
            self.send(node, BASE + 1, TIP + 1)
            self.assert_begun(node)
            self.assertIn("NETWORK_LIMITED", node.rpc("getnetworkinfo")["localservicesnames"])
            self.assertNotIn("NETWORK", node.rpc("getnetworkinfo")["localservicesnames"])
            self.assert_rpc_error(DAMAGED, "more than once", self.load, node)
            node.stop().start()
        self.assertTrue((node.net_dir / "chainstate_snapshot" / "base_blockhash").exists())
        self.assertFalse((node.net_dir / "chainstate_snapshot.ibdbooster").exists())

    def test_older_coins_and_stored_blocks(self):
        """The node has validated a part, and stored blocks above the base."""
        node = self.with_headers()
        self.send(node, 1, 51)
        self.send(node, BASE + 1, TIP - 2)
        self.load(node)
        self.assert_begun(node, TIP - 3, older=50)
        self.send(node, 51, BASE)  # those below come later
        node.stop().start()
        self.assert_begun(node, TIP - 3, older=50)
        self.send(node, TIP - 2, TIP + 1)
        self.assert_begun(node, older=50)
        self.send(node, BASE, BASE + 1)
        self.assert_proven(node)
        self.assertEqual(node.rpc("getblock", self.hashes[BASE])["height"], BASE)
        tips = [tip for tip in node.rpc("getchaintips") if tip["status"] == "active"]
        self.assertEqual([tip["height"] for tip in tips], [TIP])
        self.assertTrue(node.rpc("verifychain", 4, TIP - BASE))

    def test_reorganisations(self):
        node = self.loaded()
        self.send(node, BASE + 1, TIP + 1)
        node.rpc("invalidateblock", self.hashes[BASE + 1])
        self.assert_begun(node, BASE)
        self.assertEqual(node.rpc("gettxoutsetinfo")["hash_serialized_3"],
                         self.dump["txoutset_hash"])
        node.rpc("preciousblock", self.hashes[BASE])
        self.assert_begun(node, BASE)
        node.stop().start()
        self.assert_begun(node, BASE)
        node.rpc("reconsiderblock", self.hashes[BASE + 1])
        self.assert_begun(node)
        node.rpc("invalidateblock", self.hashes[TIP])
        made = node.rpc("generatetodescriptor", 2, "raw(52)")
        self.assertEqual(node.rpc("getbestblockhash"), made[-1])
        self.assertEqual(self.states(node)[1], (TIP + 1, self.hashes[BASE], False))

    def test_the_base_cannot_be_taken_back(self):
        node = self.loaded()
        self.assert_rpc_error(-1, "restart with -reindex-chainstate, without the snapshot",
                              node.rpc, "invalidateblock", self.hashes[BASE])
        self.assert_begun(node, BASE)

    def test_from_a_peer(self):
        node = self.loaded()
        self.source.stop()
        port = self.source.port + 1
        self.source.start("-listen=1", f"-bind=127.0.0.1:{port}")
        node.stop().start(f"-connect=127.0.0.1:{port}")
        self.assert_proven(node)
        self.source.rpc("generatetodescriptor", 1, ANYONE)
        node.wait_for_height(TIP + 1)
        self.assertEqual(self.states(node), [(TIP + 1, None, True)])

    def test_rebuild_goes_without_it(self):
        node = self.loaded()
        self.send(node, 1, BASE)
        self.send(node, BASE + 1, TIP + 1)
        self.assert_begun(node)
        node.stop().start()
        self.assert_begun(node)
        self.send(node, BASE, BASE + 1)
        for way in ("-reindex-chainstate", "-reindex"):
            node.stop().start(way)
            node.wait_for_height(TIP)
            self.assertEqual(self.states(node), [(TIP, None, True)])
            self.assertEqual(coins(node), self.wanted)
            self.assertFalse((node.net_dir / "chainstate_snapshot").exists())

    def test_pruned(self):
        node = self.with_headers("-prune=1", "-fastprune")
        self.load(node)
        self.send(node, BASE + 1, TIP + 1)
        self.assert_begun(node)
        node.stop().start()
        self.assert_begun(node)

    def test_indexes_wait_for_the_blocks(self):
        node = self.with_headers("-txindex", "-blockfilterindex")
        self.send(node, 1, 31)
        self.load(node)
        self.send(node, BASE + 1, TIP + 1)
        self.assert_begun(node, older=30)
        index = node.rpc("getindexinfo")["txindex"]
        self.assertEqual(index["best_block_height"], 30)
        self.send(node, 31, BASE + 1)
        wait_until(lambda: node.rpc("getindexinfo")["txindex"]["best_block_height"] == TIP,
                   "the index reads what came later")
        self.assert_proven(node)
        wait_until(lambda: all(index["synced"] for index in node.rpc("getindexinfo").values()),
                   "both indexes, with the undo data that is made after the proof")
        node.stop().start()
        self.assert_proven(node)

    def damaged(self, name, change):
        data = bytearray(self.file.read_bytes())
        change(data)
        path = self.dir / name
        path.write_bytes(data)
        return path

    def assert_not_loaded(self, node, path, code, text):
        self.assert_rpc_error(code, text, self.load, node, path)
        self.assertEqual(self.states(node), [(0, None, True)])
        left = [p.name for p in node.net_dir.iterdir() if p.name.startswith("chainstate_")]
        self.assertEqual(left, [])

    def test_damaged_files(self):
        node = self.with_headers()
        count = self.dump["coins_written"]
        data = self.file.read_bytes()

        def put(at, new):
            def change(bytes_):
                bytes_[at:at + len(new)] = new
            return change

        def cut(size):
            return lambda bytes_: bytes_.__delitem__(slice(size, None))
        begin = "Unable to load UTXO snapshot: Population failed: "
        for name, change, code, text in (
                ("magic", put(MAGIC, b"x"), LOADING, "Invalid UTXO set snapshot magic bytes"),
                ("version", put(VERSION, b"\3"), LOADING, "Version of snapshot 3 does not match"),
                ("main", put(NETWORK, bytes.fromhex("f9beb4d9")), LOADING,
                 "The network of the snapshot (main) does not match the network of this node "
                 "(regtest)."),
                ("stranger", put(NETWORK, b"\0\1\2\3"), LOADING, "an unrecognized network"),
                ("short", cut(COINS - 1), LOADING, "Unable to parse metadata"),
                ("unknown", put(HASH, b"\7" * 32), DAMAGED, "must appear in the headers"),
                ("fewer", put(COUNT, (count - 1).to_bytes(8, "little")), DAMAGED,
                 f"{begin}Bad snapshot - coins left over after deserializing {count - 1} coins"),
                ("more", put(COUNT, (count + 1).to_bytes(8, "little")), DAMAGED,
                 f"{begin}Bad snapshot format or truncated snapshot after deserializing {count}"),
                ("truncated", cut(len(data) - 5), DAMAGED, f"{begin}Bad snapshot format or trunc"),
                ("none", cut(COINS), DAMAGED, "truncated snapshot after deserializing 0 coins"),
                ("id", put(COINS, b"\xff" * 32), DAMAGED, f"{begin}Bad snapshot content hash"),
                ("number", put(COINS + 32, b"\xfd\xff\xff"), DAMAGED, f"{begin}Mismatch in coins"),
                ("height", put(COINS + 34, b"\x84\x58"), DAMAGED,
                 f"{begin}Bad snapshot data after deserializing 0 coins"),
                ("longer", lambda data: data.append(0), DAMAGED, f"{begin}Bad snapshot - coins"),
        ):
            with self.subTest(name):
                self.assert_not_loaded(node, self.damaged(name, change), code, text)
        self.assert_not_loaded(node, self.dir / "absent", -8, "Couldn't open file")
        self.load(node)
        self.assert_begun(node, BASE)

    def test_flipped_bits(self):
        """No bit of the file can change and be taken: each is named or the hash differs."""
        node = self.with_headers()
        size = self.file.stat().st_size
        for at in [*range(COINS), *range(COINS, size, size // 40)]:
            def flip(data, at=at):
                data[at] ^= 1 << at % 8
            with self.subTest(at), self.assertRaises(Exception):
                self.load(node, self.damaged("flipped", flip))
        self.assertEqual(self.states(node), [(0, None, True)])

    def test_not_now(self):
        node = self.node("regtest", self.known, "-acceptnonstdtxn=1").start()
        self.assert_rpc_error(DAMAGED, "must appear in the headers chain", self.load, node)
        self.send_headers(node)
        self.send(node, 1, SPENT - 5)
        height = node.rpc("getblockcount")
        spend = node.rpc("createrawtransaction", [{
            "txid": node.rpc("getblock", self.hashes[1])["tx"][0], "vout": 0}], [{BURNT: "49.9"}])
        node.rpc("sendrawtransaction", spend, 0)
        self.assert_rpc_error(DAMAGED, "mempool not empty", self.load, node)
        node.stop()
        (node.net_dir / "mempool.dat").unlink()
        node.start()
        self.send(node, SPENT - 5, BASE + 1)
        self.assert_rpc_error(DAMAGED, "Work does not exceed active chainstate", self.load, node)
        self.assertEqual(len(self.states(node)), 1)
        self.assertGreater(node.rpc("getblockcount"), height)

    def test_other_branches(self):
        node = self.with_headers()
        node.rpc("invalidateblock", self.hashes[BASE])
        self.assert_rpc_error(DAMAGED, "is part of an invalid chain", self.load, node)
        node.rpc("reconsiderblock", self.hashes[BASE])
        longer = self.node("regtest").start()
        made = longer.rpc("generatetodescriptor", TIP + 3, "raw(52)")
        for block in made:
            node.rpc("submitheader", longer.rpc("getblock", block, 0)[:160])
        self.assert_rpc_error(DAMAGED, "A forked headers-chain with more work", self.load, node)

    def test_the_option(self):
        node = self.loaded()
        node.stop()
        node.args.remove(self.known)
        self.assert_refused(node, saying="Assumeutxo data not found for the given blockhash "
                            f"'{self.hashes[BASE]}'")
        for value in ("", "110", "110:12:3", f"0:{'00' * 32}:5", f"5:{'00' * 32}:0"):
            self.assert_refused(self.node("regtest"), f"-assumeutxo={value}", saying="<txcount>")
        self.assert_refused(self.node("main"), self.known, saying="test networks")

    def test_foreign_files_are_left(self):
        node = self.with_headers()
        folder = node.net_dir / "chainstate_snapshot"
        folder.mkdir()
        (folder / "thesis.tex").write_text("mine")
        self.assert_rpc_error(DAMAGED, "thesis.tex", self.load, node)
        (folder / "thesis.tex").unlink()
        self.load(node)
        self.assert_begun(node, BASE)

    def test_killed_at_any_moment(self):
        """A start finds the older coins or the new ones, and continues."""
        node = self.with_headers()
        self.send(node, 1, 11).stop()
        before = self.dir / "before"
        shutil.copytree(node.datadir, before)
        rng = random.Random(os.environ.get("IBD_SEED"))
        for _ in range(int(os.environ.get("IBD_KILLS", 6))):
            shutil.rmtree(node.datadir)
            shutil.copytree(before, node.datadir)
            node.start()
            call = threading.Thread(target=self.try_to_load, args=(node,))
            call.start()
            time.sleep(rng.uniform(0, 0.05))
            node.kill()
            call.join()
            if len(self.states(node.start())) == 1:
                self.assertEqual(self.states(node), [(10, None, True)])
                self.load(node)
            self.send(node, BASE + 1, TIP + 1)
            self.assert_begun(node, older=10)
            self.assertFalse((node.net_dir / "chainstate_snapshot.ibdbooster").exists())
            node.stop()

    def try_to_load(self, node):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, RpcError):
            self.load(node)

    def test_killed_after_the_answer(self):
        node = self.with_headers()
        self.load(node)
        node.kill()
        self.send_headers(node.start())
        self.assert_begun(node, BASE)  # complete once the call has answered
        self.send(node, BASE + 1, TIP)
        node.kill()
        self.send(node.start(), BASE + 1, TIP + 1)
        self.assert_begun(node)
        node.stop()
        work = node.net_dir / "chainstate_snapshot.ibdbooster"
        shutil.move(node.net_dir / "chainstate_snapshot", self.dir / "new")
        work.mkdir()
        (work / "made-by-the-ibd-booster").write_text("")
        shutil.move(self.dir / "new", work / "new")  # as between its last two steps
        self.assert_begun(node.start())
        self.assertFalse(work.exists())


if __name__ == "__main__":
    import unittest
    unittest.main()
