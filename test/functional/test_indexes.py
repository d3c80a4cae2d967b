"""Indexes: after a sync with the booster, whose undo data comes late; damaged; and refused."""

import os
import random
import shutil
import time

from framework import FunctionalTest, wait_until
from generated import small_chain
from regtest_chain import Chain

KILLS = int(os.environ.get("IBD_KILLS", "4"))

FOLDERS = {  # of the databases, below indexes/
    "-txindex": "txindex",
    "-txospenderindex": "txospenderindex/db",
    "-blockfilterindex": "blockfilter/basic/db",
    "-coinstatsindex": "coinstatsindex/db",
}


class Indexes(FunctionalTest):
    def synced(self, node, height):
        wanted = {"synced": True, "best_block_height": height}
        wait_until(lambda: list(node.rpc("getindexinfo").values()) == [wanted] * len(FOLDERS),
                   "the indexes are synced")

    def test_after_the_booster(self):
        made = small_chain(30000)
        boosted = made.place(self.node(), copied=True)
        boosted.start("-reindex", f"-ibdboosterfile={made.container}", *made.trust, *FOLDERS)
        serial = made.place(self.node(), copied=True)
        serial.start("-reindex", "-ibdbooster=0", *made.trust, *FOLDERS)
        for node in (boosted, serial):
            self.synced(node, made.height)
            indexed = node.rpc("gettxoutsetinfo", "muhash")
            counted = node.rpc("gettxoutsetinfo", "muhash", None, False)
            self.assertIn("block_info", indexed)
            self.assertIn("disk_size", counted)
            for name in ("txouts", "bogosize", "muhash", "total_amount"):
                self.assertEqual(indexed[name], counted[name], name)
        # Its header depends on all filters below.
        self.assertEqual(boosted.rpc("getblockfilter", made.tip),
                         serial.rpc("getblockfilter", made.tip))
        self.assertGreater(self.assert_finds(boosted, 150), 1)

    def test_killed_while_built(self):
        """After each kill the build of the indexes starts over, or they continue."""
        made = small_chain(30000)
        node = made.place(self.node(), copied=True)
        node.start("-reindex", f"-ibdboosterfile={made.container}", *made.trust).stop()
        chance = random.Random(os.environ.get("IBD_SEED", "1"))
        for _ in range(KILLS):
            node.start(*made.trust, *FOLDERS)
            time.sleep(chance.uniform(0, 0.5))
            node.kill()
        node.start(*made.trust, *FOLDERS)
        self.synced(node, made.height)
        self.assertIn("Index build: ", node.log_text)
        self.assertEqual([path for path in node.net_dir.rglob("*.ibdbooster")
                          if "indexes" in path.parts], [])
        for height in range(100, made.height + 1, 20):
            self.assert_finds(node, height)

    def assert_finds(self, node, height):
        """Each transaction of a block, also by the outputs that it spends."""
        block = node.rpc("getblock", node.rpc("getblockhash", height), 2)
        for tx in block["tx"][1:]:
            found = node.rpc("getrawtransaction", tx["txid"], 2)
            self.assertEqual(found["blockhash"], block["hash"])
            spent = [{"txid": one["txid"], "vout": one["vout"]} for one in tx["vin"]]
            said = node.rpc("gettxspendingprevout", spent)
            self.assertEqual({one["spendingtxid"] for one in said}, {tx["txid"]})
        return len(block["tx"])

    def test_switched_off_and_on(self):
        """It continues, over the blocks received meanwhile."""
        chain = Chain().grow(120)
        node = self.node()

        def feed(end):
            for block in chain.blocks[node.rpc("getblockcount"):end]:
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))

        node.start(*FOLDERS)
        feed(50)
        self.synced(node, 50)
        node.stop().start()
        feed(100)
        self.assertEqual(node.rpc("getindexinfo"), {})
        node.stop().start(*FOLDERS)
        self.synced(node, 100)
        feed(120)
        self.synced(node, 120)
        self.assertEqual(node.rpc("getboosterinfo")["indexes"], {})  # none is on its way
        for block in chain.blocks:
            self.assertEqual(node.rpc("getrawtransaction", block.txs[0].txid(), 1)["blockhash"],
                             block.hash())
            node.rpc("getblockfilter", block.hash())
        info = node.rpc("gettxoutsetinfo", "muhash", 75)
        self.assertEqual(info["txouts"], 75)

    def reindexed_after_damage(self, rebuild):
        """A header on the disk is damaged, then `rebuild` begins to make the block index again. The
        next start continues; the blocks above get new positions when they come again."""
        chain = Chain().grow(120)
        node = self.node().start("-blocksxor=0", *FOLDERS)
        for block in chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.synced(node, 120)
        node.stop()
        file = node.blocks_dir / "blk00000.dat"
        file.write_bytes(file.read_bytes().replace(chain.blocks[59].header(), bytes(80)))
        rebuild(node)
        node.start(*FOLDERS)
        self.assertEqual(node.rpc("getblockcount"), 59)
        for block in chain.blocks[59:]:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.synced(node, 120)
        for block in chain.blocks:
            self.assertEqual(node.rpc("getrawtransaction", block.txs[0].txid(), 1)["blockhash"],
                             block.hash())

    def test_killed_reindex(self):
        def rebuild(node):
            node.launch("-reindex", *FOLDERS)
            wait_until(lambda: "Reindexing blocks on disk" in node.log_text, "the reindex")
            node.kill()
        self.reindexed_after_damage(rebuild)

    def test_lost_block_index(self):
        def rebuild(node):
            shutil.rmtree(node.blocks_dir / "index")
            node.start("-reindex-chainstate", *FOLDERS).stop()
        self.reindexed_after_damage(rebuild)

    def test_damaged_ones_are_built_again(self):
        node = self.node().start(*FOLDERS).stop()
        for option, folder in FOLDERS.items():
            database = node.net_dir / "indexes" / folder
            (database / "CURRENT").write_text("no name of a file")
            said = self.assert_refused(node, option, saying="LevelDB error: Corruption")
            self.assertIn(f"Delete the folder '{database}'", said)
            self.assertIn(f"restart without {option}", said)
            shutil.rmtree(database)
        node.start(*FOLDERS)
        self.synced(node, 0)

    def test_refused_with_prune(self):
        for option in ("-txindex", "-txospenderindex"):
            self.assert_refused(self.node(), "-prune=550", option,
                                saying=f"Prune mode is incompatible with {option}.")
        for option in ("-blockfilterindex", "-coinstatsindex"):
            self.assert_refused(self.node(), "-prune=550", "-ibdboosterfile=auto",
                                "-ibdboosterprune", option,
                                saying="-ibdboosterprune keeps no blocks to index: "
                                       f"leave out {option}, or the hints")

    def test_killed_while_pruned(self):
        """Automatic pruning works beside two indexes; after each kill they continue from a block
        that still exists."""
        chain = Chain().grow(900)
        node = self.node("regtest", "-fastprune", "-prune=1", "-maxtipage=10000000000",
                         "-blockfilterindex", "-coinstatsindex").start()
        for end in range(100, 901, 100):
            for block in chain.blocks[end - 100:end]:
                node.rpc("submitblock", block.raw().hex())
            if end > 300:
                node.rpc("pruneblockchain", end - 100)
            node.kill()
            node.start()
            for block in chain.blocks[node.rpc("getblockcount"):end]:
                node.rpc("submitblock", block.raw().hex())
        wanted = {"synced": True, "best_block_height": 900}
        wait_until(lambda: list(node.rpc("getindexinfo").values()) == [wanted] * 2,
                   "the indexes are synced")
        self.assertGreater(node.rpc("getblockchaininfo")["pruneheight"], 300)
        indexed, counted = (node.rpc("gettxoutsetinfo", "muhash", None, use)["muhash"]
                            for use in (True, False))
        self.assertEqual(indexed, counted)
        for block in chain.blocks:
            self.assertIn("header", node.rpc("getblockfilter", block.hash()))
