#!/usr/bin/env python3
"""Measures the block with the most undo data that a block can have: our bitcoind against Bitcoin
Core's (test/interop/build_core.sh), each from a copy of one data directory that Core wrote, with
two script threads and a cache of 450 MiB.

    bench/ibd/large_undo.py --build build --work /somewhere [--outputs 24380] [--repeat 3]

The last block spends --outputs coins with scripts of 10,000 bytes, which anyone can spend: 24,380
inputs fill a block, and its undo data takes 244 MB. Measured are the calls that connect it
(submitblock, the coins are in LevelDB alone), take it back (invalidateblock) and connect it again
(reconsiderblock, from memory), and a start that verifies it (-checkblocks=1) at level 3 and 4, less
a start at level 1, which reads the block but no undo data. The two take turns.
"""
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "test" / "interop"), str(ROOT / "test" / "functional")]

from core_node import CoreNode  # noqa: E402 (needs the path above)
from framework import Node  # noqa: E402
from large_coins import chain_of_large_coins  # noqa: E402

MAX_RATIO = 1.2  # the target
REGTEST_MAGIC = bytes.fromhex("fabfb5da")
OPTIONS = ("-dbcache=450", "-par=2", "-assumevalid=0", "-listen=0", "-connect=0",
           *measure.NO_CHECKS)
BASELINE_LEVEL = 1


def frame(block):
    raw = block.raw()
    return REGTEST_MAGIC + len(raw).to_bytes(4, "little") + raw


def make_chain(path, outputs):
    """Writes all blocks but the last to `path`: their height and tip, and the last block."""
    chain, last = chain_of_large_coins(outputs)
    with path.open("wb") as file:
        file.writelines(map(frame, chain.blocks))
    return chain.height, chain.tip, last


class Bench:
    def __init__(self, args):
        self.args, self.datadir = args, args.work / "undo-datadir"
        self.base = args.work / "undo-base"
        blocks = args.work / "undo-blocks.dat"
        self.height, tip, self.block = make_chain(blocks, args.outputs)
        shutil.rmtree(self.base, ignore_errors=True)
        node = CoreNode(self.base, "regtest", OPTIONS).start(f"-loadblock={blocks}")
        node.wait_for_tip(tip).stop()

    def call(self, node, method, *params):
        """Seconds and CPU of one call, after which the chain must have the other height."""
        cpu, begin = measure.cpu_of(node.process.pid), time.monotonic()
        node.rpc(method, *params)
        seconds = time.monotonic() - begin
        return {"seconds": seconds, "cpu": measure.cpu_of(node.process.pid) - cpu}

    def expect(self, node, blocks):
        height = node.rpc("getblockcount")
        assert height == self.height + blocks, (height, self.height + blocks)

    def start(self, node, level):
        """Seconds and CPU until the node answers."""
        begin = time.monotonic()
        node.start("-checkblocks=1", f"-checklevel={level}")
        result = {"seconds": time.monotonic() - begin, "cpu": measure.cpu_of(node.process.pid)}
        self.expect(node, 1)
        node.stop()
        return result

    def run(self, kind):
        """All measures of one node, from a fresh copy: {what: {seconds, cpu}}."""
        shutil.rmtree(self.datadir, ignore_errors=True)
        shutil.copytree(self.base, self.datadir)
        node = kind(self.datadir, "regtest", OPTIONS).start()
        out, tip = {}, self.block.hash()
        try:
            for what, blocks, method, param in (
                    ("connect", 1, "submitblock", self.block.raw().hex()),
                    ("disconnect", 0, "invalidateblock", tip),
                    ("connect again", 1, "reconsiderblock", tip)):
                out[what] = self.call(node, method, param)
                self.expect(node, blocks)
            node.stop()
            plain = self.start(node, BASELINE_LEVEL)
            for level in (3, 4):
                taken = self.start(node, level)
                out[f"start, level {level}"] = {name: taken[name] - plain[name] for name in taken}
        finally:
            node.kill()
        for what, result in out.items():
            measure.say(f"{kind.__name__}: {what}", result)
        return out


def medians(runs):
    return {what: {name: statistics.median(run[what][name] for run in runs)
                   for name in ("seconds", "cpu")} for what in runs[0]}


def main():
    parser = measure.arguments(__doc__, outputs=24_380, repeat=3)
    args = parser.parse_args()
    os.environ["IBD_BINDIR"] = str(args.build / "bin")
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    kinds = {"Core": CoreNode, "ours": Node}
    runs = {who: [] for who in kinds}
    for _ in range(args.repeat):
        for who, kind in kinds.items():
            runs[who].append(bench.run(kind))
    core, ours = (medians(runs[who]) for who in kinds)
    rows = [(what, *(f"{who[what][name]:.2f}" for name in ("seconds", "cpu")
                     for who in (core, ours))) for what in core]
    verdicts = [(f"{what}, CPU, ours / Core's",
                 measure.ratio(ours[what]["cpu"], core[what]["cpu"]), "<=", MAX_RATIO)
                for what in core]
    text = "\n".join([
        f"A block of {len(bench.block.raw()) / 1e6:.2f} MB that spends {args.outputs:,} coins of "
        f"10,000 bytes. {args.repeat} run(s) each, median.", "",
        *measure.table(("", "Core's, s", "ours, s", "Core's, CPU s", "ours, CPU s"), *rows), "",
        *measure.verdict_table(verdicts), ""])
    measure.write(args.work, "large_undo", text, {"runs": runs, "Core": core, "ours": ours})
    return 0


if __name__ == "__main__":
    sys.exit(main())
