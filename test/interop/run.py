#!/usr/bin/env python3
"""Runs test/interop/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py [-v] [PATTERN]     PATTERN: part of a test's name; default all

With CI=true a skipped test counts as a failure.
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "functional"), str(HERE.parent / "support")]

import testrunner  # noqa: E402 (needs the path above)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("pattern", nargs="?", default="")
    args = parser.parse_args()
    begin = time.monotonic()
    tests = testrunner.find_tests(str(HERE), args.pattern)
    counts = testrunner.run_tests(tests, verbosity=2 if args.verbose else 1)
    return testrunner.conclude("interop", time.monotonic() - begin, *counts)


if __name__ == "__main__":
    sys.exit(main())
