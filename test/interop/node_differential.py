#!/usr/bin/env python3
"""Our bitcoind and Core's, over submitblock, where rules begin at a height.

    test/interop/node_differential.py [--seed N] [--rounds N]

Each round starts both with random heights for BIP34, BIP65, BIP66, CSV and segwit
(-testactivationheight), with -vbparams and with or without -test=bip94, and offers, around each of
the heights, blocks that break every rule, in random order, valid ones and side branches among
them. Both must answer each with the same string, hold the same tip, and have the same coins at the
end.
"""

import argparse
import collections
import os
import random
import sys
import tempfile

import interop_env  # noqa: F401 (its paths)

sys.path.append(str(interop_env.ROOT / "test" / "functional"))

from core_node import Difference, Pair  # noqa: E402 (needs the path above)
from crossings import OFFERS, Wallet  # noqa: E402
from regtest_chain import COINBASE_MATURITY, Chain  # noqa: E402

RULES = ["bip34", "dersig", "cltv", "csv", "segwit"]
FIRST = COINBASE_MATURITY + 8  # the lowest height at which a rule begins
COINS_OF_A_KIND = 12
FUNDINGS = 4
KEPT_SHARE = 0.05  # of the offers that are valid
BIP94_PERIOD = 144  # blocks between retargets on regtest
VBPARAMS = ["testdummy:-1:9223372036854775807", "testdummy:-2:0", "testdummy:0:9223372036854775807",
            "testdummy:0:9223372036854775807:144", "testdummy:1600030000:1600060000"]


class Round:
    """One pair of nodes and the chain that they were given."""

    def __init__(self, folder, rng, options, counts):
        self.rng, self.counts = rng, counts
        self.pair = Pair(folder, "regtest", options)
        self.chain, self.wallet = Chain(), Wallet()

    def give(self, block, what, kept=True):
        """Offers a block; follows the chain if it is the new tip and is to be kept."""
        answer = self.pair.submit(block)
        self.counts[answer or "taken"] += 1
        self.counts["blocks"] += 1
        if answer is None and self.pair.tip == block.hash():
            if kept:
                self.chain.add(block)
                self.wallet.spent(block)
            self.counts["valid: " + what] += 1
        else:
            self.counts["refused: " + what] += 1
        return answer

    def grow_to(self, height):
        while self.chain.height < height:
            answer = self.give(self.chain.candidate(), "plain")
            assert answer is None, (self.chain.height + 1, answer)

    def fund(self):
        """Coins of every kind, from the first coinbases; their outputs bind no rule."""
        self.grow_to(COINBASE_MATURITY)
        for number in range(1, FUNDINGS + 1):
            txid, amount = self.chain.coinbase_of(number)
            tx = self.wallet.funding(txid, amount, COINS_OF_A_KIND)
            assert self.give(self.chain.candidate([tx]), "funding") is None

    def offer_all(self, share=1.0):
        """Every way to break a rule, on top of the tip, in random order. A block that is valid
        nevertheless is mostly disconnected again, so that the other ways are tried at this height
        too."""
        names = [name for name in OFFERS if self.rng.random() < share]
        self.rng.shuffle(names)
        for name in names:
            block = OFFERS[name](self.chain, self.wallet)
            kept = self.rng.random() < KEPT_SHARE
            if self.give(block, name, kept) is None and not kept:
                self.go_back_to_tip()

    def go_back_to_tip(self):
        """Until the chain's tip is the nodes' too: branches of as much work come up in between."""
        while self.ask_tip() != self.chain.tip:
            self.pair.ask("invalidateblock", self.pair.tip)

    def ask_tip(self):
        self.pair.tip = self.pair.ask("getbestblockhash")
        return self.pair.tip

    def side_branch(self, back, length):
        """A heavier branch from `back` blocks below, with one offer somewhere in it."""
        kept, coins = list(self.chain.blocks), {k: list(v) for k, v in self.wallet.coins.items()}
        branch = Chain(extra=bytes([self.rng.randrange(1, 76)]))
        branch.blocks = kept[:-back]
        place = self.rng.randrange(length)
        for at in range(length):
            name = self.rng.choice(list(OFFERS))
            block = OFFERS[name](branch, self.wallet) if at == place else branch.candidate()
            self.pair.submit(block)
            self.counts["blocks"] += 1
            branch.blocks.append(block)
            if self.pair.tip not in (block.hash(), kept[-1].hash()):
                break
        if self.pair.tip == branch.tip:
            self.chain.blocks = branch.blocks
            for block in branch.blocks[len(kept) - back:]:
                self.wallet.spent(block)
            self.counts["reorganisations"] += 1
        elif self.pair.tip == kept[-1].hash():
            self.chain.blocks, self.wallet.coins = kept, coins
        else:
            self.follow(kept, branch.blocks)

    def follow(self, *chains):
        """The tip is somewhere on one of these."""
        for blocks in chains:
            for at, block in enumerate(blocks):
                if block.hash() == self.pair.tip:
                    self.chain.blocks = blocks[:at + 1]
                    for taken in self.chain.blocks:
                        self.wallet.spent(taken)
                    return
        raise AssertionError(f"tip {self.pair.tip} is none of ours")

    def back_and_forth(self, depth):
        """Over an activation by invalidateblock and reconsiderblock."""
        block = self.chain.blocks[-depth].hash()
        for method in ("invalidateblock", "reconsiderblock"):
            self.pair.ask(method, block)
            self.pair.ask("getblockcount")
            self.pair.ask("getbestblockhash")

    def time_warp(self):
        """The block that begins a period, earlier than the one before it (BIP94)."""
        self.grow_to((self.chain.height // BIP94_PERIOD + 1) * BIP94_PERIOD - 2)
        late = self.chain.candidate()
        late.time += 3000
        self.give(late.mine(), "late block")
        for early in (3600, 601, 600, 599):
            block = self.chain.candidate()
            block.time = late.time - early
            if self.give(block.mine(), f"{early} s early at a period's start") is None:
                break


def spread_heights(rng):
    """Heights for all rules, in any order, some together."""
    return {rule: FIRST + rng.choice((0, 2, 4, 6, 8, 10)) for rule in RULES}


def play(seed, folder, counts):
    """One round; raises Difference."""
    rng = random.Random(seed)
    heights = spread_heights(rng)
    options = [f"-testactivationheight={name}@{height}" for name, height in heights.items()]
    options.append("-vbparams=" + rng.choice(VBPARAMS))
    if rng.random() < 0.6:
        options.append("-test=bip94")
    game = Round(folder, rng, options, counts)
    try:
        with game.pair:
            game.fund()
            game.offer_all()  # each once, whatever chance leaves out above
            last = max(heights.values()) + 2
            crossings = {height + off for height in heights.values() for off in (-2, -1, 0)}
            while game.chain.height < last:
                near = game.chain.height + 1 in {h for c in crossings for h in (c, c + 1)}
                game.offer_all(0.9 if near else 0.3)
                game.grow_to(game.chain.height + 1)
                if rng.random() < 0.5:
                    game.side_branch(rng.randrange(1, 6), rng.randrange(1, 8))
            game.back_and_forth(game.chain.height - FIRST + 3)
            game.time_warp()
            # Ours still lists taproot (doc/rpc.md).
            game.pair.ask("getdeploymentinfo", known=lambda it: it["deployments"].pop("taproot"))
            game.pair.finish()
    except Difference as difference:
        raise Difference(f"seed {seed}, options {' '.join(options)}\n{difference}") from None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    counts, different = collections.Counter(), 0
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory(prefix="ibd-interop-") as folder:
            try:
                play(seed, folder, counts)
            except Difference as difference:
                different += 1
                print(difference, flush=True)
    for name, times in counts.most_common():
        print(f"{times:8} {name}")
    print(f"{options.rounds} rounds from seed {options.seed}, {counts['blocks']} blocks, "
          f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
