#!/usr/bin/env python3
"""Measures full validation by the booster, on 1 and 2 threads, against serial validation with two
script threads, over one generated chain with real signatures: the same node, the same block and
undo files, every script run by each. Writes numbers as JSON and Markdown.

    bench/ibd/full_validation.py --build build --work /somewhere [--outputs 400000]

The chain is generated and indexed once and kept. Times are whole runs of bitcoind, from start to
end, medians of --repeat, taken alternately.
"""
import sys

import measure

# The bars: issue "The engine: parallel, bounded, durable, at the physical limit".
MIN_SPEEDUP_2_THREADS = 1.8
MIN_SPEEDUP_OVER_SERIAL = 1.0

MODES = {
    "serial, 2 script threads": ["-par=2"],
    "full validation, 1 thread": ["-par=1", "-ibdboosterfullvalidation", "-ibdboosterthreads=1"],
    "full validation, 2 threads": ["-par=1", "-ibdboosterfullvalidation", "-ibdboosterthreads=2"],
}


def run(args, folder, summary, name):
    options = ["-assumevalid=0", "-checkblocks=1", "-reindex-chainstate", *MODES[name]]
    boosted = "full" in name
    if boosted:
        options.append(f"-ibdboosterfile={folder / 'hints'}")
    text, result = measure.timed(measure.bitcoind(args.build, folder, summary["height"], *options))
    if boosted and "checking every rule and script" not in text:
        sys.exit(f"{name}: did not validate in full\n{text}")
    if boosted and f"check at block height {summary['height'] - 1} succeeded" not in text:
        sys.exit(f"{name}: was not accepted\n{text}")
    measure.say(name, result)
    return result


def verdicts(results):
    """(what, value, sign, bar) for each bar."""
    serial, one, two = (results[name]["seconds"] for name in MODES)
    return [("full validation, 1 thread / 2 threads", one / two, ">=", MIN_SPEEDUP_2_THREADS),
            ("serial / full validation, both with 2 threads", serial / two, ">=",
             MIN_SPEEDUP_OVER_SERIAL)]


def report(args, summary, results):
    rows = [(name, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}",
             f"{summary['inputs'] / r['seconds']:,.0f}") for name, r in results.items()]
    return "\n".join([
        measure.about_signed(summary, args.repeat), "",
        *measure.table(("", "seconds", "CPU s", "inputs/s"), *rows), "",
        *measure.verdict_table(verdicts(results)), ""])


def main():
    args = measure.arguments(__doc__, outputs=400_000, repeat=3).parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder = args.work / f"signed-{args.outputs}"
    summary = measure.chain(args.build, folder, args.outputs, "--signed", "--xor", "--preallocate",
                            "--container", folder / "hints",
                            "--tail", "1")  # the block above the hints, at which bitcoind stops
    if not list((folder / "regtest/blocks").glob("rev*.dat")):
        print("indexing, and validating serially to get undo data ...", flush=True)
        measure.timed(measure.bitcoind(args.build, folder, summary["height"], "-assumevalid=0",
                                       "-reindex", "-par=2"))
    runs = {name: [] for name in MODES}
    for _ in range(args.repeat):
        for name in MODES:
            runs[name].append(run(args, folder, summary, name))
    results = {name: measure.median_run(taken) for name, taken in runs.items()}
    measure.write(args.work, "full_validation", report(args, summary, results),
                  {"summary": summary, "runs": runs, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
