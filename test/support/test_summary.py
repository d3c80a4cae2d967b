"""The closing lines of test/run.sh."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import summary

CTEST = """<?xml version="1.0"?><testsuite>
<testcase name="unit_a" status="run"/><testcase name="lint_style" status="run"/>
<testcase name="bench_b" status="{bench}"/></testsuite>"""


class Summary(unittest.TestCase):
    def closing(self, *parts, bench="run"):
        """Exit status and lines for these parts and a report of ctest."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "parts").write_text("".join(json.dumps(p) + "\n" for p in parts))
            pathlib.Path(folder, "ctest.xml").write_text(CTEST.format(bench=bench))
            out = io.StringIO()
            with contextlib.redirect_stdout(out), mock.patch.object(sys, "argv", ["", folder]):
                status = summary.main()
        return status, out.getvalue().splitlines()

    @staticmethod
    def part(name, passed, failed=0, skips=()):
        return {"name": name, "passed": passed, "failed": failed, "skips": list(skips)}

    def test_adds_up_all_parts(self):
        """unit_a counts its own tests; the linter and the bench are one test each."""
        status, lines = self.closing(self.part("unit_a", 10), self.part("interop", 5))
        self.assertEqual((status, lines), (0, ["17 passed, 0 failed, 0 skipped"]))

    def test_names_what_was_skipped_and_why(self):
        why = "; the authors do not publish that folder"
        status, lines = self.closing(
            self.part("unit_a", 10, 0, [f"x: y: no ../shared/testdata/bips/a.csv{why}",
                                   f"z: no ../shared/testdata/core/b.json{why}"]),
            self.part("fuzz", 0, 0, ["coins: clang++-14 is not installed"]))
        self.assertEqual(status, 0)
        self.assertEqual(lines[0],
                         f"skipped unit_a: x: y: no ../shared/testdata/bips/a.csv{why}")
        self.assertEqual(lines[-1], "12 passed, 0 failed, 3 skipped: 2 (no ../shared/testdata"
                         f"{why}); 1 (clang++-14 is not installed)")

    def test_failures_count(self):
        status, lines = self.closing(self.part("unit_a", 9, 1))
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["FAILED unit_a: 1", "11 passed, 1 failed, 0 skipped"])

    def test_what_failed_without_a_word_counts(self):
        """A bench that failed, and a program that passed its tests and crashed at the end."""
        status, lines = self.closing(self.part("unit_a", 9), bench="fail")
        self.assertEqual((status, lines[-1]), (1, "10 passed, 1 failed, 0 skipped"))
        status, lines = self.closing(self.part("bench_b", 9), bench="fail")
        self.assertEqual((status, lines[-1]), (1, "11 passed, 1 failed, 0 skipped"))

    def test_nothing_run_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(io.StringIO()):
                with mock.patch.object(sys, "argv", ["", folder]):
                    self.assertEqual(summary.main(), 1)

    def test_an_outsider_is_told_why(self):
        """The missing file, its place, and the reason."""
        told = subprocess.run([str(pathlib.Path(summary.__file__).with_name("pinned_testdata.sh")),
                               "bips/none.csv"], capture_output=True, text=True, check=False)
        self.assertEqual((told.returncode, told.stdout), (77, ""))
        for part in ("no ../shared/testdata/bips/none.csv;", "do not publish", "no package"):
            self.assertIn(part, told.stderr)
        self.assertNotIn("none.csv", summary.reason_of(f"x: y: {told.stderr.strip()}"))


if __name__ == "__main__":
    unittest.main()
