#!/usr/bin/env python3
"""Measures chainstate and all four indexes from stored blocks alone, in turn with Bitcoin Core.

    bench/ibd/indexed_sync.py --build build --work /somewhere [--outputs 33000000] [--repeat 1]
        [--no-core]

Each run begins with the block files of a generated chain and -reindex, and ends when getindexinfo
says that all indexes are at the last block: this node with hints and without, then Core. Also
measured: resident memory at its most, and disk at its peak without block files and without the
final files, which is the space for sorting.
"""
import shutil
import sys
from pathlib import Path

import measure
from indexes import CORE, ONE, OURS, built_program, report

HINTS, NONE = f"{OURS}, with hints", f"{OURS}, without"
LOOK_EVERY = 0.5  # seconds
LOOK_AT_DISK_EVERY = 4  # looks
MOST_MEMORY = 600 << 20  # bytes


def disk_of(net):
    """Bytes that a directory takes besides block files."""
    total = 0
    for path in net.rglob("*"):
        try:
            if path.is_file() and not path.name.startswith("blk"):
                total += path.stat().st_blocks * 512
        except FileNotFoundError:
            pass  # files come and go
    return total


def peak_of(pid):
    """Bytes that a process had in memory at its most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = args.work / f"indexed-{args.outputs}"
        hints = self.folder / "chain.hints"
        self.summary = measure.chain(args.build, self.folder, args.outputs, "--shuffle", "50",
                                     "--preallocate", "--tail", measure.TAIL, "--container", hints)
        ours = args.build / "bin/bitcoind"
        self.programs = {HINTS: [ours, f"-ibdboosterfile={hints}"], NONE: [ours, "-ibdbooster"]}
        if not args.no_core:
            self.programs[CORE] = [built_program("build_core.sh", "IBD_CORE") / "bitcoind"]

    def begin(self):
        """Leaves only the block files."""
        net = self.folder / "regtest"
        for path in net.iterdir():
            if path.name != "blocks":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in (net / "blocks").iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name.startswith("rev"):
                path.unlink()
        measure.warm(net / "blocks")
        return net

    def run(self, who):
        net, port = self.begin(), measure.free_port()
        peak, disk, looks = 0, 0, 0

        def looked(pid):
            nonlocal peak, disk, looks
            peak, looks = peak_of(pid), looks + 1
            if looks % LOOK_AT_DISK_EVERY == 0:
                disk = max(disk, disk_of(net))

        result = measure.until(
            who,
            [*self.programs[who], "-regtest", f"-datadir={self.folder}", "-reindex", "-listen=0",
             "-connect=0", f"-rpcport={port}", "-minimumchainwork=0", *measure.NO_CHECKS,
             f"-assumevalid={self.summary['hints_hash']}", *ONE],
            self.folder, port, "getindexinfo", self.done, LOOK_EVERY, looked)
        result["peak"] = peak
        result["left"] = disk_of(net)
        result["sorting"] = max(0, disk - result["left"])
        measure.say(who, result)
        return result

    def done(self, answer):
        return bool(answer) and len(answer) == len(ONE) and all(
            index["synced"] and index["best_block_height"] == self.summary["height"]
            for index in answer.values())

    def report(self, results):
        rows = [(who, f"{r['seconds']:.1f}", f"{r['cpu']:.1f}", f"{r['peak'] / 2**20:.0f}",
                 f"{r['left'] / 1e6:.0f}", f"{r['sorting'] / 1e6:.0f}")
                for who, r in results.items()]
        verdicts = []
        for who in (HINTS, NONE):
            verdicts.append((f"{who}: resident, MiB", results[who]["peak"] / 2**20, "<=",
                             MOST_MEMORY / 2**20))
            if CORE in results:
                verdicts.append((f"Core / {who}, time",
                                 results[CORE]["seconds"] / results[who]["seconds"], ">=", 8))
        head = ("program", "s", "CPU s", "resident, MiB", "disk in the end, MB", "for sorting, MB")
        return report(self.summary, self.args.repeat, head, rows, verdicts)


def main():
    parser = measure.arguments(__doc__, outputs=33_000_000, repeat=1)
    parser.add_argument("--no-core", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    runs = {}
    for _ in range(args.repeat):
        for who in bench.programs:
            runs.setdefault(who, []).append(bench.run(who))
    results = {who: measure.median_run(taken) for who, taken in runs.items()}
    measure.write(args.work, "indexed_sync", bench.report(results),
                  {"summary": bench.summary, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
