#!/usr/bin/env python3
"""Measures serial validation, the booster on 1 and 2 threads, and the floor over one generated
chain, in one run on one machine, and writes numbers (JSON, Markdown) and a plot (SVG).

    bench/ibd/run.py --build build --work /somewhere/with/20GB [--outputs 33000000]

The chain is generated once and kept. Times are medians of --repeat runs, taken alternately. The
floor program only reads the files, parses, computes ids and merkle roots and one compression for
each output and input, with the booster's own kernels and read path.
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

import plot

# The bars: issue "The engine: parallel, bounded, durable, at the physical limit".
MAX_RATIO_TO_FLOOR = 1.5
MIN_SPEEDUP_2_THREADS = 1.8
MIN_SPEEDUP_OVER_SERIAL = 10.0
MAX_RSS = 200 << 20
MAX_WRITTEN_RATIO = 2.2


def run_json(command):
    """The line of JSON that a program prints."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def generate(args):
    """The chain and its hints, made once; returns the folder of block files and the bitmap."""
    folder = args.work / f"chain-{args.outputs}"
    bitmap, summary = folder / "hints.bitmap", folder / "summary.json"
    if not summary.exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"generating {args.outputs} outputs ...", flush=True)
        made = subprocess.run(
            [args.build / "bin/ibd-chaingen", "--out", folder, "--outputs", str(args.outputs),
             "--xor", "--shuffle", "50", "--preallocate", "--bitmap", bitmap],
            stdout=subprocess.PIPE, check=True, text=True)
        summary.write_text(made.stdout)
    return folder, bitmap, json.loads(summary.read_text())


def warm(blocks):
    """Reads the block files once, so that every program meets the same page cache."""
    for path in sorted(blocks.glob("blk*.dat")):
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass


def bench(args, mode, blocks, threads, bitmap=None):
    command = [args.build / "bin/ibd-sync-bench", mode, "--blocks", blocks, "--threads", threads]
    if mode == "booster":
        command += ["--hints", bitmap, "--work", args.work / "booster-work"]
    result = run_json(command)
    print(f"  {mode}, {threads} thread(s): {result['seconds']:.2f} s, "
          f"{result['cpu']:.2f} s of CPU", flush=True)
    return result


def serial(args, folder, summary):
    """Our own serial engine from the same files; scripts skipped as under assume-valid."""
    bitcoind = args.build / "bin/bitcoind"
    common = [bitcoind, "-regtest", f"-datadir={folder}", "-dbcache=450", "-server=0", "-listen=0",
              "-connect=0", f"-assumevalid={summary['tip']}", f"-stopatheight={summary['height']}"]
    if not (folder / "regtest/blocks/index").exists():
        print("  indexing ...", flush=True)
        subprocess.run([*map(str, common), "-reindex"], stdout=subprocess.DEVNULL, check=True)
    start = time.monotonic()
    usage_before = os.times()
    subprocess.run([*map(str, common), "-reindex-chainstate"], stdout=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - start
    usage = os.times()
    cpu = usage.children_user + usage.children_system
    cpu -= usage_before.children_user + usage_before.children_system
    print(f"  serial: {seconds:.1f} s, {cpu:.1f} s of CPU", flush=True)
    return {"mode": "serial", "threads": 1, "seconds": seconds, "cpu": cpu}


def median_run(runs):
    middle = statistics.median_low([r["seconds"] for r in runs])
    return next(r for r in runs if r["seconds"] == middle)


def judge(results):
    """(what, value, bar, met) for each bar."""
    floor1, floor2 = results["floor1"], results["floor2"]
    one, two = results["booster1"], results["booster2"]
    rss = max(r["peak_rss"] - r["hints_bytes"] for r in (one, two))
    rows = [
        ("booster / floor, 1 thread", one["seconds"] / floor1["seconds"], MAX_RATIO_TO_FLOOR, "<="),
        ("booster / floor, 2 threads", two["seconds"] / floor2["seconds"], MAX_RATIO_TO_FLOOR, "<="),
        ("booster, 1 thread / 2 threads", one["seconds"] / two["seconds"], MIN_SPEEDUP_2_THREADS,
         ">="),
        ("peak resident above hints, MiB", rss / 2**20, MAX_RSS / 2**20, "<="),
        ("bytes written / chainstate", two["written"] / two["chainstate_bytes"], MAX_WRITTEN_RATIO,
         "<="),
    ]
    if "serial" in results:
        rows.append(("serial / booster, 2 threads", results["serial"]["seconds"] / two["seconds"],
                     MIN_SPEEDUP_OVER_SERIAL, ">="))
    return [(name, value, bar, sign, value <= bar if sign == "<=" else value >= bar)
            for name, value, bar, sign in rows]


def report(args, summary, results, verdicts):
    lines = [f"Chain: {summary['outputs']:,} outputs, {summary['inputs']:,} inputs, "
             f"{summary['bytes'] / 1e9:.2f} GB in {summary['height']:,} blocks, "
             f"{summary['unspent']:,} coins. {args.repeat} run(s) each, median; page cache warm; "
             f"load average {os.getloadavg()[0]:.1f}.", "",
             "| | seconds | CPU s | M outputs/s | GB/s |", "|---|---|---|---|---|"]
    for name, r in results.items():
        lines.append(f"| {name} | {r['seconds']:.2f} | {r['cpu']:.2f} "
                     f"| {summary['outputs'] / r['seconds'] / 1e6:.2f} "
                     f"| {summary['bytes'] / r['seconds'] / 1e9:.2f} |")
    lines += ["", "| measure | value | bar | met |", "|---|---|---|---|"]
    for name, value, bar, sign, met in verdicts:
        lines.append(f"| {name} | {value:.2f} | {sign} {bar:g} | {'yes' if met else 'NO'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--work", type=Path, required=True, help="folder for chain and results")
    parser.add_argument("--outputs", type=int, default=33_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-serial", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, bitmap, summary = generate(args)
    blocks = folder / "regtest/blocks"
    warm(blocks)
    runs = {name: [] for name in ("floor1", "floor2", "booster1", "booster2")}
    for _ in range(args.repeat):
        for threads in (1, 2):
            runs[f"floor{threads}"].append(bench(args, "floor", blocks, threads))
            runs[f"booster{threads}"].append(bench(args, "booster", blocks, threads, bitmap))
    results = {name: median_run(r) for name, r in runs.items()}
    if not args.no_serial:
        results["serial"] = serial(args, folder, summary)
    verdicts = judge(results)
    text = report(args, summary, results, verdicts)
    print(text)
    (args.work / "results.md").write_text(text)
    (args.work / "results.json").write_text(json.dumps({"summary": summary, "runs": runs,
                                                        "results": results}, indent=1))
    (args.work / "results.svg").write_text(plot.svg(results, verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
