#!/usr/bin/env python3
"""Measures full validation by the booster, on 1 and 2 threads, against serial validation with two
script threads, over one generated chain with real signatures: the same node, the same block and
undo files, every script run by each. Writes numbers as JSON and Markdown.

    bench/ibd/full_validation.py --build build --work /somewhere [--outputs 400000]

The chain is generated and indexed once and kept. Times are whole runs of bitcoind, from start to
end, medians of --repeat, taken alternately.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

# The bars: issue "The engine: parallel, bounded, durable, at the physical limit".
MIN_SPEEDUP_2_THREADS = 1.8
MIN_SPEEDUP_OVER_SERIAL = 1.0

MODES = {
    "serial, 2 script threads": ["-par=2"],
    "full validation, 1 thread": ["-par=1", "-ibdboosterfullvalidation", "-ibdboosterthreads=1"],
    "full validation, 2 threads": ["-par=1", "-ibdboosterfullvalidation", "-ibdboosterthreads=2"],
}


def generate(args):
    """The chain and its hints, made once."""
    folder = args.work / f"signed-{args.outputs}"
    summary = folder / "summary.json"
    if not summary.exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"generating {args.outputs} outputs with signatures ...", flush=True)
        made = subprocess.run(
            [args.build / "bin/ibd-chaingen", "--out", folder, "--outputs", str(args.outputs),
             "--signed", "--xor", "--preallocate", "--container", folder / "hints",
             "--tail", "1"],  # the block above the hints, at which bitcoind stops
            stdout=subprocess.PIPE, check=True, text=True)
        summary.write_text(made.stdout)
    return folder, json.loads(summary.read_text())


def node(args, folder, summary, options):
    """Runs bitcoind up to the last block; returns what it printed, seconds and seconds of CPU."""
    command = [args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}", "-dbcache=450",
               "-server=0", "-listen=0", "-connect=0", "-assumevalid=0", "-checkblocks=1",
               f"-stopatheight={summary['height']}", *options]
    before, start = os.times(), time.monotonic()
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True, text=True)
    seconds, after = time.monotonic() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, {"seconds": seconds, "cpu": cpu}


def measure(args, folder, summary, name):
    options = ["-reindex-chainstate", *MODES[name]]
    boosted = "full" in name
    if boosted:
        options.append(f"-ibdboosterfile={folder / 'hints'}")
    text, result = node(args, folder, summary, options)
    if boosted and "checking every rule and script" not in text:
        sys.exit(f"{name}: did not validate in full\n{text}")
    if boosted and f"check at block height {summary['height'] - 1} succeeded" not in text:
        sys.exit(f"{name}: was not accepted\n{text}")
    print(f"  {name}: {result['seconds']:.2f} s, {result['cpu']:.2f} s of CPU", flush=True)
    return result


def judge(results):
    """(what, value, bar, met) for each bar."""
    serial, one, two = (results[name]["seconds"] for name in MODES)
    rows = [("full validation, 1 thread / 2 threads", one / two, MIN_SPEEDUP_2_THREADS),
            ("serial / full validation, both with 2 threads", serial / two,
             MIN_SPEEDUP_OVER_SERIAL)]
    return [(name, value, bar, value >= bar) for name, value, bar in rows]


def report(args, summary, results, verdicts):
    lines = [f"Signed chain: {summary['outputs']:,} outputs, {summary['inputs']:,} inputs, "
             f"{summary['bytes'] / 1e6:.0f} MB in {summary['height']:,} blocks. {args.repeat} "
             f"run(s) each, median; load average {os.getloadavg()[0]:.1f}.", "",
             "| | seconds | CPU s | inputs/s |", "|---|---|---|---|"]
    for name, r in results.items():
        lines.append(f"| {name} | {r['seconds']:.2f} | {r['cpu']:.2f} "
                     f"| {summary['inputs'] / r['seconds']:,.0f} |")
    lines += ["", "| measure | value | bar | met |", "|---|---|---|---|"]
    for name, value, bar, met in verdicts:
        lines.append(f"| {name} | {value:.2f} | >= {bar:g} | {'yes' if met else 'NO'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--work", type=Path, required=True, help="folder for chain and results")
    parser.add_argument("--outputs", type=int, default=400_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, summary = generate(args)
    if not list((folder / "regtest/blocks").glob("rev*.dat")):
        print("indexing, and validating serially to get undo data ...", flush=True)
        node(args, folder, summary, ["-reindex", "-par=2"])
    runs = {name: [] for name in MODES}
    for _ in range(args.repeat):
        for name in MODES:
            runs[name].append(measure(args, folder, summary, name))
    results = {}
    for name, taken in runs.items():
        middle = statistics.median_low([r["seconds"] for r in taken])
        results[name] = next(r for r in taken if r["seconds"] == middle)
    verdicts = judge(results)
    text = report(args, summary, results, verdicts)
    print(text)
    (args.work / "full_validation.md").write_text(text)
    (args.work / "full_validation.json").write_text(
        json.dumps({"summary": summary, "runs": runs, "results": results}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
