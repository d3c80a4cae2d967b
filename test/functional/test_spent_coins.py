"""Spent coins for peers (BIP455, -peerspentcoins): the messages of a node over its undo data."""

from framework import FunctionalTest, free_port
from regtest_chain import OP_TRUE, REDEEMED, Chain, redeem
from scripted_peer import Line, message, version
from wire import compact_size, sized

VALUE, FEE = 10_000_000, 1_000
FEATURE = sized(b"blockspentcoinsv1") + sized(b"\x00")


def coin(place, height, is_coinbase, script, amount):
    """`amount` in the compressed form."""
    form = b"\x05" + script[2:22] if script == REDEEMED else b"\x00" + sized(script)
    return (place.to_bytes(4, "little") + (2 * height + is_coinbase).to_bytes(4, "little") + form +
            compact_size(amount))


class SpentCoins(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain().grow(101)
        coins = self.chain.split(3, VALUE)
        self.chain.add(self.chain.candidate([redeem(*one, VALUE, FEE) for one in coins], 3 * FEE))

    def start(self, *options):
        node = self.node("regtest", "-listen=1", "-noconnect", "-dnsseed=0")
        self.port = free_port()
        node.start(*options, f"-bind=127.0.0.1:{self.port}")
        for block in self.chain.blocks[node.rpc("getblockcount"):]:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return node

    def connect(self):
        line = Line(self.port)
        self.addCleanup(line.close)
        line.send(message("version", version()))
        return line

    def ask(self, line, height, before=0):
        """The list of coins, if there is an answer."""
        block = bytes.fromhex(self.chain.blocks[height - 1].hash())[::-1]
        nonce = height.to_bytes(8, "little")
        line.send(message("getbspent", block + before.to_bytes(4, "little")))
        line.send(message("ping", nonce))
        answer = None
        while (received := line.receive()) != ("pong", nonce):
            if received[0] == "bspent":
                self.assertEqual(received[1][:32], block)
                answer = received[1][32:]
        return answer

    def test_served(self):
        self.start("-peerspentcoins")
        line = self.connect()
        self.assertTrue(line.wait_for("feature", FEATURE))
        line.send(message("verack", b""))
        self.assertTrue(line.wait_for("verack"))
        tip = [coin(place, 102, 0, REDEEMED, 1 + 7) for place in range(3)]  # 10^7 = 1 * 10^7
        self.assertEqual(self.ask(line, 103), b"\x03" + b"".join(tip))
        self.assertEqual(self.ask(line, 103, 102), b"\x00")
        first = coin(0, 1, 1, OP_TRUE, 0x32)  # 50 coins
        self.assertEqual(self.ask(line, 102), b"\x01" + first)
        self.assertEqual(self.ask(line, 50), b"\x00")

    def test_off(self):
        for options in ((), ("-peerspentcoins", "-prune=550")):
            node = self.start(*options)
            line = self.connect()
            while (received := line.receive())[0] != "verack":
                self.assertNotEqual(received, ("feature", FEATURE))
            line.send(message("verack", b""))
            self.assertIsNone(self.ask(line, 103))
            node.stop()
