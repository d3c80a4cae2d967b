#!/usr/bin/env python3
"""Measures what notifications by ZeroMQ add to the connection of blocks. The same blocks are
connected without a subscriber, with one to the block topics, and with one to all topics.

    bench/ibd/notifications.py --build build --work /somewhere [--outputs 2000000] [--blocks 300]
        [--repeat 5]

The chain is generated and connected once. A run disconnects the last --blocks blocks and connects
them again from the block files. Scripts are assumed valid, because at the tip they were checked
when the transactions arrived. Measured: CPU time of the thread that connects, of the whole process
until all notifications are sent, and the time until the last block is connected. The subscriber is
a process that discards what it receives. The available build of Bitcoin Core has no ZeroMQ.
"""
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for folder in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / folder))

import framework  # noqa: E402 (needs the path above)
from zmtp import Subscriber  # noqa: E402

NONE, BLOCKS, ALL = "none", "hashblock, rawblock", "all five topics"
TOPICS = {NONE: (), BLOCKS: ("hashblock", "rawblock"),
          ALL: ("hashblock", "rawblock", "hashtx", "rawtx", "sequence")}
CONNECTS = "chain"  # name of the thread
MOST = 1.02  # the target: of the thread that connects
FIGURES = {"thread": "CPU of the connecting thread, ms", "cpu": "CPU of the process, ms",
           "seconds": "time, ms"}


def discard(address, ready, received):
    """Counts the bytes of all topics until the publisher hangs up."""
    measure.wait_for_port(address[1])
    subscriber = Subscriber(address)
    ready.set()
    subscriber.socket.settimeout(None)
    count = 0
    while data := subscriber.socket.recv(1 << 20):
        count += len(data)
    received.value = count


class Listening:
    """A subscriber in a process of its own; none without topics. `later`: the node is not started
    yet, so the constructor does not wait for the subscription."""

    def __init__(self, topics, address, later=False):
        fork = multiprocessing.get_context("fork")
        self.received = fork.Value("q", 0)
        self.process = None
        if topics:
            ready = fork.Event()
            self.process = fork.Process(target=discard, args=(address, ready, self.received),
                                        daemon=True)
            self.process.start()
        if topics and not later:
            ready.wait()
            time.sleep(0.5)  # until its subscription has reached the node

    def end(self):
        if self.process:
            self.process.join()
        return self.received.value


class Bench:
    def __init__(self, args):
        self.args = args
        os.environ["IBD_BINDIR"] = str(args.build / "bin")
        self.folder = args.work / f"chain-{args.outputs}"
        self.summary = measure.chain(args.build, self.folder, args.outputs)
        if not (self.folder / "regtest/chainstate").exists():
            print("connecting ...", flush=True)
            measure.timed(measure.bitcoind(args.build, self.folder, self.summary["height"],
                                           "-reindex", "-ibdbooster=0", self.assumed()))

    def assumed(self):
        return f"-assumevalid={self.summary['tip']}"

    def run(self, who):
        address = ("127.0.0.1", framework.free_port())
        node = framework.Node(self.folder, "regtest", [
            "-ibdbooster=0", self.assumed(), "-minimumchainwork=0", "-listen=0", "-connect=0",
            *measure.NO_CHECKS, "-checkblocks=1", f"-maxtipage={1 << 40}", "-dbcache=1000",
            *(f"-zmqpub{topic}=tcp://{address[0]}:{address[1]}" for topic in TOPICS[who])])
        node.start()
        listening = Listening(TOPICS[who], address)
        first = node.rpc("getblockhash", self.summary["height"] - self.args.blocks + 1)
        node.rpc("invalidateblock", first)
        node.rpc("syncwithvalidationinterfacequeue")
        pid = node.process.pid
        thread, cpu = measure.cpu_of_threads(pid, CONNECTS), measure.cpu_of(pid)
        assert thread > 0, f"no thread is called {CONNECTS}"
        start = time.monotonic()
        node.rpc("reconsiderblock", first)
        node.wait_for_height(self.summary["height"])
        seconds = time.monotonic() - start
        node.rpc("syncwithvalidationinterfacequeue")
        result = {"thread": measure.cpu_of_threads(pid, CONNECTS) - thread, "seconds": seconds,
                  "cpu": measure.cpu_of(pid) - cpu}
        node.stop()
        result["received"] = listening.end()
        print(f"  {who}: {result['thread'] * 1e3:.0f} ms of CPU of the thread, "
              f"{result['cpu'] * 1e3:.0f} of all, {result['received'] / 1e6:.0f} MB received",
              flush=True)
        return result

    def report(self, runs):
        medians = {who: {key: statistics.median(run[key] for run in taken)
                         for key in (*FIGURES, "received")} for who, taken in runs.items()}
        rows = [(who, *(f"{result[key] * 1e3:.0f}" for key in FIGURES),
                 f"{result['received'] / 1e6:.0f}") for who, result in medians.items()]
        verdicts = [(f"{who} / none, CPU of the connecting thread",
                     measure.ratio(medians[who]["thread"], medians[NONE]["thread"]), "<=", MOST)
                    for who in (BLOCKS, ALL)]
        return "\n".join([
            f"{self.args.blocks} blocks of a chain of {self.summary['outputs']:,} outputs, "
            f"{self.args.repeat} run(s) each, median.", "",
            *measure.table(("notifications", *FIGURES.values(), "received, MB"), *rows), "",
            *measure.verdict_table(verdicts), ""])


def main():
    parser = measure.arguments(__doc__, outputs=2_000_000, repeat=5)
    parser.add_argument("--blocks", type=int, default=300)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    runs = {who: [] for who in TOPICS}
    for _ in range(args.repeat):
        for who in TOPICS:
            runs[who].append(bench.run(who))
    measure.write(args.work, "notifications", bench.report(runs),
                  {"summary": bench.summary, "runs": runs})
    return 0


if __name__ == "__main__":
    sys.exit(main())
