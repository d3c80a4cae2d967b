#!/usr/bin/env python3
"""Measures the sync from peers over loopback: our node serves a generated chain to a fresh node of
ours with hints, against what that must cost at least, against our own sync in order, and against
Bitcoin Core's from the same peer; then over v2, from peers of which half are slow, and over a line
that is long.

    bench/ibd/network.py --build build --work /somewhere [--outputs 33000000] [--core BITCOIND]

The least CPU time is that of three programs that each do a part: -reindex with the booster from the
block files, a program that only receives the same bytes and writes them to files, and one pass of
wtxids over all blocks, which checks the witness commitments; over v2, one pass of the cipher as
well. Runs are taken in turn; serving node and syncing node share the machine; before each the block
files are read once, so that they come from memory. A sync before the first is thrown away: the
first run gets memory that was never in use, which costs several times as much for each page as
memory that is used again. The chain is made once and kept. network.svg shows the bytes received
from each of the fast and slow peers over time.
"""

import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import json
import measure
import plot_curves

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/support"))

from relay import Relay  # noqa: E402 (needs the path above)

# The targets that bench/README.md names.
MAX_RATIO_TO_PARTS = 1.15
MIN_SPEEDUP_OVER_IN_ORDER = 3.5
MAX_RATIO_WITH_SLOW_PEERS = 1.1
MIN_SHARE_OF_LONG_LINE = 0.9
MAX_RATIO_OF_SERVING = 1.2
PEERS = 4  # fast ones, and as many slow ones
SLOW_BYTES = 1_000_000  # a second
LONG_DELAY = 0.1  # seconds each way
LONG_BYTES = 40_000_000  # a second
LONG_OUTPUTS = 4_000_000
PIECE = 1 << 20
FILE_BYTES = 128 << 20


class Server:
    """Our node with the whole chain, listening."""

    def __init__(self, args, folder, summary, hints):
        self.blocks = folder / "regtest/blocks"
        self.ports = [measure.free_port() for _ in range(PEERS)]
        self.port = self.ports[0]
        command = measure.bitcoind(args.build, folder, summary["height"], *trust(summary))
        if not (folder / "regtest/blocks/index").exists():
            print("  indexing ...", flush=True)
            measure.timed([*command, "-reindex", f"-ibdboosterfile={hints}"])
        self.process = subprocess.Popen(
            [str(part) for part in (
                args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}", "-server=0",
                "-connect=0", "-listen=1", *(f"-bind=127.0.0.1:{port}" for port in self.ports),
                "-printtoconsole=0", "-maxuploadtarget=0", *trust(summary))])
        measure.wait_for_port(self.port)

    def cpu(self):
        """Seconds so far."""
        return measure.cpu_of(self.process.pid)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def trust(summary):
    return [f"-assumevalid={summary['hints_hash']}", "-minimumchainwork=0"]


class Watch(threading.Thread):
    """Asks a node again and again what each peer has brought: (seconds, {port: bytes})."""

    def __init__(self, datadir, port):
        super().__init__(daemon=True)
        self.datadir, self.port = datadir, port
        self.samples, self.begin = [], time.monotonic()
        self.start()

    def run(self):
        while True:
            peers = measure.rpc(self.datadir, self.port, "getpeerinfo")
            if peers is not None:
                self.samples.append((time.monotonic() - self.begin, {
                    peer["addr"].rsplit(":", 1)[1]: peer["bytesrecv"] for peer in peers}))
            time.sleep(0.1)


def sync(args, name, program, server, summary, *options, ports=None, watch=False, v2=False):
    """A fresh node of `program` syncs from the server, at these ports. Returns also the server's
    CPU seconds, and with `watch` the bytes of each peer."""
    datadir = args.work / "fresh"
    shutil.rmtree(datadir, ignore_errors=True)
    datadir.mkdir()
    rpc_port = measure.free_port()
    rpc = ["-server=1", f"-rpcport={rpc_port}"] if watch else ["-server=0"]
    measure.warm(server.blocks)
    watcher = Watch(datadir, rpc_port) if watch else None
    served = server.cpu()
    bare = ["-ibdboosterundo=0"] if program != args.core else []
    _, result = measure.timed([
        program, "-regtest", f"-datadir={datadir}", "-dbcache=450", *rpc, "-listen=0",
        "-dnsseed=0", "-fixedseeds=0", "-printtoconsole=0", f"-v2transport={int(v2)}",
        *(f"-connect=127.0.0.1:{port}" for port in ports or [server.port]),
        f"-stopatheight={summary['height']}", *trust(summary), *bare, *options])
    result["served"] = server.cpu() - served
    if watcher:
        result["samples"] = watcher.samples
    measure.say(name, result)
    shutil.rmtree(datadir)
    return result


def receive(port, folder):
    """The program that only receives and writes."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = memoryview(bytearray(PIECE))
    written, file = FILE_BYTES, None
    with socket.create_connection(("127.0.0.1", port)) as line:
        while size := line.recv_into(buffer):
            if written >= FILE_BYTES:
                if file:
                    os.fsync(file.fileno())
                    file.close()
                file, written = open(folder / f"{time.monotonic_ns()}", "wb", buffering=0), 0
            file.write(buffer[:size])
            written += size
    os.fsync(file.fileno())
    file.close()


def receive_and_write(args, blocks):
    """The plain block files, over a connection of their own."""
    measure.warm(blocks)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        line = listener.accept()[0]
        with line:
            for path in sorted(blocks.glob("blk*.dat")):
                with open(path, "rb") as file:
                    line.sendfile(file)

    sender = threading.Thread(target=serve)
    sender.start()
    folder = args.work / "received"
    _, result = measure.timed([sys.executable, __file__, "--receive",
                               listener.getsockname()[1], folder])
    sender.join()
    listener.close()
    shutil.rmtree(folder)
    measure.say("receive and write", result)
    return result


def reindex(args, folder, summary, hints):
    """-reindex with the booster, on a directory of its own with the same files."""
    datadir = args.work / "reindexed"
    shutil.rmtree(datadir, ignore_errors=True)
    (datadir / "regtest/blocks").mkdir(parents=True)
    for path in (folder / "regtest/blocks").glob("*.dat"):
        os.link(path, datadir / "regtest/blocks" / path.name)
    measure.warm(datadir / "regtest/blocks")
    _, result = measure.timed([
        *measure.bitcoind(args.build, datadir, summary["height"], *trust(summary)), "-reindex",
        f"-ibdboosterfile={hints}"])
    shutil.rmtree(datadir)
    measure.say("-reindex with hints", result)
    return result


def one_pass(args, folder, mode):
    """A part of the work that ibd-sync-bench measures."""
    text, _ = measure.timed([args.build / "bin/ibd-sync-bench", mode, "--blocks",
                             folder / "regtest/blocks"])
    result = {"seconds": 0.0, **json.loads(text.strip().splitlines()[-1])}
    measure.say(f"one pass of {mode}", result)
    return result


def send(blocks, port, size):
    """The reference program: it only reads, checksums and sends pieces of a block's size."""
    piece = bytearray(size)
    with socket.create_connection(("127.0.0.1", port)) as line:
        for path in sorted(blocks.glob("blk*.dat")):
            with open(path, "rb", buffering=0) as file:
                while read := file.readinto(piece):
                    data = memoryview(piece)[:read]
                    line.sendall(hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4])
                    line.sendall(data)


def serve_least(args, blocks, summary):
    """The minimum cost of serving the chain."""
    measure.warm(blocks)
    listener = socket.create_server(("127.0.0.1", 0))

    def swallow():
        line = listener.accept()[0]
        buffer = bytearray(PIECE)
        with line:
            while line.recv_into(buffer):
                pass

    sink = threading.Thread(target=swallow)
    sink.start()
    command = [sys.executable, __file__, "--send", blocks, listener.getsockname()[1],
               summary["bytes"] // summary["height"]]
    process = subprocess.Popen([str(part) for part in command])
    _, _, usage = os.wait4(process.pid, 0)
    sink.join()
    listener.close()
    result = {"seconds": 0.0, "cpu": usage.ru_utime + usage.ru_stime}
    measure.say("read, checksum and send", result)
    return result


def from_slow_peers(args, server, summary, hints, add):
    """From the fast peers alone, and from them and as many slow ones."""
    ours = args.build / "bin/bitcoind"
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(Relay(port, bytes_per_second=SLOW_BYTES)).port
                for port in server.ports]
        for name, ports in (("fast peers", server.ports),
                            ("fast and slow peers", server.ports + slow)):
            add(name, sync(args, name, ours, server, summary, f"-ibdboosterfile={hints}",
                           ports=ports, watch=True))


def over_long_line(args, add):
    """A smaller chain from one distant peer, behind a link of known bandwidth."""
    folder, hints, summary = served_chain(args, args.long_outputs)
    server = Server(args, folder, summary, hints)
    try:
        with Relay(server.port, bytes_per_second=LONG_BYTES, delay=LONG_DELAY) as line:
            result = sync(args, "long line", args.build / "bin/bitcoind", server, summary,
                          f"-ibdboosterfile={hints}", ports=[line.port], watch=True)
    finally:
        server.stop()
    add("long line", result | {"share": share_of_line(result["samples"], line.port)})


def share_of_line(samples, port):
    """Share of the bandwidth, from the first tenth of the bytes to the last."""
    points = [(seconds, peers.get(str(port), 0)) for seconds, peers in samples]
    most = max(size for _, size in points)
    middle = [p for p in points if 0.1 * most <= p[1] <= 0.9 * most]
    if len(middle) < 2:
        sys.exit("too short to measure the long line: take more --long-outputs")
    (first, low), (last, high) = middle[0], middle[-1]
    return (high - low) / (last - first) / LONG_BYTES


def served_chain(args, outputs):
    folder = args.work / f"served-{outputs}"
    hints = folder / "chain.hints"
    summary = measure.chain(args.build, folder, outputs, "--tail", measure.TAIL,
                            "--container", hints)
    return folder, hints, summary


def verdicts(results):
    parts = sum(results[name]["cpu"] for name in ("-reindex with hints", "receive and write",
                                                  "one pass of wtxids"))
    cipher = results["one pass of aead"]["cpu"]
    seconds = {name: result["seconds"] for name, result in results.items()}
    return [("CPU of the sync with hints / its parts", results["with hints"]["cpu"] / parts, "<=",
             MAX_RATIO_TO_PARTS),
            ("the same over v2, the cipher among the parts",
             results["with hints, v2"]["cpu"] / (parts + cipher), "<=", MAX_RATIO_TO_PARTS),
            ("our sync in order / with hints", seconds["in order"] / seconds["with hints"], ">=",
             MIN_SPEEDUP_OVER_IN_ORDER),
            ("with slow peers besides / without",
             seconds["fast and slow peers"] / seconds["fast peers"], "<=",
             MAX_RATIO_WITH_SLOW_PEERS),
            ("share of the long line's bandwidth", results["long line"]["share"], ">=",
             MIN_SHARE_OF_LONG_LINE),
            ("CPU of serving / of reading, hashing and sending",
             results["with hints"]["served"] / results["read, checksum and send"]["cpu"], "<=",
             MAX_RATIO_OF_SERVING)]


def report(args, summary, results):
    rows = [(name, f"{r['seconds']:.2f}" if r["seconds"] else "", f"{r['cpu']:.2f}",
             f"{r['served']:.2f}" if "served" in r else "",
             f"{r['peak_rss'] / (1 << 20):.0f}" if "peak_rss" in r else "")
            for name, r in results.items()]
    lines = [f"Chain: {summary['outputs']:,} outputs, {summary['bytes'] / 1e9:.2f} GB in "
             f"{summary['height']:,} blocks, from one peer over loopback, v1 where "
             f"nothing else is said. {args.repeat} run(s) each, median.", "",
             *measure.table(("", "seconds", "CPU s", "CPU s of who served", "peak MiB"), *rows), "",
             *measure.verdict_table(verdicts(results)), ""]
    if "Core" in results:
        ratio = results["Core"]["seconds"] / results["with hints"]["seconds"]
        lines += [f"Core's sync from the same peer takes {ratio:.1f} times as long.", ""]
    return "\n".join(lines)


def main():
    if sys.argv[1:2] == ["--receive"]:
        receive(int(sys.argv[2]), Path(sys.argv[3]))
        return 0
    if sys.argv[1:2] == ["--send"]:
        send(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return 0
    parser = measure.arguments(__doc__, outputs=33_000_000, repeat=1)
    parser.add_argument("--long-outputs", type=int, default=LONG_OUTPUTS,
                        help="of the chain that goes over the long line")
    parser.add_argument("--core", type=Path, help="Bitcoin Core's bitcoind")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, hints, summary = served_chain(args, args.outputs)
    blocks = folder / "regtest/blocks"
    server = Server(args, folder, summary, hints)
    ours = args.build / "bin/bitcoind"
    runs = {}

    def add(name, result):
        runs.setdefault(name, []).append(result)

    try:
        sync(args, "to warm up", ours, server, summary, f"-ibdboosterfile={hints}")
        for _ in range(args.repeat):
            for name, v2 in (("with hints", False), ("with hints, v2", True)):
                add(name, sync(args, name, ours, server, summary, f"-ibdboosterfile={hints}",
                               v2=v2))
            add("in order", sync(args, "in order", ours, server, summary,
                                 f"-assumevalid={summary['tip']}", "-ibdbooster=0"))
            if args.core:
                add("Core", sync(args, "Core", args.core, server, summary,
                                 f"-assumevalid={summary['tip']}"))
            add("-reindex with hints", reindex(args, folder, summary, hints))
            add("receive and write", receive_and_write(args, blocks))
            add("read, checksum and send", serve_least(args, blocks, summary))
            for mode in ("wtxids", "aead"):
                add(f"one pass of {mode}", one_pass(args, folder, mode))
            from_slow_peers(args, server, summary, hints, add)
    finally:
        server.stop()
    over_long_line(args, add)
    results = {name: measure.median_run(many) for name, many in runs.items()}
    samples = results["fast and slow peers"]["samples"]
    peers = sorted({peer for _, sizes in samples for peer in sizes})
    curves = {f"peer {i + 1}": [(seconds, sizes[peer] / 1e6) for seconds, sizes in samples
                                if peer in sizes] for i, peer in enumerate(peers)}
    (args.work / "network.svg").write_text(
        plot_curves.draw("MB received over seconds, by peer", curves))
    measure.write(args.work, "network", report(args, summary, results),
                  {"summary": summary, "runs": runs, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
