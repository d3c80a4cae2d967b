"""Two nodes whose pools must be equal: the start of such tests, and the comparison."""

import random

from core_node import PairTest
from regtest_chain import COIN, Chain

VALUE = COIN // 10  # of each of the first coins


class PoolPairTest(PairTest):
    """Both nodes know a chain whose last block makes `coins_count` coins that anyone can spend."""

    coins_count = 200
    seed = 0

    def setUp(self):
        super().setUp()
        self.random = random.Random(self.seed)
        self.chain = Chain().grow(101)
        coins = self.chain.split(self.coins_count, VALUE)
        for block in self.chain.blocks:
            self.pair.submit(block)
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", self.chain.first_time + 600 * 200)
        self.coins = [(*coin, VALUE) for coin in coins]


def corners(node):
    """The feerate diagram without the points on a straight line, whose order is free."""
    points = [(point["weight"], round(point["fee"] * COIN))
              for point in node.rpc("getmempoolfeeratediagram")]
    out = points[:1]
    for at, point in enumerate(points[1:], 1):
        if at + 1 < len(points):
            before, after = out[-1], points[at + 1]
            rise = (point[1] - before[1]) * (after[0] - point[0])
            if rise == (after[1] - point[1]) * (point[0] - before[0]):
                continue
        out.append(point)
    return out


def cluster(node, txid):
    """Chunks of one rate, and transactions of one chunk, may come in any order."""
    out = node.rpc("getmempoolcluster", txid)
    for chunk in out["chunks"]:
        chunk["txs"].sort()
    out["chunks"].sort(key=lambda chunk: (-chunk["chunkfee"] / chunk["chunkweight"], chunk["txs"]))
    return out


def entry(node, txid):
    """Transactions of disconnected blocks return at another time."""
    out = node.rpc("getmempoolentry", txid)
    del out["time"], out["height"], out["unbroadcast"]
    out["spentby"].sort()
    return out


def compare_pools(test, core, ours):
    """Equal transactions, entries, clusters, diagrams and totals. Returns the number."""
    pools = [set(node.rpc("getrawmempool")) for node in (core, ours)]
    test.assertEqual(pools[1], pools[0])
    for txid in sorted(pools[0]):
        test.assertEqual(entry(ours, txid), entry(core, txid))
        test.assertEqual(cluster(ours, txid), cluster(core, txid))
    test.assertEqual(corners(ours), corners(core))
    prioritised = [node.rpc("getprioritisedtransactions") for node in (core, ours)]
    test.assertEqual(prioritised[1], prioritised[0])
    infos = [node.rpc("getmempoolinfo") for node in (core, ours)]
    for name in ("size", "bytes", "total_fee", "loaded", "maxmempool", "mempoolminfee",
                 "minrelaytxfee", "incrementalrelayfee", "fullrbf", "permitbaremultisig",
                 "maxdatacarriersize", "limitclustercount", "limitclustersize", "optimal"):
        test.assertEqual(infos[1][name], infos[0][name], name)
    return len(pools[0])
