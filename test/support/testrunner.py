"""Shared code of the runners of Python tests: finding tests, running them, counting.

    testrunner.py NAME FOLDER     runs FOLDER/test_*.py, as test/contrib wants it
"""

import json
import os
import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """Counts successes itself, because a skipped or failed class set-up is not a single test."""
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def counts(self):
        """Passed, failed, and a line for each skipped test."""
        failed = len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)
        return self.passed, failed, [f"{test}: {reason}" for test, reason in self.skipped]


def _flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flat(item)
        else:
            yield item


def find_tests(folder, pattern):
    """The tests of `folder`/test_*.py that have `pattern` in their names."""
    found = unittest.TestLoader().discover(folder, pattern="test_*.py", top_level_dir=folder)
    return [test for test in _flat(found) if pattern in test.id()]


def run_tests(tests, verbosity, quiet=False):
    """Runs them here and now: what Result.counts() gives. quiet: only failing tests may print."""
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=verbosity, resultclass=Result,
                                     buffer=quiet)
    return runner.run(unittest.TestSuite(tests)).counts()


def record(name, passed, failed, skips):
    """Adds a run to the file that test/support/summary.py reads, if one is named."""
    if path := os.environ.get("IBD_TEST_SUMMARY"):
        line = {"name": name, "passed": passed, "failed": failed, "skips": skips}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def conclude(name, seconds, passed, failed, skips):
    """Prints the last lines and gives the exit status: 1 if a test failed, if none was found, or,
    where CI=true, if one was skipped."""
    record(name, passed, failed, skips)
    for skip in skips:
        print(f"skipped {skip}")
    print(f"{name}: {seconds:.1f} s")
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    in_ci = os.environ.get("CI") == "true"
    return 1 if failed or not (passed or skips) or (skips and in_ci) else 0


def main():
    name, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    begin = time.monotonic()
    counts = run_tests(find_tests(folder, ""), verbosity=1, quiet=True)
    return conclude(name, time.monotonic() - begin, *counts)


if __name__ == "__main__":
    sys.exit(main())
