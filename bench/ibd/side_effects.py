#!/usr/bin/env python3
"""Measures what a sync from a peer must not feel: consumers of its blocks, and a disk in place of a
RAM disk.

    bench/ibd/side_effects.py --build build --work /somewhere [--outputs 8000000] [--repeat 5]
        [--ram-disk /dev/shm]

One of our nodes serves a generated chain to a fresh node: with the booster and hints, and with the
serial engine; over loopback, and over a line of --line bytes a second, on which the processors have
time left. Runs are taken in turn: alone; with all consumers, which are the four indexes, ZeroMQ's
five topics with a subscriber, and a wallet's poll by RPC; alone in a directory on the RAM disk. The
time is that from the start of the node until its tip is the last block. All processes share the
machine: on loopback the subscriber and the indexes take processor time that the sync would use.
"""
import contextlib
import os
import shutil
import sys
import threading
from pathlib import Path

import measure
from indexes import ONE
from network import Server, served_chain, trust
from notifications import ALL, TOPICS, Listening

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/support"))

from relay import Relay  # noqa: E402 (needs the path above)

ALONE, CONSUMERS, RAM = "alone", "all consumers", "RAM disk"
BOOSTER, SERIAL = "booster", "serial engine"
LOOPBACK, LINE = "loopback", "line"
MOST_BY_CONSUMERS = 1.03
MOST_BY_DISK = 1.05
POLL = 0.5  # seconds


class Wallet(threading.Thread):
    """Asks for balances, as far as a node without a wallet has them."""

    def __init__(self, datadir, port):
        super().__init__(daemon=True)
        self.datadir, self.port = datadir, port
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(POLL):
            for method in ("getblockchaininfo", "getbestblockhash", "getmempoolinfo"):
                measure.rpc(self.datadir, self.port, method)


class Bench:
    def __init__(self, args):
        self.args = args
        folder, hints, self.summary = served_chain(args, args.outputs)
        self.server = Server(args, folder, self.summary, hints)
        self.engines = {BOOSTER: [f"-ibdboosterfile={hints}"],
                        SERIAL: [f"-assumevalid={self.summary['tip']}", "-ibdbooster=0"]}

    def run(self, engine, line, who):
        parent = self.args.ram_disk if who == RAM else self.args.work
        datadir = parent / f"fresh-{os.getpid()}"
        shutil.rmtree(datadir, ignore_errors=True)
        datadir.mkdir()
        measure.warm(self.server.blocks)
        os.sync()  # earlier writes are no part of this run
        try:
            with (Relay(self.server.port, bytes_per_second=line) if line else
                  contextlib.nullcontext(self.server)) as source:
                result = self.sync(datadir, source.port, self.engines[engine], who == CONSUMERS)
        finally:
            shutil.rmtree(datadir)
        measure.say(f"{engine}, {LINE if line else LOOPBACK}, {who}", result)
        return result

    def sync(self, datadir, port, engine, consumed):
        rpc, zmq = measure.free_port(), measure.free_port()
        consumers, wallet = [], None
        if consumed:
            consumers = [*ONE, *(f"-zmqpub{topic}=tcp://127.0.0.1:{zmq}" for topic in TOPICS[ALL])]
            wallet = Wallet(datadir, rpc)
        listening = Listening(TOPICS[ALL] if consumed else (), ("127.0.0.1", zmq), later=True)
        result = measure.until(
            "sync", [self.args.build / "bin/bitcoind", "-regtest", f"-datadir={datadir}",
                     "-dbcache=450", "-server=1", f"-rpcport={rpc}", "-listen=0", "-dnsseed=0",
                     "-fixedseeds=0", "-printtoconsole=0", f"-connect=127.0.0.1:{port}",
                     "-ibdboosterundo=0", *trust(self.summary), *engine, *consumers],
            datadir, rpc, "getblockcount", lambda height: height == self.summary["height"])
        if wallet:
            wallet.over.set()
        listening.end()
        return result


def report(bench, runs):
    results = {key: measure.median_run(many) for key, many in runs.items()}
    rows = [(*key, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}") for key, r in results.items()]
    verdicts = []
    for engine, line in dict.fromkeys((engine, line) for engine, line, _ in results):
        alone = results[engine, line, ALONE]["seconds"]
        verdicts.append((f"{engine}, {line}: with all consumers / alone",
                         results[engine, line, CONSUMERS]["seconds"] / alone, "<=",
                         MOST_BY_CONSUMERS))
        verdicts.append((f"{engine}, {line}: disk / RAM disk",
                         alone / results[engine, line, RAM]["seconds"], "<=", MOST_BY_DISK))
    summary = bench.summary
    return "\n".join([
        f"Chain: {summary['outputs']:,} outputs, {summary['bytes'] / 1e9:.2f} GB in "
        f"{summary['height']:,} blocks. Line: {bench.args.line / 1e6:.0f} MB/s. "
        f"{bench.args.repeat} run(s) each, median.", "",
        *measure.table(("engine", "from", "", "seconds", "CPU s"), *rows), "",
        *measure.verdict_table(verdicts), ""])


def main():
    parser = measure.arguments(__doc__, outputs=8_000_000, repeat=5)
    parser.add_argument("--line", type=int, default=50_000_000, help="bytes a second")
    parser.add_argument("--ram-disk", type=Path, default=Path("/dev/shm"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(args)
    runs = {}
    try:
        bench.run(BOOSTER, 0, ALONE)  # thrown away: fresh memory costs more
        for _ in range(args.repeat):
            for engine in bench.engines:
                for name, line in ((LOOPBACK, 0), (LINE, args.line)):
                    for who in (ALONE, CONSUMERS, RAM):
                        runs.setdefault((engine, name, who), []).append(
                            bench.run(engine, line, who))
    finally:
        bench.server.stop()
    measure.write(args.work, "side_effects", report(bench, runs),
                  {"summary": bench.summary,
                   "runs": {", ".join(key): many for key, many in runs.items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
