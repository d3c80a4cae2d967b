"""A node that takes transactions and blocks from a peer, and from its user, is killed at any
moment. At the next start, without a peer, its chainstate is that of a node that was never killed;
its pool holds what mempool.dat has, but for transactions whose inputs the chain does not have, and
nothing else; then relay continues. The long run:

    test/functional/run.py -v --kills 100 killed_while_relaying
"""

import contextlib
import http.client
import itertools
import os
import random
import threading
import time

from framework import BURNT, FunctionalTest, RpcError, coins, free_port, wait_until
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain
from wire import Reader, Tx, hash_hex, read_tx

KILLS = int(os.environ.get("IBD_KILLS", "4"))
COINS = 2_000  # of a transaction
KILLS_OF_COINS = 8
VALUE = COIN // 100
FEE = 1_000
LONGEST_LIFE = 1.5  # seconds from the join of the peers to the kill
LONGEST_START = 0.5  # seconds of a start that is killed, too
ANNOUNCED_AGAIN = 15 * 60  # seconds; the longest wait of a user's transaction
RECENT = 50  # transactions that get children and replacements
TEMPLATE = {"rules": ["segwit"]}


class PoolFile:
    """mempool.dat (doc/formats/mempool.md): its data about each transaction, by txid."""

    def __init__(self, data):
        head, key = data[:9], data[9:17]
        assert head == bytes([2, 0, 0, 0, 0, 0, 0, 0, 8]), head
        reader = Reader(bytes(byte ^ key[at % 8] for at, byte in enumerate(data)))
        reader.take(17)
        self.txs, self.times, self.deltas = {}, {}, {}
        for _ in range(reader.number(8)):
            tx = read_tx(reader)
            self.txs[tx.txid()] = tx
            self.times[tx.txid()] = reader.number(8)
            self.deltas[tx.txid()] = reader.number(8)
        for _ in range(reader.compact_size()):
            self.deltas[hash_hex(reader.take(32))] = reader.number(8)
        self.unbroadcast = {hash_hex(reader.take(32)) for _ in range(reader.compact_size())}
        assert reader.end(), "bytes after mempool.dat"


class KilledWhileRelaying(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(os.environ.get("IBD_SEED"))
        splits = 1 + KILLS // KILLS_OF_COINS
        chain = Chain(first_time=int(time.time()) - 600 * (110 + 2 * splits)).grow(100 + splits)
        txs = [Tx([(chain.coinbase_of(i + 1)[0], 0, b"", FINAL)], [(VALUE, REDEEMED)] * COINS)
               for i in range(splits)]
        for tx in txs:  # 64 kB each: one block holds only the first dozen
            chain.add(chain.candidate([tx]))
        self.free = [(tx.txid(), i, VALUE) for tx in txs for i in range(COINS)]
        self.kept = [self.free.pop() for _ in range(KILLS + 1)]  # for check_relay()
        self.numbers = itertools.count()
        self.made = {}  # transactions by txid
        self.saved = None  # mempool.dat after the last call
        self.saving = False
        self.counts = {"came back": 0, "lost inputs": 0, "kills while saving": 0}
        port = free_port()
        self.steady = self.start("-listen=1", f"-bind=127.0.0.1:{port}", "-noconnect")
        self.victim = self.start(f"-connect=127.0.0.1:{port}")
        self.control = self.start("-connect=0")
        for block in chain.blocks:
            for node in (self.steady, self.control):
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        self.steady.rpc("generatetoaddress", 1, BURNT)  # so that the coins stay

    def start(self, *args):
        return self.node("regtest", "-dnsseed=0", "-whitelist=noban@127.0.0.1", *args).start()

    def wait_until_together(self):
        def greeted():
            peers = [peer for node in (self.steady, self.victim)
                     for peer in node.rpc("getpeerinfo")]
            return len(peers) == 2 and all("pong" in peer["bytesrecv_per_msg"] for peer in peers)
        wait_until(greeted, "a peer that takes transactions")
        self.victim.wait_for_tip(self.steady.rpc("getbestblockhash"))

    # The events until the kill.

    def send(self, spent, fee, node=None):
        """A transaction that spends (txid, vout, value), from a user of either node; its txid."""
        tx = Tx([(*spent[:2], REDEEM, FINAL)], [((spent[2] - fee) // 2, REDEEMED)] * 2)
        txid = tx.txid()
        self.made[txid] = tx
        node = node or self.chance.choice((self.steady, self.victim))
        with contextlib.suppress(RpcError):  # its input may be spent or its cluster full
            node.rpc("sendrawtransaction", tx.raw().hex())
        return txid

    def recent(self):
        return self.made[self.chance.choice(list(self.made)[-RECENT:])] if self.made else None

    def child(self):
        if parent := self.recent():
            self.send((parent.txid(), self.chance.randrange(2), parent.outputs[0][0]), FEE)

    def replacement(self):
        if old := self.recent():
            txid, vout, *_ = old.inputs[0]
            value = self.made[txid].outputs[0][0] if txid in self.made else VALUE
            self.send((txid, vout, value), 20 * FEE)

    def wish(self):
        if tx := self.recent():
            self.victim.rpc("prioritisetransaction", tx.txid(), 0, self.chance.randrange(1, FEE))

    def reorganisation(self):
        self.steady.rpc("invalidateblock", self.steady.rpc("getbestblockhash"))
        script = f"04{next(self.numbers):08x}7551"  # or the block may be the invalid one again
        self.steady.rpc("generatetodescriptor", 2, f"raw({script})")

    def state(self):
        """State of the victim's pool; the number of changes does not include those by blocks."""
        pool = self.victim.rpc("getrawmempool", False, True)
        return self.victim.rpc("getbestblockhash"), pool["mempool_sequence"], set(pool["txids"])

    def save(self):
        before = self.state()
        self.saving = True
        self.victim.rpc("savemempool")
        self.saving, self.saved = False, self.file().read_bytes()
        if before == self.state():  # it did not change meanwhile
            self.assertEqual(set(PoolFile(self.saved).txs), before[2])

    def file(self):
        return self.victim.net_dir / "mempool.dat"

    def traffic(self):
        """Sends, mines, saves and writes coins until the victim is gone."""
        steps = [lambda: self.send(self.free.pop(), FEE)] * 10 + [self.child] * 6
        steps += [self.replacement] * 3 + [self.save] * 2 + [self.wish, self.reorganisation]
        steps += [lambda: self.steady.rpc("generatetoaddress", 1, BURNT)]
        steps += [lambda: self.victim.rpc("gettxoutsetinfo", "none")]
        while self.victim.running and self.free:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.chance.choice(steps)()

    # The state after the kill.

    def saved_pool(self):
        """The last call's file. If the victim was killed in a call: this or the next, whole."""
        data = self.file().read_bytes() if self.file().exists() else None
        if not self.saving:
            self.assertEqual(data, self.saved)
        self.counts["kills while saving"] += self.saving
        self.saving, self.saved = False, data
        return PoolFile(data) if data else None

    def start_alone(self):
        """With the blocks that it has, until the pool is loaded; sometimes killed once more."""
        self.steady.rpc("setnetworkactive", False)
        if self.chance.random() < 0.3:
            self.victim.launch()
            time.sleep(self.chance.uniform(0, LONGEST_START))
            self.victim.kill()
        self.victim.start()
        wait_until(lambda: self.victim.rpc("getmempoolinfo")["loaded"], "a loaded pool")
        self.assertNotIn("Failed to deserialize mempool data on file", self.victim.log_text)

    def has_inputs(self, tx, pool):
        return all(txid in pool or self.victim.rpc("gettxout", txid, vout, False)
                   for txid, vout, *_ in tx.inputs)

    def check_pool(self, saved):
        """The pool has every saved transaction whose inputs exist, unchanged. No two spend the same
        coin, and together they obey the rules of a block."""
        pool = self.victim.rpc("getrawmempool", True)
        txs = saved.txs if saved else {}
        self.assertEqual(set(pool) - set(txs), set())
        spent = [tuple(given[:2]) for txid in pool for given in txs[txid].inputs]
        self.assertEqual(len(spent), len(set(spent)))
        for txid, tx in txs.items():
            self.assertEqual(self.has_inputs(tx, pool), txid in pool, txid)
        for txid, entry in pool.items():
            self.assertEqual(entry["time"], saved.times[txid])
            self.assertEqual(entry["unbroadcast"], txid in saved.unbroadcast)
            delta = (entry["fees"]["modified"] - entry["fees"]["base"]) * COIN
            self.assertEqual(delta, saved.deltas[txid])
        template = self.victim.rpc("getblocktemplate", TEMPLATE)
        self.assertEqual({tx["txid"] for tx in template["transactions"]}, set(pool))
        self.counts["came back"] += len(pool)
        self.counts["lost inputs"] += len(txs) - len(pool)
        return set(pool)

    def lead_control(self):
        """To the victim's tip, by the blocks of the peer."""
        wanted, missing = self.victim.rpc("getbestblockhash"), []
        height = self.steady.rpc("getblockheader", wanted)["height"]
        while height > self.control.rpc("getblockcount") or (
                self.control.rpc("getblockhash", height) != wanted):
            missing.append(wanted)
            wanted = self.steady.rpc("getblockheader", wanted)["previousblockhash"]
            height -= 1
        if self.control.rpc("getblockcount") > height:
            self.control.rpc("invalidateblock", self.control.rpc("getblockhash", height + 1))
        for block in reversed(missing):
            answer = self.control.rpc("submitblock", self.steady.rpc("getblock", block, 0))
            self.assertIn(answer, (None, "duplicate"))

    def check_coins(self):
        self.lead_control()
        self.assertEqual(coins(self.victim), coins(self.control))

    def check_after_kill(self):
        """The transactions loaded again; the peer does not reconnect."""
        saved = self.saved_pool()
        self.start_alone()
        pool = self.check_pool(saved)
        self.check_coins()
        return pool

    def join_again(self):
        self.steady.rpc("setnetworkactive", True)
        self.wait_until_together()

    def wait_for_txs(self, node, txids):
        wait_until(lambda: txids <= set(node.rpc("getrawmempool")), "transactions")

    def check_relay(self):
        """New transactions arrive, and the next block with them."""
        txid = self.send(self.kept.pop(), FEE)
        for node in (self.victim, self.steady):
            self.wait_for_txs(node, {txid})
        block, = self.steady.rpc("generatetoaddress", 1, BURNT)
        self.victim.wait_for_tip(block)
        self.assertNotIn(txid, self.victim.rpc("getrawmempool"))
        self.assertEqual(coins(self.victim), coins(self.steady))

    def check_quiet_kill(self):
        """All that a user sent just before the call returns, and is announced then."""
        self.steady.rpc("setnetworkactive", False)
        self.victim.wait_for_peers(0)
        txids = {self.send(self.free.pop(), FEE, self.victim) for _ in range(5)}
        self.save()
        self.victim.kill()
        self.assertLessEqual(txids, self.check_after_kill())
        self.join_again()
        self.assertFalse(txids & set(self.steady.rpc("getrawmempool")))
        self.victim.rpc("mockscheduler", ANNOUNCED_AGAIN)
        self.wait_for_txs(self.steady, txids)
        self.check_relay()

    def test_killed_while_relaying(self):
        self.wait_until_together()
        for kill in range(KILLS):
            killer = threading.Timer(self.chance.uniform(0, LONGEST_LIFE), self.victim.kill)
            killer.start()
            self.traffic()
            killer.join()
            try:
                self.check_after_kill()
                self.join_again()
                self.check_relay()
            except AssertionError as error:
                last = "\n".join(self.victim.log_text.splitlines()[-40:])
                raise AssertionError(f"kill {kill}: {error}\n{last}") from error
        self.check_quiet_kill()
        self.victim.stop()
        self.steady.stop()
        print(f"{KILLS} kills while relaying; {self.counts}")
