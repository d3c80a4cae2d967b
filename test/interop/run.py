#!/usr/bin/env python3
"""Runs test/interop/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py [-v] [PATTERN]     PATTERN: part of a test's name; default all

With CI=true a skipped test counts as a failure.
"""

import argparse
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from interop_env import in_ci  # noqa: E402 (needs the path above)


class Result(unittest.TextTestResult):
    """Counts successes itself: a skipped or broken class set-up stands for no single test."""
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("pattern", nargs="?", default="")
    args = parser.parse_args()
    found = unittest.TestLoader().discover(str(HERE), pattern="test_*.py", top_level_dir=str(HERE))
    chosen = [test for test in tests_of(found) if args.pattern in test.id()]
    start = time.monotonic()
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2 if args.verbose else 1,
                                     resultclass=Result)
    result = runner.run(unittest.TestSuite(chosen))
    skipped = len(result.skipped)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for test, reason in result.skipped:
        print(f"skipped {test}: {reason}")
    print(f"interop: {time.monotonic() - start:.1f} s")
    print(f"{result.passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not (result.passed or skipped) or (skipped and in_ci()) else 0


if __name__ == "__main__":
    sys.exit(main())
