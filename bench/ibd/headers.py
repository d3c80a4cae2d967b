#!/usr/bin/env python3
"""Measures how fast headers come from one peer, ours and Bitcoin Core's bitcoind in turn.

    bench/ibd/headers.py --build build --work DIR --core BITCOIND [--headers 900000] [--repeat 3]

A chain of headers on regtest, a second apart, is served by this script over the v1 transport.
-minimumchainwork is nearly all of their work, so that the node checks all of them before it stores
any (presync), and fetches them twice. Time and CPU count from the first request to the moment when
`getblockchaininfo` shows the last header, asked every 20 ms.
"""

import contextlib
import hashlib
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import measure

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/interop"))

from scripted_peer import message, version  # noqa: E402 (needs the path above)
from wire import compact_size, sha256d  # noqa: E402

GENESIS = bytes.fromhex("0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206")[::-1]
BITS = (0x207fffff).to_bytes(4, "little")
TARGET_TOP = 0x80  # a hash below it, by its highest byte, has regtest's work
WORK_OF_A_BLOCK = 2
PER_MESSAGE = 2000
FIRST_TIME = 1_500_000_000
MAX_RATIO = 1.0  # of our time to Core's: the target


def mine(count):
    """Headers of 80 bytes, and the height of each by its hash."""
    headers, heights, previous = [], {GENESIS: 0}, GENESIS
    for height in range(1, count + 1):
        root = hashlib.sha256(height.to_bytes(4, "little")).digest()
        start = (b"\x00\x00\x00\x20" + previous + root
                 + (FIRST_TIME + height).to_bytes(4, "little") + BITS)
        nonce = 0
        while (found := sha256d(start + nonce.to_bytes(4, "little")))[31] >= TARGET_TOP:
            nonce += 1
        headers.append(start + nonce.to_bytes(4, "little"))
        heights[found] = height
        previous = found
    return headers, heights


class Server(threading.Thread):
    """A peer that knows headers and nothing else."""

    def __init__(self, headers, heights):
        super().__init__(daemon=True)
        self.heights = heights
        # Each header is followed by the number of its transactions: 0.
        self.entries = [header + b"\x00" for header in headers]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked = None  # when headers were asked for first
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            with connection, contextlib.suppress(OSError):
                self.serve(connection, connection.makefile("rb"))

    def serve(self, connection, stream):
        while len(head := stream.read(24)) == 24:
            kind = head[4:16].rstrip(b"\0").decode()
            payload = stream.read(int.from_bytes(head[16:20], "little"))
            if kind == "version":
                connection.sendall(message("version", version()) + message("verack", b""))
            elif kind == "ping":
                connection.sendall(message("pong", payload))
            elif kind == "getheaders":
                self.asked = self.asked or time.monotonic()
                connection.sendall(message("headers", self.after(payload)))

    def after(self, request):
        """The headers behind the first known hash of a locator."""
        count, locator = request[4], request[5:]
        known = (self.heights.get(locator[32 * i:32 * i + 32]) for i in range(count))
        height = next(h for h in known if h is not None)
        some = self.entries[height:height + PER_MESSAGE]
        return compact_size(len(some)) + b"".join(some)


def headers_of(datadir, port):
    """The node's number of headers; -1 before it answers."""
    info = measure.rpc(datadir, port, "getblockchaininfo")
    return info["headers"] if info else -1


def sync(args, name, program, server):
    datadir = args.work / "headers"
    shutil.rmtree(datadir, ignore_errors=True)
    datadir.mkdir(parents=True)
    rpc_port, server.asked = measure.free_port(), None
    work = WORK_OF_A_BLOCK * (args.headers - PER_MESSAGE // 2)
    with subprocess.Popen([
            str(program), "-regtest", f"-datadir={datadir}", "-server=1", f"-rpcport={rpc_port}",
            *measure.NO_CHECKS, "-listen=0", "-dnsseed=0", "-fixedseeds=0",
            "-printtoconsole=0", "-v2transport=0",
            f"-connect=127.0.0.1:{server.port}", f"-minimumchainwork={work:064x}"]) as process:
        before = 0.0
        while headers_of(datadir, rpc_port) < args.headers:
            if not server.asked:
                before = measure.cpu_of(process.pid)
            time.sleep(0.02)
        result = {"seconds": time.monotonic() - server.asked,
                  "cpu": measure.cpu_of(process.pid) - before}
        process.terminate()
    measure.say(name, result)
    shutil.rmtree(datadir)
    return result


def main():
    parser = measure.paths(__doc__, "folder for data and results")
    parser.add_argument("--core", type=Path, required=True, help="Bitcoin Core's bitcoind")
    parser.add_argument("--headers", type=int, default=900_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    print(f"mining {args.headers} headers ...", flush=True)
    server = Server(*mine(args.headers))
    programs = {"ours": args.build / "bin/bitcoind", "Core's": args.core}
    runs = {name: [] for name in programs}
    for _ in range(args.repeat):
        for name, program in programs.items():
            runs[name].append(sync(args, name, program, server))
    best = {name: measure.median_run(each) for name, each in runs.items()}
    rows = [(name, f"{run['seconds']:.2f}", f"{run['cpu']:.2f}") for name, run in best.items()]
    verdicts = [(f"headers, {what}, ours / Core's",
                 measure.ratio(best["ours"][key], best["Core's"][key]), "<=", MAX_RATIO)
                for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    text = [f"{args.headers:,} headers from one peer, looked at before they are stored; "
            f"{args.repeat} run(s) each, median.", "",
            *measure.table(("", "seconds", "CPU s"), *rows), "",
            *measure.verdict_table(verdicts), ""]
    measure.write(args.work, "headers", "\n".join(text), runs)


if __name__ == "__main__":
    main()
