#!/usr/bin/env python3
"""Compares two builds, run in turn over one generated chain: floor and booster by ibd-sync-bench;
bitcoind -reindex-chainstate with hints, without them, with undo data, and serially. Prints the
ratio of each, after / before, by the shortest of --repeat runs, as noise only lengthens runs.

    bench/ibd/before_after.py --build build --before OTHER_BUILD --work DIR_WITH_8_GB
        [--only WORD]
"""
import pathlib

import measure

MAX_RATIO = 1.03  # for a change that is not to cost anything


def engine(build, args, hints, mode):
    """CPU and wall seconds of ibd-sync-bench."""
    command = [build / "bin/ibd-sync-bench", mode, "--blocks", args.folder / "regtest/blocks",
               "--threads", args.threads, "--work", args.work / "engine-work"]
    if mode == "booster":
        command += ["--hints", hints]
    return measure.timed(command)[1]


def node(build, args, summary, *options):
    command = measure.bitcoind(build, args.folder, summary["height"],
                               f"-assumevalid={summary['hints_hash']}", "-minimumchainwork=0",
                               "-reindex-chainstate", *options)
    return measure.timed(command)[1]


def ways(args, hints, summary):
    """Name -> run of one build."""
    rows = {f"engine: {mode}": lambda build, mode=mode: engine(build, args, hints, mode)
            for mode in ("floor", "booster")}
    rows["bitcoind with hints"] = lambda build: node(build, args, summary,
                                                     f"-ibdboosterfile={hints}")
    rows["bitcoind without"] = lambda build: node(build, args, summary, "-ibdbooster")
    rows["bitcoind without, undo now"] = lambda build: node(
        build, args, summary, "-ibdbooster", "-ibdboosterundo=now")
    rows["bitcoind serially"] = lambda build: node(build, args, summary, "-ibdbooster=0")
    return rows


def main():
    parser = measure.arguments(__doc__, outputs=14_000_000, repeat=5)
    parser.add_argument("--before", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="only runs whose name has this word")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    args.folder = args.work / f"before-after-{args.outputs}"
    hints = args.work / f"before-after-{args.outputs}.hints"
    summary = measure.chain(args.build, args.folder, args.outputs, "--tail", measure.TAIL,
                            "--shuffle", 10, "--container", hints)
    node(args.build, args, summary, "-reindex", f"-ibdboosterfile={hints}")  # makes the index
    rows, verdicts, runs = [], [], []
    for name, run in ways(args, hints, summary).items():
        if args.only not in name:
            continue
        best = {}
        for _ in range(args.repeat):
            for side, build in (("before", args.before), ("after", args.build)):
                measure.warm(args.folder / "regtest/blocks")
                result = run(build)
                runs.append({"name": name, "side": side, **result})
                for key in ("seconds", "cpu"):
                    best[side, key] = min(best.get((side, key), result[key]), result[key])
        ratios = {key: best["after", key] / best["before", key] for key in ("seconds", "cpu")}
        rows.append((name, *[f"{best[side, key]:.2f}" for key in ("seconds", "cpu")
                             for side in ("before", "after")],
                     *[f"{ratios[key]:.3f}" for key in ("seconds", "cpu")]))
        print("  " + "  ".join(rows[-1]), flush=True)
        verdicts.append((f"{name}, CPU, after / before", ratios["cpu"], "<=", MAX_RATIO))
    text = "\n".join([
        f"{summary['outputs']:,} outputs, {summary['bytes'] / 1e6:.0f} MB, {args.threads} "
        f"thread(s), least of {args.repeat} runs in turn.", "",
        *measure.table(("run", "s before", "s after", "CPU s before", "CPU s after", "time ratio",
                        "CPU ratio"), *rows), "", *measure.verdict_table(verdicts), ""])
    measure.write(args.work, "before-after", text, runs)


if __name__ == "__main__":
    main()
