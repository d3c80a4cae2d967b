"""The first 14,132 mainnet blocks: the directory our node makes of them, under Core's engine, against
the directory Core made."""

import pathlib
import sys
import tempfile
import unittest

import interop_env
from kernel_oracle import (KernelOracle, Tip, assert_engine_agrees, assert_same_coins,
                           copied_datadir)

sys.path.insert(0, str(interop_env.ROOT / "test" / "functional"))

import golden  # noqa: E402 (needs the path above)
from framework import Node  # noqa: E402

TIP = Tip(golden.TIP_HEIGHT, golden.TIP_HASH)


class GoldenNode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()
        cls.folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = pathlib.Path(cls.folder.name)
        cls.core = golden.unpack_core_datadir(cls.top / "core")

    def compare(self, node):
        with copied_datadir(node.net_dir) as ours, copied_datadir(self.core) as cores:
            assert_same_coins(self, self.oracle, ours, cores)
            blocks = self.oracle.read(ours, "main", 0, TIP.height + 1)
            wanted = self.oracle.read(cores, "main", 0, TIP.height + 1)
            self.assertTrue(blocks == wanted, "blocks and spent coins differ")
        assert_engine_agrees(self, self.oracle, node.net_dir, "main", TIP)

    def test_import(self):
        node = Node(self.top / "imported", "main")
        self.assertEqual(node.run(f"-loadblock={golden.block_file()}",
                                  f"-stopatheight={TIP.height}"), (0, ""))
        self.compare(node)

    def test_rebuilt_on_cores_blocks(self):
        """Core's directory, its chainstate rebuilt by us, and its whole index too."""
        for option in ("-reindex-chainstate", "-reindex"):
            with self.subTest(option=option):
                node = Node(self.top / option.strip("-"), "main")
                golden.unpack_core_datadir(node.datadir)
                self.assertEqual(node.run(option, f"-stopatheight={TIP.height}"), (0, ""))
                self.compare(node)


if __name__ == "__main__":
    unittest.main()
