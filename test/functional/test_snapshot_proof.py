"""The history below a UTXO snapshot is proven by its blocks, in any order, while the node is in
use: stored ones, submitted ones and those of peers, through stops and kills; then the node is like
any other. A snapshot with a wrong, missing or surplus coin is refuted by name, and its coins are
not used again.

The long run of kills with all indexes on, whose result bench/log has:

    test/functional/run.py -v --kills 200 killed_with_all_indexes
"""

import contextlib
import http.client
import os
import random
import shutil
import threading
import time

from framework import RpcError, coins, wait_until
from snapshot_chain import ANYONE, BASE, SPENT, SPENT_ABOVE, TIP, SnapshotTest
from test_indexes import FOLDERS as INDEXES

OLDER = 10  # height of the coins that a snapshot comes beside
KILLS_OF_A_ROUND = 4
HEADER = 51  # bytes before the first coin of a snapshot file
# Errors of a call to a node that stops.
STOPPING = (OSError, ValueError, http.client.HTTPException, RpcError)
SPECIAL = {0: 20, 1: 20, 2: 32, 3: 32, 4: 32, 5: 32}  # sizes of scripts by their number


class Bytes:
    """Reads a file's bytes one field after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        """A CompactSize below 253."""
        first, = self.take(1)
        assert first < 253
        return first

    def varint(self):
        """The bytes of a VARINT, and its value."""
        begin, value = self.at, 0
        while True:
            byte, = self.take(1)
            value = value << 7 | byte & 0x7f
            if not byte & 0x80:
                return self.data[begin:self.at], value
            value += 1


def varint(value):
    out = [value & 0x7f]
    while value > 0x7f:
        value = (value >> 7) - 1
        out.append(value & 0x7f | 0x80)
    return bytes(reversed(out))


class Coin:
    """A coin in a snapshot file: fields as they are coded there."""

    def __init__(self, txid, vout, code, amount, script):
        self.txid, self.vout, self.code, self.amount, self.script = txid, vout, code, amount, script

    @property
    def name(self):
        return f"output {self.txid[::-1].hex()}:{self.vout}"


def read_coins(data):
    found, source = [], Bytes(data[HEADER:])
    while source.at < len(source.data):
        txid = source.take(32)
        for _ in range(source.number()):
            vout = source.number()
            _, code = source.varint()
            _, amount = source.varint()
            raw, kind = source.varint()
            script = raw + source.take(SPECIAL.get(kind, kind - 6))
            found.append(Coin(txid, vout, code, amount, script))
    return found


def write_coins(header, found):
    out = bytearray(header[:43] + len(found).to_bytes(8, "little"))
    found = sorted(found, key=lambda coin: (coin.txid, coin.vout))
    for txid in sorted({coin.txid for coin in found}):
        own = [coin for coin in found if coin.txid == txid]
        out += txid + bytes([len(own)])
        for coin in own:
            out += (bytes([coin.vout]) + varint(coin.code) + varint(coin.amount) + coin.script)
    return bytes(out)


class SnapshotProof(SnapshotTest):
    def peer(self):
        """The source as a peer of others; what connects to it."""
        self.source.stop()
        port = self.source.port + 1
        self.source.start("-listen=1", f"-bind=127.0.0.1:{port}")
        return f"-connect=127.0.0.1:{port}"

    def assert_ordinary(self, node):
        """After the next start it is a node like any other."""
        self.assert_proven(node)
        self.assertIn("NETWORK", node.rpc("getnetworkinfo")["localservicesnames"])
        wait_until(lambda: "undo" not in node.rpc("getboosterinfo"), "undo data below the base")
        self.assertTrue(node.rpc("verifychain", 4, 0))
        node.stop()
        self.assertEqual(self.left(node), ["chainstate"])
        self.assert_proven(node.start())
        self.assertIn("NETWORK", node.rpc("getnetworkinfo")["localservicesnames"])
        node.rpc("invalidateblock", self.hashes[SPENT])
        self.assertEqual(node.rpc("getblockcount"), SPENT - 1)
        node.rpc("reconsiderblock", self.hashes[SPENT])
        self.assert_proven(node)

    def left(self, node):
        self.assertFalse((node.net_dir / "ibdbooster" / "snapshot").exists())
        return sorted(path.name for path in node.net_dir.iterdir()
                      if path.name.startswith("chainstate"))

    def test_from_submitted_blocks(self):
        node = self.loaded()
        self.send(node, BASE + 1, TIP + 1)
        self.assert_begun(node)
        order = list(range(1, BASE + 1))
        random.Random(os.environ.get("IBD_SEED")).shuffle(order)
        for height in order[:BASE // 2]:
            self.send(node, height, height + 1)
        node.stop().start()
        wait_until(lambda: node.rpc("getboosterinfo")["proof"]["folded"] == BASE // 2,
                   "the stored blocks are folded")
        history = node.rpc("getblockchaininfo")["backgroundvalidation"]
        self.assertEqual((history["snapshotheight"], history["blocks"]), (BASE, BASE // 2))
        self.assert_begun(node)
        for height in order[BASE // 2:]:
            self.send(node, height, height + 1)
        self.assert_ordinary(node)

    def test_from_a_peer_while_the_tip_moves(self):
        node = self.loaded()
        node.stop().start(self.peer())
        self.source.rpc("generatetodescriptor", 3, ANYONE)
        node.wait_for_height(TIP + 3)
        wait_until(lambda: len(self.states(node)) == 1, "the proof of the history")
        self.assertEqual(coins(node), coins(self.source))
        self.assertEqual(node.rpc("getblock", self.hashes[1])["height"], 1)
        node.stop()
        self.assertEqual(self.left(node), ["chainstate"])
        node.start()
        self.assertEqual(coins(node), coins(self.source))

    def test_pruned(self):
        """The blocks are folded and not stored."""
        node = self.with_headers("-prune=1", "-fastprune")
        self.load(node)
        self.send(node, BASE + 1, TIP + 1)
        node.stop().start(self.peer())
        self.assert_proven(node)
        self.assert_rpc_error(-1, "pruned", node.rpc, "getblock", self.hashes[1])
        self.assertNotIn("NETWORK", node.rpc("getnetworkinfo")["localservicesnames"])
        node.stop()
        self.assertEqual(self.left(node), ["chainstate"])
        self.assert_proven(node.start())

    def test_without_undo_data(self):
        node = self.loaded("-ibdboosterundo=0")
        self.send(node, 1, TIP + 1)
        self.assert_proven(node)
        self.assertNotIn("undo", node.rpc("getboosterinfo"))
        self.assert_proven(node.stop().start())

    def test_not_without_scripts(self):
        """The proof runs no scripts: without it the history stays unproven if all must run."""
        node = self.loaded("-assumevalid=0")
        self.send(node, 1, TIP + 1)
        self.assertIn("the history below is not proven, because", node.log_text)
        self.assertNotIn("proof", node.rpc("getboosterinfo"))
        self.assert_begun(node)
        node.stop()
        node.args.remove("-assumevalid=0")
        self.assert_proven(node.start())

    def test_killed_at_any_moment(self):
        """Some blocks are stored, a peer has the others: the next start continues whichever step
        was running."""
        rng = random.Random(os.environ.get("IBD_SEED"))
        node = self.loaded()
        self.send(node, BASE + 1, TIP + 1)
        self.send(node, 1, BASE // 2)
        node.kill()
        before = self.dir / "before"
        shutil.copytree(node.datadir, before)
        peer = self.peer()
        for _ in range(int(os.environ.get("IBD_KILLS", 6))):
            shutil.rmtree(node.datadir)
            shutil.copytree(before, node.datadir)
            for _ in range(2):
                node.start(peer)
                time.sleep(rng.uniform(0, 0.5))
                node.kill()
            node.start(peer)
            self.assert_proven(node)
            node.stop()
            self.assertEqual(self.left(node), ["chainstate"])

    def test_killed_with_all_indexes(self):
        """Kills while a snapshot is loaded, while its history is proven, while undo data is made
        and while all indexes are built. In the end coins and indexes equal those of a node that was
        never killed."""
        rng = random.Random(os.environ.get("IBD_SEED"))
        node = self.with_headers(*INDEXES)
        self.send(node, 1, OLDER + 1).stop()
        before = self.dir / "before"
        shutil.copytree(node.datadir, before)
        self.source.args += INDEXES
        peer = self.peer()
        for _ in range(-(-int(os.environ.get("IBD_KILLS", 8)) // KILLS_OF_A_ROUND)):
            shutil.rmtree(node.datadir)
            shutil.copytree(before, node.datadir)
            self.kill_while_loading(node, rng)
            for _ in range(KILLS_OF_A_ROUND - 2):
                node.start(peer)
                time.sleep(rng.uniform(0, 1.5))
                node.kill()
            node.start(peer)
            self.assert_indexes_of_source(node)
            self.assert_proven(node)
            node.stop()
            self.assertEqual(self.left(node), ["chainstate"])

    def test_killed_before_stored_blocks_are_durable(self):
        """A transaction index does not name blocks below the base as done before their positions
        are on disk: after a kill they are stored elsewhere."""
        for _ in range(4):
            node = self.loaded("-txindex")
            self.send(node, 1, OLDER + 1)
            wait_until(lambda node=node: self.txindex(node)["best_block_height"] == OLDER,
                       "the index of the blocks")
            node.kill()
            self.send_headers(node.start())
            for height in (*range(BASE, 0, -1), *range(BASE + 1, TIP + 1)):
                self.send(node, height, height + 1)
            wait_until(lambda node=node: self.txindex(node)["synced"], "the index is synced")
            for block in self.hashes[1:]:
                for tx in node.rpc("getblock", block, 2)["tx"]:
                    self.assertEqual(node.rpc("getrawtransaction", tx["txid"]), tx["hex"])
            node.stop()

    def txindex(self, node):
        return node.rpc("getindexinfo")["txindex"]

    def kill_while_loading(self, node, rng):
        """Two kills; the snapshot is in use after them."""
        call = threading.Thread(target=self.try_to_load, args=(node.start(),))
        call.start()
        time.sleep(rng.uniform(0, 0.05))
        node.kill()
        call.join()
        if self.states(node.start()) == [(OLDER, None, True)]:
            self.load(node)
        time.sleep(rng.uniform(0, 0.2))
        node.kill()

    def try_to_load(self, node):
        with contextlib.suppress(*STOPPING):
            self.load(node)

    def assert_indexes_of_source(self, node):
        """All indexes are at the tip and answer as the source's."""
        def synced(one):
            info = one.rpc("getindexinfo")
            return len(info) == len(INDEXES) and all(
                (index["synced"], index["best_block_height"]) == (True, TIP)
                for index in info.values())

        for one in (node, self.source):
            wait_until(lambda one=one: synced(one), "the indexes are synced")
        for height, block in enumerate(self.hashes):
            calls = [("gettxoutsetinfo", "muhash", height), ("getblockfilter", block)]
            # No index has the transaction of the genesis block.
            for tx in node.rpc("getblock", block, 2)["tx"] if height else ():
                spent = [{"txid": one["txid"], "vout": one["vout"]}
                         for one in tx["vin"] if "txid" in one]
                calls += [("getrawtransaction", tx["txid"], 2)]
                calls += [("gettxspendingprevout", spent)] if spent else []
            for call in calls:
                self.assertEqual(node.rpc(*call), self.source.rpc(*call), call)

    def test_killed_after_the_proof(self):
        """The next start publishes the coins that the last one could not."""
        node = self.loaded()
        self.send(node, 1, TIP + 1)
        self.assert_proven(node)
        node.kill()
        self.assertTrue((node.net_dir / "chainstate_snapshot").exists())
        self.send_headers(node.start())
        self.send(node, BASE + 1, TIP + 1)  # those that were not durable
        self.assert_proven(node)
        self.assertEqual(self.left(node), ["chainstate"])

    def wrong(self, change):
        """A file that differs from the snapshot in one coin, the option that makes its hash
        accepted, and the outpoint of that coin."""
        data = self.file.read_bytes()
        found = read_coins(data)
        self.assertEqual(write_coins(data, found), data)
        coin = change(found)
        path = self.dir / "wrong.dat"
        path.write_bytes(write_coins(data, found))
        judge = self.with_headers()
        with self.assertRaisesRegex(Exception, "Bad snapshot content hash") as caught:
            self.load(judge, path)
        judge.stop()
        return path, self.knowing(str(caught.exception).partition(", got ")[2][:64]), coin.name

    def assert_refuted(self, change, says, *args, first=1):
        path, known, name = self.wrong(change)
        node = self.node("regtest", known, *args).start()
        self.send_headers(node)
        self.load(node, path)
        with contextlib.suppress(*STOPPING):
            self.send(node, first, BASE + 1)  # a wrong coin may be found before the last block
        status, errors = node.wait()
        self.assertEqual(status, 1)
        for text in (name, says, "the next start goes on from the older coins"):
            self.assertIn(text, errors)
        self.assertEqual(self.left(node), ["chainstate", "chainstate_snapshot_INVALID"])
        self.assertEqual(node.start().rpc("getchainstates")["chainstates"][0]["validated"], True)
        self.send(node, 1, TIP + 1)
        self.assert_proven(node)

    def test_wrong_coins(self):
        def amount(found):
            found[3].amount += 1
            return found[3]

        def height(found):
            found[4].code += 2 if found[4].code < 2 * BASE else -2
            return found[4]

        def script(found):
            found[5].script = bytes([6 + 1, 0x52])
            return found[5]

        def missing(found):
            return found.pop(6)

        def extra(found):
            spent = self.source.rpc("getblock", self.hashes[1])["tx"][0]
            made = next(coin for coin in found if coin.code == 2 * 2 + 1)
            found.append(Coin(bytes.fromhex(spent)[::-1], 0, 1 * 2 + 1, made.amount, made.script))
            return found[-1]
        for change, says in ((amount, "satoshis there, but"), (height, "is not there"),
                             (script, "another script"), (missing, "the snapshot lacks it"),
                             (extra, "is spent at its block, but the snapshot has it")):
            with self.subTest(change.__name__):
                self.assert_refuted(change, says)

    def test_nothing_of_the_wrong_coins_stays(self):
        """A block above the snapshot that was invalid with the wrong coins is valid afterwards, and
        undo data made from those coins is made again."""
        def find(found):
            return next(coin for coin in found if coin.txid[::-1].hex() == self.above)

        def missing(found):
            coin = find(found)
            found.remove(coin)
            return coin

        def amount(found):
            coin = find(found)
            coin.amount += 10  # 60 bitcoins rather than 50: amounts are compressed
            return coin
        for change, reached in ((missing, SPENT_ABOVE - 1), (amount, TIP)):
            with self.subTest(change.__name__):
                path, known, name = self.wrong(change)
                node = self.node("regtest", known).start()
                self.send_headers(node)
                self.load(node, path)
                for block in self.blocks[BASE + 1:]:
                    node.rpc("submitblock", block)
                self.assertEqual(node.rpc("getblockcount"), reached)
                with contextlib.suppress(*STOPPING):
                    self.send(node, 1, BASE + 1)
                status, errors = node.wait()
                self.assertEqual((status, name in errors), (1, True))
                self.send(node.start(), 1, TIP + 1)
                self.assert_proven(node)
                node.rpc("invalidateblock", self.hashes[BASE + 1])
                self.assertEqual(node.rpc("gettxoutsetinfo")["hash_serialized_3"],
                                 self.dump["txoutset_hash"])
                node.rpc("reconsiderblock", self.hashes[BASE + 1])
                self.assert_proven(node)

    def test_killed_after_the_refutation(self):
        """The next start puts the coins aside that the last one could not."""
        def missing(found):
            return found.pop(0)
        path, known, _ = self.wrong(missing)
        node = self.node("regtest", known).start()
        self.send_headers(node)
        self.load(node, path)
        self.send(node, 1, BASE)
        node.stop().start()
        refuted = node.net_dir / "ibdbooster" / "snapshot" / "refuted"
        self.send(node, BASE, BASE + 1)
        wait_until(lambda: refuted.exists() or not node.running, "the verdict on disk")
        node.kill()
        node.start()
        self.assertEqual(self.left(node), ["chainstate", "chainstate_snapshot_INVALID"])
        self.send(node, BASE + 1, TIP + 1)
        self.assert_proven(node)


if __name__ == "__main__":
    import unittest
    unittest.main()
