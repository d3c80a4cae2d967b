"""Nodes that are each other's peers: blocks, branches, bans and connections by hand."""

import time

from framework import FunctionalTest, RpcError, free_port, wait_until
from regtest_chain import Chain

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
CAUGHT_UP = "-maxtipage=10000000000"  # the blocks are old
P2P_V2 = 1 << 11
INVALID_SUBNET, ALREADY_ADDED, NOT_ADDED, NOT_CONNECTED = -30, -23, -24, -29


class Peers(FunctionalTest):
    def listener(self, *args):
        """A node that can be called at `p2p_port`."""
        node = self.node("regtest", CAUGHT_UP)
        node.p2p_port = free_port()
        return node.start("-listen=1", f"-bind=127.0.0.1:{node.p2p_port}", "-noconnect", *args)

    @staticmethod
    def address(node):
        return f"127.0.0.1:{node.p2p_port}"

    @staticmethod
    def feed(node, blocks):
        for block in blocks:
            node.rpc("submitblock", block.raw().hex())


class Sync(Peers):
    def sync(self, transport, protocol):
        chain = Chain().grow(200)
        giver = self.listener(transport)
        self.feed(giver, chain.blocks)
        taker = self.node("regtest", CAUGHT_UP, f"-connect={self.address(giver)}", transport)
        taker.start().wait_for_tip(chain.tip)
        (peer,) = taker.rpc("getpeerinfo")
        self.assertEqual(peer["transport_protocol_type"], protocol)
        self.assertEqual(len(peer["session_id"]), 64 if protocol == "v2" else 0)
        self.assertEqual(peer["connection_type"], "manual")
        self.assertEqual(peer["synced_headers"], 200)
        self.assertGreater(peer["bytesrecv_per_msg"]["block"], 0)
        services = int(taker.rpc("getnetworkinfo")["localservices"], 16)
        self.assertEqual(bool(services & P2P_V2), protocol == "v2")

        # A new block, and then a branch that takes two of them back.
        self.feed(giver, [chain.add(chain.candidate())])
        taker.wait_for_tip(chain.tip)
        branch = Chain(extra=b"\x07")
        branch.blocks = chain.blocks[:-2]
        branch.grow(3)
        self.feed(giver, branch.blocks[-3:])
        taker.wait_for_tip(branch.tip)
        self.assertIn((chain.tip, "valid-fork"),
                      [(tip["hash"], tip["status"]) for tip in taker.rpc("getchaintips")])

        # Blocks mined while it was disconnected are fetched when it is back.
        taker.stop()
        self.feed(giver, [branch.add(branch.candidate()) for _ in range(20)])
        taker.start().wait_for_tip(branch.tip)
        taker.stop()
        giver.stop()
        for node in (giver, taker):
            self.assertTrue((node.net_dir / "peers.dat").exists())
            self.assertNotIn("[error]", node.log_text)

    def test_v1(self):
        self.sync("-v2transport=0", "v1")

    def test_v2(self):
        self.sync("-v2transport=1", "v2")

    def test_addresses_are_saved_regularly(self):
        node = self.node("regtest", "-debug=net").start()
        self.assertTrue(node.rpc("addpeeraddress", "1.2.3.4", 8333)["success"])
        node.rpc("mockscheduler", 15 * 60)
        wait_until(lambda: "Flushed 1 addresses to peers.dat" in node.log_text, "peers.dat")
        node.kill()
        node.start()
        known = [entry["address"] for entry in node.rpc("getnodeaddresses", 0)]
        self.assertEqual(known, ["1.2.3.4"])

    def test_user_agents_are_those_of_getnetworkinfo(self):
        giver = self.listener("-uacomment=testnode0")
        taker = self.node("regtest", f"-connect={self.address(giver)}", "-uacomment=testnode1")
        taker.start()
        for node, other, number in ((giver, taker, 1), (taker, giver, 0)):
            (peer,) = node.wait_for_peers(1)
            self.assertEqual(peer["subver"], other.rpc("getnetworkinfo")["subversion"])
            self.assertRegex(peer["subver"], r"^/Satoshi:31\.0\.0/ibd-booster:[\d.]+"
                                             rf"\(testnode{number}\)/$")
        taker.stop()
        giver.stop()

    def test_blocks_go_on_to_others(self):
        first, second, third = (self.listener() for _ in range(3))
        second.rpc("addnode", self.address(first), "add")
        # Headers come from one peer only; it must not be the peer without any.
        second.wait_for_peers(1)
        third.rpc("addnode", self.address(second), "add")
        chain = Chain().grow(30)
        self.feed(first, chain.blocks)
        third.wait_for_tip(chain.tip)
        self.feed(third, [chain.add(chain.candidate())]) # and back
        first.wait_for_tip(chain.tip)


class CompactBlocks(Peers):
    def test_who_brings_blocks_announces_them(self):
        giver, taker = self.listener(), self.listener()
        taker.rpc("addnode", self.address(giver), "onetry")
        taker.wait_for_peers(1)

        def asks():
            return taker.rpc("getpeerinfo")[0]["bip152_hb_to"]

        def is_asked():
            return giver.rpc("getpeerinfo")[0]["bip152_hb_from"]

        def mine():
            (tip,) = giver.rpc("generatetoaddress", 1, ADDRESS)
            taker.wait_for_tip(tip)
            wait_until(lambda: asks() == is_asked(), "both ends know of the request")
            (there,) = taker.rpc("getpeerinfo")
            return there["bip152_hb_to"], there["bytesrecv_per_msg"]

        mine()  # the first ends the initial download
        wait_until(lambda: mine()[0], "asked to announce")
        before = mine()[1]
        after = mine()[1]
        self.assertGreater(after["cmpctblock"], before["cmpctblock"])
        self.assertEqual(after.get("block"), before.get("block"))
        self.assertEqual(after.get("headers"), before.get("headers"))


class Captured(Peers):
    @staticmethod
    def records(path):
        """(microseconds, type, payload) of a file of messages."""
        data, at, out = path.read_bytes(), 0, []
        while at < len(data):
            size = int.from_bytes(data[at + 20:at + 24], "little")
            out.append((int.from_bytes(data[at:at + 8], "little"),
                        data[at + 8:at + 20].rstrip(b"\0").decode(),
                        data[at + 24:at + 24 + size]))
            at += 24 + size
        return out

    def test_messages_are_kept(self):
        called, caller = self.listener(), self.node("regtest", "-noconnect", "-capturemessages")
        begin = time.time_ns() // 1000
        caller.start().rpc("addnode", self.address(called), "onetry")
        caller.wait_for_peers(1)
        wait_until(lambda: "pingtime" in caller.wait_for_peers(1)[0], "pong")
        caller.stop()
        folder = caller.net_dir / "message_capture" / f"127.0.0.1_{called.p2p_port}"
        for name in ("sent", "recv"):
            records = self.records(folder / f"msgs_{name}.dat")
            self.assertEqual(records[0][1], "version")
            self.assertLessEqual({"verack", "ping" if name == "sent" else "pong"},
                                 {kind for _, kind, _ in records})
            self.assertEqual(sorted(records, key=lambda record: record[0]), records)
            self.assertTrue(begin <= records[0][0] <= time.time_ns() // 1000)
        sent = dict((kind, payload) for _, kind, payload in self.records(folder / "msgs_sent.dat"))
        received = self.records(folder / "msgs_recv.dat")
        self.assertIn(("pong", sent["ping"]), [record[1:] for record in received])


class Connections(Peers):
    def test_added_nodes(self):
        called, caller = self.listener(), self.listener()
        name = self.address(called)
        self.assertEqual(caller.rpc("getaddednodeinfo"), [])
        caller.rpc("addnode", name, "add")
        self.assert_rpc_error(ALREADY_ADDED, "already added", caller.rpc, "addnode", name, "add")
        called.wait_for_peers(1)
        self.assertEqual(caller.rpc("getaddednodeinfo", name), [
            {"addednode": name, "connected": True,
             "addresses": [{"address": name, "connected": "outbound"}]}])
        self.assert_rpc_error(NOT_ADDED, "not been added", caller.rpc, "getaddednodeinfo", "x")
        caller.rpc("addnode", name, "remove")
        self.assert_rpc_error(NOT_ADDED, "could not be removed", caller.rpc, "addnode", name,
                              "remove")
        self.assert_rpc_error(-1, "addnode \"node\"", caller.rpc, "addnode", name, "other")
        self.assertEqual(caller.rpc("getconnectioncount"), 1)  # it stays connected

        (peer,) = caller.rpc("getpeerinfo")
        caller.rpc("disconnectnode", nodeid=peer["id"])
        called.wait_for_peers(0)
        caller.wait_for_peers(0)
        self.assert_rpc_error(NOT_CONNECTED, "not found", caller.rpc, "disconnectnode", name)
        self.assert_rpc_error(-32602, "Only one", caller.rpc, "disconnectnode", name, 1)

    def test_network_off_and_on(self):
        called, caller = self.listener(), self.listener()
        caller.rpc("addnode", self.address(called), "onetry")
        called.wait_for_peers(1)
        self.assertIs(called.rpc("setnetworkactive", False), False)
        called.wait_for_peers(0)
        self.assertIs(called.rpc("getnetworkinfo")["networkactive"], False)
        self.assertIs(called.rpc("setnetworkactive", True), True)
        caller.rpc("addnode", self.address(called), "onetry")
        called.wait_for_peers(1)

    def test_ping_and_totals(self):
        called, caller = self.listener(), self.listener()
        caller.rpc("addnode", self.address(called), "onetry")
        (before,) = called.wait_for_peers(1)
        called.rpc("ping")
        wait_until(lambda: called.rpc("getpeerinfo")[0]["bytesrecv_per_msg"].get("pong", 0) >
                   before["bytesrecv_per_msg"].get("pong", 0), "a pong")
        totals = called.rpc("getnettotals")
        (peer,) = called.rpc("getpeerinfo")
        self.assertGreaterEqual(peer["bytesrecv"], totals["totalbytesrecv"])
        self.assertGreater(totals["totalbytessent"], 0)
        self.assertEqual(totals["uploadtarget"]["target"], 0)
        called.rpc("sendmsgtopeer", peer["id"], "feefilter", "00" * 8)
        self.assert_rpc_error(-1, "Could not send", called.rpc, "sendmsgtopeer", 99, "ping", "")

    def test_message_of_any_length(self):
        for transport in (0, 1):
            called, caller = (self.listener(f"-v2transport={transport}") for _ in range(2))
            caller.rpc("addnode", self.address(called), "onetry")
            (peer,) = called.wait_for_peers(1)
            most = 4_000_000  # bytes
            called.rpc("sendmsgtopeer", peer["id"], "longest", "00" * most)
            self.assert_rpc_error(-8, "msg too long, max length is 4000000 bytes", called.rpc,
                                  "sendmsgtopeer", peer["id"], "longer", "00" * (most + 1))
            called.rpc("ping")


class Bans(Peers):
    def test_bans_last(self):
        node = self.listener("-bantime=77")
        node.rpc("setban", "10.1.0.0/255.255.0.0", "add")
        node.rpc("setban", "2001:db9::1", "add", 1000)
        node.rpc("setban", "192.0.2.1", "add", 4_000_000_000, True)
        self.assert_rpc_error(ALREADY_ADDED, "already banned", node.rpc, "setban", "192.0.2.1",
                              "add")
        self.assert_rpc_error(INVALID_SUBNET, "Invalid IP", node.rpc, "setban", "x/8", "add")
        self.assert_rpc_error(INVALID_SUBNET, "Unban failed", node.rpc, "setban", "10.1.0.0/17",
                              "remove")
        self.assert_rpc_error(-8, "in the past", node.rpc, "setban", "192.0.2.2", "add", 1, True)
        bans = {ban["address"]: ban for ban in node.rpc("listbanned")}
        self.assertEqual(set(bans), {"10.1.0.0/16", "2001:db9::1/128", "192.0.2.1/32"})
        self.assertEqual(bans["10.1.0.0/16"]["ban_duration"], 77)
        self.assertEqual(bans["192.0.2.1/32"]["banned_until"], 4_000_000_000)
        node.stop().start("-listen=0", "-noconnect")
        kept = {ban["address"]: ban for ban in node.rpc("listbanned")}
        self.assertEqual(kept["2001:db9::1/128"]["banned_until"],
                         bans["2001:db9::1/128"]["banned_until"])
        node.rpc("setban", "192.0.2.1", "remove")
        self.assertNotIn("192.0.2.1/32", [ban["address"] for ban in node.rpc("listbanned")])
        node.rpc("clearbanned")
        self.assertEqual(node.rpc("listbanned"), [])
        node.stop()

    def test_who_is_banned_is_left(self):
        called, caller = self.listener("-debug=net"), self.listener()
        caller.rpc("addnode", self.address(called), "onetry")
        called.wait_for_peers(1)
        called.rpc("setban", "127.0.0.0/8", "add")
        called.wait_for_peers(0)
        caller.rpc("addnode", self.address(called), "onetry")
        wait_until(lambda: "dropped (banned)" in called.log_text, "refusal of a banned peer")
        self.assertEqual(called.rpc("getconnectioncount"), 0)
        called.rpc("clearbanned")
        caller.rpc("addnode", self.address(called), "onetry")
        called.wait_for_peers(1)


class Addresses(Peers):
    def test_address_manager(self):
        node = self.listener()
        self.assertEqual(node.rpc("getnodeaddresses"), [])
        self.assertEqual(node.rpc("addpeeraddress", "8.8.8.8", 8333), {"success": True})
        self.assertEqual(node.rpc("addpeeraddress", "8.8.8.8", 8333)["success"], False)
        self.assertEqual(node.rpc("addpeeraddress", "9.9.9.9", 8333, True), {"success": True})
        self.assert_rpc_error(INVALID_SUBNET, "Invalid IP", node.rpc, "addpeeraddress", "", 8333)
        counts = node.rpc("getaddrmaninfo")
        self.assertEqual(counts["ipv4"], {"new": 1, "tried": 1, "total": 2})
        self.assertEqual(counts["all_networks"], counts["ipv4"])
        self.assertEqual(counts["onion"]["total"], 0)
        tables = node.rpc("getrawaddrman")
        (entry,) = tables["tried"].values()
        self.assertEqual((entry["address"], entry["port"], entry["source"], entry["network"]),
                         ("9.9.9.9", 8333, "9.9.9.9", "ipv4"))
        known = node.rpc("getnodeaddresses", 0)
        self.assertEqual({address["address"] for address in known}, {"8.8.8.8", "9.9.9.9"})
        self.assertEqual(node.rpc("getnodeaddresses", 0, "ipv6"), [])
        self.assert_rpc_error(-8, "not recognized", node.rpc, "getnodeaddresses", 1, "x")
        self.assert_rpc_error(-8, "out of range", node.rpc, "getnodeaddresses", -1)
        self.assert_rpc_error(-1, "No embedded", node.rpc, "exportasmap", "file")
        asmap = node.datadir / "map"
        asmap.write_bytes(bytes.fromhex("00c000"))  # all is of system 7
        node.stop().start("-listen=0", "-noconnect", f"-asmap={asmap}")
        self.assertEqual(node.rpc("getaddrmaninfo"), counts)
        self.assertIn("ASMap Health Check: 2 clearnet peers are mapped to 1 ASNs with 0 peers "
                      "being unmapped", node.log_text)
        node.stop()

    def test_port_in_use(self):
        node = self.listener()
        status, errors = self.node().run("-listen=1", f"-bind={self.address(node)}", "-noconnect")
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"^Error: Unable to bind to 127\.0\.0\.1:\d+ on this computer\. "
                                 r".* is probably already running\.\n"
                                 r"Error: Failed to listen on any port\. Use -listen=0 if you want "
                                 "this")

    def test_calls_without_network_part(self):
        node = self.node().start("-connect=0")
        self.assertEqual(node.rpc("getconnectioncount"), 0)
        with self.assertRaises(RpcError):
            node.rpc("addconnection", "127.0.0.1:1", "manual", False)
        node.stop()
