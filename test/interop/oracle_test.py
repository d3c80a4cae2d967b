"""Classes of tests that ask Core's engine."""

import pathlib
import tempfile
import unittest

import golden
from kernel_oracle import KernelOracle, Tip


def _temporary_folder(add_cleanup):
    folder = tempfile.TemporaryDirectory(prefix="ibd-interop-")
    add_cleanup(folder.cleanup)
    return pathlib.Path(folder.name)


class OracleTest(unittest.TestCase):
    """`dir` is a folder of each test's own."""

    @classmethod
    def setUpClass(cls):
        cls.oracle = KernelOracle.find()

    def setUp(self):
        self.dir = _temporary_folder(self.addCleanup)


class GoldenTest(OracleTest):
    """`core` is the data directory that Core wrote, in `top`, a folder of the class's own."""
    TIP = Tip(golden.TIP_HEIGHT, golden.TIP_HASH)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.top = _temporary_folder(cls.addClassCleanup)
        cls.core = golden.unpack_core_datadir(cls.top / "core")
