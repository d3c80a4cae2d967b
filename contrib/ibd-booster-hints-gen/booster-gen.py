#!/usr/bin/env python3
"""Make a hints file for the IBD booster from block files and a UTXO snapshot. See README.md."""

import argparse
import os

from hintsgen.common import NETWORKS, ToolError, parse_hash, run_main
from hintsgen.generate import Generator
from hintsgen.workfolder import MARKER


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Make a hints file: which outputs of blocks 1 to N are unspent after N.",
        epilog="The same command continues an interrupted run.")
    parser.add_argument("datadir", help="data directory of a node, or folder of block files")
    parser.add_argument("utxos", help="dumptxoutset file, or its database from utxo_to_sqlite.py")
    parser.add_argument("out", help="hints file to create; must not exist, except with --force")
    parser.add_argument("--format", choices=("container", "bitmap"), default="container",
                        help="container (default), or the original bitmap without header")
    parser.add_argument("--network", choices=tuple(NETWORKS),
                        help="default: the snapshot's network, else that of the block files")
    parser.add_argument("--height", type=int, metavar="N",
                        help="height of the snapshot, for databases that do not record it")
    parser.add_argument("--blockhash", metavar="HASH",
                        help="base block of the snapshot, which may be off the chain "
                             "with the most work")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="worker processes (default: one per core)")
    parser.add_argument("--work-dir", metavar="DIR",
                        help="folder for unfinished work (default: OUT.work)")
    parser.add_argument("--keep-work", action="store_true",
                        help="leave the work folder, e.g. to write the other format quickly")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.blockhash:
        options.blockhash = parse_hash(options.blockhash, "--blockhash")
    if options.height is not None and options.height < 1:
        raise ToolError("--height: must be 1 or more")
    if options.jobs < 1:
        raise ToolError("--jobs: must be 1 or more")
    if os.path.lexists(options.out) and not options.force:
        work = options.work_dir or options.out + ".work"
        left = f"; {work} keeps work for it" if os.path.exists(os.path.join(work, MARKER)) else ""
        raise ToolError(f"{options.out}: exists already, not overwritten (see --force){left}")
    Generator(options).run()
    return 0


if __name__ == "__main__":
    run_main(main)
