#!/usr/bin/env python3
"""The rate at which bitcoind serves blocks over REST from the page cache, compared with Bitcoin
Core's.

    bench/ibd/rest_blocks.py --build build --core BITCOIND --work /somewhere [--outputs 400000]
        [--seconds 10] [--repeat 3]

Both programs take the same chain of large blocks. Then each in turn answers requests for them on
persistent connections, as bytes, hex and JSON. The figure is blocks per second of the program's CPU
time: the rate of one core, whatever the client and other programs do. The report has the median of
the repetitions and the ratio to Core's in the same run.
"""
import http.client
import multiprocessing
import os
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
from regtest_chain import FINAL, REDEEMED, Chain  # noqa: E402
from wire import Tx  # noqa: E402

OUTPUTS_OF_A_TX = 2_000
TXS_OF_A_BLOCK = 12  # some 0.8 MB
CONNECTIONS = 4
VALUE = 10_000
LEAST_BLOCKS = 1_000  # a second, as bytes: the target
KINDS = {"bytes": ".bin", "hex": ".hex", "JSON": ".json"}


def make_chain(outputs):
    """A chain whose last blocks have `outputs` outputs together."""
    txs = -(-outputs // OUTPUTS_OF_A_TX)
    chain = Chain().grow(100 + txs)
    coins = [(VALUE, REDEEMED)] * OUTPUTS_OF_A_TX
    made = [Tx([(chain.coinbase_of(i + 1)[0], 0, b"", FINAL)], coins) for i in range(txs)]
    for at in range(0, txs, TXS_OF_A_BLOCK):
        chain.add(chain.candidate(made[at:at + TXS_OF_A_BLOCK]))
    return chain, [block.hash() for block in chain.blocks[100 + txs:]]


def request_all(port, paths, end, counts):
    """Requests the paths in turn on one connection, each at least once."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    blocks = 0
    while blocks == 0 or time.monotonic() < end:
        for path in paths:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            blocks += 1
    connection.close()
    counts.put(blocks)


def served(node, hashes, suffix, seconds):
    """Blocks served per second of the node's CPU time. Each client is a process of its own, so that
    clients do not share an interpreter lock."""
    paths = [f"/rest/block/{block}{suffix}" for block in hashes]
    fork = multiprocessing.get_context("fork")
    counts = fork.Queue()
    before = measure.cpu_of(node.process.pid)
    clients = [fork.Process(target=request_all,
                            args=(node.port, paths, time.monotonic() + seconds, counts))
               for _ in range(CONNECTIONS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if any(client.exitcode for client in clients):
        raise SystemExit("a client failed, see its error above")
    blocks = sum(counts.get() for _ in clients)
    return blocks / max(measure.cpu_of(node.process.pid) - before, measure.CLOCK_TICK)


class Program(framework.Node):
    """One of the two programs, on the chain."""

    def __init__(self, binary, folder, chain):
        super().__init__(folder, "regtest", ["-rest", "-rpcthreads=2", *measure.NO_CHECKS])
        self.binary = binary
        self.start()
        for block in chain.blocks:
            assert self.rpc("submitblock", block.raw().hex()) is None


def report(args, chain, results):
    size = sum(len(block.raw()) for block in chain.blocks[-len(results["hashes"]):])
    medians = {who: {kind: statistics.median(figures) for kind, figures in kinds.items()}
               for who, kinds in results["blocks"].items()}
    rows = [(kind, *(f"{medians[who][kind]:,.0f}" for who in ("ours", "Core")),
             f"{measure.ratio(medians['ours'][kind], medians['Core'][kind]):.2f}")
            for kind in KINDS]
    verdicts = [("blocks a second of CPU, as bytes", medians["ours"]["bytes"], ">=", LEAST_BLOCKS)]
    return "\n".join([
        f"{len(results['hashes'])} blocks of {size / len(results['hashes']) / 1e6:.2f} MB each, "
        f"{args.repeat} run(s), median of blocks for a second of CPU.", "",
        *measure.table(("form", "ours", "Core", "ours / Core"), *rows), "",
        *measure.verdict_table(verdicts), ""])


def main():
    parser = measure.arguments(__doc__, outputs=400_000, repeat=3)
    parser.add_argument("--core", type=Path, required=True, help="Bitcoin Core's bitcoind")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    args = parser.parse_args()
    os.environ["IBD_BINDIR"] = str(args.build / "bin")
    shutil.rmtree(args.work / "rest", ignore_errors=True)
    chain, hashes = make_chain(args.outputs)
    nodes = {"ours": Program(args.build / "bin/bitcoind", args.work / "rest/ours", chain),
             "Core": Program(args.core, args.work / "rest/core", chain)}
    results = {"hashes": hashes, "blocks": {who: {kind: [] for kind in KINDS} for who in nodes}}
    for _ in range(args.repeat):
        for kind, suffix in KINDS.items():
            for who, node in nodes.items():
                found = served(node, hashes, suffix, args.seconds)
                results["blocks"][who][kind].append(found)
                print(f"  {who}, {kind}: {found:,.0f} blocks for a second of CPU", flush=True)
    for node in nodes.values():
        node.stop()
    measure.write(args.work, "rest_blocks", report(args, chain, results), results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
