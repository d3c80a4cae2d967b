#!/usr/bin/env python3
"""Measures the gain from a second disk: bitcoind rebuilds the chainstate with all stores on one
disk, and with chainstate and work of the booster on another.

    bench/ibd/two_disks.py --build build --work /somewhere [--outputs 8000000] [--repeat 3]
        [--rate 100000000] [--requests 5000] [--memory 256]

The disks are simulated: each is an ext4 file system on a loop device that the system holds to
--rate bytes and --requests requests a second, for reads and for writes. The disk below must be much
faster than both. Block files are not in the page cache; --memory MiB bound the process and the
cache of its files, and -dbcache is a tenth of that. Both ways of a rebuild are run: block after
block, and with the booster without a hints file. Needs root and control groups of version 1
(blkio.throttle).
"""
import contextlib
import os
import shutil
import sys
import time
import unittest
from pathlib import Path

import file_systems
import measure
from cold import BYTES_PER_OUTPUT, drop

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/support"))

from memory_limit import MemoryLimit  # noqa: E402 (needs the path above)

THROTTLE = Path("/sys/fs/cgroup/blkio")
BOUNDS = ("read_bps", "write_bps", "read_iops", "write_iops")
ONE, TWO = "one disk", "two disks"
MODES = {"block after block": "-ibdbooster=0", "booster without hints": "-ibdbooster"}
DATABASE_SHARE = 10  # of the memory: one part in ten is -dbcache
MORE_BYTES = 2 << 30  # of a disk


@contextlib.contextmanager
def bounded(folder, args):
    """The disk of the folder has its bounds inside the `with`."""
    device = os.stat(folder).st_dev
    name = f"{os.major(device)}:{os.minor(device)}"

    def bound(values):
        for kind, value in zip(BOUNDS, values):
            (THROTTLE / f"blkio.throttle.{kind}_device").write_text(f"{name} {value}")
    bound((args.rate, args.rate, args.requests, args.requests))
    try:
        yield
    finally:
        bound((0, 0, 0, 0))


class Bench:
    def __init__(self, args, first, second):
        self.args, self.first, self.second = args, first, second
        made = args.work / f"chain-{args.outputs}"
        hints = made / "chain.hints"
        self.summary = measure.chain(args.build, made, args.outputs, "--xor", "--tail",
                                     measure.TAIL, "--container", hints)
        shutil.copytree(made, first, dirs_exist_ok=True)
        self.net = first / "regtest"
        measure.timed([*self.program(f"-ibdboosterfile={hints}"), "-reindex"])
        shutil.copytree(self.net / "blocks/index", first / "index")

    def program(self, *options):
        return measure.bitcoind(self.args.build, self.first, self.summary["height"],
                                f"-assumevalid={self.summary['hints_hash']}", *options)

    def clear(self):
        """As before the first rebuild: blocks and their index, and nothing else."""
        for folder in (self.net / "chainstate", self.net / "blocks/index", self.second / "regtest"):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.first / "index", self.net / "blocks/index")
        for path in self.net.glob("blocks/rev*.dat"):
            path.unlink()
        os.sync()
        drop(self.net / "blocks")

    def run(self, mode, disks):
        self.clear()
        places = [f"-chainstatedir={self.second}", f"-ibdboosterdir={self.second}"]
        command = self.program("-reindex-chainstate", MODES[mode],
                               f"-dbcache={self.args.memory // DATABASE_SHARE}",
                               *(places if disks == TWO else []))
        with MemoryLimit(self.args.memory << 20) as limit, bounded(self.first, self.args), \
                bounded(self.second, self.args):
            text, result = measure.timed([*limit.prefix, *command])
            begin = time.monotonic()
            os.sync()  # what the run left to be written
            result["seconds"] += time.monotonic() - begin
        if self.summary["tip"] not in text:
            sys.exit(f"{mode}: did not reach the tip\n{text[-2000:]}")
        measure.say(f"{mode}, {disks}", result)
        return result

    def report(self, results):
        rows = []
        for mode in MODES:
            one, two = results[mode, ONE], results[mode, TWO]
            gain = 1 - two["seconds"] / one["seconds"]
            rows.append((mode, f"{one['seconds']:.1f}", f"{two['seconds']:.1f}",
                         f"{100 * gain:.0f} %", f"{one['cpu']:.1f}"))
        summary, args = self.summary, self.args
        return "\n".join([
            f"Chain: {summary['outputs']:,} outputs, {summary['bytes'] / 1e9:.2f} GB in "
            f"{summary['height']:,} blocks. Disks of {args.rate / 1e6:.0f} MB/s and "
            f"{args.requests:,} requests a second, {args.memory} MiB of memory. {args.repeat} "
            "run(s) each, median.", "",
            *measure.table(("", "one disk, s", "two disks, s", "less time", "CPU s"), *rows), ""])


def missing():
    """Why there are no such disks here; none: there are."""
    if not (THROTTLE / "blkio.throttle.read_bps_device").exists():
        return f"skipped, there is no {THROTTLE}/blkio.throttle.read_bps_device"
    try:
        with MemoryLimit(1 << 30):
            return file_systems.missing("ext4")
    except unittest.SkipTest as reason:
        return f"skipped, {reason}"


def main():
    parser = measure.arguments(__doc__, outputs=8_000_000, repeat=3)
    parser.add_argument("--rate", type=int, default=100_000_000, help="bytes a second of a disk")
    parser.add_argument("--requests", type=int, default=5_000, help="a second, of a disk")
    parser.add_argument("--memory", type=int, default=256, help="MiB")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if reason := missing():
        print(reason)
        return 0
    size = args.outputs * BYTES_PER_OUTPUT * 2 + MORE_BYTES
    with file_systems.mounted("ext4", args.work / "first", size) as first, \
            file_systems.mounted("ext4", args.work / "second", size) as second:
        bench = Bench(args, first, second)
        runs = {}
        for _ in range(args.repeat):
            for mode in MODES:
                for disks in (ONE, TWO):
                    runs.setdefault((mode, disks), []).append(bench.run(mode, disks))
        results = {key: measure.median_run(many) for key, many in runs.items()}
        measure.write(args.work, "two_disks", bench.report(results),
                      {"summary": bench.summary,
                       "runs": {", ".join(key): many for key, many in runs.items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
