#!/usr/bin/env python3
"""Measures serial validation, the booster on 1 and 2 threads, hints and undo data from blocks alone
(the join) and the floor over one generated chain, the additional cost of an index (bitcoind
-reindex against -reindex-chainstate, both with hints), bitcoind with hints, without and serially,
and full validation from blocks alone over a signed chain of as many outputs, in one run on one
machine, and writes numbers (JSON, Markdown) and a plot (SVG).

    bench/ibd/run.py --build build --work /somewhere/with/40GB [--outputs 33000000]

The chains are generated once and kept. Times are medians of --repeat runs, taken alternately; full
validation, of which a run is a quarter of an hour and nothing but CPU, is run once. The
floor program only reads the files, parses, computes ids and merkle roots and one compression for
each output and input, with the booster's own kernels and read path.
"""
import json
import sys

import full_validation
import measure
import plot

# The targets that bench/README.md names.
MAX_RATIO_TO_FLOOR = 1.5
MIN_SPEEDUP_2_THREADS = 1.8
MIN_SPEEDUP_OVER_SERIAL = 10.0
MAX_RSS = 200 << 20
MAX_WRITTEN_RATIO = 2.2
# Witnesses are hashed for the index only: once more for their ids.
MAX_REINDEX_RATIO = 1.3
MAX_REINDEX_RATIO_WITNESS = 1.5  # where more than a third of the bytes is witness
# With so little memory that the unspent outputs need LIVE_RATIO times
# the table, as on mainnet.
MAX_JOIN_RATIO = 1.5
MAX_UNDO_RATIO = 2.5  # of undo data from blocks alone, up to the last sync, nothing checked
MAX_JOIN_RSS = full_validation.MAX_RSS
LIVE_RATIO = 20
COIN_BYTES = 120  # in the cache of serial validation, at most
# Bytes of the join's table for each output that fits into it, without and with its value.
TABLE_BYTES, VALUED_TABLE_BYTES = 128 / 6, 192 / 6
# bitcoind that makes its own hints, against bitcoind with a hints file and the serial engine.
MAX_OWN_HINTS_RATIO = 2.3
MIN_OWN_HINTS_SPEEDUP = 5.0


def bench(args, mode, blocks, threads, hints=None, *options):
    """One run of ibd-sync-bench, which ends its output with a line of JSON."""
    command = [args.build / "bin/ibd-sync-bench", mode, "--blocks", blocks, "--threads", threads]
    if hints:
        command += ["--hints", hints, "--work", args.work / "booster-work", *options]
    result = json.loads(measure.timed(command)[0].strip().splitlines()[-1])
    measure.say(f"{mode}, {threads} thread(s)", result)
    return result


def serial(args, folder, summary):
    """Our own serial engine from the same files; scripts skipped as under assume-valid."""
    command = measure.bitcoind(args.build, folder, summary["height"],
                               f"-assumevalid={summary['tip']}", "-ibdbooster=0")
    if not (folder / "regtest/blocks/index").exists():
        print("  indexing ...", flush=True)
        measure.timed([*command, "-reindex"])
    _, result = measure.timed([*command, "-reindex-chainstate"])
    measure.say("serial", result)
    return {"mode": "serial", "threads": 1, **result}


def tailed(args):
    """A chain whose hints are buried: hints, summary, and the command that brings bitcoind to its
    tip."""
    folder = args.work / f"tailed-{args.outputs}"
    hints = folder / "chain.hints"
    summary = measure.chain(args.build, folder, args.outputs, "--xor", "--shuffle", "50",
                            "--preallocate", "--tail", measure.TAIL, "--container", hints)
    return hints, summary, measure.bitcoind(args.build, folder, summary["height"],
                                            f"-assumevalid={summary['hints_hash']}",
                                            "-minimumchainwork=0")


def booster_memory(summary, each):
    """The MiB of -ibdboostermem whose table holds 1/LIVE_RATIO of the coins at `each` bytes; three
    quarters of the memory are the table."""
    return max(1, round(summary["unspent"] * each / LIVE_RATIO * 4 / 3 / 2**20))


def own_hints(args):
    """bitcoind -reindex-chainstate with hints; without, as by default, so that every rule but
    scripts is checked; without and nothing checked; and serially: medians of runs in turn, one
    serially, with so little memory that the coins need LIVE_RATIO times the table; and serially
    with so little that they need LIVE_RATIO times the cache."""
    hints, summary, command = tailed(args)

    plain, valued = (booster_memory(summary, each) for each in (TABLE_BYTES, VALUED_TABLE_BYTES))
    command.append("-reindex-chainstate")
    if not (hints.parent / "regtest/blocks/index").exists():
        print("  indexing ...", flush=True)
        measure.timed([*command[:-1], "-reindex", f"-ibdboosterfile={hints}"])
    cache = max(4, round(summary["unspent"] * COIN_BYTES / LIVE_RATIO / 2**20))
    ways = {"with hints": [f"-ibdboosterfile={hints}", f"-ibdboostermem={valued}"],
            "without": ["-ibdbooster", f"-ibdboostermem={valued}"],
            "without, unchecked": ["-ibdbooster", "-ibdboosterchecks=0",
                                   f"-ibdboostermem={plain}"],
            "serially": ["-ibdbooster=0"],
            "serially, little memory": ["-ibdbooster=0", f"-dbcache={cache}"]}
    runs = {name: [] for name in ways}
    for number in range(args.repeat):
        for name, options in ways.items():
            if name.startswith("serially") and number > 0:
                continue
            measure.warm(hints.parent / "regtest/blocks")
            runs[name].append(measure.timed([*command, *options])[1])
            measure.say(f"-reindex-chainstate {name}", runs[name][-1])
    return {"memory": [valued, plain], "cache": cache, "summary": summary, "runs": runs,
            **{name: measure.median_run(results) for name, results in runs.items()}}


def own_hints_verdicts(own):
    rows = [(f"{name} / with, {what}", own[way][key] / own["with hints"][key], "<=",
             MAX_OWN_HINTS_RATIO)
            for way, name in (("without", "without hints, all but scripts checked"),
                              ("without, unchecked", "without hints, nothing checked"))
            for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    caches = {"serially": "all coins in the cache",
              "serially, little memory": "a twentieth of them"}
    rows += [("without hints, all but scripts checked, peak resident, MiB",
              own["without"]["peak_rss"] / 2**20, "<=", MAX_JOIN_RSS / 2**20)]
    return [*rows, *[(f"serially / without hints, time, {cache}",
                      own[name]["seconds"] / own["without"]["seconds"], ">=",
                      MIN_OWN_HINTS_SPEEDUP) for name, cache in caches.items()]]


def own_hints_report(own):
    return [f"bitcoind -reindex-chainstate, -ibdboostermem={own['memory'][0]}, unchecked "
            f"{own['memory'][1]}, serially -dbcache=450 and {own['cache']}, "
            f"{own['summary']['outputs']:,} outputs, {own['summary']['unspent']:,} coins:", "",
            *measure.table(("", "seconds", "CPU s"),
                           *[(name, f"{own[name]['seconds']:.2f}", f"{own[name]['cpu']:.2f}")
                             for name in own["runs"]]), "",
            *measure.verdict_table(own_hints_verdicts(own)), ""]


def reindex(args):
    """bitcoind with hints, from start to end, with and without an existing block index; medians of
    alternating runs."""
    hints, summary, command = tailed(args)
    command.append(f"-ibdboosterfile={hints}")
    runs = {"-reindex": [], "-reindex-chainstate": []}
    for _ in range(args.repeat):
        for option, results in runs.items():
            measure.warm(hints.parent / "regtest/blocks")
            results.append(measure.timed([*command, option])[1])
            measure.say(f"{option} with hints", results[-1])
    witness = 1 - summary["stripped_bytes"] / summary["bytes"]
    return {"witness": witness, "runs": runs,
            **{option: measure.median_run(results) for option, results in runs.items()}}


def reindex_verdicts(indexed):
    """The ratio on the clock, and that of CPU time, which a busy machine disturbs less."""
    target = MAX_REINDEX_RATIO_WITNESS if indexed["witness"] > 1 / 3 else MAX_REINDEX_RATIO
    return [(f"-reindex / -reindex-chainstate with hints, {what}",
             indexed["-reindex"][key] / indexed["-reindex-chainstate"][key], "<=", target)
            for what, key in (("time", "seconds"), ("CPU", "cpu"))]


def reindex_report(indexed):
    return [f"bitcoind with hints, {indexed['witness']:.0%} of the bytes witness:", "",
            *measure.table(("", "seconds", "CPU s"),
                           *[(option, f"{indexed[option]['seconds']:.2f}",
                              f"{indexed[option]['cpu']:.2f}") for option in indexed["runs"]]), "",
            *measure.verdict_table(reindex_verdicts(indexed)), ""]


def from_blocks_alone(args):
    """bitcoind -reindex of block files alone with every script checked: serially, and by the
    booster with so little memory that the coins need LIVE_RATIO times the table."""
    folder, summary = full_validation.signed_chain(args)
    memory = booster_memory(summary, TABLE_BYTES)
    serially, _, boosted = full_validation.FROM_BLOCKS
    runs = {name: full_validation.run_from_blocks(args, folder, summary, name,
                                                  f"-ibdboostermem={memory}")
            for name in (serially, boosted)}
    rows = [(f"serial / full validation from blocks, both with 2 threads, {what}",
             runs[serially][key] / runs[boosted][key], ">=",
             full_validation.MIN_SPEEDUP_OVER_SERIAL)
            for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    rows.append(("full validation from blocks, peak resident, MiB",
                 runs[boosted]["peak_rss"] / 2**20, "<=", MAX_JOIN_RSS / 2**20))
    text = [measure.about_signed(summary, 1), "",
            f"bitcoind -reindex from block files alone, {summary['unspent']:,} coins, "
            f"-ibdboostermem={memory}:", "",
            *full_validation.rates(summary, runs), "", *measure.verdict_table(rows), ""]
    measure.write(args.work, "from-blocks", "\n".join(text), {"summary": summary, "runs": runs})


def verdicts(results):
    """(what, value, sign, target) for each target."""
    floor1, floor2 = results["floor1"], results["floor2"]
    one, two = results["booster1"], results["booster2"]
    rss = max(r["peak_rss"] - r["hints_bytes"] for r in (one, two))
    rows = [
        ("booster / floor, 1 thread", one["seconds"] / floor1["seconds"], "<=", MAX_RATIO_TO_FLOOR),
        ("booster / floor, 2 threads", two["seconds"] / floor2["seconds"], "<=",
         MAX_RATIO_TO_FLOOR),
        ("booster, 1 thread / 2 threads", one["seconds"] / two["seconds"], ">=",
         MIN_SPEEDUP_2_THREADS),
        ("peak resident above hints, MiB", rss / 2**20, "<=", MAX_RSS / 2**20),
        ("bytes written / chainstate", two["written"] / two["chainstate_bytes"], "<=",
         MAX_WRITTEN_RATIO),
    ]
    join = results["join2"]
    rows += [(f"hints from blocks / booster, 2 threads, {what}", join[key] / two[key], "<=",
              MAX_JOIN_RATIO) for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    rows += [("hints from blocks, peak resident, MiB", join["peak_rss"] / 2**20, "<=",
              MAX_JOIN_RSS / 2**20)]
    undo = results["undo2"]
    rows += [(f"undo data from blocks / booster, 2 threads, {what}", undo[key] / two[key], "<=",
              MAX_UNDO_RATIO) for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    rows += [("undo data from blocks, peak resident, MiB", undo["peak_rss"] / 2**20, "<=",
              MAX_JOIN_RSS / 2**20)]
    if "serial" in results:
        rows.append(("serial / booster, 2 threads", results["serial"]["seconds"] / two["seconds"],
                     ">=", MIN_SPEEDUP_OVER_SERIAL))
    return rows


def report(args, summary, results):
    rows = [(name, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}",
             f"{summary['outputs'] / r['seconds'] / 1e6:.2f}",
             f"{summary['bytes'] / r['seconds'] / 1e9:.2f}") for name, r in results.items()]
    return "\n".join([
        f"Chain: {summary['outputs']:,} outputs, {summary['inputs']:,} inputs, "
        f"{summary['bytes'] / 1e9:.2f} GB in {summary['height']:,} blocks, "
        f"{summary['unspent']:,} coins. {args.repeat} run(s) each, median; page cache warm.", "",
        *measure.table(("", "seconds", "CPU s", "M outputs/s", "GB/s"), *rows), "",
        *measure.verdict_table(verdicts(results)), "", spilled(results["join2"]), "",
        rebuilt(results["undo2"], results["checked2"]), ""])


def spilled(join):
    """The bytes that the join wrote, and its memory."""
    share = 1 - join["met"] / join["records"]
    return (f"Hints from blocks with {join['memory'] / 1e6:.1f} MB: {share:.0%} of "
            f"{join['records']:,} events spilled, {join['spilled_bytes'] / join['outputs']:.1f} "
            "bytes for each output.")


def rebuilt(undo, checked):
    """The bytes that the rebuild of undo data wrote, for each output."""
    each = {what: undo[f"{what}_bytes"] / undo["outputs"]
            for what in ("spilled", "pair", "coin", "undo")}
    return (f"Undo data from blocks with {undo['memory'] / 1e6:.1f} MB, bytes for each output: "
            f"{each['spilled']:.1f} of events spilled, {each['pair']:.1f} of pairs, "
            f"{each['coin']:.1f} of coins, {each['undo']:.1f} of undo data. With every rule but "
            f"scripts checked it takes {checked['seconds'] / undo['seconds']:.2f} times as long.")


def main():
    parser = measure.arguments(__doc__, outputs=33_000_000, repeat=3)
    parser.add_argument("--no-serial", action="store_true")
    parser.add_argument("--only-reindex", action="store_true")
    parser.add_argument("--only-own-hints", action="store_true")
    parser.add_argument("--only-engine", action="store_true",
                        help="floor, booster and join, without bitcoind")
    parser.add_argument("--no-full-validation", action="store_true")
    parser.add_argument("--only-full-validation", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if not (args.only_reindex or args.only_own_hints or args.only_engine or
            args.no_full_validation):
        from_blocks_alone(args)
    if args.only_full_validation:
        return 0
    if not (args.only_reindex or args.only_engine):
        own = own_hints(args)
        measure.write(args.work, "own-hints", "\n".join(own_hints_report(own)), own)
    if args.only_own_hints:
        return 0
    if not args.only_engine:
        indexed = reindex(args)
        measure.write(args.work, "reindex", "\n".join(reindex_report(indexed)), indexed)
    if args.only_reindex:
        return 0
    folder = args.work / f"chain-{args.outputs}"
    bitmap, container = folder / "hints.bitmap", folder / "chain.hints"
    summary = measure.chain(args.build, folder, args.outputs, "--xor", "--shuffle", "50",
                            "--preallocate", "--bitmap", bitmap, "--container", container)
    blocks = folder / "regtest/blocks"
    measure.warm(blocks)
    runs = {name: [] for name in
            ("floor1", "floor2", "booster1", "booster2", "join2", "undo2", "checked2")}
    for _ in range(args.repeat):
        for threads in (1, 2):
            runs[f"floor{threads}"].append(bench(args, "floor", blocks, threads))
            runs[f"booster{threads}"].append(bench(args, "booster", blocks, threads, bitmap))
        for name, mode, checks in (("join2", "join", []), ("undo2", "undo", ["--checks", "none"]),
                                   ("checked2", "undo", ["--checks", "rules"])):
            runs[name].append(
                bench(args, mode, blocks, 2, container, "--live-ratio", LIVE_RATIO, *checks))
    results = {name: measure.median_run(r) for name, r in runs.items()}
    if not (args.no_serial or args.only_engine):
        results["serial"] = serial(args, folder, summary)
    measure.write(args.work, "results", report(args, summary, results),
                  {"summary": summary, "runs": runs, "results": results})
    (args.work / "results.svg").write_text(plot.svg(results, verdicts(results)))
    if "serial" in results:
        (args.work / "gain.svg").write_text(plot.gain(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
