"""Our node and Core's bitcoind give the same answers to REST requests: valid ones of every path and
format, invalid ones, odd queries, escapes, doubled slashes, huge counts, bodies."""

import http.client
import itertools
import json
import random

from core_node import PairTest
from framework import wait_until
from regtest_chain import OP_TRUE, Chain, child_of, redeem

FORMATS = (".bin", ".hex", ".json", ".txt", ".", "", ".JSON", ".json.", ".bin.json")
UNKNOWN = "11" * 32
COINS, VALUE, FEE = 20, 10_000_000, 1_000
COUNTS = ("1", "5", "2000", "0", "2001", "-1", "+1", "01", "1e1", "", "%31", "1%", "x",
          "18446744073709551615", "18446744073709551616", "9" * 40, "1&count=2", "1#2", "1?2")
# Members about the node, not about the chain.
OWN_MEMBERS = ("size_on_disk", "verificationprogress", "usage", "warnings")


def ask(node, path, method="GET", body=None):
    """Status, content type and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
    try:
        connection.putrequest(method, path)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    return answer.status, answer.getheader("content-type"), text


def without_own(text):
    """The JSON without the known differences (doc/rpc.md)."""
    value = json.loads(text, parse_float=str)
    if isinstance(value, dict):
        value = {key: what for key, what in value.items() if key not in OWN_MEMBERS}
        value.get("deployments", {}).pop("taproot", None)
    return value


def story():
    """A chain with transactions, a branch that it left, and transactions that pay different fees.
    """
    chain = Chain().grow(101)
    names = chain.split(COINS, VALUE)
    spends = [redeem(*name, VALUE, FEE if i < 5 else FEE * i) for i, name in enumerate(names)]
    chain.add(chain.candidate(spends[:5], 5 * FEE))
    losing = chain.branch(1, 1)
    chain.add(chain.candidate([child_of(tx, FEE) for tx in spends[:3]], 3 * FEE))
    chain.grow(3)
    return chain, losing.blocks[-1], spends


class Rest(PairTest):
    options = ("-rest", "-txindex", "-blockfilterindex")

    def setUp(self):
        super().setUp()
        self.chain, self.stale, self.spends = story()
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", self.chain.blocks[-1].time + 600)
            for block in (*self.chain.blocks[:-1], self.stale, self.chain.blocks[-1]):
                node.rpc("submitblock", block.raw().hex())
            self.wait_for_indexes(node)
        self.asked = {}

    @staticmethod
    def wait_for_indexes(node):
        wait_until(lambda: all(index["synced"] for index in node.rpc("getindexinfo").values()),
                   "the indexes")

    def compare(self, path, **request):
        """The answer of both, counted by its status."""
        core, ours = (ask(node, path, **request) for node in (self.pair.core, self.pair.ours))
        self.asked[core[0]] = self.asked.get(core[0], 0) + 1
        if core[:2] == ours[:2] and core[1] == "application/json":
            core, ours = ((*answer[:2], without_own(answer[2])) for answer in (core, ours))
        with self.subTest(path=path[:300], **request):
            self.assertEqual(ours, core)
        return core

    def names(self):
        """Hashes and heights: known, of a branch, unknown, malformed."""
        tip = self.chain.blocks[-1]
        return [tip.hash(), self.chain.blocks[102].hash(), self.chain.blocks[101].hash(),
                self.chain.blocks[0].prev, self.stale.hash(), UNKNOWN, tip.hash().upper(),
                tip.hash()[:-1], tip.hash() + "0", "abc", "", "/", tip.hash() + "/",
                tip.hash() + "%", "%30" + tip.hash()[1:], tip.hash() + "?", tip.hash() + "?x=1?y"]

    def test_blocks(self):
        for name, suffix in itertools.product(self.names(), FORMATS):
            for kind in ("block", "block/notxdetails", "block/", "headers", "spenttxouts", "tx",
                         "deploymentinfo", "blockfilter/basic", "blockfilterheaders/basic",
                         "blockhashbyheight", "blockpart"):
                self.compare(f"/rest/{kind}/{name}{suffix}")
        self.assertGreater(self.asked[200], 50)
        self.assertGreater(self.asked[400], 50)
        self.assertGreater(self.asked[404], 50)

    def test_damaged_files(self):
        """Blocks and filters that cannot be read: no answer names a file."""
        for node in (self.pair.core, self.pair.ours):
            (node.net_dir / "indexes/blockfilter/basic/fltr00000.dat").unlink()
            file = node.blocks_dir / "blk00000.dat"
            with open(file, "r+b") as blocks:
                blocks.write(bytes(file.stat().st_size))
        tip = self.chain.blocks[-1].hash()
        for suffix in (".bin", ".hex", ".json"):
            for kind in ("block", "block/notxdetails"):
                self.assertEqual(self.compare(f"/rest/{kind}/{tip}{suffix}")[0], 500)
            self.compare(f"/rest/blockfilter/basic/{tip}{suffix}")
            self.compare(f"/rest/blockfilterheaders/basic/{tip}{suffix}?count=1")
        self.assertEqual(self.asked, {500: 6, 404: 3, 200: 3})
        self.pair.ask("getblockfilter", tip)

    def test_large_block(self):
        """Its hex and its JSON leave in pieces."""
        block = self.chain.candidate()
        block.txs[0].outputs += [(0, OP_TRUE)] * 90_000
        raw = block.mine().raw()
        for node in (self.pair.core, self.pair.ours):
            self.assertIsNone(node.rpc("submitblock", raw.hex()))
        for suffix in (".bin", ".hex", ".json"):
            self.compare(f"/rest/block/{block.hash()}{suffix}")
        self.assertEqual(self.asked, {200: 3})

    def test_counts(self):
        first = self.chain.blocks[50].hash()
        for count, suffix in itertools.product(COUNTS, (".json", ".hex", "")):
            self.compare(f"/rest/headers/{first}{suffix}?count={count}")
            self.compare(f"/rest/headers/{count}/{first}{suffix}")
            self.compare(f"/rest/blockfilterheaders/basic/{first}{suffix}?count={count}")
            self.compare(f"/rest/blockfilterheaders/basic/{count}/{first}{suffix}")
        for path in ("headers/1/2", "blockfilterheaders", "blockfilterheaders/basic",
                     "blockfilterheaders/x", "blockfilterheaders/basic/1/2", "blockfilter",
                     "blockfilter/x", "blockfilter/basic/1"):
            self.compare(f"/rest/{path}/{first}.json")

    def test_heights(self):
        top = self.chain.height
        for height in (0, 1, top, top + 1, -1, "+1", "01", "1 ".strip(), 2**31 - 1, 2**31, "abc",
                       "", "1/", "%31", "1%3c", "a'b\"c", "<b>", "1.5"):
            for suffix in FORMATS:
                self.compare(f"/rest/blockhashbyheight/{height}{suffix}")

    def test_parts(self):
        block = self.chain.blocks[102]
        size = len(block.raw())
        numbers = [0, 1, 80, size - 1, size, size + 1, 2**32, 2**64 - 1, 2**64, -1, "x", "", "+1"]
        for offset, length in itertools.product(numbers, numbers):
            path = f"/rest/blockpart/{block.hash()}"
            self.compare(f"{path}.bin?offset={offset}&size={length}")
            self.compare(f"{path}.hex?size={length}&offset={offset}")
        for suffix in FORMATS:
            self.compare(f"/rest/blockpart/{block.hash()}{suffix}?offset=1&size=5")
        for query in ("", "?", "?offset=1", "?size=1", "?%6fffset=1&size=2", "?%XY", "?offset&size",
                      "?offset=1&size=1#x", "?offset=1#&size=1"):
            self.compare(f"/rest/blockpart/{block.hash()}.bin{query}")

    def test_state(self):
        for path in ("chaininfo", "chaininfoX", "chaininfo/", "deploymentinfo", "deploymentinfoX",
                     "mempool", "mempool/", "mempool/info", "mempool/contents", "mempool/x", "",
                     "x", "tx", "block", "getutxos", "/chaininfo", "../rest/chaininfo",
                     "%63haininfo", "chaininfo?x", "CHAININFO"):
            for suffix in FORMATS:
                self.compare(f"/rest/{path}{suffix}")
        for path in ("/rest", "/", "", "//rest/chaininfo.json", "/Rest/chaininfo.json", "/rest?/"):
            self.compare(path or "/x")

    def fill_pools(self):
        """The same transactions in both pools, one spending another."""
        txs = [self.spends[5], child_of(self.spends[5], FEE), self.spends[6]]
        for tx in txs:
            self.pair.ask("sendrawtransaction", tx.raw().hex(), 0)
        return txs

    def test_pool(self):
        txs = self.fill_pools()
        for verbose, sequence in itertools.product(
                (None, "", "true", "false", "TRUE", "1", "%74rue"), repeat=2):
            query = "&".join(f"{key}={value}" for key, value in
                             (("verbose", verbose), ("mempool_sequence", sequence))
                             if value is not None)
            for suffix in ("?" if not query else f".json?{query}", f".hex?{query}"):
                self.compare(f"/rest/mempool/contents{suffix}")
        self.compare("/rest/mempool/contents.json?verbose")
        self.compare("/rest/mempool/info.json")
        for tx in (*txs, self.chain.blocks[102].txs[1], self.chain.blocks[102].txs[0]):
            for suffix in FORMATS:
                self.compare(f"/rest/tx/{tx.txid()}{suffix}")

    def test_coins(self):
        txs = self.fill_pools()
        names = [f"{tx.txid()}-{vout}" for tx in (*txs, *self.chain.blocks[102].txs, self.spends[0])
                 for vout in (0, 1)]
        names += [f"{UNKNOWN}-0", f"{self.chain.blocks[105].txs[0].txid()}-0"]
        bad = [f"{UNKNOWN}", f"{UNKNOWN}-", f"{UNKNOWN}-+1", f"{UNKNOWN}--1",
               f"{UNKNOWN}-4294967296", f"{UNKNOWN}-0-0", f"{UNKNOWN}aa-0", "aa-0", "",
               f"{UNKNOWN}-0%", "checkmempool"]
        chance = random.Random(38)
        for prefix in ("/", "/checkmempool/", "X", "//", "/checkmempool", "/CHECKMEMPOOL/"):
            for suffix in FORMATS:
                self.compare(f"/rest/getutxos{prefix}{suffix}")
            for count in (1, 2, 15, 16, 20):
                some = "/".join(chance.choices(names, k=count))
                for suffix in FORMATS:
                    self.compare(f"/rest/getutxos{prefix}{some}{suffix}")
            for name in bad:
                self.compare(f"/rest/getutxos{prefix}{name}.json")
                self.compare(f"/rest/getutxos{prefix}{names[0]}/{name}.bin")

    def test_coins_by_bytes(self):
        txs = self.fill_pools()
        entry = [bytes.fromhex(tx.txid())[::-1] + bytes(4) for tx in txs]
        for count in (b"\x01", b"\x02", b"\x00", b"\x0f", b"\x10", b"\xfd\x01\x00", b"\xfd",
                      b"\xff" * 9, b""):
            for flag in (b"\x00", b"\x01", b"\x02", b""):
                body = flag + count + b"".join(entry) * 6
                for raw in (body, body[:39], body[:38], body[:2]):
                    for suffix in (".bin", ".json", ""):
                        self.compare("/rest/getutxos" + suffix, method="POST", body=raw)
                    for text in (raw.hex(), raw.hex(" "), raw.hex() + "0", raw.hex() + "\r\n",
                                 raw.hex() + "xy"):
                        self.compare("/rest/getutxos.hex", method="POST", body=text.encode())
        name = f"/rest/getutxos/{txs[0].txid()}-0"
        for suffix, body in itertools.product((".bin", ".hex", ".json", ""), (b"", b"00", b"x")):
            self.compare(name + suffix, method="POST", body=body)

    def test_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.compare("/rest/chaininfo.json", method=method)
            self.compare("/rest/nowhere", method=method)
