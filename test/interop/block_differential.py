#!/usr/bin/env python3
"""Our block acceptance against Core's engine on generated and mutated blocks.

    test/interop/block_differential.py [--seed N] [--count N]

One stream of blocks (ibd-block-tool make) goes to the kernel oracle's `connect` and to
`ibd-block-tool connect`, which runs three times: with the caches of signatures and scripts, with
signatures in batches, and with each signature verified both ways. For every block all must give the
same verdict, tip, class of failure and reject reason; at the end all hold the same coins. Prints
the seed and the kinds of blocks that occurred.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from interop_env import own_program
from kernel_oracle import KernelOracle

SHOWN = 5


def comparable(line):
    """Verdict, hash, tip, class and the reject reason without its detail.

    Which of several failing scripts is reported first depends on the threads."""
    words = line.split(" ", 5)
    if words[0] == "undecodable":
        return ("undecodable", "-", "-", "-", "-", "-")
    reason = words[5].split(",")[0]
    if reason.startswith("block-script-verify-flag-failed"):
        reason = "block-script-verify-flag-failed"
    return (*words[:5], reason)


def run(command, source, target):
    with open(source, encoding="ascii") as lines, open(target, "w", encoding="ascii") as out:
        subprocess.run([str(word) for word in command], stdin=lines, stdout=out, check=True)
    answers = pathlib.Path(target).read_text(encoding="ascii").splitlines()
    end = next(i for i, line in enumerate(answers) if line.startswith("tip "))
    return answers[:end], answers[end]


def compare(theirs, ours, counts):
    """Lines on which the two differ, and what both met, counted."""
    different = []
    for number, (their, our) in enumerate(zip(theirs, ours)):
        if comparable(their) != comparable(our):
            different.append(f"block {number}:\n  core {their}\n  ours {our}")
        words = comparable(their)
        counts[words[5].split("(")[0] if words[0] == "invalid" else words[0]] += 1
    return different


WAYS = {"caches": (), "batches": ("--signaturelanes", "1"),
        "both ways": ("--signaturelanes", "check")}


def differential(seed, count, folder):
    folder = pathlib.Path(folder)
    stream = folder / "blocks.hex"
    tool = own_program("ibd-block-tool")
    with open(stream, "w", encoding="ascii") as out:
        subprocess.run([tool, "make", "--seed", str(seed), "--count", str(count)], stdout=out,
                       check=True)
    oracle = KernelOracle.find()
    core_dir = folder / "core"
    core_dir.mkdir()
    theirs, their_tip = run([oracle.program, "connect", "--network", "regtest", "--datadir",
                             core_dir, "--par", 2], stream, folder / "core.txt")
    their_coins = oracle.coins_info(core_dir)
    different = []
    for way, options in WAYS.items():
        our_dir = folder / way
        our_dir.mkdir()
        ours, our_tip = run([tool, "connect", "--datadir", our_dir, *options], stream,
                            folder / "ours.txt")
        counts = collections.Counter()
        different += [f"{way}: {text}" for text in compare(theirs, ours, counts)]
        if len(theirs) != len(ours) or their_tip != our_tip:
            different.append(f"{way}: {len(theirs)} answers, {their_tip}; "
                             f"ours {len(ours)}, {our_tip}")
        if their_coins != oracle.coins_info(our_dir / "regtest"):
            different.append(f"{way}: the coins at the end differ")
        shutil.rmtree(our_dir)
    return counts, different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(6), "little"))
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.count} blocks", flush=True)
    with tempfile.TemporaryDirectory(prefix="ibd-interop-") as folder:
        counts, different = differential(options.seed, options.count, folder)
    for name, times in counts.most_common():
        print(f"{times:8} {name}")
    for text in different[:SHOWN]:
        print(text)
    print(f"{sum(counts.values())} blocks, {len(different)} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
