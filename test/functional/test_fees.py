"""Fee estimates over restarts: the file is written every hour and at the end, and an old, foreign
or unreadable one costs its data only. (Their values: test/interop/test_core_fees.py.)"""

import os
import time

from framework import FunctionalTest, Node, wait_until

SAVED = "Flushed fee estimates to fee_estimates.dat."


class Fees(FunctionalTest):
    def node(self, *options):
        node = Node(self.dir / "node", "regtest", options)
        self.nodes.append(node)
        return node

    def test_file(self):
        node = self.node().start()
        file = node.datadir / "regtest/fee_estimates.dat"
        self.assertIn("fee_estimates.dat is not found. Continue anyway.", node.log_text)
        self.assertFalse(file.exists())
        for wrong in (0, -1, 3601):
            self.assert_rpc_error(-1, "delta_time must be between 1 and 3600 seconds (1 hr)",
                                  node.rpc, "mockscheduler", wrong)
        node.rpc("mockscheduler", 3600)
        wait_until(lambda: SAVED in node.log_text, "the hourly job")
        self.assertTrue(file.exists())
        node.stop()
        whole = file.read_bytes()
        day = 24 * 60 * 60
        os.utime(file, (time.time() - 3 * day,) * 2)
        node.start()
        self.assertIn("too old (age=72 > 60 hours) and will not be used", node.log_text)
        node.stop()
        self.assertEqual(file.read_bytes(), whole)
        for bad in (b"", whole[:1000], b"\xff" * 100, whole[:20] + b"\x00" + whole[21:]):
            file.write_bytes(bad)
            node.start()
            self.assertIn("Unable to read policy estimator data (non-fatal): ", node.log_text)
            node.stop()
            self.assertEqual(file.read_bytes(), whole)

    def test_folder_that_cannot_be_written(self):
        node = self.node().start()
        (node.datadir / "regtest/fee_estimates.dat").mkdir()
        node.stop()
        self.assertIn("Failed to write fee estimates to ", node.log_text)

    def test_without_transactions(self):
        node = self.node("-blocksonly").start()
        for call in ("estimatesmartfee", "estimaterawfee"):
            self.assert_rpc_error(-32603, "Fee estimation disabled", node.rpc, call, 2)
        node.stop()
        self.assertFalse((node.datadir / "regtest/fee_estimates.dat").exists())
