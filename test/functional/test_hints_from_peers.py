"""Hints from peers: a fresh node without a file downloads one from other nodes of this project over
loopback, and the same file from several peers. Lying peers, kills and peers without hints do no
harm."""

import hashlib
import shutil

from framework import FunctionalTest, coins, free_port, hints_tool, wait_until
from generated import TAIL, chain, small_chain
from relay import Relay

SUCCESS = "*** IBD Booster: SHA256 check at block height {} succeeded. ***"


def kept(node):
    return sorted(node.net_dir.glob("hints/kept-*.hints"))


class HintsFromPeers(FunctionalTest):
    def server(self, made, *args, hints=None):
        """A node that has the chain, listens, and keeps the hints it was given."""
        node = made.place(self.node())
        node.p2p_port = free_port()
        node.start("-reindex", "-listen=1", "-connect=0", f"-bind=127.0.0.1:{node.p2p_port}",
                   *([f"-ibdboosterfile={hints}"] if hints else []), *made.trust, *args)
        node.wait_for_tip(made.tip)
        return node

    def asking(self, made, *ports):
        return ["-ibdboosterfile=auto", "-debug=net", *made.trust,
                *(f"-connect=127.0.0.1:{port}" for port in ports)]

    def assert_synced(self, node, server, made):
        node.wait_for_tip(made.tip)
        self.assertEqual(coins(node), coins(server))

    def assert_fetched(self, node, server, made):
        self.assert_synced(node, server, made)
        self.assertIn("IBD Booster: the hints from peers are complete", node.log_text)
        self.assertIn(SUCCESS.format(made.terminal_height), node.log_text)
        (file,) = kept(node)
        self.assertEqual(file.read_bytes(), kept(server)[0].read_bytes())


class Fetched(HintsFromPeers):
    def test_of_two_peers_and_passed_on(self):
        made = small_chain()
        servers = [self.server(made, hints=made.container) for _ in range(2)]
        (file,) = kept(servers[0])
        hints_tool("verify", "--network=regtest", f"--blocks={made.blocks}", file)
        node = self.node()
        port = free_port()
        node.start(*self.asking(made, *(s.p2p_port for s in servers)), "-listen=1",
                   f"-bind=127.0.0.1:{port}")
        self.assert_fetched(node, servers[0], made)
        # It serves the hints that it has used.
        other = self.node()
        other.start(*self.asking(made, port, servers[1].p2p_port))
        self.assert_fetched(other, servers[0], made)
        # And has itself, the next time.
        other.stop()
        other.start("-reindex-chainstate", "-connect=0", "-ibdboosterfile=auto", *made.trust)
        self.assert_synced(other, servers[0], made)
        self.assertEqual(other.log_text.count(SUCCESS.format(made.terminal_height)), 2)

    def test_of_one_peer_if_the_file_is_pinned(self):
        made = small_chain()
        server = self.server(made, hints=made.container)
        pin = hashlib.sha256(kept(server)[0].read_bytes()).hexdigest()
        node = self.node()
        node.start(*self.asking(made, server.p2p_port), f"-ibdboosterhash={pin}")
        self.assert_fetched(node, server, made)
        wrong = self.node()
        wrong.start(*self.asking(made, server.p2p_port), f"-ibdboosterhash={pin[::-1]}",
                    "-ibdboosterwait=1")
        self.assert_synced(wrong, server, made)
        self.assertIn("no hints from peers: too few peers", wrong.log_text)

    def test_of_a_peer_that_made_them(self):
        made = small_chain()
        server = self.server(made)
        server.rpc("dumptxouthints", "main.hints", made.terminal_height)
        pin = hashlib.sha256(kept(server)[0].read_bytes()).hexdigest()
        node = self.node()
        node.start(*self.asking(made, server.p2p_port), f"-ibdboosterhash={pin}")
        self.assert_fetched(node, server, made)

    def test_of_a_peer_that_made_them_for_itself(self):
        made = small_chain()
        server = self.server(made, "-ibdbooster")
        self.assertIn("are kept for peers", server.log_text)
        hints_tool("verify", "--network=regtest", f"--blocks={made.blocks}", kept(server)[0])
        pin = hashlib.sha256(kept(server)[0].read_bytes()).hexdigest()
        node = self.node()
        node.start(*self.asking(made, server.p2p_port), f"-ibdboosterhash={pin}")
        self.assert_fetched(node, server, made)

    def test_goes_on_after_a_kill(self):
        made = chain("--outputs", "160000", "--outputs-per-block", "40", "--tail", str(TAIL),
                     "--seed", "5")
        servers = [self.server(made, hints=made.container) for _ in range(2)]
        whole = kept(servers[0])[0]
        relays = [Relay(s.p2p_port, 60_000) for s in servers]
        for relay in relays:
            self.addCleanup(relay.close)
        node = self.node()
        node.launch(*self.asking(made, *(relay.port for relay in relays)))
        wait_until(lambda: "fetching hints" in node.log_text, "the head")
        node.kill()
        (part,) = node.net_dir.glob("hints/*.part")
        # As one that was killed later leaves it: all but the last group.
        index_at = int.from_bytes(whole.read_bytes()[64:72], "little")
        shutil.copy(whole, part)
        with part.open("r+b") as file:
            file.seek(index_at - 4)
            file.write(bytes(4))
        node.start(*self.asking(made, *(s.p2p_port for s in servers)))
        self.assert_fetched(node, servers[0], made)
        groups = int.from_bytes(whole.read_bytes()[20:24], "little")
        self.assertGreater(groups, 1)
        self.assertIn(f"{groups - 1} of {groups} groups are stored", node.log_text)


class NotFetched(HintsFromPeers):
    def test_liars(self):
        """Peers that gave wrong hints are disconnected; the coins are right."""
        made = small_chain()
        bad = bytearray(made.bitmap.read_bytes())
        bad[len(bad) // 2] ^= 0x18
        (self.dir / "bad.bitmap").write_bytes(bad)
        wrong = self.dir / "wrong.hints"
        hints_tool("convert", "--network=regtest", "--format=container", f"--blocks={made.blocks}",
                   self.dir / "bad.bitmap", wrong)
        liars = []
        for _ in range(2):
            liar = self.server(made)
            liar.stop()
            folder = liar.net_dir / "hints"
            folder.mkdir(exist_ok=True)
            shutil.copy(wrong, folder / "kept-1.hints")
            liar.start("-listen=1", "-connect=0", f"-bind=127.0.0.1:{liar.p2p_port}")
            liars.append(liar)
        node = self.node()
        node.start(*self.asking(made, *(liar.p2p_port for liar in liars)))
        self.assert_synced(node, liars[0], made)
        self.assertIn("the hints are wrong", node.log_text)
        self.assertEqual(node.log_text.count("wrong hints, disconnecting peer="), 2)
        self.assertEqual(list(node.net_dir.glob("hints/*")), [])
        # Where it is worth it, the node makes its own instead, and keeps those.
        node = self.node()
        node.start(*self.asking(made, *(liar.p2p_port for liar in liars)), "-ibdboosterleast=0")
        self.assert_synced(node, liars[0], made)
        self.assertIn("the hints are wrong", node.log_text)
        self.assertIn("Join: hints of", node.log_text)
        self.assertIn(SUCCESS.format(made.terminal_height), node.log_text)
        self.assertEqual(len(kept(node)), 1)

    def test_nobody_has_any(self):
        made = small_chain()
        server = self.server(made, "-servehints=0", "-debug=net", hints=made.container)
        self.assertEqual(kept(server), [])
        node = self.node()
        node.start(*self.asking(made, server.p2p_port), "-ibdboosterwait=1")
        self.assert_synced(node, server, made)
        self.assertIn("no hints from peers: too few peers offer hints that could be used",
                      node.log_text)
        self.assertIn("unknown feature advertised: ibd-booster-hints", server.log_text)
