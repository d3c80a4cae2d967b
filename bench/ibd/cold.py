#!/usr/bin/env python3
"""Measures reading a chain that is not in the system's cache: the booster, the join, undo data from
blocks alone, and bitcoind -reindex with hints, with its own hints, block after block, and by Core;
each with cold files and with the same files in the cache, in turn, against a direct read of the
same files.

    bench/ibd/cold.py --build build --work /somewhere [--outputs 40000000] [--repeat 3]
        [--only booster,join,undo,reindex,own,serial,core] [--on ext4,xfs,btrfs,tmpfs]

--on runs all of this on each of these file systems, new ones below the folder. A million outputs
are 180 MB of block files; the disk needs twice the chain, and 2 GB. The files are dropped from the
cache before a cold run, so that the chain need not be larger than memory; if it is, the other runs
are partly cold too. The rate of a run counts all bytes that it reads from the disk or writes to it.
cold.svg has the rate at which each first cold run reads.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import file_systems
import measure
import plot
import plot_curves
from indexes import built_program

MIN_RATE = 0.9  # of the direct read; the booster's target is this or the next
MAX_CPU_RATIO = 1.1  # of the same bytes from the cache
THREADS = 2
PIECE = "4M"
BYTES_PER_OUTPUT = 185  # of block files
MORE_BYTES = 2 << 30  # of the disk
SYNC_BENCH = ("booster", "join", "undo")
WAYS = (*SYNC_BENCH, "reindex", "own", "serial", "core")


def block_files(blocks):
    return sorted(blocks.glob("blk*.dat"))


def drop(blocks):
    """Drops the files from the system's cache."""
    for path in block_files(blocks):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


class DiskUse:
    """The bytes that a process has moved over time: (seconds, written, read from disks), ten times
    a second."""

    def __init__(self):
        self.samples = []

    def __call__(self, pid):
        start = time.monotonic()
        with contextlib.suppress(OSError):  # the process has ended
            while found := re.search(r"^read_bytes: (\d+)\nwrite_bytes: (\d+)",
                                     Path(f"/proc/{pid}/io").read_text(), re.MULTILINE):
                self.samples.append((time.monotonic() - start, int(found[2]), int(found[1])))
                time.sleep(0.1)

    def moved(self, seconds):
        """Bytes read and written in the last seconds of the run."""
        end, written, read = self.samples[-1]
        begin = next(sample for sample in self.samples if sample[0] >= end - seconds)
        return written + read - begin[1] - begin[2]

    def rates(self, seconds):
        """GB/s over the last seconds of the run, averaged over half a second."""
        begin = max(self.samples[-1][0] - seconds, 0) if self.samples else 0
        return [(at - begin, rate / 1e9) for at, rate in plot.rates(self.samples) if at >= begin]


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = args.work / f"cold-chain-{args.outputs}"
        self.hints = self.folder / "chain.hints"
        self.summary = measure.chain(args.build, self.folder, args.outputs, "--xor", "--tail",
                                     measure.TAIL, "--container", self.hints)
        self.blocks = self.folder / "regtest/blocks"
        self.bytes = sum(path.stat().st_size for path in block_files(self.blocks))
        self.curves = {}  # of the first cold run of each way

    def direct(self):
        """One read around the cache, from start to end, one request at a time."""
        total = {"seconds": 0, "cpu": 0}
        for path in block_files(self.blocks):
            _, result = measure.timed(["dd", f"if={path}", "of=/dev/null", f"bs={PIECE}",
                                       "iflag=direct", "status=none"])
            total = {key: total[key] + result[key] for key in total}
        measure.say("direct read", total)
        return total

    def sync_bench(self, way, cold, reads):
        work = self.args.work / "cold-work"
        text, _ = measure.timed([self.args.build / "bin/ibd-sync-bench", way, "--blocks",
                                 self.blocks, "--threads", THREADS, "--cold", int(cold), "--hints",
                                 self.hints, "--work", work], reads)
        shutil.rmtree(work, ignore_errors=True)
        return json.loads(text.strip().splitlines()[-1])

    def program(self, way):
        """The command of a -reindex, without its common options."""
        if way == "core":
            return measure.local_sync(built_program("build_core.sh", "IBD_CORE") / "bitcoind",
                                      self.folder, self.summary["height"])
        modes = {"reindex": f"-ibdboosterfile={self.hints}", "own": "-ibdbooster",
                 "serial": "-ibdbooster=0"}
        return measure.bitcoind(self.args.build, self.folder, self.summary["height"], modes[way])

    def reindex(self, way, cold, reads):
        for name in ("chainstate", "blocks/index"):
            shutil.rmtree(self.folder / "regtest" / name, ignore_errors=True)
        for path in self.blocks.glob("rev*.dat"):
            path.unlink()
        (drop if cold else measure.warm)(self.blocks)
        text, result = measure.timed([*self.program(way), "-reindex",
                                      f"-assumevalid={self.summary['hints_hash']}"], reads)
        if self.summary["tip"] not in text:
            sys.exit(f"{way}: did not reach the tip\n{text[-2000:]}")
        return result

    def run(self, way, cold):
        disk = DiskUse()
        start = self.sync_bench if way in SYNC_BENCH else self.reindex
        result = start(way, cold, disk)
        if cold:
            self.curves.setdefault(way, disk.rates(result["seconds"]))
            result["moved"] = disk.moved(result["seconds"])
        measure.say(f"{way}, {'cold' if cold else 'from the cache'}", result)
        return result

    def report(self, direct, results):
        size = self.bytes / 1e9
        rows = [("direct read", f"{direct['seconds']:.1f}", f"{direct['cpu']:.1f}", "", "",
                 f"{size / max(direct['seconds'], measure.CLOCK_TICK):.2f}",
                 f"{size:.2f}", "")]
        verdicts = []
        for way in self.args.only:
            cold, warm = results[way, True], results[way, False]
            ratio = measure.ratio(cold["cpu"], warm["cpu"])
            rows.append((way, f"{cold['seconds']:.1f}", f"{cold['cpu']:.1f}",
                         f"{warm['seconds']:.1f}", f"{warm['cpu']:.1f}",
                         f"{cold['moved'] / 1e9 / cold['seconds']:.2f}",
                         f"{cold['moved'] / 1e9:.2f}", f"{ratio:.2f}"))
            verdicts.append((f"{way}, CPU, cold / cached", ratio, "<=", MAX_CPU_RATIO))
            verdicts.append((f"{way}, rate of the disk / direct",
                             measure.ratio(cold["moved"] / cold["seconds"],
                                           self.bytes / direct["seconds"]), ">=", MIN_RATE))
        head = ("", "cold, s", "CPU s", "cached, s", "CPU s", "cold, GB/s", "read and written, GB",
                "CPU, cold / cached")
        return "\n".join([
            f"{self.summary['outputs']:,} outputs, {size:.2f} GB of block files, {THREADS} "
            f"threads, {self.args.repeat} run(s) each, median. One of each pair of targets is to "
            "be met.",
            "", *measure.table(head, *rows), "", *measure.verdict_table(verdicts), ""])


def bench_all(args):
    bench = Bench(args)
    runs, direct = {}, []
    for _ in range(args.repeat):
        drop(bench.blocks)
        direct.append(bench.direct())
        for way in args.only:
            for cold in (True, False):
                runs.setdefault((way, cold), []).append(bench.run(way, cold))
    direct = measure.median_run(direct)
    results = {key: measure.median_run(taken) for key, taken in runs.items()}
    (args.work / "cold.svg").write_text(plot_curves.draw(
        "GB/s read from the disk over seconds, cold block files", bench.curves,
        {"dd, direct": bench.bytes / 1e9 / max(direct["seconds"], measure.CLOCK_TICK)}))
    measure.write(args.work, "cold", bench.report(direct, results),
                  {"summary": bench.summary, "bytes": bench.bytes, "direct": direct,
                   "results": [{"way": way, "cold": cold, **result}
                               for (way, cold), result in results.items()]})


def words(most):
    """The type of an option that takes some of these words."""
    def parsed(text):
        chosen = text.split(",")
        if not set(chosen) <= set(most):
            raise argparse.ArgumentTypeError(f"some of {', '.join(most)}")
        return chosen
    return parsed


def main():
    parser = measure.arguments(__doc__, outputs=40_000_000, repeat=3)
    parser.add_argument("--only", default=WAYS, type=words(WAYS))
    parser.add_argument("--on", default=[], type=words(file_systems.KINDS), help="file systems")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if not args.on:
        bench_all(args)
    for kind in args.on:
        if reason := file_systems.missing(kind):
            print(reason)
            continue
        size = args.outputs * BYTES_PER_OUTPUT * 2 + MORE_BYTES
        with file_systems.mounted(kind, args.work, size) as folder:
            print(f"{kind}:", flush=True)
            bench_all(argparse.Namespace(**vars(args) | {"work": folder}))
            shutil.copy(folder / "cold.md", args.work / f"cold-{kind}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
