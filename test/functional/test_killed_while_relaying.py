"""A node that takes transactions and blocks from a peer is killed at any moment. At the next start
its chainstate is that of the chain it has, its pool holds what the last mempool.dat has and the
chain allows, and relay goes on. The long run:

    IBD_KILLS=100 test/functional/run.py -v killed_while_relaying
"""

import contextlib
import http.client
import itertools
import os
import random
import threading
import time

from framework import FunctionalTest, RpcError, coins, free_port, wait_until
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain
from wire import Tx

KILLS = int(os.environ.get("IBD_KILLS", "4"))
ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 2_000  # of a transaction
KILLS_OF_COINS = 8
VALUE = COIN // 100
FEE = 1_000
LONGEST_LIFE = 1.5  # seconds from the join of the peers to the kill


class KilledWhileRelaying(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(os.environ.get("IBD_SEED", "1"))
        splits = 1 + KILLS // KILLS_OF_COINS
        chain = Chain(first_time=int(time.time()) - 600 * (110 + splits)).grow(100 + splits)
        txs = [Tx([(chain.coinbase_of(i + 1)[0], 0, b"", FINAL)], [(VALUE, REDEEMED)] * COINS)
               for i in range(splits)]
        chain.add(chain.candidate(txs))
        self.free = [(tx.txid(), i, VALUE) for tx in txs for i in range(COINS)]
        self.kept = [self.free.pop() for _ in range(KILLS)]  # for check_relay()
        self.numbers = itertools.count()
        self.sent = {}  # by txid
        self.saved = set()  # txids in the last mempool.dat
        port = free_port()
        self.steady = self.start("-listen=1", f"-bind=127.0.0.1:{port}", "-noconnect")
        self.victim = self.start(f"-connect=127.0.0.1:{port}")
        for block in chain.blocks:
            self.assertIsNone(self.steady.rpc("submitblock", block.raw().hex()))
        self.steady.rpc("generatetoaddress", 1, ADDRESS)  # so that the coins stay

    def start(self, *args):
        return self.node("regtest", "-dnsseed=0", "-whitelist=noban@127.0.0.1", *args).start()

    def start_alone(self):
        """With the blocks that the victim has, until the pool is loaded."""
        self.steady.rpc("setnetworkactive", False)
        self.victim.start()
        wait_until(lambda: self.victim.rpc("getmempoolinfo")["loaded"], "a loaded pool")
        self.assertNotIn("was not read to its end", self.victim.log_text)

    def wait_until_together(self):
        def greeted():
            peers = [peer for node in (self.steady, self.victim)
                     for peer in node.rpc("getpeerinfo")]
            return len(peers) == 2 and all("pong" in peer["bytesrecv_per_msg"] for peer in peers)
        wait_until(greeted, "a peer that takes transactions")
        self.victim.wait_for_tip(self.steady.rpc("getbestblockhash"))

    def send(self, spent, fee):
        """A transaction that spends (txid, vout, value)."""
        tx = Tx([(*spent[:2], REDEEM, FINAL)], [((spent[2] - fee) // 2, REDEEMED)] * 2)
        with contextlib.suppress(RpcError):  # its input may be spent or its cluster full
            self.sent[self.steady.rpc("sendrawtransaction", tx.raw().hex())] = tx

    def child(self):
        if self.sent:
            parent = self.sent[self.chance.choice(list(self.sent)[-50:])]
            self.send((parent.txid(), self.chance.randrange(2), parent.outputs[0][0]), FEE)

    def replacement(self):
        if self.sent:
            txid, vout, *_ = self.sent[self.chance.choice(list(self.sent)[-50:])].inputs[0]
            value = self.sent[txid].outputs[0][0] if txid in self.sent else VALUE
            self.send((txid, vout, value), 20 * FEE)

    def reorganisation(self):
        self.steady.rpc("invalidateblock", self.steady.rpc("getbestblockhash"))
        script = f"04{next(self.numbers):08x}7551"  # or the block may be the invalid one again
        self.steady.rpc("generatetodescriptor", 2, f"raw({script})")

    def save(self):
        """The victim may end meanwhile: then one file or the other is there, and whole."""
        pool = set(self.victim.rpc("getrawmempool"))
        self.saved &= pool
        self.victim.rpc("savemempool")
        self.saved |= pool

    def traffic(self):
        """Sends, mines and saves until the victim is gone."""
        steps = [lambda: self.send(self.free.pop(), FEE)] * 10 + [self.child] * 6
        steps += [self.replacement] * 3 + [self.save] * 2 + [self.reorganisation]
        steps += [lambda: self.steady.rpc("generatetoaddress", 1, ADDRESS)]
        while self.victim.running and self.free:
            step = self.chance.choice(steps)
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                step()

    def check_pool(self):
        """Each transaction spends coins or outputs of the pool, no two the same, and a template of
        them all keeps the rules of blocks."""
        rpc = self.victim.rpc
        pool = rpc("getrawmempool")
        spent = [tuple(given[:2]) for txid in pool for given in self.sent[txid].inputs]
        self.assertEqual(len(spent), len(set(spent)))
        for txid, vout in spent:
            found = txid in pool or rpc("gettxout", txid, vout, False)
            self.assertTrue(found, (txid, vout))
        rpc("getblocktemplate", {"rules": ["segwit"]})

    def check_saved(self):
        """What was saved is there, or cannot be."""
        pool = set(self.victim.rpc("getrawmempool"))
        for txid in self.saved - pool:
            raw = self.sent[txid].raw().hex()
            verdict, = self.victim.rpc("testmempoolaccept", [raw])
            self.assertFalse(verdict["allowed"], (txid, verdict))

    def check_relay(self):
        """What is new comes, and the next block with it."""
        self.send(self.kept.pop(), FEE)
        last = list(self.sent)[-1]
        wait_until(lambda: last in self.victim.rpc("getrawmempool"), "a new transaction")
        block, = self.steady.rpc("generatetoaddress", 1, ADDRESS)
        self.victim.wait_for_tip(block)
        self.assertNotIn(last, self.victim.rpc("getrawmempool"))

    def test_killed_while_relaying(self):
        for kill in range(KILLS):
            with self.subTest(kill=kill):
                self.wait_until_together()
                killer = threading.Timer(self.chance.uniform(0, LONGEST_LIFE), self.victim.kill)
                killer.start()
                self.traffic()
                killer.join()
                self.start_alone()
                self.check_saved()
                self.steady.rpc("setnetworkactive", True)
                self.wait_until_together()
                self.check_pool()
                self.check_relay()
                self.assertEqual(coins(self.victim), coins(self.steady))
        self.victim.stop()
        self.steady.stop()
