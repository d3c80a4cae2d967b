"""A miner's loop over getblocktemplate with long poll, by the answers alone: it waits for news,
makes a block of the template, proposes it, finds its nonce and submits it. Bitcoin Core is the
other node: it sends transactions and blocks, and takes those of the miner. Then the roles change,
and the same loop runs over Core."""

import threading
import time

from core_node import CoreNode
from framework import Node, RpcError, wait_until
from joined_nodes import JoinedNodes
from regtest_chain import COIN, Block, Chain, child_of, coinbase, redeem
from wire import parse_tx

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
COINS = 10
VALUE = COIN // 10
FEE = 2_000  # satoshis
RULES = {"rules": ["segwit"]}
CAPABLE = {**RULES, "capabilities": ["longpoll", "proposal", "coinbasetxn", "workid"]}
QUIET_SECONDS = 60  # for which a call with longpollid takes no notice of transactions


def block_of(template):
    """A block by BIP 22, 23 and 145: nothing is known but the template."""
    first = coinbase(template["height"], template["coinbasevalue"])
    first.outputs.append((0, bytes.fromhex(template["default_witness_commitment"])))
    first.witness = [[bytes(32)]]
    txs = [first, *(parse_tx(bytes.fromhex(tx["data"])) for tx in template["transactions"])]
    return Block(template["previousblockhash"], txs, template["curtime"], template["version"],
                 int(template["bits"], 16))


class Waiter(threading.Thread):
    """A call with longpollid, and when it was answered."""

    def __init__(self, node, template):
        super().__init__(daemon=True)
        self.node, self.longpollid = node, template["longpollid"]
        self.began, self.template, self.error = time.monotonic(), None, None
        self.start()

    def run(self):
        try:
            self.template = self.node.rpc("getblocktemplate",
                                          {**CAPABLE, "longpollid": self.longpollid})
        except (RpcError, OSError) as error:
            self.error = error
        self.seconds = time.monotonic() - self.began

    def result(self):
        self.join(QUIET_SECONDS * 10)
        if self.template is None:
            raise AssertionError(f"no template: {self.error}")
        return self.template


class Miner(JoinedNodes):
    def setUp(self):
        super().setUp()
        chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = chain.split(COINS, VALUE)
        self.ours, self.core = self.start(Node), self.start(CoreNode)
        self.submit_all(chain)
        self.join(self.ours, self.core)

    def send(self, node, *txs):
        for tx in txs:
            node.rpc("sendrawtransaction", tx.raw().hex())
        self.wait_for_pools(*(tx.txid() for tx in txs))

    def coin(self):
        return (*self.coins.pop(), VALUE)

    @staticmethod
    def propose(node, block):
        return node.rpc("getblocktemplate",
                        {"mode": "proposal", "data": block.raw().hex(), **RULES})

    def mine(self, node, template):
        """Proposed, mined and submitted; both nodes go over to it."""
        block = block_of(template)
        for each in self.nodes:  # a proposal needs no work
            self.assertIsNone(self.propose(each, block))
        self.assertEqual(template["target"], f"{0x7fffff << 232:064x}")
        self.assertIsNone(node.rpc("submitblock", block.mine().raw().hex()))
        self.assertEqual(node.rpc("submitblock", block.raw().hex()), "duplicate")
        for each in self.nodes:
            each.wait_for_tip(block.hash())
            self.assertEqual(self.propose(each, block), "duplicate")
        return block

    def assert_template(self, template, *txs):
        """It has these transactions, parents first, and their fees."""
        listed = template["transactions"]
        self.assertEqual({tx["txid"] for tx in listed}, {tx.txid() for tx in txs})
        for place, tx in enumerate(listed, 1):
            parents = {tx_input[0] for tx_input in parse_tx(bytes.fromhex(tx["data"])).inputs}
            before = {other["txid"]: at for at, other in enumerate(listed[:place - 1], 1)}
            self.assertEqual(tx["depends"], [before[txid] for txid in parents if txid in before])
            self.assertEqual(tx["fee"], FEE)

    def family(self):
        """Transactions of FEE each, of which one spends another."""
        parent = redeem(*self.coin(), FEE)
        return [parent, child_of(parent, FEE), redeem(*self.coin(), FEE)]

    def loop(self, miner, other):
        """Woken by a block of the other node, mines the other's transactions, and is woken by its
        own block."""
        template = miner.rpc("getblocktemplate", CAPABLE)
        self.assert_template(template)
        waiter = Waiter(miner, template)
        block, = other.rpc("generatetoaddress", 1, ADDRESS)
        template = waiter.result()
        self.assertEqual(template["previousblockhash"], block)

        txs = self.family()
        self.send(other, *txs)
        wait_until(lambda: miner.rpc("getblocktemplate", CAPABLE)["transactions"],
                   "a template with transactions")
        template = miner.rpc("getblocktemplate", CAPABLE)
        self.assert_template(template, *txs)
        waiter = Waiter(miner, template)
        block = self.mine(miner, template)
        template = waiter.result()
        self.assertEqual(template["previousblockhash"], block.hash())
        self.assert_template(template)
        for node in self.nodes:
            self.assertEqual(node.rpc("getrawmempool"), [])
        self.mine(miner, template)

    def test_loop(self):
        for miner, other in ((self.ours, self.core), (self.core, self.ours)):
            self.loop(miner, other)

    def test_woken_by_transactions(self):
        """Both nodes wake a miner after the minute, with the same transactions."""
        before = [node.rpc("getblocktemplate", CAPABLE) for node in self.nodes]
        waiters = [Waiter(node, template) for node, template in zip(self.nodes, before)]
        txs = self.family()
        self.send(self.core, *txs)
        after = [waiter.result() for waiter in waiters]
        for waiter, template in zip(waiters, after):
            self.assertGreaterEqual(waiter.seconds, QUIET_SECONDS)
            self.assert_template(template, *txs)
        for name in ("previousblockhash", "coinbasevalue", "height", "sigoplimit", "weightlimit"):
            self.assertEqual(after[0][name], after[1][name], name)
        self.mine(self.ours, after[0])

    def test_proposals(self):
        """Blocks that a miner got wrong: both nodes say the same."""
        txs = [redeem(*self.coin(), FEE) for _ in range(2)]
        self.send(self.ours, *txs)
        template = self.ours.rpc("getblocktemplate", CAPABLE)
        self.assert_template(template, *txs)

        def spoiled(change):
            block = block_of(template)
            change(block)
            return block

        def drop_commitment(block):
            block.txs[0].outputs.pop()

        def pay_more(block):
            amount, script = block.txs[0].outputs[0]
            block.txs[0].outputs[0] = (amount + 1, script)

        def repeat(block):
            block.txs.append(block.txs[-1])

        def old(block):
            block.time = template["mintime"] - 1

        def far_ahead(block):
            block.time = template["curtime"] + 3 * 60 * 60

        def elsewhere(block):
            block.prev = "11" * 32

        for change in (drop_commitment, pay_more, repeat, old, far_ahead, elsewhere):
            with self.subTest(change.__name__):
                block = spoiled(change)
                answers = [self.propose(node, block) for node in (self.core, self.ours)]
                self.assertEqual(answers[1], answers[0])
                self.assertIsNotNone(answers[1])
        self.assertIsNone(self.propose(self.ours, block_of(template)))

    def test_stopped_while_it_waits(self):
        """The node ends although a miner waits."""
        waiter = Waiter(self.ours, self.ours.rpc("getblocktemplate", CAPABLE))
        wait_until(lambda: any(each["method"] == "getblocktemplate"
                               for each in self.ours.rpc("getrpcinfo")["active_commands"]),
                   "the call")
        self.ours.stop()
        waiter.join()
        self.assertIsNone(waiter.template)
