#!/usr/bin/env python3
"""Reading and writing block 413,567 of mainnet and undo data of its inputs in block files: our code
against Bitcoin Core's, by turns in one run, and against the floor of one pread or pwrite of as many
bytes and their hashing.

    records.py [--bin build/bin/bench_storage] [--work DIR] [--rounds 9] [--ms 60]

Needs ../shared/testdata and Core's libraries (test/interop/build_core_records.sh). DIR is on the
disk to measure; its free space is at least 2 GB. Prints the median CPU time of one call and two
ratios. The undo data is invented: as many coins as the block spends, of two kinds of script.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "interop"))

from interop_env import built_program, read_testdata  # noqa: E402 (needs the path above)

OPERATIONS = ("read", "raw read", "write", "write undo", "read undo")
WARM_BYTES = 600 << 20


def warm_memory(folder):
    """Touches the memory first: in a virtual machine the first write to memory that was long unused
    takes ten times as long."""
    path = folder / "warm"
    piece = bytes(1 << 20)
    with path.open("wb") as file:
        for _ in range(WARM_BYTES // len(piece)):
            file.write(piece)
    path.unlink()


def times(command, folder):
    """CPU nanoseconds of one call by the name of the operation; `folder` is empty again after."""
    warm_memory(folder)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    return {name: float(ns) for name, ns in
            (line.rsplit(": ", 1) for line in done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin" / "bench_storage"))
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ms", type=int, default=60)
    args = parser.parse_args()
    core = built_program("build_core_records.sh", "IBD_CORE_RECORDS")
    with tempfile.TemporaryDirectory(dir=args.work, prefix="records-") as work:
        work = pathlib.Path(work)
        block, undo, folder = work / "block", work / "undo", work / "files"
        block.write_bytes(read_testdata("blocks/block413567.raw.xz"))
        folder.mkdir()
        ours_command = [args.bin, "--block", block, "--undo", undo, "--work", folder, "--ms",
                        str(args.ms)]
        rounds = []
        for _ in range(args.rounds):
            ours = times(ours_command, folder)
            rounds.append((ours, times([core, block, undo, folder, str(args.ms)], folder)))
    print("| operation | ours, µs | Core's | floor | Core's / ours | ours / floor |\n"
          "|---|---|---|---|---|---|")
    for name in OPERATIONS:
        of_all = [(ours[name], theirs[name], ours[f"{name} floor"]) for ours, theirs in rounds]
        ours, theirs, floor = (statistics.median(column) / 1e3 for column in zip(*of_all))
        better = statistics.median(t / o for o, t, _ in of_all)
        above = statistics.median(o / f for o, _, f in of_all)
        print(f"| {name} | {ours:.0f} | {theirs:.0f} | {floor:.0f} | {better:.2f} | {above:.2f} |")


if __name__ == "__main__":
    main()
