"""The pool of transactions: into it, into blocks, and back."""

from framework import FunctionalTest, wait_until
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain
from wire import Tx

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
FEE = 10_000
COINS = 8
VALUE = COIN


def spend(*coins, value, outputs=1, fee=FEE, lock_time=0):
    """Spends P2SH coins of together `value`."""
    sequence = FINAL - 1 if lock_time else FINAL
    return Tx([(txid, vout, REDEEM, sequence) for txid, vout in coins],
              [((value - fee) // outputs, REDEEMED)] * outputs, lock_time=lock_time)


class Pool(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.main = self.node().start()
        chain = Chain().grow(101)
        self.coins = chain.split(COINS, VALUE)
        for block in chain.blocks:
            self.assertIsNone(self.main.rpc("submitblock", block.raw().hex()))
        self.main.rpc("setmocktime", chain.blocks[-1].time + 600)

    def send(self, tx, *args):
        return self.main.rpc("sendrawtransaction", tx.raw().hex(), *args)

    def pool(self):
        return set(self.main.rpc("getrawmempool"))

    def mine(self, count=1):
        return self.main.rpc("generatetoaddress", count, ADDRESS)

    def test_there_and_back(self):
        """A family is sent, mined, taken back by a reorganisation, and mined again."""
        rpc = self.main.rpc
        parent = spend(self.coins[0], value=VALUE, outputs=2, fee=0)
        child = spend((parent.txid(), 0), value=VALUE // 2)
        self.assert_rpc_error(-26, "min relay fee not met, 0 < ", self.send, parent)
        parent = spend(self.coins[0], value=VALUE, outputs=2, fee=100)
        child = spend((parent.txid(), 0), value=(VALUE - 100) // 2)
        ids = [self.send(tx) for tx in (parent, child)]
        self.assertEqual(ids, [parent.txid(), child.txid()])
        self.assertEqual(self.send(parent), parent.txid())
        self.assertEqual(rpc("getrawmempool"), ids)
        info = rpc("getmempoolinfo")
        self.assertEqual((info["size"], info["unbroadcastcount"]), (2, 2))
        self.assertEqual(info["bytes"], len(parent.raw()) + len(child.raw()))
        self.assertEqual(rpc("getmempoolancestors", ids[1]), ids[:1])
        self.assertEqual(rpc("getmempooldescendants", ids[0]), ids[1:])
        entry = rpc("getmempoolentry", ids[0])
        self.assertEqual((entry["depends"], entry["spentby"]), ([], ids[1:]))
        self.assertFalse(entry["bip125-replaceable"])
        self.assertTrue(info["fullrbf"])
        self.assertEqual(rpc("getrawmempool", True)[ids[0]], entry)
        self.assert_rpc_error(-5, "Transaction not in mempool", rpc, "getmempoolentry", "11" * 32)
        self.assertEqual(rpc("getrawtransaction", ids[1]), child.raw().hex())
        self.assertEqual(rpc("getrawtransaction", ids[1], 1)["txid"], ids[1])
        self.assertIsNone(rpc("gettxout", *self.coins[0]))
        self.assertEqual(rpc("gettxout", *self.coins[0], False)["confirmations"], 1)
        self.assertEqual(rpc("gettxout", ids[0], 1)["confirmations"], 0)
        self.assertIsNone(rpc("gettxout", ids[0], 1, False))
        self.assertIsNone(rpc("gettxout", ids[0], 0))
        self.assertEqual(rpc("getmininginfo")["pooledtx"], 2)

        block = self.mine()[0]
        self.assertEqual(rpc("getblock", block)["tx"][1:], ids)
        self.assertEqual(self.pool(), set())
        self.assert_rpc_error(-27, "Transaction outputs already in utxo set", self.send, parent)
        rpc("invalidateblock", block)
        self.assertEqual(rpc("getrawmempool"), ids)
        self.assertEqual(rpc("getmempoolinfo")["unbroadcastcount"], 0)
        later = rpc("getblockheader", rpc("getbestblockhash"))["time"] + 601
        rpc("setmocktime", later)  # the same block would be as invalid as before
        again = self.mine()[0]
        self.assertEqual(rpc("getblock", again)["tx"][1:], ids)

    def test_refused(self):
        one = spend(self.coins[0], value=VALUE)
        self.send(one)
        self.assert_rpc_error(-26, "insufficient fee, rejecting replacement", self.send,
                              spend(self.coins[0], value=VALUE, fee=FEE + 1))
        self.assert_rpc_error(-25, "bad-txns-inputs-missingorspent", self.send,
                              spend(("11" * 32, 0), value=VALUE))
        costly = spend(self.coins[1], value=VALUE, fee=VALUE // 2)
        self.assert_rpc_error(-25, "Fee exceeds maximum configured by user", self.send, costly)
        burning = spend(self.coins[2], value=VALUE)
        burning.outputs.append((1000, b"\x6a"))
        burning.outputs[0] = (VALUE - 2 * FEE, REDEEMED)
        self.assert_rpc_error(-25, "Unspendable output exceeds maximum", self.send, burning)
        self.assert_rpc_error(-22, "TX decode failed", self.main.rpc, "sendrawtransaction", "00")
        self.assertEqual(self.pool(), {one.txid()})
        self.send(costly, 0)
        self.send(burning, 0.1, 0.00001)
        self.assertEqual(len(self.pool()), 3)

    def test_replaced(self):
        """Replaced by a transaction that pays more, together with all descendants;
        prioritisetransaction counts."""
        rpc = self.main.rpc
        first = spend(self.coins[0], value=VALUE)
        child = spend((first.txid(), 0), value=VALUE - FEE)
        for tx in (first, child):
            self.send(tx)
        better = spend(self.coins[0], value=VALUE, fee=3 * FEE)
        rpc("prioritisetransaction", first.txid(), 0, 2 * FEE)
        self.assert_rpc_error(-26, "less fees than conflicting txs", self.send, better)
        rpc("prioritisetransaction", first.txid(), 0, -2 * FEE)
        sequence = rpc("getrawmempool", False, True)["mempool_sequence"]
        self.send(better)
        self.assertEqual(self.pool(), {better.txid()})
        # Two left and one came.
        self.assertEqual(rpc("getrawmempool", False, True)["mempool_sequence"], sequence + 3)
        self.assertEqual(rpc("getmempoolcluster", better.txid())["txcount"], 1)
        self.assertEqual(rpc("getprioritisedtransactions"), {})

    def restart(self, *options):
        self.main.stop()
        self.main.start(*options)
        self.wait_until_loaded()

    def wait_until_loaded(self):
        wait_until(lambda: self.main.rpc("getmempoolinfo")["loaded"], "the pool is loaded")

    def test_over_a_restart(self):
        """Kept, unless that is off; a damaged file costs its transactions and a line."""
        rpc = self.main.rpc
        rpc("setmocktime", 0)  # or they are too old after the restart
        first = spend(self.coins[0], value=VALUE)
        child = spend((first.txid(), 0), value=VALUE - FEE)
        for tx in (first, child):
            self.send(tx)
        rpc("prioritisetransaction", first.txid(), 0, 5)
        entry = rpc("getmempoolentry", first.txid())
        self.restart()
        self.assertEqual(rpc("getmempoolentry", first.txid()), entry)
        self.assertEqual(self.pool(), {first.txid(), child.txid()})
        self.restart("-persistmempool=0")
        self.assertEqual(self.pool(), set())
        self.restart("-persistmempoolv1")
        self.assertEqual(self.pool(), {first.txid(), child.txid()})
        self.main.stop()
        file = self.main.net_dir / "mempool.dat"
        whole = file.read_bytes()
        self.assertEqual(whole[:8], (1).to_bytes(8, "little"))
        for data, left, text in ((whole[:-40], 2, "end of data"), (whole[:60], 0, "at byte"),
                                 (whole[:30] + bytes(len(whole) - 30), 0, "at byte"),  # torn
                                 (b"x" * 300, 0, "is unknown"), (b"", 0, "at byte 0")):
            file.write_bytes(data)
            self.main.start()
            self.wait_until_loaded()
            self.assertEqual(len(self.pool()), left)
            line = [line for line in self.main.log_text.splitlines()
                    if "Failed to deserialize mempool data on file" in line][-1]
            self.assertIn(text, line)
            self.main.stop()
        self.main.start()

    def test_file_of_another_network(self):
        """Its transactions spend coins that are not here: one line says how many failed."""
        self.main.rpc("setmocktime", 0)
        other = self.node("regtest").start()
        chain = Chain(extra=b"\x07").grow(101)
        coins = chain.split(2, VALUE)
        for block in chain.blocks:
            other.rpc("submitblock", block.raw().hex())
        for coin in coins:
            other.rpc("sendrawtransaction", spend(coin, value=VALUE).raw().hex())
        other.stop()
        kept = self.send(spend(self.coins[0], value=VALUE))
        file = other.net_dir / "mempool.dat"
        self.main.stop()
        own = self.main.net_dir / "mempool.dat"
        file_of_this_network = own.read_bytes()
        own.write_bytes(file.read_bytes())
        self.main.start()
        self.wait_until_loaded()
        self.assertEqual(self.pool(), set())
        lines = [line for line in self.main.log_text.splitlines()
                 if "Imported mempool transactions" in line]
        self.assertIn(": 0 succeeded, 2 failed, 0 expired, 0 already there", lines[-1])
        self.main.stop()
        own.write_bytes(file_of_this_network)
        self.main.start()
        self.wait_until_loaded()
        self.assertEqual(self.pool(), {kept})

    def test_package(self):
        """A child pays for its parent."""
        parent = spend(self.coins[0], value=VALUE, fee=0)
        child = spend((parent.txid(), 0), value=VALUE, fee=5 * FEE)
        self.assert_rpc_error(-26, "min relay fee not met", self.send, parent)
        out = self.main.rpc("submitpackage", [parent.raw().hex(), child.raw().hex()])
        self.assertEqual(out["package_msg"], "success")
        self.assertEqual(self.pool(), {parent.txid(), child.txid()})

    def test_blocks_of_others(self):
        """Conflicts with a block leave the pool, with all their descendants."""
        mine = spend(self.coins[0], value=VALUE)
        child = spend((mine.txid(), 0), value=VALUE - FEE)
        other = spend(self.coins[1], value=VALUE)
        for tx in (mine, child, other):
            self.send(tx)
        theirs = spend(self.coins[0], value=VALUE, fee=2 * FEE)
        block = self.main.rpc("generateblock", ADDRESS, [theirs.raw().hex()])["hash"]
        self.assertEqual(self.pool(), {other.txid()})
        # After the disconnection the pool has their transactions; the earlier conflict is gone.
        self.main.rpc("invalidateblock", block)
        self.assertEqual(self.pool(), {theirs.txid(), other.txid()})
        # By id, from the pool, and only that.
        block = self.main.rpc("generateblock", ADDRESS, [other.txid()])["hash"]
        self.assertEqual(self.main.rpc("getblock", block)["tx"][1:], [other.txid()])
        self.assertEqual(self.pool(), {theirs.txid()})

    def test_no_longer_final(self):
        """Transactions that are not valid on a shorter chain leave the pool."""
        height = self.main.rpc("getblockcount")
        tip = self.mine(2)
        late = spend(self.coins[0], value=VALUE, lock_time=height + 2)
        early = spend(self.coins[1], value=VALUE, lock_time=height)
        for tx in (late, early):
            self.send(tx)
        self.main.rpc("invalidateblock", tip[0])
        self.assertEqual(self.pool(), {early.txid()})

    def test_template(self):
        low = spend(self.coins[0], value=VALUE)
        high = spend(self.coins[1], value=VALUE, fee=3 * FEE)
        child = spend((low.txid(), 0), value=VALUE - FEE)
        for tx in (low, high, child):
            self.send(tx)
        template = self.main.rpc("getblocktemplate", {"rules": ["segwit"]})
        txs = template["transactions"]
        self.assertEqual([tx["txid"] for tx in txs], [high.txid(), low.txid(), child.txid()])
        self.assertEqual([tx["depends"] for tx in txs], [[], [], [2]])
        self.assertEqual([tx["fee"] for tx in txs], [3 * FEE, FEE, FEE])
        self.assertEqual(template["coinbasevalue"], 50 * COIN + 5 * FEE)
        # New ones are in it after some seconds.
        self.send(spend(self.coins[2], value=VALUE))
        ask = lambda: self.main.rpc("getblocktemplate", {"rules": ["segwit"]})  # noqa: E731
        self.assertEqual(len(ask()["transactions"]), 3)
        now = self.main.rpc("getblockheader", self.main.rpc("getbestblockhash"))["time"] + 700
        self.main.rpc("setmocktime", now)
        self.assertEqual(len(ask()["transactions"]), 4)

    def test_small_blocks_and_expiry(self):
        self.main.stop().start("-blockmaxweight=9000", "-mempoolexpiry=1", "-mocktime=1600070000")
        sent = [self.send(spend(coin, value=VALUE, fee=FEE + i))
                for i, coin in enumerate(self.coins[:4])]
        self.assertEqual(len(self.main.rpc("getblock", self.mine()[0])["tx"]) - 1, 2)
        self.assertEqual(self.pool(), set(sent[:2]))
        self.main.rpc("setmocktime", 1_600_070_000 + 3601)
        last = self.send(spend(self.coins[5], value=VALUE))
        self.assertEqual(self.pool(), {last})
