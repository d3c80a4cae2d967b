#!/usr/bin/env python3
"""Scripts that are chosen to cost time: our engine against Bitcoin Core's, on one thread, in one
run. The two take turns; of each the round with the least user CPU time counts. With --deferred:
our engine with signatures in batches against itself without.

    hostile_scripts.py [--bin build/bin/bench_script] [--rounds 3] [--scale 1] [--only WORD]
                       [--deferred]

Needs the kernel oracle (test/interop/README.md). Both must give the same verdict, which is that all
inputs are valid. Ends with the worst ratio; exit status 1 if it is above --limit (default: no
limit, as a shared machine is no judge).
"""

import argparse
import pathlib
import sys
import tempfile

from compare_script import ROOT, flag_bits, timed_run
from hostile_cases import block_of, cases

from interop_env import built_program


ENOUGH_SECONDS = 0.5  # shorter runs are repeated
MOST_REPEATS = 40


def user_seconds(command, repeat, verdicts):
    """User CPU of one verification; what reading the block costs is taken off."""
    usage, verdict = timed_run(command, repeat)
    verdicts.add(verdict)
    return (usage.ru_utime - timed_run(command, 0)[0].ru_utime) / repeat


def best_times(commands, rounds):
    """Least user seconds of each command, and the verdict, which must be one."""
    verdicts = set()
    first = max(user_seconds(command, 1, verdicts) for command in commands)
    repeat = min(MOST_REPEATS, 1 + int(ENOUGH_SECONDS / max(first, 1e-3)))
    taken = [[user_seconds(command, repeat, verdicts) for command in commands]
             for _ in range(rounds)]
    assert len(verdicts) == 1, f"the engines disagree: {verdicts}"
    return [min(times) for times in zip(*taken)], verdicts.pop()


def measure(case, oracle, args):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / "block", pathlib.Path(folder) / "spent"]
        for path, data in zip(paths, block_of(case)):
            path.write_bytes(data)
        names = [str(path) for path in paths]
        flags = str(flag_bits(oracle, case.flags))
        plain = [args.bin, "--block", *names, flags]
        if args.deferred:
            return best_times((plain, [args.bin, "--deferred", *names, flags]), args.rounds)
        kernel = [oracle, "verify-block", *names, "--flags", case.flags, "--repeat"]
        return best_times((kernel, plain), args.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin" / "bench_script"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--deferred", action="store_true")
    args = parser.parse_args()
    oracle = str(built_program("build_oracle.sh", "IBD_KERNEL_ORACLE"))
    names = ("ours, ms", "deferred, ms") if args.deferred else ("Core's, ms", "ours, ms")
    print(f"| case | inputs | {names[0]} | {names[1]} | ratio |\n|---|---|---|---|---|")
    worst = 0.0
    for case in cases(args.scale):
        if args.only not in case.name:
            continue
        (theirs, ours), (inputs, failed) = measure(case, oracle, args)
        assert failed == 0, f"{case.name}: {failed} inputs failed"
        ratio = ours / theirs if theirs > 0 else float("inf")
        worst = max(worst, ratio)
        times = f"{theirs * 1e3:,.1f} | {ours * 1e3:,.1f} | {ratio:.2f}"
        print(f"| {case.name} | {inputs:,} | {times} |", flush=True)
    print(f"\nworst ratio: {worst:.2f}")
    return 1 if args.limit and worst > args.limit else 0


if __name__ == "__main__":
    sys.exit(main())
