"""Full validation of a pruned node: blocks come from peers with the coins that they spend (BIP455),
in any order, and nothing that the peers claim is trusted. Honest peers, kills, and peers that lie
about coins."""

import re
import shutil
import threading

from framework import wait_until
from generated import TAIL, chain
from message_relay import MessageRelay
from relay import Relay
from test_full_validation import FULL
from test_network_booster import SUCCESS, Pruned
from wire import Reader, compact_size, sized

SIZES = {1: 20, 2: 32, 3: 32, 4: 64, 5: 20, 6: 32, 7: 20, 8: 32}
SERIALLY = "validating serially"


class Coins:
    """A `bspent` message, to be falsified."""

    def __init__(self, payload):
        reader = Reader(payload)
        self.block = reader.take(32)
        self.coins = []
        for _ in range(reader.compact_size()):
            place, origin, form = reader.number(4), reader.number(4), reader.number(1)
            script = reader.sized() if form == 0 else reader.take(SIZES[form])
            self.coins.append([place, origin, form, script, reader.compact_size()])

    def payload(self):
        out = self.block + compact_size(len(self.coins))
        for place, origin, form, script, amount in self.coins:
            out += place.to_bytes(4, "little") + origin.to_bytes(4, "little") + bytes([form])
            out += (sized(script) if form == 0 else script) + compact_size(amount)
        return out


def take_amount(said):
    said.coins[0][4] = 0


def miss_one(said):
    said.coins.pop()


def misplace(said):
    said.coins[-1][0] += 1


def from_the_future(said):
    said.coins[0][1] += 10_000


def one_lower(said):
    """No rule breaks by it: only the sum of all coins notices."""
    said.coins[0][1] -= 2


class FullyValidated(Pruned):
    MODE = (*Pruned.MODE, FULL)

    def setUp(self):
        super().setUp()
        self.made = chain("--outputs", "18000", "--outputs-per-block", "40", "--tail", str(TAIL),
                          "--signed", "--seed", "11")

    def args(self, *ports, hints=None):
        return [*self.from_peer(self.made, ports[0], hints),
                *(f"-connect=127.0.0.1:{port}" for port in ports[1:]), "-v2transport=0",
                "-debug=net", *self.MODE]

    def liar(self, server, lie, target=None):
        """A line to the server on which the coins of the `target` are falsified, by default of the
        first block that spends coins from above height 10."""
        lock, target = threading.Lock(), target if target is not None else []

        def change(kind, payload):
            if kind != "bspent":
                return payload
            said = Coins(payload)
            with lock:
                if not target and said.coins and said.coins[0][1] > 2 * 10:
                    target.append(said.block)
            if said.block not in target:
                return payload
            lie(said)
            return said.payload()
        relay = MessageRelay(server.p2p_port, change)
        self.addCleanup(relay.close)
        return relay.port

    def slow_line(self, server):
        relay = Relay(server.p2p_port, 400_000)
        self.addCleanup(relay.close)
        return relay.port

    def assert_logged(self, node, pattern):
        """Without the log, which is long, in the message."""
        self.assertTrue(re.search(pattern, node.log_text), pattern)

    def assert_checked(self, node, server):
        made = self.made
        self.assert_synced(node, server, made)
        self.assert_pruned(node, server, made)
        self.assertIn("on 2 threads, checking every rule and script", node.log_text)
        self.assertIn(SUCCESS.format("SHA256", made.terminal_height), node.log_text)
        self.assertNotIn(SERIALLY, node.log_text)
        self.assertNotIn("assumed valid", node.log_text)

    def test_hints_that_end_at_the_tip(self):
        """They are refused: another block may replace the tip, and no undo data is made for it."""
        self.made = chain("--outputs", "6000", "--outputs-per-block", "40", "--signed", "--seed",
                          "11")
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        node.start(*self.args(server.p2p_port))
        self.assert_synced(node, server, self.made)
        self.assert_logged(node, "the hints are refused, and the sync continues without them: .*"
                                 "the hints end at height [0-9]+, 0 blocks below the best header")
        node.rpc("invalidateblock", self.made.tip)
        self.assertEqual(node.rpc("getblockcount"), self.made.height - 1)

    def test_a_sync_that_keeps_the_last_blocks_only(self):
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        node.start(*self.args(server.p2p_port), "-ibdboosterthreads=2")
        self.assert_checked(node, server)
        self.assertEqual(node.log_text.count(" with spent coins peer="), self.made.terminal_height)

    def test_wrong_hints_cost_a_fresh_download(self):
        """Only the sum shows it, so the hints are not remembered as bad: coins may be wrong."""
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        node.start(*self.args(server.p2p_port, hints=self.spoilt_hints(self.made)))
        self.assert_synced(node, server, self.made)
        self.assert_logged(node, "the hints or the spent coins are wrong: .*blocks were not kept")

    def test_kills(self):
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        args = [*self.args(self.slow_line(server)), "-ibdboosterintervalbytes=1",
                "-ibdboosterthreads=2"]
        self.kill_on_the_way(node, args, 60, 4)
        node.start(*args)
        self.assertIn("resuming from a checkpoint", node.log_text)
        self.assert_checked(node, server)

    def test_lies_that_break_a_rule(self):
        """Another peer is asked."""
        server = self.serve(self.made, "-peerspentcoins")
        for lie in (take_amount, miss_one, misplace, from_the_future):
            with self.subTest(lie=lie.__name__):
                node = self.node()
                node.start(*self.args(self.liar(server, lie), self.slow_line(server)),
                           "-ibdboosterthreads=2")
                self.assert_checked(node, server)
                self.assert_logged(node, "What peer=.* came with bad spent coins: another peer has "
                                         "to send it")
                node.stop()

    def test_two_peers_that_say_the_same(self):
        """The block is not taken for invalid. The honest peer waits until both have lied."""
        server = self.serve(self.made, "-peerspentcoins")
        target, both_lied = [], threading.Event()
        ports = [self.liar(server, take_amount, target) for _ in range(2)]
        honest = MessageRelay(server.p2p_port, lambda _, payload: both_lied.wait() and payload)
        self.addCleanup(honest.close)
        self.addCleanup(both_lied.set)
        node = self.node()
        node.launch(*self.args(*ports, honest.port), "-ibdboosterthreads=2")
        lied = re.compile("block (.*) at height .* fails with the spent coins that peer=(.*) sent: "
                          ".*; another peer is asked")
        wait_until(lambda: len(set(lied.findall(node.log_text))) == 2, "two liars")
        both_lied.set()
        self.assert_checked(node, server)
        self.assertEqual({block for block, _ in lied.findall(node.log_text)},
                         {target[0][::-1].hex()})

    def test_a_lie_that_breaks_no_rule(self):
        """The sum of all coins is not zero: serial validation decides."""
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        node.start(*self.args(self.liar(server, one_lower)))
        self.assert_synced(node, server, self.made)
        self.assert_logged(node, "the hints or the spent coins are wrong: the aggregate .*"
                                 "Nothing was written; the blocks were not kept")

    def test_a_lie_does_not_count_against_hints_of_the_folder(self):
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        hints = node.net_dir / "hints" / "some.hints"
        hints.parent.mkdir(parents=True)
        shutil.copy(self.made.container, hints)
        node.start(*self.args(self.liar(server, one_lower), hints="auto"), "-ibdboosterwait=1")
        self.assert_synced(node, server, self.made)
        self.assertEqual(node.log_text.count("Booster: folding "), 1)
        self.assertEqual(hints.read_bytes(), self.made.container.read_bytes())
        self.assertNotIn("left out", node.log_text)

    def test_no_peer_has_coins(self):
        server = self.serve(self.made)
        node = self.node()
        node.start(*self.args(server.p2p_port), "-ibdboosterwait=1")
        self.assert_synced(node, server, self.made)
        self.assertIn("waiting up to 1 s for a peer that sends spent coins", node.log_text)
        self.assertIn("needs a peer that sends spent coins (-peerspentcoins), and there is none: "
                      + SERIALLY, node.log_text)

    def test_begun_work_waits_for_such_a_peer(self):
        server = self.serve(self.made, "-peerspentcoins")
        node = self.node()
        args = [*self.args(self.slow_line(server)), "-ibdboosterintervalbytes=1",
                "-ibdboosterthreads=2"]
        self.kill_on_the_way(node, args, 60, 1)
        self.assertNotIn("succeeded. ***", node.log_text)
        listen = ["-listen=1", "-connect=0", f"-bind=127.0.0.1:{server.p2p_port}"]
        server.stop()
        server.start(*listen)
        node.launch(*args, "-ibdboosterwait=0")
        wait_until(lambda: "waiting up to 600 s for a peer that sends spent coins" in node.log_text,
                   "a wait")
        server.stop()
        server.start(*listen, "-peerspentcoins")
        self.assert_checked(node, server)
        self.assertIn("resuming from a checkpoint", node.log_text)
