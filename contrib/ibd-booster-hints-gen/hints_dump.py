#!/usr/bin/env python3
"""Check a hints file and print what it says: a line per height, or the unspent indices."""

import argparse
import sys

from hintsgen.common import ToolError, hash_hex, network_name, run_main
from hintsgen.hintsfile import HintsReader


def parse_arguments():
    parser = argparse.ArgumentParser(description="Check a hints file and print it.")
    parser.add_argument("file")
    parser.add_argument("--indices", action="store_true",
                        help="line i: indices of the outputs of block i that are unspent "
                             "(container: over spendable outputs, bitmap: over all)")
    parser.add_argument("--height", type=int, help="print this height only")
    parser.add_argument("--check", action="store_true", help="print no lines, only the summary")
    return parser.parse_args()


def main():
    args = parse_arguments()
    reader = HintsReader(args.file)
    if reader.is_container:
        print(f"container, {network_name(reader.magic)}, terminal block "
              f"{hash_hex(reader.base_hash)} at height {reader.top}, hints id {reader.id}",
              file=sys.stderr)
    else:
        print("bitmap", file=sys.stderr)
    first, top, outputs, unspent = None, 0, 0, 0
    for height, count, indices in reader.blocks():
        first, top = height if first is None else first, height
        outputs += count or 0
        unspent += len(indices)
        if args.check or args.height not in (None, height):
            continue
        if not args.indices:
            print(height, "-" if count is None else count, len(indices))
        elif height or args.height == 0:
            print(*indices)
    if args.height is not None and (first is None or not first <= args.height <= top):
        raise ToolError(f"{args.file}: heights are {first} to {top}")
    counted = f"{outputs} outputs, " if outputs else ""
    print(f"{top} blocks, {counted}{unspent} unspent", file=sys.stderr)
    return 0


if __name__ == "__main__":
    run_main(main)
