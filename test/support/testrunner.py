"""What the runners of test/functional and test/interop share: finding tests, running, counting."""

import os
import sys
import unittest


class Result(unittest.TextTestResult):
    """Counts successes itself: a skipped or broken class set-up stands for no single test."""
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


def run_tests(tests, verbosity):
    """Runs them here and now: what Result.counts() gives."""
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=verbosity, resultclass=Result)
    return runner.run(unittest.TestSuite(tests)).counts()


def conclude(name, seconds, passed, failed, skips):
    """Prints the last lines and gives the exit status: 1 if a test failed, if none was found, or,
    where CI=true, if one was skipped."""
    for skip in skips:
        print(f"skipped {skip}")
    print(f"{name}: {seconds:.1f} s")
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    in_ci = os.environ.get("CI") == "true"
    return 1 if failed or not (passed or skips) or (skips and in_ci) else 0
