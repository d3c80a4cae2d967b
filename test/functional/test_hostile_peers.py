"""Syncs from hostile peers that run as processes: colluding peers withhold blocks, or send other
data in their place."""

from framework import NO_UNDO, wait_until
from generated import TAIL, chain
from scripted_blocks import BlockServer, all_blocks, falsified, undecodable
from socks5 import SocksProxy
from test_network_booster import SUCCESS, NetworkBooster

HONEST_BLOCKS = 200  # that the first of the league sends as fast as it can
GAP = 50  # seconds between those that follow
LEAGUE = ("1.2.3.4:8333", "5.6.7.8:8333")
HONEST = "9.10.11.12:8333"
MOST_SPOILT = 16  # blocks; no block is requested from a peer that falsified this many
MOST_IN_FLIGHT = 512
WINDOW = 1024  # blocks that the serial engine requests above its tip
CALLS = 3
GIVEN_HINTS = "-ibdboosterfile"
MODES = ("-ibdbooster=0", "-ibdbooster", GIVEN_HINTS)


class DrippingLeague:
    """Two peers: the first drips from some block on, the other what the first holds back."""

    def __init__(self, test, blocks):
        self.first = BlockServer(test, blocks, self._give_some)
        self.ally = BlockServer(test, blocks, self._give_others)

    def _give_some(self, server, height):
        if server.sent >= HONEST_BLOCKS:
            server.closing.wait(GAP)
        return server.blocks[height]

    def _give_others(self, server, height):
        if height in self.first.asked:
            server.closing.wait(GAP)
        return server.blocks[height]

    def __iter__(self):
        return iter((self.first, self.ally))

    def owes_together(self):
        """Whether both are asked for the same blocks, and have not sent some."""
        both = set(self.first.asked) & set(self.ally.asked)
        return bool(both) and self.owes_each()

    def owes_each(self):
        return all(sum(one.asked.values()) > one.sent for one in self)


class Hostile(NetworkBooster):
    def made_and_served(self, outputs, *options):
        made = chain("--outputs", str(outputs), "--outputs-per-block", "40", "--tail", str(TAIL),
                     "--seed", "12")
        server = self.serve(made, *options)
        return made, server, all_blocks(server)


class League(Hostile):
    def test_two_that_drip_do_not_hold_an_honest_one_up(self):
        """The honest one can be called once blocks are requested from both that they will not send
        for long."""
        made, server, blocks = self.made_and_served(48000, "-maxtipage=10000000000")
        server.rpc("invalidateblock", made.tip)
        league = DrippingLeague(self, blocks)
        proxy = SocksProxy(self, zip(LEAGUE, (one.port for one in league)))
        node = self.node()
        node.launch("-listen=0", f"-proxy={proxy.address}", "-v2transport=0",
                    f"-ibdboosterfile={made.container}", *made.trust, NO_UNDO,
                    *(f"-connect={address}" for address in (*LEAGUE, HONEST)))
        wait_until(league.owes_together, "peers that hold the same blocks back")
        proxy.targets[HONEST] = server.p2p_port
        wait_until(lambda: server.rpc("getconnectioncount") == 1, "a call of the honest one")
        server.rpc("reconsiderblock", made.tip)  # it announces its tip
        success = SUCCESS.format("SHA256", made.terminal_height)
        wait_until(lambda: success in node.log_text, "the end of the booster's sync")
        self.assertGreater(proxy.called[HONEST], 1)
        self.assertTrue(league.owes_each())
        for address, one in zip(LEAGUE, league):
            del proxy.targets[address]
            one.drop()
        node.wait_for_rpc()
        self.assert_synced(node, server, made)


class Liars(Hostile):
    def lie(self, spoil, mode):
        """The node can call a liar alone, which falsifies all; then an honest one, too.
        (node, liar)"""
        made, server, blocks = self.made_and_served(6000)
        liar = BlockServer(self, blocks, lambda one, height: spoil(one.blocks[height]))
        proxy = SocksProxy(self, {LEAGUE[0]: liar.port})
        node = self.node()
        hints = f"-ibdboosterfile={made.container}" if mode == GIVEN_HINTS else mode
        node.launch("-listen=0", f"-proxy={proxy.address}", "-v2transport=0", "-debug=net",
                    f"-connect={LEAGUE[0]}", f"-connect={HONEST}", *made.trust, NO_UNDO, hints)
        for times in range(1, CALLS + 1):
            wait_until(lambda: node.log_text.count("another peer has to send it") >= MOST_SPOILT,
                       "lines that say so")
            wait_until(lambda: liar.heard == times, f"the end of call {times}")
            liar.drop()
        proxy.targets[HONEST] = server.p2p_port
        node.wait_for_rpc()
        self.assert_synced(node, server, made)
        return node, liar

    def assert_asked_once(self, node, liar, mode):
        self.assertEqual(max(liar.asked.values()), 1)
        # As many may be under way when the last of them proves wrong. The serial engine also has
        # received blocks that wait for their verdict.
        serial = mode == "-ibdbooster=0"
        self.assertLessEqual(len(liar.asked), WINDOW if serial else MOST_SPOILT + MOST_IN_FLIGHT)
        self.assertEqual(node.log_text.count("this one is asked for no more blocks"), 1)

    def test_a_liar_that_the_user_named(self):
        for mode in MODES:
            with self.subTest(mode):
                self.assert_asked_once(*self.lie(falsified, mode), mode)

    def test_blocks_that_cannot_be_decoded(self):
        for mode in MODES:
            with self.subTest(mode):
                node, liar = self.lie(undecodable, mode)
                self.assert_asked_once(node, liar, mode)
                self.assertIn("Exception 'non-canonical ReadCompactSize(): iostream error' "
                              "(NSt8ios_base7failureB5cxx11E) caught", node.log_text)
