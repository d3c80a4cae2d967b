#!/usr/bin/env python3
"""Runs test/functional/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py --bindir DIR [-j N] [-v] [--kills N] [--outputs N] [PATTERN]

PATTERN is part of a test's name, default all. Each class of tests is a process of its own, N of
them at a time. With CI=true a skipped test counts as a failure.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from framework import interop_env  # noqa: E402 (needs the path above)


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


def load(pattern):
    """Names of the chosen tests by class."""
    found = unittest.TestLoader().discover(str(HERE), pattern="test_*.py", top_level_dir=str(HERE))
    classes = {}
    for test in tests_of(found):
        if pattern in test.id():
            classes.setdefault(test.id().rsplit(".", 1)[0], []).append(test.id())
    return classes


def run_here(names, report, verbose):
    """What one process does: runs the tests and writes down how they went."""
    suite = unittest.TestLoader().loadTestsFromNames(names)
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2 if verbose else 0,
                                     resultclass=Result)
    result = runner.run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = [f"{test}: {reason}" for test, reason in result.skipped]
    pathlib.Path(report).write_text(json.dumps([result.passed, failed, skipped]))


def run_class(name, tests, verbose):
    """Runs a class in a process of its own: (name, passed, failed, skips, seconds, output)."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ibd-functional-") as folder:
        report = pathlib.Path(folder, "report")
        command = [sys.executable, __file__, "--report", str(report), *(["-v"] if verbose else []),
                   "--tests", *tests]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        counts = json.loads(report.read_text()) if report.exists() else [0, len(tests), []]
    return name, *counts, time.monotonic() - begin, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bindir", help="folder of bitcoind and bitcoin-cli")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--kills", type=int, help="kill -9 so often in each test that does")
    parser.add_argument("--outputs", type=int, help="size of the large generated chain")
    parser.add_argument("--report", help=argparse.SUPPRESS)
    parser.add_argument("--tests", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("pattern", nargs="?", default="")
    args = parser.parse_args()
    if args.report:
        run_here(args.tests, args.report, args.verbose)
        return 0
    for name, value in (("IBD_BINDIR", args.bindir), ("IBD_KILLS", args.kills),
                        ("IBD_OUTPUTS", args.outputs)):
        if value is not None:
            os.environ[name] = str(value)

    begin = time.monotonic()
    passed, failed, skips = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        running = [pool.submit(run_class, name, tests, args.verbose)
                   for name, tests in load(args.pattern).items()]
        for future in concurrent.futures.as_completed(running):
            name, good, bad, skipped, seconds, output = future.result()
            passed, failed, skips = passed + good, failed + bad, skips + skipped
            print(f"{'FAILED' if bad else 'ok':6} {name} {good} passed, {seconds:.1f} s")
            if bad or args.verbose:
                print(output)
            sys.stdout.flush()
    for reason in skips:
        print(f"skipped {reason}")
    print(f"functional: {time.monotonic() - begin:.1f} s")
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 1 if failed or not (passed or skips) or (skips and interop_env.in_ci()) else 0


if __name__ == "__main__":
    sys.exit(main())
