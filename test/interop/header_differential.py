#!/usr/bin/env python3
"""Difficulty of random header chains, ours against Core's.

    test/interop/header_differential.py [--seed N] [--rounds N] [--count N]

Mainnet's difficulty cannot be mined here, so the chains hold times and bits only and neither side
looks at the work. ibd-header-tool makes them, with the bits that our rules ask for, and the kernel
oracle says what Core asks for. Each round is a chain of --count headers on every network.
"""

import argparse
import os
import subprocess
import sys

from interop_env import own_program
from kernel_oracle import KernelOracle

# As the tool and the oracle name them.
NETWORKS = {"main": "main", "test": "testnet3", "testnet4": "testnet4", "signet": "signet",
            "regtest": "regtest"}


def compare(oracle, network, seed, count):
    """The chain's lines "TIME BITS PROBE PERMITTED", and the first that Core answers otherwise."""
    command = [own_program("ibd-header-tool"), "chain", "--network", network, "--seed", str(seed),
               "--count", str(count)]
    ours = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    theirs = oracle.headers(NETWORKS[network], ours)
    for height, (our, their) in enumerate(zip(ours, theirs), 1):
        if our != their:
            return ours, f"{network}, seed {seed}, height {height}\n  core {their}\n  ours {our}"
    return ours, "" if len(ours) == len(theirs) == count else f"{len(theirs)} answers"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--count", type=int, default=25_000)
    options = parser.parse_args()
    oracle, headers, different = KernelOracle.find(), 0, 0
    for seed in range(options.seed, options.seed + options.rounds):
        for network in NETWORKS:
            chain, difference = compare(oracle, network, seed, options.count)
            headers += len(chain)
            if difference:
                different += 1
                print(difference, flush=True)
    print(f"{options.rounds} rounds from seed {options.seed}, {headers} headers, "
          f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
