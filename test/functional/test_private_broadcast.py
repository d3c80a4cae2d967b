"""-privatebroadcast: a user's transaction is sent over short connections to onion peers, which
learn nothing about the node. It enters the mempool when another peer relays it back."""

import base64
import hashlib
import struct
import threading
import time

from framework import BURNT, FunctionalTest, Node, free_port, wait_until
from regtest_chain import COIN, Chain, redeem
from scripted_peer import message, version
from scripted_server import LineServer

BROADCASTS = 3  # of one transaction
COINS = 4
VALUE = COIN // 10
MSG_TX = 1
PROTOCOL = 70016  # not the last one: all nodes say the same
STALE = 20 * 60  # seconds; beyond all waits before another attempt
ONION_PORT = 18444
PLAIN_AGENT = b"/pynode:0.0.1/"
NONCE = slice(72, 80)  # in a version message
NOT_THERE = "Transaction not in private broadcast queue. Check getprivatebroadcastinfo."
UNREACHABLE = ("Private broadcast of own transactions requested (-privatebroadcast), but none of "
               "Tor or I2P networks is reachable")
CONNECT = ("Private broadcast of own transactions requested (-privatebroadcast), but -connect is "
           "also configured. They are incompatible because the private broadcast needs to open new "
           "connections to randomly chosen Tor or I2P peers. Consider using -maxconnections=0 "
           "-addnode=... instead")
NOT_RANDOM = ("Private broadcast of own transactions requested (-privatebroadcast) and "
              "-proxyrandomize is disabled. Tor circuits for private broadcast connections may be "
              "correlated to other connections over Tor. For maximum privacy set "
              "-proxyrandomize=1.")
NO_TOR_YET = ("-privatebroadcast is enabled, but none of the Tor or I2P networks is reachable. "
              "Maybe the location of the Tor proxy couldn't be retrieved from the Tor daemon at "
              "startup. Check whether the Tor daemon is running and that -torcontrol, -torpassword "
              "and -i2psam are configured properly.")


def onion(seed):
    """An address of an onion service, version 3."""
    key, kind = hashlib.sha256(seed.encode()).digest(), b"\x03"
    check = hashlib.sha3_256(b".onion checksum" + key + kind).digest()[:2]
    return base64.b32encode(key + check + kind).decode().lower() + ".onion"


def inventory(kind, txid):
    return b"\x01" + struct.pack("<I", kind) + bytes.fromhex(txid)[::-1]


class Caller:
    """A connection that the node made, as the peer at its other end sees it."""

    def __init__(self, line, target):
        self.line, self.target, self.seen, self.closed = line, target, [], False

    def kinds(self):
        return [kind for kind, _ in self.seen]

    def payload(self, kind):
        return next(payload for other, payload in self.seen if other == kind)

    def send(self, kind, payload=b""):
        self.line.socket.sendall(message(kind, payload))

    def receive(self):
        header = self.line.exactly(24)
        kind = header[4:16].rstrip(b"\0").decode()
        payload = self.line.exactly(int.from_bytes(header[16:20], "little"))
        self.seen.append((kind, payload))
        return kind, payload


class Peers:
    """A SOCKS5 proxy behind which each address is a peer that plays `answers`: a function for each
    type of message."""

    def __init__(self, test, answers=None):
        self.answers = {**self.honest(), **(answers or {})}
        self.lock, self.callers = threading.Lock(), []
        self.server = LineServer(test, self.serve)
        self.address = self.server.address

    @staticmethod
    def honest():
        def greet(caller, _):
            caller.send("version", version())

        def fetch(caller, payload):
            caller.send("getdata", payload)
        return {"version": greet, "verack": lambda caller, _: caller.send("verack"), "inv": fetch,
                "ping": lambda caller, payload: caller.send("pong", payload)}

    def serve(self, line):
        line.exactly(line.exactly(2)[1])
        line.socket.sendall(b"\x05\x00")
        line.exactly(4)
        target = line.exactly(line.exactly(1)[0]).decode()
        port = int.from_bytes(line.exactly(2), "big")
        line.socket.sendall(bytes([5, 0, 0, 1]) + bytes(6))
        caller = Caller(line, f"{target}:{port}")
        with self.lock:
            self.callers.append(caller)
        try:
            while True:
                kind, payload = caller.receive()
                self.answers.get(kind, lambda *_: None)(caller, payload)
        finally:
            caller.closed = True
            line.close()

    def finished(self):
        with self.lock:
            return [caller for caller in self.callers if caller.closed]


class PrivateBroadcast(FunctionalTest):
    KIND = Node

    def setUp(self):
        super().setUp()
        self.chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        self.coins = self.chain.split(COINS, VALUE)

    def make(self, *args):
        node = self.KIND(self.dir / f"node{len(self.nodes)}", "regtest",
                         ["-debug=privatebroadcast", "-v2transport=0", "-dnsseed=0",
                          "-fixedseeds=0", "-maxconnections=0", "-discover=0", *args])
        self.nodes.append(node)
        return node

    def feed(self, node):
        for block in self.chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return node

    def start(self, proxy):
        node = self.make("-privatebroadcast=1", "-listenonion=0", "-listen=1",
                         f"-bind=127.0.0.1:{free_port()}", f"-proxy={proxy.address}")
        self.feed(node.start())
        for i in range(20):  # some may fall on the place of another in the table
            node.rpc("addpeeraddress", onion(str(i)), ONION_PORT)
        return node

    def tx(self):
        return redeem(*self.coins.pop(), VALUE, 1_000)

    def send(self, node, tx):
        self.assertEqual(node.rpc("sendrawtransaction", tx.raw().hex()), tx.txid())

    def check_log(self, node, part):
        self.assertTrue(part in node.log_text, part)

    def queue(self, node):
        return node.rpc("getprivatebroadcastinfo")["transactions"]

    def check_caller(self, caller, tx):
        """It sent the transaction, and nothing else."""
        self.assertTrue(caller.target.endswith(f".onion:{ONION_PORT}"), caller.target)
        self.assertEqual(caller.kinds(), ["version", "verack", "inv", "tx", "ping"])
        said = bytearray(caller.payload("version"))
        said[NONCE] = bytes(8)
        plain = struct.pack("<I", PROTOCOL) + bytes(76) + bytes([len(PLAIN_AGENT)]) + PLAIN_AGENT
        self.assertEqual(bytes(said), plain + bytes(5))
        self.assertEqual(caller.payload("inv"), inventory(MSG_TX, tx.txid()))
        self.assertEqual(caller.payload("tx"), tx.raw())

    def give_back(self, node, tx):
        """A peer announces the transaction to the node, and sends it."""
        def play(line):
            caller = Caller(line, "")
            answers = {**Peers.honest(),
                       "getdata": lambda *_: caller.send("tx", tx.raw())}

            def shake(*_):
                caller.send("verack")
                caller.send("inv", inventory(MSG_TX, tx.txid()))
            answers["verack"] = shake
            while True:
                kind, payload = caller.receive()
                answers.get(kind, lambda *_: None)(caller, payload)
        server = LineServer(self, play)
        node.rpc("addnode", server.address, "onetry")
        wait_until(lambda: node.rpc("getrawmempool") == [tx.txid()], "the transaction in the pool")

    def test_sent_and_back(self):
        peers = Peers(self)
        node = self.start(peers)
        self.assertEqual(self.queue(node), [])
        tx = self.tx()
        self.send(node, tx)
        wait_until(lambda: len(peers.finished()) == BROADCASTS, "broadcasts")
        for caller in peers.finished():
            self.check_caller(caller, tx)
        (entry,) = self.queue(node)
        self.assertEqual([entry["txid"], entry["wtxid"], entry["hex"]],
                         [tx.txid(), tx.txid(), tx.raw().hex()])
        self.assertEqual({peer["address"] for peer in entry["peers"]},
                         {caller.target for caller in peers.finished()})
        for peer in entry["peers"]:
            self.assertLessEqual(entry["time_added"], peer["sent"])
            self.assertLessEqual(peer["sent"], peer["received"])
        pool = node.rpc("getmempoolinfo")
        self.assertEqual((pool["size"], pool["unbroadcastcount"]), (0, 0))
        self.send(node, tx)  # it is scheduled already

        self.give_back(node, tx)
        self.assertEqual(self.queue(node), [])
        self.assertEqual(node.rpc("getmempoolinfo")["unbroadcastcount"], 0)
        self.check_log(node, f"Received our privately broadcast transaction (txid={tx.txid()}) "
                             "from the network from peer=")
        self.assertEqual(len(peers.callers), BROADCASTS)
        # One of the pool can be sent too.
        self.send(node, tx)
        wait_until(lambda: len(peers.finished()) == 2 * BROADCASTS, "broadcasts")
        self.check_caller(peers.finished()[-1], tx)

    def test_sent_again(self):
        peers = Peers(self)
        node = self.start(peers)
        tx = self.tx()
        self.send(node, tx)
        wait_until(lambda: len(peers.finished()) == BROADCASTS, "broadcasts")
        node.rpc("setmocktime", int(time.time()) + STALE)
        node.rpc("mockscheduler", STALE)
        wait_until(lambda: len(peers.finished()) > BROADCASTS, "another broadcast")
        self.check_caller(peers.finished()[-1], tx)
        self.check_log(node, f"Reattempting broadcast of stale txid={tx.txid()} wtxid={tx.txid()}")
        # It is given up once it is mined.
        node.rpc("generateblock", BURNT, [tx.raw().hex()])
        node.rpc("setmocktime", int(time.time()) + 2 * STALE)
        node.rpc("mockscheduler", STALE)
        wait_until(lambda: self.queue(node) == [], "an empty queue")
        self.check_log(node, f"Giving up broadcast attempts for txid={tx.txid()} "
                             f"wtxid={tx.txid()}: txn-already-known")

    def test_bad_peers_and_abort(self):
        def other(caller, payload):
            caller.send("getdata", payload[:-1] + bytes([payload[-1] ^ 1]))
        peers = Peers(self, {"inv": other})
        node = self.start(peers)
        tx = self.tx()
        self.send(node, tx)
        wait_until(lambda: len(peers.finished()) > BROADCASTS, "replacements")
        self.check_log(node, "Disconnecting: got an unexpected GETDATA message, peer=")
        self.assertTrue(all("received" not in peer for peer in self.queue(node)[0]["peers"]))
        removed = {"txid": tx.txid(), "wtxid": tx.txid(), "hex": tx.raw().hex()}
        self.assertEqual(node.rpc("abortprivatebroadcast", tx.txid()),
                         {"removed_transactions": [removed]})
        self.assertEqual(self.queue(node), [])
        self.assert_rpc_error(-5, NOT_THERE, node.rpc, "abortprivatebroadcast", tx.txid())
        self.assert_rpc_error(-8, "id must be of length 64 (not 2, for '00')", node.rpc,
                              "abortprivatebroadcast", "00")
        missing = redeem("11" * 32, 0, VALUE, 1_000)
        self.assert_rpc_error(-25, "bad-txns-inputs-missingorspent", node.rpc,
                              "sendrawtransaction", missing.raw().hex())
        rich = redeem(*self.coins.pop(), VALUE, VALUE // 2)
        self.assert_rpc_error(-25, "Fee exceeds maximum configured by user", node.rpc,
                              "sendrawtransaction", rich.raw().hex())

    def test_starts(self):
        on = "-privatebroadcast=1"
        proxy = "-proxy=127.0.0.1:1"
        for said, args in ((UNREACHABLE, ["-listen=0"]), (UNREACHABLE, ["-connect=0"]),
                           (UNREACHABLE, ["-listen=0", proxy, "-onlynet=ipv4"]),
                           (CONNECT, ["-noconnect", proxy]),
                           (CONNECT, ["-connect=1.2.3.4", "-i2psam=127.0.0.1:1"])):
            status, errors = self.make(on, *args).run()
            self.assertEqual((status, errors), (1, f"Error: {said}\n"), args)
        node = self.make(on, proxy, "-proxyrandomize=0", "-listen=0").start().stop()
        self.assertEqual(node.errors, f"Warning: {NOT_RANDOM}\n")

    def test_without_tor(self):
        node = self.make("-privatebroadcast=1", "-torcontrol=127.0.0.1:1", "-listen=1",
                         "-listenonion=1", f"-bind=127.0.0.1:{free_port()}").start()
        self.assert_rpc_error(-1, NO_TOR_YET, node.rpc, "sendrawtransaction",
                              self.tx().raw().hex())

    def test_off(self):
        node = self.make("-listen=0").start()
        said = "Private broadcast is not enabled."
        self.assert_rpc_error(-32601, said, node.rpc, "getprivatebroadcastinfo")
        self.assert_rpc_error(-32601, said, node.rpc, "abortprivatebroadcast", "00")
