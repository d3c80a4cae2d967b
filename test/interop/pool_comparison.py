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


def cluster(node, txid):
    """Transactions of one chunk may come in any order."""
    out = node.rpc("getmempoolcluster", txid)
    for chunk in out["chunks"]:
        chunk["txs"].sort()
    return out


def entry(node, txid):
    """Transactions of disconnected blocks return at another time."""
    out = node.rpc("getmempoolentry", txid)
    del out["time"], out["unbroadcast"]
    out["spentby"].sort()
    return out


def chunks(node):
    """The mining order of the pool, as sets of transactions."""
    order = node.rpc("getrawmempool")
    seen, out = set(), []
    for txid in order:
        if txid in seen:
            continue
        chunk = next(chunk["txs"] for chunk in node.rpc("getmempoolcluster", txid)["chunks"]
                     if txid in chunk["txs"])
        seen.update(chunk)
        out.append(sorted(chunk))
    return out


def compare_pools(test, core, ours):
    """Equal transactions, entries, clusters, diagrams and totals. Returns the number."""
    pools = [set(node.rpc("getrawmempool")) for node in (core, ours)]
    test.assertEqual(pools[1], pools[0])
    for txid in sorted(pools[0]):
        test.assertEqual(entry(ours, txid), entry(core, txid))
        test.assertEqual(cluster(ours, txid), cluster(core, txid))
    test.assertEqual(chunks(ours), chunks(core))
    for call in (("getmempoolfeeratediagram",), ("getrawmempool", False, True)):
        answers = [node.rpc(*call) for node in (core, ours)]
        if "txids" in answers[0]:
            answers = [answer["mempool_sequence"] for answer in answers]
        test.assertEqual(answers[1], answers[0])
    prioritised = [node.rpc("getprioritisedtransactions") for node in (core, ours)]
    test.assertEqual(prioritised[1], prioritised[0])
    infos = [node.rpc("getmempoolinfo") for node in (core, ours)]
    for name in ("size", "bytes", "total_fee", "loaded", "maxmempool", "mempoolminfee",
                 "minrelaytxfee", "incrementalrelayfee", "fullrbf", "permitbaremultisig",
                 "maxdatacarriersize", "limitclustercount", "limitclustersize", "optimal"):
        test.assertEqual(infos[1][name], infos[0][name], name)
    return len(pools[0])
