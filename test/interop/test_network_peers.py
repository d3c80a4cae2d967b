"""Our node and others on a network of two: btcd and Bitcoin Core give it a chain and take one from
it, over both transports, and follow a reorganisation; with Core also compact blocks in both roles,
header presync, addresses of all kinds and a pruned peer."""

import base64
import hashlib
import subprocess
import time

from btcd_peer import BtcdPeer
from core_node import CoreNode
from framework import FunctionalTest, Node, free_port, program, wait_until
from regtest_chain import COINBASE_MATURITY, Chain, spend

BLOCKS = 2000
OLD_BRANCH, NEW_BRANCH = 5, 8  # blocks of a reorganisation
RAW = "raw(51)"
TRANSPORTS = {"v1": ("-v2transport=0",), "v2": ("-v2transport=1",)}


def onion_address(seed):
    """An address of some onion service of version 3."""
    key = hashlib.sha3_256(seed.to_bytes(4, "little")).digest()
    check = hashlib.sha3_256(b".onion checksum" + key + b"\x03").digest()[:2]
    return base64.b32encode(key + check + b"\x03").decode().lower() + ".onion"


def recent_chain(count):
    """Its last block is of now, so that no node takes it for behind."""
    return Chain(first_time=int(time.time()) - 600 * (count + 1)).grow(count)


def feed(node, blocks):
    for block in blocks:
        assert node.rpc("submitblock", block.raw().hex()) in (None, "inconclusive")


class Network(FunctionalTest):
    def start(self, kind, *args):
        """A node that can be called at `p2p_port`."""
        node = kind(self.dir / f"{kind.__name__}{len(self.nodes)}", "regtest",
                    ["-debug=net", "-debug=cmpctblock", "-dnsseed=0"])
        self.nodes.append(node)
        node.p2p_port = free_port()
        return node.start("-listen=1", f"-bind=127.0.0.1:{node.p2p_port}", "-noconnect", *args)

    @staticmethod
    def address(node):
        return f"127.0.0.1:{node.p2p_port}"

    @staticmethod
    def peer(node):
        """The only peer of a node, from getpeerinfo; None during the handshake."""
        peers = [peer for peer in node.rpc("getpeerinfo") if peer["version"]]
        return peers[0] if len(peers) == 1 else None

    def join(self, caller, called):
        caller.rpc("addnode", self.address(called), "onetry")
        wait_until(lambda: self.peer(caller), "a peer")

    def assert_left(self, node, tip):
        self.assertIn((tip, "valid-fork"),
                      [(t["hash"], t["status"]) for t in node.rpc("getchaintips")])


class WithBtcd(Network):
    """btcd gives first, then takes: of one chain each, with a reorganisation at the end."""

    OPTIONS = {"v1": (), "v2": ("--v2transport",)}

    def exchange(self, transport, we_call):
        chain = recent_chain(BLOCKS)
        other = chain.branch(OLD_BRANCH, NEW_BRANCH)
        ours = self.start(Node, *TRANSPORTS[transport])
        connect = () if we_call else (self.address(ours),)
        extra = self.OPTIONS[transport]
        with BtcdPeer("regtest", connect, extra) as btcd:
            first, second = (btcd, ours) if we_call else (ours, btcd)
            if we_call:
                feed(btcd, chain.blocks)
                ours.rpc("addnode", btcd.p2p_address, "onetry")
            wait_until(lambda: self.peer(ours), "a peer")
            if not we_call:
                # Not before the handshake: while btcd downloads a chain announced there it ignores
                # every inv, and does not learn of blocks mined meanwhile.
                feed(ours, chain.blocks)
            second.wait_for_tip(chain.tip)
            peer = self.peer(ours)
            self.assertEqual(peer["transport_protocol_type"], transport)
            self.assertEqual(peer["inbound"], not we_call)
            self.assertIn("btcd", peer["subver"])
            # The branch is sent in the other direction, by the node that received the blocks.
            feed(second, other.blocks[-NEW_BRANCH:])
            first.wait_for_tip(other.tip)
            for node in (ours, btcd):
                self.assertEqual(node.rpc("getblockcount"), BLOCKS - OLD_BRANCH + NEW_BRANCH)
            self.assert_left(ours, chain.tip)
            wait_until(lambda: self.peer(ours)["bytessent_per_msg"].get("block", 0) > 0 and
                       self.peer(ours)["bytesrecv_per_msg"].get("block", 0) > 0, "blocks both ways")
        self.assertNotIn("[error]", ours.log_text)

    def test_it_gives_v1(self):
        self.exchange("v1", True)

    def test_it_gives_v2(self):
        self.exchange("v2", True)

    def test_it_takes_v1(self):
        self.exchange("v1", False)

    def test_it_takes_v2(self):
        self.exchange("v2", False)


class WithCore(Network):
    def exchange(self, transport, giving, taking):
        chain = recent_chain(BLOCKS)
        other = chain.branch(OLD_BRANCH, NEW_BRANCH)
        giver = self.start(giving, *TRANSPORTS[transport])
        taker = self.start(taking, *TRANSPORTS[transport])
        feed(giver, chain.blocks)
        self.join(taker, giver)
        taker.wait_for_tip(chain.tip)
        for node in (giver, taker):
            self.assertEqual(self.peer(node)["transport_protocol_type"], transport)
        self.assertEqual(self.peer(giver)["session_id"], self.peer(taker)["session_id"])
        feed(taker, other.blocks[-NEW_BRANCH:])
        giver.wait_for_tip(other.tip)
        for node in (giver, taker):
            self.assert_left(node, chain.tip)
            self.assertEqual(node.rpc("gettxoutsetinfo")["bestblock"], other.tip)
        self.assertEqual(giver.rpc("gettxoutsetinfo")["hash_serialized_3"],
                         taker.rpc("gettxoutsetinfo")["hash_serialized_3"])

    def test_it_gives_v1(self):
        self.exchange("v1", CoreNode, Node)

    def test_it_gives_v2(self):
        self.exchange("v2", CoreNode, Node)

    def test_it_takes_v1(self):
        self.exchange("v1", Node, CoreNode)

    def test_it_takes_v2(self):
        self.exchange("v2", Node, CoreNode)

    def test_a_wish_for_hints(self):
        """Core receives one unknown feature, and nothing else."""
        core = self.start(CoreNode)
        chain = recent_chain(20)
        feed(core, chain.blocks)
        ours = self.start(Node, "-ibdboosterfile=auto", "-ibdboosterwait=0",
                          f"-assumevalid={chain.tip}", f"-connect={self.address(core)}")
        ours.wait_for_tip(chain.tip)
        self.assertIn("no hints from peers: too few peers", ours.log_text)
        wait_until(lambda: self.peer(core), "a peer")
        log = core.log_text
        self.assertEqual(log.count("received: feature ("), 1)
        self.assertEqual(log.count("unknown feature advertised: ibd-booster-hints"), 1)
        for sign in ("Unknown message type", "Misbehaving", "disconnecting peer", "gethints"):
            self.assertNotIn(sign, log)

    def test_compact_blocks(self):
        """In both roles: announced, completed by getblocktxn, and served."""
        core, ours = self.start(CoreNode), self.start(Node)
        chain = recent_chain(COINBASE_MATURITY + 20)
        feed(core, chain.blocks)
        self.join(ours, core)
        ours.wait_for_tip(chain.tip)
        fees = 1000
        for i, (giver, taker) in enumerate([(core, ours), (ours, core)] * 3):
            txid, amount = chain.coinbase_of(i + 1)
            tx = spend(txid, 0, amount - fees)
            chain.add(chain.candidate([tx], fees))
            feed(giver, chain.blocks[-1:])
            taker.wait_for_tip(chain.tip)
        # The sender of the first blocks is asked to announce the next by compact blocks.
        for node, other in ((core, ours), (ours, core)):
            wait_until(lambda node=node: self.peer(node)["bip152_hb_to"], "asked to announce")
            wait_until(lambda other=other: self.peer(other)["bip152_hb_from"], "was asked")
            got = self.peer(node)["bytesrecv_per_msg"]
            for name in ("cmpctblock", "getblocktxn", "blocktxn"):
                self.assertGreater(got.get(name, 0), 0, (node, name))
            self.assertIn("Successfully reconstructed block", node.log_text)
            self.assertIn("sent us a GETBLOCKTXN for block", node.log_text)
            self.assertIn("sending header-and-ids", node.log_text)
        for tx in (block.txs[1] for block in chain.blocks[-6:]):
            self.assertIsNotNone(ours.rpc("gettxout", tx.txid(), 0))

    def presync(self, giving, taking):
        """A chain longer than one message of headers, that has to show its work first."""
        giver = self.start(giving)
        blocks = 4500
        giver.rpc("generatetodescriptor", blocks, RAW)
        tip = giver.rpc("getbestblockhash")
        wanted = f"-minimumchainwork={2 * 4200:064x}"
        taker = self.start(taking, wanted, "-debug=validation")
        self.join(taker, giver)
        taker.wait_for_tip(tip)
        for line in ("Initial headers sync started with peer=",
                     "Initial headers sync transition with peer="):
            self.assertIn(line, taker.log_text)

        poor = self.start(taking, f"-minimumchainwork={2 * 10_000:064x}")
        self.join(poor, giver)
        wait_until(lambda: "Initial headers sync aborted with peer=" in poor.log_text,
                   "too little work")
        self.assertEqual(poor.rpc("getblockchaininfo")["headers"], 0)

    def test_presync_from_core(self):
        self.presync(CoreNode, Node)

    def test_presync_by_core(self):
        self.presync(Node, CoreNode)

    def addresses(self, knowing, asking):
        """Addresses that need addrv2 are relayed from one to the other."""
        knows = self.start(knowing)
        asks = self.start(asking, "-onion=127.0.0.1:1") # unreachable addresses are dropped
        for i in range(60): # of which a part is returned
            knows.rpc("addpeeraddress", onion_address(i), 8333)
        self.join(asks, knows)

        def told(node):
            return {a["address"] for a in node.rpc("getnodeaddresses", 0)}
        wait_until(lambda: told(asks), "addresses")
        self.assertLessEqual(told(asks), told(knows))
        received = self.peer(asks)["bytesrecv_per_msg"]
        self.assertGreater(received["addrv2"], 0)
        self.assertNotIn("addr", received)

    def test_addresses_from_core(self):
        self.addresses(CoreNode, Node)

    def test_addresses_by_core(self):
        self.addresses(Node, CoreNode)

    def test_both_clients_show_the_same(self):
        core, ours = self.start(CoreNode), self.start(Node)
        core.rpc("addpeeraddress", "8.8.8.8", 8333)
        ours.rpc("addpeeraddress", "2a01::5", 8333, True)
        self.join(core, ours)
        clients = [core.programs / "bitcoin-cli", program("bitcoin-cli")]
        for node in (core, ours):
            for words in ("-addrinfo", "-addrinfo x", "-netinfo", "-netinfo 0", "-netinfo 1",
                          "-netinfo 2 o", "-netinfo 3", "-netinfo 4 outonly", "-netinfo 4",
                          "-netinfo 255", "-netinfo 256", "-netinfo x", "-netinfo 0 o",
                          "-netinfo 1 p"):
                def answers(words=words, node=node):
                    for client in clients:
                        done = subprocess.run(
                            [client, f"-datadir={node.datadir}", "-regtest",
                             f"-rpcport={node.port}", *words.split()],
                            capture_output=True, text=True, check=False)
                        # The client's own name comes first.
                        shown = done.stdout.partition(" - server ")[2] or done.stdout
                        yield done.returncode, done.stderr, shown

                def same(answers=answers):
                    core_says, ours_says = answers()
                    return core_says == ours_says
                wait_until(same, words, 20)  # ages are in seconds

    def test_a_pruned_peer(self):
        """It gives the last 288 blocks, and is not asked for older ones."""
        chain = recent_chain(1200)
        core = self.start(CoreNode, "-prune=1", "-fastprune")
        feed(core, chain.blocks)
        core.rpc("pruneblockchain", 800)
        near, fresh = self.start(Node, "-maxtipage=1000000"), self.start(Node) # one has caught up
        feed(near, chain.blocks[:950])
        self.join(near, core)
        near.wait_for_tip(chain.tip)
        peer = self.peer(near)
        self.assertNotIn("NETWORK", peer["servicesnames"])
        self.assertIn("NETWORK_LIMITED", peer["servicesnames"])
        self.assertEqual(peer["connection_type"], "manual")

        fresh.rpc("addnode", self.address(core), "onetry")
        wait_until(lambda: fresh.rpc("getblockchaininfo")["headers"] == 1200, "headers")
        self.assertEqual(fresh.rpc("getblockcount"), 0)
        self.assertEqual(self.peer(fresh)["inflight"], [])
        fresh.rpc("addnode", self.address(near), "onetry")
        fresh.wait_for_tip(chain.tip)
