"""Events of the chain reach commands and waiting calls, and a slow listener does not hold the chain
up. No clock: a command waits for a file, and the order of events is checked."""

import threading

from framework import FunctionalTest, wait_until
from regtest_chain import REGTEST_GENESIS, Chain, SubmitsBlocks

NOT_DOWNLOADING = "-maxtipage=10000000000"
BIT = 3
PERIOD = 144  # blocks


class Events(SubmitsBlocks, FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain()
        self.gate, self.out = self.dir / "gate", self.dir / "out"
        # Keeps asking until the test opens the gate, or is over and its folder gone.
        self.slow = (f"while [ -d {self.dir} ] && [ ! -e {self.gate} ]; do sleep 0.05; done; "
                     f"echo %s >> {self.out}")

    def told(self):
        return sorted(self.out.read_text().split("\n")[:-1]) if self.out.exists() else []

    def test_a_command_that_sleeps_holds_nothing_up(self):
        node = self.node("regtest", NOT_DOWNLOADING, f"-blocknotify={self.slow}").start()
        self.submit(node, 5)
        node.rpc("syncwithvalidationinterfacequeue")
        self.assertEqual(node.rpc("waitforblockheight", 5)["height"], 5)
        self.assertEqual(node.rpc("getblockcount"), 5)
        node.rpc("invalidateblock", self.chain.tip)
        self.assertEqual(node.rpc("getblockcount"), 4)
        self.assertEqual(self.told(), [])
        self.gate.touch()
        hashes = [REGTEST_GENESIS, *(block.hash() for block in self.chain.blocks)]
        # The block below the one that was taken back was the tip twice.
        wait_until(lambda: self.told() == sorted([*hashes, hashes[4]]), "all commands")

    def test_the_node_ends_while_commands_run(self):
        node = self.node("regtest", NOT_DOWNLOADING, f"-blocknotify={self.slow}").start()
        self.submit(node, 2)
        node.stop()
        self.assertEqual(self.told(), [])
        self.gate.touch()
        wait_until(lambda: len(self.told()) == 3, "all commands, also that of the first block")

    def test_alerts_hold_nothing_up(self):
        node = self.node("regtest", NOT_DOWNLOADING, f"-alertnotify={self.slow}").start()
        self.submit(node, PERIOD - 1)
        self.submit(node, PERIOD, 1 << BIT)
        self.submit(node, PERIOD + 3)
        text = f"Unknown new rules activated (versionbit {BIT})"
        self.assertEqual(node.rpc("getblockchaininfo")["warnings"], [text])
        self.assertEqual(self.told(), [])
        self.gate.touch()
        wait_until(lambda: self.told() == [text], "the alert")

    def test_calls_that_wait(self):
        node = self.node("regtest", NOT_DOWNLOADING, f"-blocknotify={self.slow}").start()
        answers = {}

        def ask(name, *args):
            answers[name] = node.rpc(name, *args)

        waiting = [threading.Thread(target=ask, args=args, daemon=True) for args in (
            ("waitforblockheight", 3), ("waitfornewblock", 0, self.chain.tip))]
        for thread in waiting:
            thread.start()
        self.submit(node, 3)
        for thread in waiting:
            thread.join()
        self.assertEqual(answers["waitforblockheight"], {"hash": self.chain.tip, "height": 3})
        self.assertIn(answers["waitfornewblock"]["height"], (1, 2, 3))
        self.assertEqual(node.rpc("waitforblock", self.chain.tip)["height"], 3)
        # Over time with what there is.
        self.assertEqual(node.rpc("waitforblockheight", 4, 1)["height"], 3)
        self.assertEqual(self.told(), [])
        self.gate.touch()
        wait_until(lambda: len(self.told()) == 4, "all commands, before their folder goes")
