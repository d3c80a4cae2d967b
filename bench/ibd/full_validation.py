#!/usr/bin/env python3
"""Measures full validation by the booster, on 1 and 2 threads, against serial validation with two
script threads, over one generated chain with real signatures: from the same block and undo files,
from block files alone, and from a peer by a node that prunes, which gets the spent coins from the
peer too. Every script is run by each. Writes numbers as JSON and Markdown.

    bench/ibd/full_validation.py --build build --work /somewhere [--outputs 400000]

The chain is generated and indexed once and kept. Times are whole runs of bitcoind, from start to
end, medians of --repeat, taken alternately.
"""
import contextlib
import shutil
import subprocess
import sys

import measure

ABOVE = 288  # blocks above the hints, which full validation with -prune requires
# The targets that bench/README.md names.
MIN_SPEEDUP_2_THREADS = 1.8
MIN_SPEEDUP_OVER_SERIAL = 1.0
MAX_RSS = 300 << 20

BOOSTED = ["-par=1", "-ibdboosterfullvalidation"]
MODES = {
    "serial, 2 script threads": ["-par=2"],
    "full validation, 1 thread": [*BOOSTED, "-ibdboosterthreads=1"],
    "full validation, 2 threads": [*BOOSTED, "-ibdboosterthreads=2"],
}
# The same, on a directory that has block files and nothing else.
FROM_BLOCKS = {
    "from blocks: serial, 2 script threads": ["-par=2", "-ibdbooster=0"],
    "from blocks: full validation, 1 thread": [*BOOSTED, "-ibdbooster", "-ibdboosterthreads=1"],
    "from blocks: full validation, 2 threads": [*BOOSTED, "-ibdbooster", "-ibdboosterthreads=2"],
}
# The same, by a node that keeps the last blocks only.
PRUNED = {
    "from a peer: serial, 2 script threads": ["-par=2", "-ibdbooster=0"],
    "from a peer: full validation, 1 thread": [*BOOSTED, "-ibdboosterthreads=1"],
    "from a peer: full validation, 2 threads": [*BOOSTED, "-ibdboosterthreads=2"],
}


def check_log(name, text, height):
    """Stops the bench if the run is not the named kind."""
    wanted = [f"check at block height {height} succeeded"] if "full" in name else []
    if "from blocks: full" in name:
        wanted.append("with coins that are joined from the blocks")
    elif "full" in name:
        wanted.append("checking every rule and script")
    for line in wanted:
        if line not in text:
            sys.exit(f"{name}: the log lacks '{line}'\n{text}")


def trust(summary, name):
    """Every script is run. Full validation verifies signatures in batches as on mainnet: up to the
    assumed-valid block."""
    return f"-assumevalid={summary['tip'] if 'full' in name else 0}"


def run(args, folder, summary, name):
    """From blocks and undo data, up to the last block."""
    options = [trust(summary, name), "-checkblocks=1", "-reindex-chainstate", *MODES[name]]
    if "full" in name:
        options.append(f"-ibdboosterfile={folder / 'hints'}")
    text, result = measure.timed(measure.bitcoind(args.build, folder, summary["height"], *options))
    check_log(name, text, summary["height"] - ABOVE)
    measure.say(name, result)
    return result


def run_from_blocks(args, folder, summary, name, *more):
    """From a copy of the block files, up to the last block; `more`: options of bitcoind."""
    fresh = args.work / f"fresh-{args.outputs}" # benches of other sizes may run beside
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(folder / "regtest/blocks", fresh / "regtest/blocks",
                    ignore=shutil.ignore_patterns("rev*.dat", "index"))
    options = [trust(summary, name), "-checkblocks=1", "-reindex", *FROM_BLOCKS[name], *more]
    text, result = measure.timed(measure.bitcoind(args.build, fresh, summary["height"], *options))
    check_log(name, text, summary["height"])
    shutil.rmtree(fresh)
    measure.say(name, result)
    return result


@contextlib.contextmanager
def server(args, folder, summary):
    """The port of a node with the whole chain, which sends spent coins."""
    port = measure.free_port()
    # No block is above its tip, so it does not stop.
    command = measure.bitcoind(args.build, folder, summary["height"] + 1, "-assumevalid=0",
                               "-peerspentcoins", "-listen=1", f"-bind=127.0.0.1:{port}")
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL) as process:
        try:
            measure.wait_for_port(port)
            yield port
        finally:
            process.terminate()


def run_pruned(args, folder, summary, name):
    """From a peer on this machine, whose CPU time does not count."""
    fresh = args.work / f"fresh-{args.outputs}"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    options = [trust(summary, name), "-prune=1", *PRUNED[name]]
    if "full" in name:
        options += ["-ibdboosterprune", f"-ibdboosterfile={folder / 'hints'}"]
    with server(args, folder, summary) as port:
        command = measure.bitcoind(args.build, fresh, summary["height"], *options)
        command = [part for part in command if part != "-connect=0"]
        text, result = measure.timed([*command, f"-connect=127.0.0.1:{port}"])
    check_log(name, text, summary["height"] - ABOVE)
    shutil.rmtree(fresh)
    measure.say(name, result)
    return result


def verdicts(results):
    """(what, value, sign, target) for each target."""
    found = []
    for prefix, modes in (("", MODES), ("from blocks: ", FROM_BLOCKS),
                          ("from a peer, pruned: ", PRUNED)):
        serial, one, two = (results[name]["seconds"] for name in modes)
        found.append((f"{prefix}serial / full validation, both with 2 threads", serial / two, ">=",
                      MIN_SPEEDUP_OVER_SERIAL))
        found.append((f"{prefix}full validation, 2 threads, peak resident, MiB",
                      results[list(modes)[-1]]["peak_rss"] / 2**20, "<=", MAX_RSS / 2**20))
        if not prefix:
            found.append(("full validation, 1 thread / 2 threads", one / two, ">=",
                          MIN_SPEEDUP_2_THREADS))
    return found


def rates(summary, results):
    """Lines of a table: times, and inputs checked in a second."""
    rows = [(name, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}",
             f"{summary['inputs'] / r['seconds']:,.0f}") for name, r in results.items()]
    return measure.table(("", "seconds", "CPU s", "inputs/s"), *rows)


def report(args, summary, results):
    return "\n".join([
        measure.about_signed(summary, args.repeat), "",
        *rates(summary, results), "",
        *measure.verdict_table(verdicts(results)), ""])


def signed_chain(args):
    """Its folder and summary; made once."""
    folder = args.work / f"signed-{args.outputs}"
    return folder, measure.chain(args.build, folder, args.outputs, "--signed", "--xor",
                                 "--preallocate", "--container", folder / "hints", "--tail", ABOVE)


def main():
    args = measure.arguments(__doc__, outputs=400_000, repeat=3).parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, summary = signed_chain(args)
    if not list((folder / "regtest/blocks").glob("rev*.dat")):
        print("indexing, and validating serially to get undo data ...", flush=True)
        measure.timed(measure.bitcoind(args.build, folder, summary["height"], "-assumevalid=0",
                                       "-reindex", "-par=2", "-ibdbooster=0"))
    runs = {name: [] for name in [*MODES, *FROM_BLOCKS, *PRUNED]}
    for _ in range(args.repeat):
        for name in MODES:
            runs[name].append(run(args, folder, summary, name))
        for name in FROM_BLOCKS:
            runs[name].append(run_from_blocks(args, folder, summary, name))
        for name in PRUNED:
            runs[name].append(run_pruned(args, folder, summary, name))
    results = {name: measure.median_run(taken) for name, taken in runs.items()}
    measure.write(args.work, "full_validation", report(args, summary, results),
                  {"summary": summary, "runs": runs, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
