"""Peers that send hints slowly do not delay the sync: blocks are downloaded meanwhile, and the next
best hints are tried. Slow and lying peers are honest nodes behind a proxy that delays or changes
their messages."""

import http.client
import shutil
import threading

from framework import RpcError, hints_tool, wait_until
from generated import small_chain
from message_relay import MessageRelay
from socks5 import SocksProxy
from test_hints_from_peers import SUCCESS, HintsFromPeers

DRIP = 55  # seconds for an answer: below the time at which a request is given up


def blocks_meanwhile(node):
    """The blocks received before the hints: (received, of all), or nothing."""
    try:
        info = node.rpc("getboosterinfo")
    except (OSError, RpcError, http.client.HTTPException, ValueError):
        return None
    if info["state"] != "waiting" or "download" not in info:
        return None
    return info["download"]["received"], info["download"]["blocks"]


class SlowHints(HintsFromPeers):
    def line(self, server, change):
        relay = MessageRelay(server.p2p_port, change)
        self.addCleanup(relay.close)
        return relay


class BlocksMeanwhile(SlowHints):
    def setUp(self):
        super().setUp()
        self.made = small_chain()
        self.servers = [self.server(self.made, hints=self.made.container) for _ in range(2)]
        self.plain = self.server(self.made, "-servehints=0")
        self.released = threading.Event()
        self.addCleanup(self.released.set)
        self.lines = [self.line(server, self.hold) for server in self.servers]

    def hold(self, kind, payload):
        if kind == "hintsdata":
            self.released.wait()
        elif kind == "block":
            self.released.wait(0.05)  # so that a kill comes in the middle
        return payload

    def args(self, *ports):
        return [*self.asking(self.made, *(line.port for line in self.lines), *ports),
                "-v2transport=0", "-ibdboosterintervalbytes=1"]

    def test_all_blocks_come_before_the_hints(self):
        node = self.node()
        node.launch(*self.args(self.plain.p2p_port))
        height = self.made.terminal_height
        wait_until(lambda: blocks_meanwhile(node) == (height, height), "all blocks")
        self.assertNotIn("the hints from peers are complete", node.log_text)
        self.released.set()
        node.wait_for_rpc()
        self.assert_fetched(node, self.servers[0], self.made)
        self.assertNotIn("are to be fetched from peers", node.log_text)  # none was left

    def test_kills(self):
        """Blocks received before a kill are not fetched again."""
        self.lines.append(self.line(self.plain, self.hold))
        node = self.node()
        left = self.made.terminal_height
        for _ in range(3):
            node.launch(*self.args())
            wait_until(lambda: (blocks_meanwhile(node) or (0,))[0] >= 5, "some blocks")
            received, missing = blocks_meanwhile(node)
            node.kill()
            self.assertLessEqual(missing, left)
            left = missing - received + 1  # the last one's entry may not be durable
        self.assertLess(left, self.made.terminal_height)
        self.released.set()
        node.start(*self.args())
        self.assert_fetched(node, self.servers[0], self.made)


class FromAllOverTheWorld(SlowHints):
    def noise(self):
        """Hints of the right form for the terminal block that say something else."""
        bad = bytearray(self.made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        (self.dir / "noise.bitmap").write_bytes(bad)
        hints_tool("convert", "--network=regtest", "--format=container",
                   f"--blocks={self.made.blocks}", self.dir / "noise.bitmap", self.dir / "noise")
        return self.dir / "noise"

    def liar(self, noise):
        """Offers impossible and wrong hints, and sends them slowly."""
        server = self.server(self.made)
        server.stop()
        (server.net_dir / "hints").mkdir(exist_ok=True)
        shutil.copy(noise, server.net_dir / "hints" / "kept-1.hints")
        server.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{server.p2p_port}")
        return self.line(server, self.lie).port

    def lie(self, kind, payload):
        if kind == "hintsdata":
            self.ended.wait(DRIP)
        if kind != "hints" or payload[0] != 1:
            return payload
        offer = payload[1:]
        empty = bytes(32) + offer[32:100] + bytes(8)
        huge = b"\x01" * 32 + offer[32:100] + (1 << 40).to_bytes(8, "little")
        return b"\x03" + empty + huge + offer

    def test_two_liars(self):
        """The honest hints end lower, so that the liars' are tried first."""
        self.made = small_chain()
        self.ended = threading.Event()
        self.addCleanup(self.ended.set)
        noise = self.noise()
        height = self.made.terminal_height - 20
        honest = [self.server(self.made) for _ in range(2)]
        for server in honest:
            server.rpc("dumptxouthints", "lower.hints", height)
        addresses = ["8.8.0.1", "45.1.0.1", "93.2.0.1", "185.4.0.1"]
        ports = [self.liar(noise), self.liar(noise), *(server.p2p_port for server in honest)]
        proxy = SocksProxy(self, {f"{address}:18444": port
                                  for address, port in zip(addresses, ports)})
        node = self.node()
        node.start("-listen=0", "-dnsseed=0", "-fixedseeds=0", "-connect=0")
        for address in addresses:
            self.assertTrue(node.rpc("addpeeraddress", address, 18444)["success"])
        node.stop()
        node.start("-ibdboosterfile=auto", "-debug=net", *self.made.trust, "-listen=0",
                   "-dnsseed=0", "-fixedseeds=0", f"-proxy={proxy.address}",
                   "-v2transport=0", "-ibdboosterwait=30")
        self.assert_synced(node, honest[0], self.made)
        self.assertEqual(set(proxy.called), set(proxy.targets))
        self.assertIn(SUCCESS.format(height), node.log_text)
        self.assertIn("blocks up to height {} meanwhile".format(self.made.terminal_height),
                      node.log_text)
        self.assertNotIn("are to be fetched from peers", node.log_text)
