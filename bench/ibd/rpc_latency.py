#!/usr/bin/env python3
"""Measures how fast bitcoind answers while it is at work: getblockcount, getblockheader and
getblock, each fifty times a second on a connection of its own, while blocks with real signatures
are connected one after the other, and while a cache of coins that is full (450 MiB) is written.

    bench/ibd/rpc_latency.py --build build --work /somewhere [--before other/build]

A call counts from the moment at which it was due, so that one that hangs makes those behind it late
too, as they would be for other users. One script thread, so that the callers have a core too; each
is a process, so that none waits for another's Python, and has real-time priority where the machine
grants it: callers stand for other machines, which do not wait for this one's cores. With --before
another build, or Bitcoin Core's, is measured first, in the same way.
"""
import base64
import http.client
import json
import multiprocessing
import os
import random
import re
import shutil
import statistics
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for folder in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / folder))

import framework  # noqa: E402 (needs the path above)
import regtest_chain  # noqa: E402

MAX_MILLISECONDS = 5.0  # the target
PERIOD = 0.02  # seconds between two calls of one kind
CACHE = 462  # MiB of -dbcache, of which the coins get 450
SMALL_BLOCKS = 20  # requested
OUTPUTS_OF_A_BLOCK = 90_000  # of ten bytes
LARGE_BLOCKS = 60  # more coins than the cache holds
METHODS = ("getblockcount", "getblockheader", "getblock")


class Caller:
    """Calls one method at a fixed rate: pairs of when a call was due and seconds to its answer."""

    def __init__(self, node, method, hashes):
        self.method, self.hashes = method, hashes
        self.connection = http.client.HTTPConnection("127.0.0.1", node.port)
        self.login = base64.b64encode((node.net_dir / ".cookie").read_bytes()).decode()

    def call(self):
        params = [] if self.method == "getblockcount" else [random.choice(self.hashes)]
        body = json.dumps({"id": 1, "method": self.method, "params": params})
        self.connection.request("POST", "/", body, {"Authorization": "Basic " + self.login})
        answer = json.loads(self.connection.getresponse().read())
        assert answer["error"] is None, answer

    def run(self, end, answers):
        """Until `end` is set."""
        measure.as_another_machine()
        taken = []
        due = time.monotonic() + random.random() * PERIOD
        while not end.is_set():
            time.sleep(max(0, due - time.monotonic()))
            self.call()
            taken.append((due, time.monotonic() - due))
            due += PERIOD
        answers.put((self.method, taken))


def called_during(node, hashes, work):
    """Calls all methods while work() runs; its result, and the answers of each method."""
    fork = multiprocessing.get_context("fork")
    end, answers = fork.Event(), fork.Queue()
    callers = [fork.Process(target=Caller(node, method, hashes).run, args=(end, answers))
               for method in METHODS]
    for caller in callers:
        caller.start()
    result = work()
    end.set()
    taken = dict(answers.get() for _ in callers)
    for caller in callers:
        caller.join()
    return result, taken


def figures(answers, first, last):
    """Milliseconds: median, 99th percentile and most of the calls due between two times."""
    taken = sorted(1e3 * seconds for due, seconds in answers if first <= due <= last)
    if not taken:
        sys.exit("too short to call anything: take more --outputs, or a larger --cache")
    return {"calls": len(taken), "median": statistics.median(taken),
            "p99": taken[len(taken) * 99 // 100], "most": taken[-1]}


def connecting(args, summary, folder):
    node = framework.Node(folder, "regtest", ["-assumevalid=0", "-par=1", "-checkblocks=1"])
    height = summary["height"]
    if not (folder / "regtest/blocks/index").exists():
        node.run("-reindex", f"-stopatheight={height}", "-assumevalid=" + summary["tip"])
    node.start("-reindex-chainstate")
    hashes = [node.rpc("getblockhash", h) for h in range(node.rpc("getblockcount") + 1)]
    begin = time.monotonic()

    def to_the_tip():
        while node.rpc("getblockcount") < height:
            time.sleep(0.2)
        return time.monotonic()

    end, answers = called_during(node, hashes, to_the_tip)
    node.stop()
    print(f"  {height} blocks connected in {end - begin:.1f} s", flush=True)
    return {method: figures(taken, begin, end) for method, taken in answers.items()}


def large_block(chain):
    """A block whose coinbase makes coins that stay unspent."""
    block = chain.candidate()
    block.txs[0].outputs += [(0, regtest_chain.OP_TRUE)] * OUTPUTS_OF_A_BLOCK
    return chain.add(block.mine())


def cache_sizes(node):
    """MiB of coins in memory after each block, from the log."""
    return [float(size) for size in re.findall(r"UpdateTip: .* cache=([0-9.]+)MiB", node.log_text)]


def flushing(args):
    shutil.rmtree(args.work / "flush", ignore_errors=True)
    node = framework.Node(args.work / "flush", "regtest", [f"-dbcache={args.cache}", "-par=1"])
    node.start()
    chain = regtest_chain.Chain()
    for block in chain.grow(SMALL_BLOCKS).blocks:
        node.rpc("submitblock", block.raw().hex())

    def submit():
        """The times at which the block that filled the cache was sent and answered."""
        spans = []
        for _ in range(LARGE_BLOCKS):
            hexdata = large_block(chain).raw().hex()
            begin = time.monotonic()
            assert node.rpc("submitblock", hexdata) is None
            spans.append((begin, time.monotonic()))
            sizes = cache_sizes(node)
            if sizes[-1] < sizes[-2]:
                break
        return spans[-2], max(sizes)

    ((begin, end), size), answers = called_during(
        node, [block.hash() for block in chain.blocks], submit)
    node.stop()
    print(f"  block with a flush of {size:.0f} MiB: {end - begin:.1f} s", flush=True)
    return {method: figures(taken, begin, end) for method, taken in answers.items()}


def measured(args, build):
    print(f"{build}:", flush=True)
    os.environ["IBD_BINDIR"] = str(build / "bin")
    folder = args.work / f"signed-{args.outputs}"
    summary = measure.chain(args.build, folder, args.outputs, "--signed")
    return {"blocks are connected": connecting(args, summary, folder),
            "a full cache is written": flushing(args)}


def report(results):
    rows = [(build, phase, method, f"{f['calls']:,}", f"{f['median']:.1f}", f"{f['p99']:.1f}",
             f"{f['most']:.1f}")
            for build, phases in results.items() for phase, methods in phases.items()
            for method, f in methods.items()]
    last = list(results.values())[-1]
    verdicts = [(f"{method} while {phase}, 99th percentile, ms", f["p99"], "<=", MAX_MILLISECONDS)
                for phase, methods in last.items() for method, f in methods.items()]
    return "\n".join([
        *measure.table(("build", "while", "call", "calls", "median, ms", "99 %, ms", "most, ms"),
                       *rows), "", *measure.verdict_table(verdicts), ""])


def main():
    parser = measure.arguments(__doc__, outputs=150_000, repeat=1)
    parser.add_argument("--cache", type=int, default=CACHE, help="-dbcache of the second part, MiB")
    parser.add_argument("--before", type=Path, help="another build, to compare with")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    results = {}
    if args.before:
        results["before"] = measured(args, args.before)
    results["now"] = measured(args, args.build)
    measure.write(args.work, "rpc_latency", report(results), results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
