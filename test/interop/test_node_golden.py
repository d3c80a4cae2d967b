"""The first 14,132 mainnet blocks: the directory our node makes of them, under Core's engine,
against the directory Core made."""

import golden
from framework import Node, besides_disk_warning
from kernel_oracle import assert_engine_agrees, assert_same_coins, copied_datadir
from oracle_test import GoldenTest


class GoldenNode(GoldenTest):
    def compare(self, node):
        with copied_datadir(node.net_dir) as ours, copied_datadir(self.core) as cores:
            assert_same_coins(self, self.oracle, ours, cores)
            blocks = self.oracle.read(ours, "main", 0, self.TIP.height + 1)
            wanted = self.oracle.read(cores, "main", 0, self.TIP.height + 1)
            self.assertTrue(blocks == wanted, "blocks and spent coins differ")
        assert_engine_agrees(self, self.oracle, node.net_dir, "main", self.TIP)

    def test_import(self):
        node = Node(self.top / "imported", "main")
        status, errors = node.run(f"-loadblock={golden.block_file()}",
                                  f"-stopatheight={self.TIP.height}")
        self.assertEqual((status, besides_disk_warning(errors)), (0, ""))
        self.compare(node)

    def test_rebuilt_on_cores_blocks(self):
        """Core's directory, its chainstate rebuilt by us, and its whole index too."""
        for option in ("-reindex-chainstate", "-reindex"):
            with self.subTest(option=option):
                node = Node(self.top / option.strip("-"), "main")
                golden.unpack_core_datadir(node.datadir)
                self.assertEqual(node.run(option, f"-stopatheight={self.TIP.height}"), (0, ""))
                self.compare(node)
