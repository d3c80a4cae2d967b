"""The benches against Core's engine run to their end, over a chain too small to time anything."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from interop_env import ROOT, built_program, unavailable


class Benches(unittest.TestCase):
    def test_import(self):
        build = pathlib.Path(os.environ.get("IBD_BINDIR", ROOT / "build" / "bin")).parent
        if not (build / "bin" / "bitcoind").exists():
            unavailable(f"no bitcoind below {build}")
        built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            done = subprocess.run([sys.executable, ROOT / "bench/ibd/import.py", "--build", build,
                                   "--work", work, "--outputs", "3000"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for way in ("import", "reindex"):
                self.assertIn(f"| {way}, ours / kernel | ", done.stdout)
            self.assertTrue((pathlib.Path(work) / "import.json").exists())
