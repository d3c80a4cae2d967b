#!/usr/bin/env python3
"""Measures connecting blocks whose inputs are in LevelDB alone: our bitcoind against Bitcoin Core's
engine (the kernel oracle, test/interop/README.md), each from a copy of one data directory that
Core's engine wrote, with two script threads and a cache of 450 MiB.

    bench/ibd/cold_inputs.py --build build --work /somewhere [--outputs 4000000] [--last 20]

The directory stands --last blocks below the tip. A run opens it and takes the last blocks from a
file; a second one opens it and takes an empty file, and its time is subtracted. Scripts are the
kind that anyone can spend, so that little but coins is left to measure. Runs are taken alternately.
The report says how many inputs spend coins from below, which are cold, and how many coins of those
same blocks.
"""
import shutil
import statistics
import sys
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "interop"))

from interop_env import built_program  # noqa: E402 (needs the path above)
from wire import block_transactions, parse_tx  # noqa: E402

MAX_RATIO = 1.0  # the target
FRAME_HEADER = 8  # magic, length


def frames(files):
    """The records of block files in their order, headers included."""
    for file in files:
        raw, at = file.read_bytes(), 0
        while at < len(raw):
            end = at + FRAME_HEADER + int.from_bytes(raw[at + 4:at + FRAME_HEADER], "little")
            yield raw[at:end]
            at = end


def count_inputs(blocks):
    """Inputs of the records, and those of them that spend a coin from below the first."""
    made, spent = set(), []
    for block in blocks:
        coinbase, *txs = [parse_tx(raw) for raw, _ in block_transactions(block[FRAME_HEADER:])]
        made.update(tx.txid() for tx in (coinbase, *txs))
        spent += [txid for tx in txs for txid, *_ in tx.inputs]
    return len(spent), sum(1 for txid in spent if txid not in made)


class Bench:
    def __init__(self, args):
        self.args = args
        source = args.work / f"cold-{args.outputs}"
        self.summary = measure.chain(args.build, source, args.outputs,
                                     "--outputs-per-block", min(7000, args.outputs // 200))
        self.oracle = built_program("build_oracle.sh", "IBD_KERNEL_ORACLE")
        self.base, self.datadir = args.work / "cold-base", args.work / "cold-datadir"
        self.first, self.last = args.work / "cold-first.dat", args.work / "cold-last.dat"
        self.empty = args.work / "cold-empty.dat"
        self.empty.write_bytes(b"")
        self.split(sorted((source / "regtest/blocks").glob("blk*.dat")))
        shutil.rmtree(self.base, ignore_errors=True)
        (self.base / "regtest").mkdir(parents=True)
        text, _ = measure.timed(self.kernel(self.base, self.first))
        self.height = self.summary["height"] - args.last
        assert text.startswith(f"tip {self.height} "), text

    def split(self, files):
        """All but the last blocks in one file, those in another."""
        blocks = list(frames(files))
        assert len(blocks) > self.args.last
        self.first.write_bytes(b"".join(blocks[:-self.args.last]))
        self.last.write_bytes(b"".join(blocks[-self.args.last:]))
        self.inputs, self.cold = count_inputs(blocks[-self.args.last:])

    def kernel(self, datadir, file):
        return [self.oracle, "import", "--datadir", datadir / "regtest", "--par", "2", file]

    def ours(self, datadir, file):
        height = self.height if file == self.empty else self.summary["height"]
        return measure.bitcoind(self.args.build, datadir, height, "-assumevalid=0", "-par=2",
                                f"-loadblock={file}")

    def run(self, who, file):
        shutil.rmtree(self.datadir, ignore_errors=True)
        shutil.copytree(self.base, self.datadir)
        text, result = measure.timed(getattr(self, who)(self.datadir, file))
        if file == self.last and self.summary["tip"] not in text:
            sys.exit(f"{who}: did not reach the tip\n{text[-2000:]}")
        return result

    def connect(self, who):
        """Seconds and CPU of connecting, without opening and closing."""
        idle, busy = self.run(who, self.empty), self.run(who, self.last)
        result = {name: busy[name] - idle[name] for name in busy}
        measure.say(who, result)
        return result


def main():
    parser = measure.arguments(__doc__, outputs=4_000_000, repeat=5)
    parser.add_argument("--last", type=int, default=20, help="blocks to connect")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    runs = {"kernel": [], "ours": []}
    for _ in range(args.repeat):
        for who, taken in runs.items():
            taken.append(bench.connect(who))
    results = {who: {name: statistics.median(run[name] for run in taken) for name in taken[0]}
               for who, taken in runs.items()}
    rows = [(who, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}") for who, r in results.items()]
    verdicts = [(f"{what}, ours / kernel",
                 measure.ratio(results["ours"][what], results["kernel"][what]), "<=", MAX_RATIO)
                for what in ("seconds", "cpu")]
    text = "\n".join([
        f"The last {args.last} blocks of a chain of {bench.summary['outputs']:,} outputs, "
        f"{bench.last.stat().st_size / 1e6:.1f} MB, from a directory just opened: {bench.inputs:,} "
        f"inputs, {bench.cold:,} of them cold. {args.repeat} run(s) each, median.", "",
        *measure.table(("", "seconds", "CPU s"), *rows), "", *measure.verdict_table(verdicts), ""])
    measure.write(args.work, "cold_inputs", text, {"summary": bench.summary, "runs": runs,
                                                   "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
