"""-i2psam against a scripted SAM 3.1 bridge that connects nodes to one another: sessions that last
and that do not, streams in both directions, and the log when the bridge refuses."""

import base64
import hashlib
import os
import threading

from framework import FunctionalTest, free_port, wait_until
from regtest_chain import Chain
from scripted_server import LineServer

CAUGHT_UP = "-maxtipage=10000000000"  # the blocks are old
DESTINATION_SIZE = 391                # two keys, and a certificate with four bytes in it


def to_i2p(data):
    return base64.b64encode(data, b"-~").decode()


def from_i2p(text):
    return base64.b64decode(text, b"-~", validate=True)


def name_of(destination):
    digest = base64.b32encode(hashlib.sha256(destination).digest()).decode()
    return digest.rstrip("=").lower() + ".b32.i2p"


def new_key():
    """A destination and the bridge's secret for it."""
    return os.urandom(384) + bytes([5, 0, 4]) + os.urandom(4) + os.urandom(96)


class Bridge:
    def __init__(self, test, unreachable=()):
        self.sessions = {}    # id: destination
        self.accepting = {}   # destination: (connection, event)
        self.unreachable = set(unreachable)
        self.heard = []
        self.lock = threading.Lock()
        self.server = LineServer(test, self.serve)

    def serve(self, connection):
        session = None
        try:
            while True:
                line = connection.line()
                with self.lock:
                    self.heard.append(line)
                words = line.split(" ")
                values = dict(word.split("=", 1) for word in words if "=" in word)
                what = " ".join(words[:2])
                if what == "HELLO VERSION":
                    connection.send("HELLO REPLY RESULT=OK VERSION=3.1\n")
                elif what == "DEST GENERATE":
                    key = new_key()
                    connection.send(f"DEST REPLY PUB={to_i2p(key[:DESTINATION_SIZE])} "
                                    f"PRIV={to_i2p(key)}\n")
                elif what == "SESSION CREATE":
                    session = values["ID"]
                    transient = values["DESTINATION"] == "TRANSIENT"
                    key = new_key() if transient else from_i2p(values["DESTINATION"])
                    with self.lock:
                        self.sessions[session] = key[:DESTINATION_SIZE]
                    connection.send(f"SESSION STATUS RESULT=OK DESTINATION={to_i2p(key)}\n")
                elif what == "NAMING LOOKUP":
                    connection.send(self.look_up(values["NAME"]))
                elif what == "STREAM ACCEPT":
                    return self.accept(connection, values["ID"])
                elif what == "STREAM CONNECT":
                    return self.connect(connection, values["ID"], values["DESTINATION"])
        finally:
            if session is not None:
                with self.lock:
                    del self.sessions[session]

    def look_up(self, name):
        with self.lock:
            known = [d for d in self.sessions.values() if name_of(d) == name]
        if not known:
            return f"NAMING REPLY RESULT=KEY_NOT_FOUND NAME={name}\n"
        return f"NAMING REPLY RESULT=OK NAME={name} VALUE={to_i2p(known[0])}\n"

    def accept(self, connection, session):
        with self.lock:
            destination = self.sessions.get(session)
            if destination is None:
                return connection.send("STREAM STATUS RESULT=INVALID_ID\n")
            done = threading.Event()
            connection.send("STREAM STATUS RESULT=OK\n")
            self.accepting[destination] = (connection, done)
        done.wait()

    def connect(self, connection, session, destination):
        with self.lock:
            caller = self.sessions.get(session)
            waiting = self.accepting.pop(from_i2p(destination), None)
        if caller is None:
            return connection.send("STREAM STATUS RESULT=INVALID_ID\n")
        if waiting is None or name_of(from_i2p(destination)) in self.unreachable:
            return connection.send('STREAM STATUS RESULT=CANT_REACH_PEER MESSAGE="no"\n')
        other, done = waiting
        # The peer's first bytes may arrive together with the bridge's own line.
        other.send(to_i2p(caller) + "\n")
        connection.send("STREAM STATUS RESULT=OK\n")
        connection.join(other.socket)
        done.set()


class I2p(FunctionalTest):
    def listener(self, bridge, *args):
        node = self.node("regtest", CAUGHT_UP, "-debug=i2p", f"-i2psam={bridge.server.address}")
        return node.start("-listen=1", f"-bind=127.0.0.1:{free_port()}", "-noconnect",
                          "-listenonion=0", "-natpmp=0", *args)

    def own_address(self, node):
        def own():
            return [entry for entry in node.rpc("getnetworkinfo")["localaddresses"]
                    if entry["address"].endswith(".b32.i2p")]
        wait_until(own, "an address in I2P")
        (entry,) = own()
        self.assertEqual(entry["port"], 0)
        return entry["address"]

    def test_nodes_that_call_each_other(self):
        bridge = Bridge(self)
        chain = Chain().grow(20)
        giver = self.listener(bridge)
        for block in chain.blocks:
            giver.rpc("submitblock", block.raw().hex())
        address = self.own_address(giver)
        key_file = giver.net_dir / "i2p_private_key"
        key = key_file.read_bytes()
        self.assertEqual(address, name_of(key[:DESTINATION_SIZE]))
        self.assertEqual(key_file.stat().st_mode & 0o077, 0)
        self.assertIn("Persistent I2P SAM session", giver.log_text)

        # One that cannot be called has an address for each stream.
        taker = self.node("regtest", CAUGHT_UP, "-debug=i2p", f"-i2psam={bridge.server.address}")
        taker.start("-noconnect", "-i2pacceptincoming=0")
        taker.rpc("addnode", address, "onetry")
        taker.wait_for_tip(chain.tip)
        (there,) = taker.wait_for_peers(1)
        (here,) = giver.wait_for_peers(1)
        self.assertEqual((there["addr"], there["network"]), (address, "i2p"))
        self.assertEqual((here["network"], here["inbound"]), ("i2p", True))
        self.assertTrue(here["addr"].endswith(".b32.i2p:0"), here)
        self.assertFalse((taker.net_dir / "i2p_private_key").exists())
        self.assertIn("Creating transient I2P SAM session", taker.log_text)

        # A third node connects to the same address, and keeps its own address when it starts again.
        third = self.listener(bridge)
        third.rpc("addnode", address, "onetry")
        third.wait_for_tip(chain.tip)
        giver.wait_for_peers(2)
        its = self.own_address(third)
        third.stop().start("-listen=1", f"-bind=127.0.0.1:{free_port()}", "-noconnect",
                           "-listenonion=0", "-natpmp=0")
        self.assertEqual(self.own_address(third), its)

        # The bridge restarts: sessions are created again, and the address stays.
        bridge.server.drop()
        wait_until(lambda: not giver.rpc("getpeerinfo"), "no peers")
        wait_until(lambda: giver.log_text.count("Persistent I2P SAM session") > 1, "a new session")
        self.assertEqual(self.own_address(giver), address)
        taker.rpc("addnode", address, "onetry")
        taker.wait_for_peers(1)

    def test_what_fails_is_said(self):
        bridge = Bridge(self)
        node = self.node("regtest", "-debug=i2p", f"-i2psam={bridge.server.address}")
        node.start("-noconnect", "-i2pacceptincoming=0")
        unknown = name_of(new_key()[:DESTINATION_SIZE])
        for address, why in (
                (f"{unknown}:8333", "connection refused due to arbitrary port 8333"),
                (unknown, f"Reply to \"NAMING LOOKUP NAME={unknown}\": had a RESULT not equal to "
                 "OK.")):
            node.rpc("addnode", address, "onetry")
            self.assertIn(why, node.log_text)
        network = next(net for net in node.rpc("getnetworkinfo")["networks"]
                       if net["name"] == "i2p")
        self.assertEqual((network["proxy"], network["reachable"]), (bridge.server.address, True))
        other = self.listener(bridge)
        address = self.own_address(other)
        bridge.unreachable.add(address)
        node.rpc("addnode", address, "onetry")
        self.assertIn("RESULT=CANT_REACH_PEER", node.log_text)
        self.assertEqual(node.rpc("getpeerinfo"), [])
        # The sessions of failed attempts are used again.
        self.assertEqual(node.log_text.count("Creating transient I2P SAM session"), 1)

    def test_a_bridge_that_makes_no_sense(self):
        for reply in ("\0\0\0\n", "HELLO REPLY RESULT=NOVERSION\n", "x" * 70_000):
            def serve(connection, reply=reply):
                connection.line()
                connection.send(reply)
                connection.line()
            server = LineServer(self, serve)
            node = self.node("regtest", "-debug=i2p", f"-i2psam={server.address}")
            node.start("-noconnect", "-i2pacceptincoming=0")
            node.rpc("addnode", name_of(b"x"), "onetry")
            self.assertIn("Error connecting to", node.log_text)
            node.stop()
