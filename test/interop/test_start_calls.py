"""The calls that Core Lightning, electrs, lnd and explorers make at their start and then all the
time, by the ways they use: bitcoin-cli, batches, single calls. Core and our node are peers, with
the same chain and pool, and their answers have the same members, of the same types."""

import json
import subprocess
import time

from core_node import CoreNode
from framework import Node, loads, program
from joined_nodes import JoinedNodes
from regtest_chain import COIN, Chain, child_of, redeem

FEE = 1_000  # satoshis
VALUE = COIN // 10
# Core Lightning, through bitcoin-cli.
CLI_CALLS = (("echo",), ("getnetworkinfo",), ("getblockchaininfo",), ("getmempoolinfo",),
             ("estimatesmartfee", "2", "CONSERVATIVE"), ("estimatesmartfee", "6", "ECONOMICAL"),
             ("estimatesmartfee", "12", "ECONOMICAL"), ("estimatesmartfee", "100", "ECONOMICAL"),
             ("getblockhash", "101"), ("getblockhash", "1000"), ("getpeerinfo",))
# By HTTP; "TIP", "PARENT" and "CHILD" stand for hashes.
CALLS = {
    "electrs": (("getblockchaininfo",), ("getnetworkinfo",), ("getblockhash", 0),
                ("getblockhash", 101), ("getblock", "TIP", 0), ("getblockheader", "TIP", False),
                ("getmempoolinfo",), ("getrawmempool", False), ("getrawmempool", True),
                ("getmempoolentry", "CHILD"), ("getrawtransaction", "CHILD", False),
                ("getrawtransaction", "PARENT", True), ("estimatesmartfee", 1),
                ("estimatesmartfee", 1008)),
    "lnd": (("getblockchaininfo",), ("getnetworkinfo",), ("getbestblockhash",), ("getblockcount",),
            ("getblockheader", "TIP", True), ("getblock", "TIP", 0), ("getdeploymentinfo",),
            ("getmempoolinfo",), ("estimatesmartfee", 6, "CONSERVATIVE"), ("getrawmempool",),
            ("gettxout", "PARENT", 0, True), ("gettxout", "CHILD", 0, True),
            ("gettxspendingprevout", [{"txid": "PARENT", "vout": 0}]),
            ("testmempoolaccept", ["00"]), ("getpeerinfo",), ("uptime",)),
    "explorer": (("getblockchaininfo",), ("getnetworkinfo",), ("getnettotals",), ("uptime",),
                 ("getmempoolinfo",), ("getmininginfo",), ("getdeploymentinfo",),
                 ("getindexinfo",), ("getpeerinfo",), ("getchaintips",), ("getchaintxstats",),
                 ("getchaintxstats", 10), ("gettxoutsetinfo",), ("getnetworkhashps", 50),
                 ("getblockstats", 101), ("getblockstats", "TIP", ["avgfee", "txs"]),
                 ("getblock", "TIP", 1), ("getblock", "TIP", 2), ("getblock", "TIP", 3),
                 ("getrawtransaction", "CHILD", 2), ("getmempoolancestors", "CHILD", True),
                 ("getmempooldescendants", "PARENT", True), ("decodescript", "51"),
                 ("estimatesmartfee", 1, "CONSERVATIVE"), ("estimatesmartfee", 144, "ECONOMICAL"),
                 ("getmempoolcluster", "CHILD"), ("getmempoolfeeratediagram",),
                 ("getmempoolentry", "00" * 32), ("nosuchcall",)),
}
# Values that differ between nodes: counters by message, addresses, texts for users.
OWN_CONTENTS = {"bytessent_per_msg", "bytesrecv_per_msg", "warnings", "permissions", "message"}
# Core 31 has it, as this node; not the pinned 31.99 (doc/rpc.md).
ONLY_IN_31 = {"taproot"}


def shape(value):
    """Only names and types. The first element of a list represents all."""
    if isinstance(value, dict):
        return {name: type(inner).__name__ if name in OWN_CONTENTS else shape(inner)
                for name, inner in value.items() if name not in ONLY_IN_31}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


class StartCalls(JoinedNodes):
    def setUp(self):
        super().setUp()
        chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        coin, = chain.split(1, VALUE)
        self.core, self.ours = self.start(CoreNode), self.start(Node)
        self.both = (self.core, self.ours)
        self.submit_all(chain)
        self.join(self.ours, self.core)
        parent = redeem(*coin, VALUE, FEE)
        child = child_of(parent, FEE)
        for tx in (parent, child):
            self.ours.rpc("sendrawtransaction", tx.raw().hex())
        self.wait_for_pools(parent.txid(), child.txid())
        self.names = {"TIP": chain.tip, "PARENT": parent.txid(), "CHILD": child.txid()}

    def named(self, value):
        if isinstance(value, list):
            return [self.named(inner) for inner in value]
        if isinstance(value, dict):
            return {name: self.named(inner) for name, inner in value.items()}
        return self.names.get(value, value) if isinstance(value, str) else value

    def requests(self, calls):
        return [{"jsonrpc": "2.0", "id": at, "method": call[0],
                 "params": self.named(list(call[1:]))} for at, call in enumerate(calls)]

    def assert_same_shapes(self, calls, answers):
        theirs, ours = answers
        self.assertEqual(len(ours), len(calls))
        for call, core_said, we_said in zip(calls, theirs, ours):
            with self.subTest(call):
                self.assertEqual(shape(we_said), shape(core_said))
                if "error" in core_said:
                    self.assertEqual(we_said["error"], core_said["error"])

    def test_single_calls(self):
        for name, calls in CALLS.items():
            with self.subTest(name):
                self.assert_same_shapes(calls, [
                    [loads(node.post(json.dumps(request))[1]) for request in self.requests(calls)]
                    for node in self.both])

    def test_batches(self):
        for name, calls in CALLS.items():
            with self.subTest(name):
                self.assert_same_shapes(calls, [
                    loads(node.post(json.dumps(self.requests(calls)))[1]) for node in self.both])

    def cli(self, node, words):
        """As Core Lightning starts it, with the password on standard input."""
        user, password = (node.net_dir / ".cookie").read_text().split(":")
        client = node.programs / "bitcoin-cli" if node is self.core else program("bitcoin-cli")
        done = subprocess.run(
            [client, "-regtest", f"-datadir={node.datadir}", "-rpcclienttimeout=60",
             "-rpcconnect=127.0.0.1", f"-rpcport={node.port}", f"-rpcuser={user}",
             "-stdinrpcpass", *words], input=password + "\n", capture_output=True, text=True,
            check=False)
        return done.returncode, done.stdout, done.stderr

    def test_command_line(self):
        for words in CLI_CALLS:
            with self.subTest(words):
                theirs, ours = (self.cli(node, words) for node in self.both)
                self.assertEqual((ours[0], ours[2]), (theirs[0], theirs[2]))
                if theirs[1].startswith(("{", "[")):
                    self.assertEqual(shape(loads(ours[1])), shape(loads(theirs[1])))
                else:
                    self.assertEqual(ours[1], theirs[1])
