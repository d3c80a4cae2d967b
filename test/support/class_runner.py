"""Shared code of the runners of functional and interop tests: each class of tests is a process of
its own, several at a time. Ctrl-C ends all of them, their nodes too."""

import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import testrunner
from children import STATUS, Asked, Children, heed_signals


def _load(folder, patterns):
    """Names of the chosen tests by class."""
    classes = {}
    for test in testrunner.find_tests(folder, ""):
        if patterns and not any(pattern in test.id() for pattern in patterns):
            continue
        classes.setdefault(test.id().rsplit(".", 1)[0], []).append(test.id())
    return classes


def _run_here(names, report, verbose):
    """The work of one process: runs the tests and records their results."""
    tests = unittest.TestLoader().loadTestsFromNames(names)
    counts = testrunner.run_tests(tests, verbosity=2 if verbose else 0)
    pathlib.Path(report).write_text(json.dumps(counts))


def _run_class(children, name, tests, args):
    """Runs a class in a process of its own: (name, passed, failed, skips, seconds, output)."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"ibd-{args.name}-",
                                     ignore_cleanup_errors=True) as folder:
        pathlib.Path(folder).chmod(0o755)  # some tests run the node as another user
        report = pathlib.Path(folder, "report")
        command = [sys.executable, args.script, "--report", str(report),
                   *(["-v"] if args.verbose else []), "--tests", *tests]
        done = children.run(command, folder)
        counts = json.loads(report.read_text()) if report.exists() else [0, len(tests), []]
    return name, *counts, time.monotonic() - begin, done.stdout if done else ""


def _run_classes(args):
    """Runs the chosen classes and prints each result: (passed, failed, skips)."""
    passed, failed, skips = 0, 0, []
    children = Children()
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        try:
            running = [pool.submit(_run_class, children, name, tests, args)
                       for name, tests in _load(args.folder, args.patterns).items()]
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


def add_options(parser):
    """The options that each runner has."""
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--report", help="of one class; the runner gives it to its processes")
    parser.add_argument("--tests", nargs="+", help="of one class; likewise")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")


def run(name, script, args):
    """Runs test_*.py beside `script` as `args` wants it; the exit status of the process."""
    if args.report:
        _run_here(args.tests, args.report, args.verbose)
        return 0
    args.name, args.script, args.folder = name, script, str(pathlib.Path(script).parent)
    begin = time.monotonic()
    heed_signals()
    try:
        passed, failed, skips = _run_classes(args)
    except Asked as asked:
        print(f"ended by {asked}")
        return STATUS + asked.kind
    return testrunner.conclude(name, time.monotonic() - begin, passed, failed, skips)
