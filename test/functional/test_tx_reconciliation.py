"""-txreconciliation: the handshake of BIP330, with a scripted peer."""

import struct

from framework import FunctionalTest, Node, free_port, wait_until
from scripted_peer import NONCE, Line, message, version

VERACK = ("verack", b"")
BY_WTXID = ("wtxidrelay", b"")


def offer(number):
    return "sendtxrcncl", struct.pack("<IQ", number, 1)


class Reconciliation(FunctionalTest):
    KIND = Node

    def start(self, *args):
        node = self.KIND(self.dir / "node", "regtest",
                         ["-debug=net", "-debug=txreconciliation", "-dnsseed=0", *args])
        self.nodes.append(node)
        node.p2p_port = free_port()
        return node.start("-listen=1", f"-bind=127.0.0.1:{node.p2p_port}", "-noconnect")

    def shake(self, node, *script, relay=True):
        """The messages of the node until its verack; then the peer sends these messages and
        disconnects."""
        line = Line(node.p2p_port)
        own = version() if relay else version()[:-1] + b"\x00"
        line.send(message("version", own))
        self.assertTrue(line.wait_for("verack"))
        for step in script:
            line.send(message(*step))
        if script:
            line.send(message("ping", NONCE))
            line.wait_for("pong", NONCE)  # or until the node hangs up
        line.close()
        wait_until(lambda: not node.rpc("getpeerinfo"), "the end of the peer")
        return line.seen[:line.seen.index("verack") + 1]

    def check_log(self, node, *lines):
        """Waits for the lines: Core takes a peer from the list before it logs what it forgets."""
        for line in lines:
            wait_until(lambda line=line: line + "\n" in node.log_text, line)

    def test_on(self):
        node = self.start("-txreconciliation=1")
        greeting = ["version", "wtxidrelay", "sendaddrv2", "sendtxrcncl", "verack"]
        self.assertEqual(self.shake(node), greeting)
        self.check_log(node, "Pre-register peer=0", "Forget txreconciliation state of peer=0")
        self.shake(node, offer(0))
        self.check_log(node, "txreconciliation protocol violation, disconnecting peer=1")
        self.shake(node, offer(2), offer(1))
        self.check_log(node, "Register peer=2 (inbound=1)",
                       "txreconciliation protocol violation (sendtxrcncl received from already "
                       "registered peer), disconnecting peer=2")
        self.shake(node, BY_WTXID, offer(1), VERACK)
        self.check_log(node, "Register peer=3 (inbound=1)")
        self.shake(node, VERACK, offer(1))
        self.check_log(node, "sendtxrcncl received after verack, disconnecting peer=4")
        self.assertNotIn("sendtxrcncl", self.shake(node, offer(1), relay=False))
        self.check_log(node, "sendtxrcncl received which indicated no tx relay to us, "
                             "disconnecting peer=5")

    def test_blocks_only(self):
        node = self.start("-txreconciliation=1", "-blocksonly=1")
        self.assertNotIn("sendtxrcncl", self.shake(node, offer(1)))
        self.check_log(node, "sendtxrcncl received to which we indicated no tx relay, "
                             "disconnecting peer=0")

    def test_off(self):
        node = self.start()
        self.assertNotIn("sendtxrcncl", self.shake(node, offer(1), VERACK))
        self.check_log(node, "sendtxrcncl from peer=0 ignored, as our node does not have "
                             "txreconciliation enabled")
