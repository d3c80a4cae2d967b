"""Warnings about rules that the node does not know, in every call that shows them."""

from framework import FunctionalTest, wait_until
from regtest_chain import Chain, SubmitsBlocks

PERIOD = 144  # blocks
BIT = 4
MINERS_NONCE = 0x1fffffe0  # version bits 5 to 28, by BIP 323: none of them is warned of
TEXT = f"Unknown new rules activated (versionbit {BIT})"


class Warnings(SubmitsBlocks, FunctionalTest):
    def shown(self, node):
        return [node.rpc(call)["warnings"] for call in ("getblockchaininfo", "getnetworkinfo")]

    def test_unknown_rules(self):
        self.chain = Chain()
        alerts = self.dir / "alerts"
        node = self.node("regtest", "-maxtipage=10000000000",
                         f"-alertnotify=echo %s >> {alerts}").start()
        self.assertEqual(self.shown(node), [[], []])
        self.submit(node, PERIOD - 1)
        self.submit(node, PERIOD, 1 << BIT | MINERS_NONCE)
        self.assertIn(f"warning='{TEXT}'", node.log_text)  # locked in
        self.submit(node, PERIOD - 1, MINERS_NONCE)
        self.assertEqual(self.shown(node), [[], []])
        self.submit(node, 1)
        self.assertEqual(self.shown(node), [[TEXT], [TEXT]])
        wait_until(alerts.exists, "the command of -alertnotify")
        self.submit(node, 1)
        self.assertEqual(self.shown(node), [[TEXT], [TEXT]])
        wait_until(lambda: alerts.read_text() == TEXT + "\n", "one alert")

        node.stop().start("-deprecatedrpc=warnings")
        self.assertEqual(self.shown(node), ["", ""])
        self.submit(node, 1)
        self.assertEqual(self.shown(node), [TEXT, TEXT])
