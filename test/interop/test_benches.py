"""The benches against Core's engine run to their end, over a chain too small to time anything."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from interop_env import ROOT, built_program, own_program


class Benches(unittest.TestCase):
    def bench(self, name, work, *options):
        build = own_program("bitcoind").parent.parent
        built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        done = subprocess.run([sys.executable, ROOT / f"bench/ibd/{name}.py", "--build", build,
                               "--work", work, *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((pathlib.Path(work) / f"{name}.json").exists())
        return done.stdout

    def test_import(self):
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("import", work, "--outputs", "3000")
            for way in ("import", "reindex"):
                self.assertIn(f"| {way}, ours / kernel | ", report)

    def test_cold_inputs(self):
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("cold_inputs", work, "--outputs", "3000", "--last", "5",
                                "--repeat", "1")
            self.assertIn("| cpu, ours / kernel | ", report)

    def test_cold(self):
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("cold", work, "--outputs", "3000", "--repeat", "1")
            self.assertIn("| booster, CPU, cold / cached | ", report)

    def test_large_undo(self):
        built_program("build_core.sh", "IBD_CORE")
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("large_undo", work, "--outputs", "150", "--repeat", "1")
            self.assertIn("| disconnect, CPU, ours / Core's | ", report)

    def test_headers(self):
        core = built_program("build_core.sh", "IBD_CORE") / "bitcoind"
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("headers", work, "--core", core, "--headers", "6500", "--repeat",
                                "1")
            self.assertIn("| headers, CPU, ours / Core's | ", report)

    def test_rest_blocks(self):
        core = built_program("build_core.sh", "IBD_CORE") / "bitcoind"
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("rest_blocks", work, "--core", core, "--outputs", "2000",
                                "--repeat", "1", "--seconds", "0")
            self.assertIn("| blocks a second of CPU, as bytes | ", report)

    def test_snapshots(self):
        built_program("build_core.sh", "IBD_CORE")
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("snapshots", work, "--coins", "3000", "--outputs", "3000",
                                "--repeat", "1")
            self.assertIn("| loading, Core / ours, CPU | ", report)
            self.assertIn("| proof / booster, CPU | ", report)

    def test_notifications(self):
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("notifications", work, "--outputs", "3000", "--blocks", "5",
                                "--repeat", "1")
            self.assertIn("| all five topics / none, CPU of the connecting thread | ", report)

    def test_indexes(self):
        built_program("build_core.sh", "IBD_CORE")
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("indexes", work, "--outputs", "3000", "--repeat", "1")
            self.assertIn("| Core / ours, all four, CPU | ", report)

    def test_relay_attacks(self):
        core = built_program("build_core.sh", "IBD_CORE") / "bitcoind"
        with tempfile.TemporaryDirectory(prefix="ibd-bench-") as work:
            report = self.bench("relay_attacks", work, "--core", core, "--only", "conflicts",
                                "--scale", "0.02")
            self.assertIn("| conflicts: CPU / Core's | ", report)

    def test_hostile_scripts(self):
        build = own_program("bench_script").parent
        built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        done = subprocess.run([sys.executable, ROOT / "bench/hostile_scripts.py", "--rounds", "1",
                               "--scale", "0.01", "--bin", build / "bench_script"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("worst ratio", done.stdout)

    def test_records(self):
        bench = own_program("bench_storage")
        built_program("build_core_records.sh", "IBD_CORE_RECORDS")
        done = subprocess.run([sys.executable, ROOT / "bench/records.py", "--rounds", "1",
                               "--ms", "1", "--bin", bench],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for operation in ("read", "raw read", "write", "write undo", "read undo"):
            self.assertIn(f"| {operation} | ", done.stdout)
