#!/usr/bin/env python3
"""Starts a regtest chain with the programs that usually run on a node, to look at: all indexes,
REST, ZMQ, electrs, lnd, and wallets that speak BIP 157 and BIP 37. Prints where each can be
reached. Then mines a block now and then that pays the wallets, and shows their balances.

    contrib/regtest/services.py [--seconds N] [--blocks N] [--bindir DIR]

Needs a build of this node. The other programs are built the first time, as the interop tests build
them (test/interop/README.md); one whose tools are missing is named and left out. Ctrl-C ends all.
"""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / name) for name in ("functional", "interop", "support")]

from bloom_wallet import BloomWallet  # noqa: E402 (needs the path above)
from electrs_server import ElectrsServer  # noqa: E402
from filter_wallet import FilterWallet  # noqa: E402
from framework import Node, free_port  # noqa: E402
from lnd_node import LndNode  # noqa: E402
from paid_wallet import ADDRESS, chain_with_coins, payment  # noqa: E402

TOPICS = ("hashblock", "rawblock", "hashtx", "rawtx", "sequence")
COINS = 400


class Stack:
    """The node and what runs on it."""

    def __init__(self, folder):
        self.folder, self.wallets, self.servers = folder, [], []
        self.zmq = {topic: f"tcp://127.0.0.1:{free_port()}" for topic in TOPICS}
        self.node = Node(folder / "node", "regtest", [
            "-dnsseed=0", "-txindex=1", "-blockfilterindex=1", "-peerblockfilters=1",
            "-coinstatsindex=1", "-txospenderindex=1", "-peerbloomfilters=1", "-rest=1",
            *(f"-zmqpub{topic}={url}" for topic, url in self.zmq.items())])
        self.node.p2p_port = free_port()

    def start(self, stack):
        stack.callback(self.node.kill)
        self.node.start("-listen=1", f"-bind=127.0.0.1:{self.node.p2p_port}", "-noconnect")
        chain, self.coins = chain_with_coins(COINS)
        for block in chain.blocks:
            self.node.rpc("submitblock", block.raw().hex())
        self.show_node()
        for begin in (self.begin_electrs, self.begin_lnd, self.begin_filters, self.begin_bloom):
            try:
                begin(stack)
            except unittest.SkipTest as reason:
                print(f"left out: {reason}")

    def show_node(self):
        url = f"127.0.0.1:{self.node.port}"
        cli = f"bitcoin-cli -regtest -datadir={self.node.datadir} -rpcport={self.node.port}"
        print(f"RPC      {cli} getindexinfo")
        print(f"REST     curl http://{url}/rest/chaininfo.json")
        print(f"P2P      127.0.0.1:{self.node.p2p_port}")
        for topic, address in self.zmq.items():
            print(f"ZMQ      {address}  {topic}")

    def begin_electrs(self, stack):
        server = stack.enter_context(ElectrsServer(self.node, self.folder / "electrs"))
        self.servers.append(server)
        print(f"electrs  127.0.0.1:{server.port}  (Electrum protocol, TCP)")

    def begin_lnd(self, stack):
        topics = {topic: self.zmq[topic] for topic in ("rawblock", "rawtx")}
        lnd = stack.enter_context(LndNode(self.node, zmq=topics))
        self.node.rpc("generatetoaddress", 1, ADDRESS)  # ends the initial download, for lnd
        lnd.create_wallet()
        address = lnd.get("/v1/newaddress?type=WITNESS_PUBKEY_HASH")["address"]
        self.wallets.append(("lnd", address, lambda: lnd.get(
            "/v1/balance/blockchain")["confirmed_balance"]))
        print(f"lnd      curl http://127.0.0.1:{lnd.rest_port}/v1/getinfo")

    def begin_filters(self, stack):
        wallet = stack.enter_context(FilterWallet(self.node.p2p_port, self.folder / "filters"))

        def balance():
            wallet.wait_for_height(self.node.rpc("getblockcount"))
            return wallet.confirmed()
        self.wallets.append(("BIP 157", wallet.address, balance))
        print(f"BIP 157  {wallet.address}")

    def begin_bloom(self, stack):
        wallet = stack.enter_context(BloomWallet(self.node.p2p_port))

        def balance():
            wallet.wait_for_height(self.node.rpc("getblockcount"))
            return wallet.confirmed
        self.wallets.append(("BIP 37", wallet.address, balance))
        print(f"BIP 37   {wallet.address}")

    def pay(self):
        """A coin for each wallet, while there are any."""
        for _, address, _ in self.wallets:
            if self.coins:
                tx = payment(self.node, self.coins.pop(), address)
                self.node.rpc("sendrawtransaction", tx.raw().hex())

    def mine(self):
        """A block that pays each wallet; prints what they have, in satoshis."""
        self.pay()
        block, = self.node.rpc("generatetoaddress", 1, ADDRESS)
        height = self.node.rpc("getblockcount")
        for server in self.servers:
            server.wait_for_height(height)
        shown = [f"{name} {balance()}" for name, _, balance in self.wallets]
        print(f"block {height} {block[:16]}…: {', '.join(shown) or 'no wallet'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="seconds between two blocks")
    parser.add_argument("--blocks", type=int, default=0,
                        help="stop after this number of blocks; 0: run until Ctrl-C")
    parser.add_argument("--bindir", default=ROOT / "build" / "bin",
                        help="folder of this node's programs")
    args = parser.parse_args()
    if not (pathlib.Path(args.bindir) / "bitcoind").exists():
        parser.error(f"no bitcoind in {args.bindir}: build it (README.md), or name it by --bindir")
    os.environ["IBD_BINDIR"] = str(args.bindir)
    with tempfile.TemporaryDirectory(prefix="ibd-regtest-", ignore_cleanup_errors=True) as folder, \
            contextlib.ExitStack() as stack, contextlib.suppress(KeyboardInterrupt):
        services = Stack(pathlib.Path(folder))
        services.start(stack)
        mined = 0
        while True:
            services.mine()
            mined += 1
            if mined == args.blocks:
                break
            time.sleep(args.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
