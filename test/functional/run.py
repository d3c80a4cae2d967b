#!/usr/bin/env python3
"""Runs test/functional/test_*.py and ends with one plain line: N passed, N failed, N skipped.

    run.py --bindir DIR [-j N] [-v] [--kills N] [--outputs N] [PATTERN...]

A PATTERN is part of a test's name; default all. Each class of tests is a process of its own, N of
them at a time. Ctrl-C ends all of them, their nodes too. With CI=true a skipped test counts as a
failure.
"""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "interop"), str(HERE.parent / "support")]

import class_runner  # noqa: E402 (needs the path above)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    class_runner.add_options(parser)
    parser.add_argument("--bindir", help="folder of bitcoind and bitcoin-cli")
    parser.add_argument("--kills", type=int, help="kill -9 so often in each test that does")
    parser.add_argument("--outputs", type=int, help="size of the large generated chain")
    args = parser.parse_args()
    for name, value in (("IBD_BINDIR", args.bindir), ("IBD_KILLS", args.kills),
                        ("IBD_OUTPUTS", args.outputs)):
        if value is not None:
            os.environ[name] = str(value)
    return class_runner.run("functional", __file__, args)


if __name__ == "__main__":
    sys.exit(main())
