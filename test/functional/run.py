#!/usr/bin/env python3
"""Runs test/functional/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py --bindir DIR [-j N] [-v] [--kills N] [--outputs N] [PATTERN...]

A PATTERN is part of a test's name; default all. Each class of tests is a process of its own, N of
them at a time. Ctrl-C ends all of them, their nodes too. With CI=true a skipped test counts as a
failure.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "interop"), str(HERE.parent / "support")]

import testrunner  # noqa: E402 (needs the path above)
from children import STATUS, Asked, Children, heed_signals  # noqa: E402


def load(patterns):
    """Names of the chosen tests by class."""
    classes = {}
    for test in testrunner.find_tests(str(HERE), ""):
        if patterns and not any(pattern in test.id() for pattern in patterns):
            continue
        classes.setdefault(test.id().rsplit(".", 1)[0], []).append(test.id())
    return classes


def run_here(names, report, verbose):
    """What one process does: runs the tests and writes down how they went."""
    tests = unittest.TestLoader().loadTestsFromNames(names)
    counts = testrunner.run_tests(tests, verbosity=2 if verbose else 0)
    pathlib.Path(report).write_text(json.dumps(counts))


def run_class(children, name, tests, verbose):
    """Runs a class in a process of its own: (name, passed, failed, skips, seconds, output)."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ibd-functional-",
                                     ignore_cleanup_errors=True) as folder:
        pathlib.Path(folder).chmod(0o755)  # some tests run the node as another user
        report = pathlib.Path(folder, "report")
        command = [sys.executable, __file__, "--report", str(report), *(["-v"] if verbose else []),
                   "--tests", *tests]
        done = children.run(command, folder)
        counts = json.loads(report.read_text()) if report.exists() else [0, len(tests), []]
    return name, *counts, time.monotonic() - begin, done.stdout if done else ""


def run_classes(args):
    """Runs the chosen classes and prints each result: (passed, failed, skips)."""
    passed, failed, skips = 0, 0, []
    children = Children()
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        try:
            running = [pool.submit(run_class, children, name, tests, args.verbose)
                       for name, tests in load(args.patterns).items()]
            for future in concurrent.futures.as_completed(running):
                name, good, bad, skipped, seconds, output = future.result()
                passed, failed, skips = passed + good, failed + bad, skips + skipped
                print(f"{'FAILED' if bad else 'ok':6} {name} {good} passed, {seconds:.1f} s")
                if bad or args.verbose:
                    print(output)
                sys.stdout.flush()
        except Asked:
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
            raise
    return passed, failed, skips


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bindir", help="folder of bitcoind and bitcoin-cli")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--kills", type=int, help="kill -9 so often in each test that does")
    parser.add_argument("--outputs", type=int, help="size of the large generated chain")
    parser.add_argument("--report", help=argparse.SUPPRESS)
    parser.add_argument("--tests", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    args = parser.parse_args()
    if args.report:
        run_here(args.tests, args.report, args.verbose)
        return 0
    for name, value in (("IBD_BINDIR", args.bindir), ("IBD_KILLS", args.kills),
                        ("IBD_OUTPUTS", args.outputs)):
        if value is not None:
            os.environ[name] = str(value)

    begin = time.monotonic()
    heed_signals()
    try:
        passed, failed, skips = run_classes(args)
    except Asked as asked:
        print(f"ended by {asked}")
        return STATUS + asked.kind
    return testrunner.conclude("functional", time.monotonic() - begin, passed, failed, skips)


if __name__ == "__main__":
    sys.exit(main())
