#!/usr/bin/env python3
"""Runs test/interop/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py [-j N] [-v] [PATTERN...]

A PATTERN is part of a test's name; default all. Each class of tests is a process of its own, N of
them at a time. Ctrl-C ends all of them, their nodes too. With CI=true a skipped test counts as a
failure.
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "functional"), str(HERE.parent / "support")]

import class_runner  # noqa: E402 (needs the path above)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    class_runner.add_options(parser)
    return class_runner.run("interop", __file__, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
