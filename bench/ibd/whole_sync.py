#!/usr/bin/env python3
"""Measures validating every script of a generated chain with real signatures, three ways in turn:
Bitcoin Core with -reindex-chainstate -assumevalid=0, our serial engine with the same options, and
our full validation from block files alone, which makes the block index as well. On one thread and
on two.

    bench/ibd/whole_sync.py --build build-release --work /somewhere [--outputs 400000]
        [--repeat 3] [--threads 1,2] [--no-core]

The chain is generated and indexed once and kept; Core gets a copy of block files, undo data and
block index, which it reads as its own. Times are whole runs from start to end, medians of --repeat,
with caches of 450 MiB. The last lines extrapolate the CPU time of an input to mainnet's inputs:
arithmetic, not a measurement.
"""
import shutil
import sys
from pathlib import Path

import full_validation
import measure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "interop"))

from interop_env import built_program  # noqa: E402 (needs the path above)

MIN_RATIO = 2.5  # the target, of time and of CPU time
MAINNET_INPUTS = 3.2e9
CORES = 4, 16

CORE, SERIAL, FULL = "Core", "serial engine", "full validation from blocks"


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder, self.summary = full_validation.signed_chain(args)
        self.core = None if args.no_core else built_program("build_core.sh", "IBD_CORE")
        self.core_folder = args.work / f"core-{args.outputs}"
        self.index()

    def core_command(self, *options):
        return measure.local_sync(self.core / "bitcoind", self.core_folder, self.summary["height"],
                                  "-printtoconsole", *options)

    def index(self):
        """Once: the block index and undo data that -reindex-chainstate starts from."""
        trusted = f"-assumevalid={self.summary['tip']}"
        if not list((self.folder / "regtest/blocks").glob("rev*.dat")):
            print("indexing ...", flush=True)
            measure.timed(measure.bitcoind(self.args.build, self.folder, self.summary["height"],
                                           trusted, "-reindex", "-ibdbooster=0"))
        if self.core and not (self.core_folder / "copied").exists():
            shutil.rmtree(self.core_folder, ignore_errors=True)
            shutil.copytree(self.folder / "regtest/blocks", self.core_folder / "regtest/blocks")
            (self.core_folder / "copied").touch()

    def command(self, way, threads):
        options = ["-reindex-chainstate", "-assumevalid=0", f"-par={threads}", "-checkblocks=1"]
        if way == CORE:
            return self.core_command(*options)
        return measure.bitcoind(self.args.build, self.folder, self.summary["height"], *options,
                                "-ibdbooster=0")

    def run(self, way, threads):
        measure.warm((self.core_folder if way == CORE else self.folder) / "regtest/blocks")
        if way == FULL:
            name = f"from blocks: full validation, {threads} thread{'s' if threads > 1 else ''}"
            full_validation.FROM_BLOCKS.setdefault(
                name, [*full_validation.BOOSTED, "-ibdbooster", f"-ibdboosterthreads={threads}"])
            return full_validation.run_from_blocks(self.args, self.folder, self.summary, name)
        text, result = measure.timed(self.command(way, threads))
        if self.summary["tip"] not in text:
            sys.exit(f"{way}: did not reach the tip\n{text[-2000:]}")
        measure.say(f"{way}, {threads} thread(s)", result)
        return result

    def microseconds(self, result):
        """CPU time of an input."""
        return result["cpu"] / self.summary["inputs"] * 1e6

    def report(self, results):
        rows = [(way, threads, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}",
                 f"{self.microseconds(r):.1f}") for (way, threads), r in results.items()]
        verdicts = [(f"{way} / {FULL}, {threads} thread(s), {what}",
                     r[key] / results[FULL, threads][key], ">=", MIN_RATIO)
                    for (way, threads), r in results.items() if way != FULL
                    for what, key in (("time", "seconds"), ("CPU", "cpu"))]
        return "\n".join([
            measure.about_signed(self.summary, self.args.repeat), "",
            *measure.table(("", "threads", "seconds", "CPU s", "CPU µs an input"), *rows), "",
            *measure.verdict_table(verdicts), "", *self.for_mainnet(results), ""])

    def for_mainnet(self, results):
        threads = max(number for _, number in results)
        return [f"{MAINNET_INPUTS:,.0f} inputs at {self.microseconds(r):.1f} µs, {way}: " +
                ", ".join(f"{MAINNET_INPUTS * self.microseconds(r) / cores / 3.6e9:.1f} h on "
                          f"{cores} cores" for cores in CORES)
                for (way, number), r in results.items() if number == threads]


def main():
    parser = measure.arguments(__doc__, outputs=400_000, repeat=3)
    parser.add_argument("--threads", default="1,2", help="numbers, separated by commas")
    parser.add_argument("--no-core", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    ways = [way for way in (CORE, SERIAL, FULL) if way != CORE or bench.core]
    threads = [int(number) for number in args.threads.split(",")]
    runs = {(way, number): [] for number in threads for way in ways}
    for _ in range(args.repeat):
        for way, number in runs:
            runs[way, number].append(bench.run(way, number))
    results = {key: measure.median_run(taken) for key, taken in runs.items()}
    measure.write(args.work, "whole_sync", bench.report(results),
                  {"summary": bench.summary, "results": [
                      {"way": way, "threads": number, **r}
                      for (way, number), r in results.items()]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
