#!/usr/bin/env python3
"""Measures connecting a generated chain with real signatures serially, every script checked: our
bitcoind against Bitcoin Core's engine (the kernel oracle, test/interop/README.md), from the same
block files, with two script threads and a cache of 450 MiB each.

    bench/ibd/import.py --build build --work /somewhere [--outputs 2000000] [--repeat 1]

Two ways, each from nothing: `import` reads the files into an empty directory (-loadblock),
`reindex` starts from block files in place (-reindex). Times are whole runs, taken alternately.
"""
import shutil
import sys
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "interop"))

from interop_env import built_program  # noqa: E402 (needs the path above)

MAX_RATIO = 1.0  # the target


class Bench:
    def __init__(self, args):
        self.args = args
        self.source = args.work / f"import-{args.outputs}"
        self.summary = measure.chain(args.build, self.source, args.outputs, "--signed")
        self.files = sorted((self.source / "regtest/blocks").glob("blk*.dat"))
        self.datadir = args.work / "import-datadir"
        self.oracle = built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")

    def fresh(self, way):
        """An empty directory; for reindex, one with only the block files."""
        shutil.rmtree(self.datadir, ignore_errors=True)
        blocks = self.datadir / "regtest/blocks"
        blocks.mkdir(parents=True)
        if way == "reindex":
            for file in self.files:
                shutil.copy(file, blocks)

    def ours(self, way):
        options = ["-reindex"] if way == "reindex" else [f"-loadblock={f}" for f in self.files]
        return measure.bitcoind(self.args.build, self.datadir, self.summary["height"],
                                "-assumevalid=0", "-par=2", *options)

    def kernel(self, way):
        files = self.files if way == "import" else []
        return [self.oracle, way, "--datadir", self.datadir / "regtest", "--par", "2", *files]

    def run(self, way, who):
        self.fresh(way)
        command = self.ours(way) if who == "ours" else self.kernel(way)
        text, result = measure.timed(command)
        if self.summary["tip"] not in text:
            sys.exit(f"{who}, {way}: did not reach the tip\n{text[-2000:]}")
        measure.say(f"{way}, {who}", result)
        return result


def main():
    args = measure.arguments(__doc__, outputs=2_000_000, repeat=1).parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    summary = bench.summary
    runs = {(way, who): [] for way in ("import", "reindex") for who in ("kernel", "ours")}
    for _ in range(args.repeat):
        for way, who in runs:
            runs[way, who].append(bench.run(way, who))
    results = {name: measure.median_run(taken) for name, taken in runs.items()}
    rows = [(way, who, f"{r['seconds']:.1f}", f"{r['cpu']:.1f}",
             f"{summary['inputs'] / r['seconds']:,.0f}") for (way, who), r in results.items()]
    verdicts = [(f"{way}, ours / kernel",
                 results[way, "ours"]["seconds"] / results[way, "kernel"]["seconds"],
                 "<=", MAX_RATIO) for way in ("import", "reindex")]
    text = "\n".join([
        measure.about_signed(summary, args.repeat), "",
        *measure.table(("", "engine", "seconds", "CPU s", "inputs/s"), *rows), "",
        *measure.verdict_table(verdicts), ""])
    measure.write(args.work, "import", text, {"summary": summary, "results": [
        {"way": way, "engine": who, **r} for (way, who), r in results.items()]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
