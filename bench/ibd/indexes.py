#!/usr/bin/env python3
"""Measures how long indexes take to catch up with a stored chain, in turn with Bitcoin Core.

    bench/ibd/indexes.py --build build --work /somewhere [--outputs 2000000] [--repeat 3]
        [--no-core]

The chain is generated, connected and given undo data once, by this node; Core gets a copy of the
directory and continues with it. A run deletes the indexes and starts the program with one of them,
or with all; it ends when getindexinfo says that all are synced. The CPU time is that of the whole
process until then.
"""
import shutil
import sys
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "interop"))

from interop_env import built_program  # noqa: E402 (needs the path above)

ONE = ("-txindex", "-txospenderindex", "-blockfilterindex", "-coinstatsindex")
SETS = [(option,) for option in ONE] + [ONE]
OURS, CORE = "ours", "Core"


def report(summary, repeat, head, rows, verdicts):
    return "\n".join([
        f"{summary['outputs']:,} outputs, {summary['inputs']:,} inputs, "
        f"{summary['transactions']:,} transactions, {repeat} run(s) each, median.", "",
        *measure.table(head, *rows), "", *measure.verdict_table(verdicts), ""])


class Bench:
    def __init__(self, args):
        self.args = args
        folder = args.work / f"chain-{args.outputs}"
        self.summary = measure.chain(args.build, folder, args.outputs)
        self.trusted = f"-assumevalid={self.summary['tip']}"
        self.programs = {OURS: (folder, [args.build / "bin/bitcoind", "-ibdbooster=0"])}
        if not (folder / "regtest/chainstate").exists():
            print("connecting ...", flush=True)
            measure.timed([args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}",
                           "-reindex", "-ibdbooster=0", self.trusted, "-listen=0", "-connect=0",
                           "-server=0", f"-stopatheight={self.summary['height']}"])
        if not args.no_core:
            copy = args.work / f"core-{args.outputs}"
            if not copy.exists():
                shutil.copytree(folder, copy)
            self.programs[CORE] = (copy,
                                   [built_program("build_core.sh", "IBD_CORE") / "bitcoind"])

    def run(self, who, options):
        folder, command = self.programs[who]
        shutil.rmtree(folder / "regtest/indexes", ignore_errors=True)
        measure.warm(folder / "regtest/blocks")
        port = measure.free_port()
        result = measure.until(
            f"{who} {options}",
            [*command, "-regtest", f"-datadir={folder}", "-listen=0", "-connect=0",
             f"-rpcport={port}", self.trusted, "-checkblocks=1", *measure.NO_CHECKS, *options],
            folder, port, "getindexinfo", lambda answer: self.synced(answer, len(options)))
        measure.say(f"{who}, {' '.join(options)}", result)
        return result

    @staticmethod
    def synced(answer, number):
        return bool(answer) and len(answer) == number and all(
            index["synced"] for index in answer.values())

    def report(self, results):
        rows, verdicts = [], []
        for options in SETS:
            name = options[0] if len(options) == 1 else "all four"
            found = [results[who, options] for who in self.programs]
            rows.append((name, *(f"{r[key]:.2f}" for r in found for key in ("seconds", "cpu"))))
            if len(found) == 2:
                verdicts += [(f"Core / ours, {name}, {what}", found[1][key] / found[0][key],
                              ">=", 1) for what, key in (("time", "seconds"), ("CPU", "cpu"))]
        head = ("index", *(f"{who}, {what}" for who in self.programs for what in ("s", "CPU s")))
        return report(self.summary, self.args.repeat, head, rows, verdicts)


def main():
    parser = measure.arguments(__doc__, outputs=2_000_000, repeat=3)
    parser.add_argument("--no-core", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    runs = {}
    for _ in range(args.repeat):
        for options in SETS:
            for who in bench.programs:
                runs.setdefault((who, options), []).append(bench.run(who, options))
    results = {key: measure.median_run(taken) for key, taken in runs.items()}
    measure.write(args.work, "indexes", bench.report(results),
                  {"summary": bench.summary,
                   "results": [{"program": who, "options": options, **r}
                               for (who, options), r in results.items()]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
