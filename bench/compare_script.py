#!/usr/bin/env python3
"""Verifying the inputs of real blocks: our engine against Bitcoin Core's, on one thread, in one
run. The two take turns, and of each the round with the least CPU time counts: time on the clock
says little on a machine that does other things too.

    compare_script.py [--bin build/bin/bench_script] [--rounds 5] [--repeat 3]

Needs ../shared/testdata and the kernel oracle (test/interop/README.md). Ends with the ratio of the
sums; exit status 1 if it is above --limit (default: no limit, as a shared machine is no judge).
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "interop"))

import real_blocks  # noqa: E402 (needs the path above)
from interop_env import built_program  # noqa: E402
from wire import serialized_output  # noqa: E402


def timed_run(command, repeat):
    """The resources that the whole program used to verify the block `repeat` times, and its
    verdict: inputs, and how many of them failed."""
    verdicts = set()
    with subprocess.Popen([*command, str(repeat)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            _, inputs, _, failed, *_ = line.split()
            verdicts.add((int(inputs), int(failed)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and len(verdicts) == min(repeat, 1), (command, verdicts)
    return usage, verdicts.pop() if verdicts else None


def cpu_seconds(command, repeat):
    usage, verdict = timed_run(command, repeat)
    assert not verdict or verdict[1] == 0, f"{verdict[1]} inputs failed"
    return usage.ru_utime + usage.ru_stime


def milliseconds(command, repeat):
    """CPU time of one verification; what reading the block costs is taken off."""
    return (cpu_seconds(command, repeat) - cpu_seconds(command, 0)) / repeat * 1e3


def flag_bits(oracle, names):
    table = dict(line.split() for line in subprocess.run(
        [oracle, "flags"], check=True, capture_output=True, text=True).stdout.splitlines())
    return sum(int(table[name]) for name in names.split(","))


def print_row(name, inputs, times):
    kernel, ours, deferred = times
    print(f"{name:20} {inputs:7} {kernel:10.1f} {ours:10.1f} {deferred:12.1f} "
          f"{ours / kernel:6.3f} {deferred / kernel:9.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin" / "bench_script"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float)
    args = parser.parse_args()
    oracle = str(built_program("build_oracle.sh", "IBD_KERNEL_ORACLE"))
    print(f"{'block':20} {'inputs':>7} {'kernel ms':>10} {'ours ms':>10} {'deferred ms':>12} "
          f"{'ours':>6} {'deferred':>9}   (times the kernel's)")
    totals = [0.0, 0.0, 0.0]
    for real in real_blocks.REAL_BLOCKS:
        block, _, coins = real_blocks.load(real)
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / "block", pathlib.Path(folder) / "spent"]
            paths[0].write_bytes(block)
            paths[1].write_bytes(b"".join(map(serialized_output, coins)))
            flags = str(flag_bits(oracle, real.flags))
            names = [str(path) for path in paths]
            commands = ([oracle, "verify-block", *names, "--flags", real.flags, "--repeat"],
                        [args.bin, "--block", *names, flags],
                        [args.bin, "--deferred", *names, flags])
            rounds = [[milliseconds(command, args.repeat) for command in commands]
                      for _ in range(args.rounds)]
            best = [min(times) for times in zip(*rounds)]
        totals = [total + one for total, one in zip(totals, best)]
        print_row(real.name, len(coins), best)
    print_row("all", "", totals)
    ratio = totals[1] / totals[0]
    return 1 if args.limit and ratio > args.limit else 0


if __name__ == "__main__":
    sys.exit(main())
