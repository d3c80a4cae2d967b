"""-torcontrol and -listenonion against a scripted Tor: each authentication method, the onion
service and its key, Tor's SOCKS port, and the loss of Tor."""

import hashlib
import hmac
import os
import queue
import types

from framework import FunctionalTest, free_port, wait_until
from scripted_server import LineServer

SERVICE = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd"
KEY = "ED25519-V3:c2VjcmV0"
SERVER_KEY = b"Tor safe cookie authentication server-to-controller hash"
CLIENT_KEY = b"Tor safe cookie authentication controller-to-server hash"


class Tor:
    """The answers of a Tor; `heard` gets every command."""

    def __init__(self, test, methods="NULL", cookie=None, password=None, pow_known=True,
                 lies=False):
        self.methods, self.cookie, self.password = methods, cookie, password
        self.pow_known, self.lies = pow_known, lies
        self.cookie_file = test.dir / "cookie \"of\" tor"
        if cookie:
            self.cookie_file.write_bytes(cookie)
        self.heard = queue.Queue()
        self.client_hash = None
        self.server = LineServer(test, self.serve)

    def serve(self, connection):
        trusted = False
        while True:
            line = connection.line()
            self.heard.put(line)
            command, _, rest = line.partition(" ")
            if command == "PROTOCOLINFO":
                path = str(self.cookie_file).replace('"', '\\"')
                cookie = f' COOKIEFILE="{path}"' if self.cookie else ""
                connection.send("250-PROTOCOLINFO 1\r\n"
                                f"250-AUTH METHODS={self.methods}{cookie}\r\n"
                                '250-VERSION Tor="0.4.8.12"\r\n250 OK\r\n')
            elif command == "AUTHCHALLENGE":
                connection.send(self.challenge(rest.split()[1]))
            elif command == "AUTHENTICATE":
                trusted = self.knows(rest)
                connection.send("250 OK\r\n" if trusted else "515 Bad authentication\r\n")
            elif not trusted:
                connection.send("514 Authentication required\r\n")
            elif command == "GETINFO":
                connection.send('250-net/listeners/socks="unix:/run/tor" "127.0.0.1:19050"\r\n'
                                "250 OK\r\n")
            elif command == "ADD_ONION":
                connection.send(self.add_onion(rest))
            else:
                connection.send("510 Unrecognized command\r\n")

    def challenge(self, client_nonce):
        nonce = os.urandom(32)
        message = self.cookie + bytes.fromhex(client_nonce) + nonce
        def mac(key):
            return hmac.new(key, message, hashlib.sha256).hexdigest().upper()
        self.client_hash = mac(CLIENT_KEY)
        known = "00" * 32 if self.lies else mac(SERVER_KEY)
        return f"250 AUTHCHALLENGE SERVERHASH={known} SERVERNONCE={nonce.hex().upper()}\r\n"

    def knows(self, said):
        if self.password is not None:
            return said == '"' + self.password.replace('"', '\\"') + '"'
        if self.cookie:
            return said.upper() == self.client_hash
        return said == ""

    def add_onion(self, rest):
        if "PoWDefensesEnabled" in rest and not self.pow_known:
            return "512 Bad arguments to ADD_ONION\r\n"
        key = f"250-PrivateKey={KEY}\r\n" if rest.startswith("NEW:") else ""
        return f"250-ServiceID={SERVICE}\r\n{key}250 OK\r\n"

    def hears(self, command):
        while True:
            line = self.heard.get(timeout=60)
            if line.startswith(command):
                return line


class TorControl(FunctionalTest):
    def listener(self, tor, *args):
        node = self.node("regtest", "-debug=tor", f"-torcontrol={tor.server.address}")
        node.p2p_port = free_port()
        return node.start("-listen=1", "-listenonion=1", f"-bind=127.0.0.1:{node.p2p_port}=onion",
                          "-noconnect", "-natpmp=0", *args)

    def wait_for_service(self, node, there=True):
        def told():
            own = node.rpc("getnetworkinfo")["localaddresses"]
            return (f"{SERVICE}.onion" in [entry["address"] for entry in own]) == there
        wait_until(told, "the onion service")

    def onion(self, node):
        return next(net for net in node.rpc("getnetworkinfo")["networks"]
                    if net["name"] == "onion")

    def test_the_service_its_key_and_the_proxy(self):
        tor = Tor(self, pow_known=False)
        node = self.listener(tor)
        self.wait_for_service(node)
        own = [entry for entry in node.rpc("getnetworkinfo")["localaddresses"]
               if entry["address"].endswith("onion")]
        self.assertEqual([entry["port"] for entry in own], [18444])
        self.assertEqual(tor.hears("ADD_ONION"),
                         "ADD_ONION NEW:ED25519-V3 PoWDefensesEnabled=1 "
                         f"Port=18444,127.0.0.1:{node.p2p_port}")
        self.assertEqual(tor.hears("ADD_ONION"),
                         f"ADD_ONION NEW:ED25519-V3 Port=18444,127.0.0.1:{node.p2p_port}")
        key_file = node.net_dir / "onion_v3_private_key"
        self.assertEqual(key_file.read_text(), KEY)
        self.assertEqual(key_file.stat().st_mode & 0o077, 0)
        onion = self.onion(node)
        self.assertEqual((onion["proxy"], onion["proxy_randomize_credentials"], onion["reachable"]),
                         ("127.0.0.1:19050", True, True))
        for line in (f"Got tor service ID {SERVICE}, advertising service {SERVICE}.onion:18444",
                     "Using NULL authentication", "Connected to Tor version 0.4.8.12"):
            self.assertIn(line, node.log_text)

        # Tor stops and restarts: the service is withdrawn, and created again with its key.
        tor.server.drop()
        self.wait_for_service(node)
        self.assertEqual(tor.hears("ADD_ONION"), f"ADD_ONION {KEY} PoWDefensesEnabled=1 "
                         f"Port=18444,127.0.0.1:{node.p2p_port}")
        self.assertIn("will retry", node.log_text)
        tor.server.close()
        self.wait_for_service(node, there=False)
        node.stop()

    def test_by_cookie(self):
        tor = Tor(self, methods="COOKIE,SAFECOOKIE,HASHEDPASSWORD", cookie=os.urandom(32))
        self.wait_for_service(self.listener(tor))

    def test_by_password(self):
        tor = Tor(self, methods="HASHEDPASSWORD", password='a "b')
        node = self.listener(tor, '-torpassword=a "b', "-onion=127.0.0.1:1")
        self.wait_for_service(node)
        self.assertEqual(self.onion(node)["proxy"], "127.0.0.1:1")  # the user's counts
        self.assertNotIn('a "b', node.log_text)

    def refused(self, tor, text, *args):
        node = self.listener(tor, *args)
        wait_until(lambda: text in node.log_text, text)
        self.wait_for_service(node, there=False)
        node.stop()

    def test_what_does_not_work_is_said(self):
        self.refused(Tor(self, methods="HASHEDPASSWORD", password="x"),
                     "tor: The only supported authentication mechanism left is password, but no "
                     "password provided with -torpassword")
        self.refused(Tor(self, methods="HASHEDPASSWORD", password="x"),
                     "tor: Authentication failed", "-torpassword=y")
        self.refused(Tor(self, methods="NULL"), "tor: Password provided with -torpassword, but "
                     "HASHEDPASSWORD authentication is not available", "-torpassword=y")
        self.refused(Tor(self, methods="SAFECOOKIE", cookie=b"short"), "is not exactly 32 bytes")
        self.refused(Tor(self, methods="OTHER"), "tor: No supported authentication method")

    def test_a_tor_that_knows_not_the_cookie_is_told_nothing(self):
        tor = Tor(self, methods="SAFECOOKIE", cookie=os.urandom(32), lies=True)
        self.refused(tor, "does not match expected ServerHash")
        heard = list(tor.heard.queue)
        self.assertFalse([line for line in heard if line.startswith("AUTHENTICATE")], heard)

    def test_one_who_talks_without_end_is_left(self):
        def serve(connection):
            connection.line()
            while True:
                connection.send("250-more\r\n" * 100)
        server = LineServer(self, serve)
        endless = types.SimpleNamespace(server=server)
        self.refused(endless, "Control port reply exceeded 1000 lines, disconnecting")

    def test_nobody_there(self):
        node = self.node("regtest", "-debug=tor")
        node.start("-listen=1", "-listenonion=1", f"-bind=127.0.0.1:{free_port()}=onion",
                   "-noconnect", f"-torcontrol=127.0.0.1:{free_port()}")
        failed = "tor: Initiating connection to Tor control port"
        wait_until(lambda: node.log_text.count(failed) > 1, "a second attempt")
        self.assertIn("Retrying in 1.0 seconds", node.log_text)
        self.assertIn("Retrying in 1.5 seconds", node.log_text)
        node.stop()
