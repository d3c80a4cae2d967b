#!/usr/bin/env python3
"""Measures the sync from a peer over loopback: our node serves a generated chain to a fresh node
of ours with hints, against what that must cost at least, against our own sync in order, and against
Bitcoin Core's from the same peer.

    bench/ibd/network.py --build build --work /somewhere [--outputs 33000000] [--core BITCOIND]

The least CPU time is that of three programs that each do a part: -reindex with the booster from the
block files, a program that only receives the same bytes and writes them to files, and one pass of
wtxids over all blocks, which checks the witness commitments. Runs are taken in turn; serving node
and syncing node share the machine. The chain is made once and kept.
"""

import contextlib
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

# The bars: issue "The network".
MAX_RATIO_TO_PARTS = 1.15
MIN_SPEEDUP_OVER_IN_ORDER = 3.5
TAIL = 2100  # blocks above the hints, as bitcoind trusts them only when buried
PIECE = 1 << 20
FILE_BYTES = 128 << 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Our node with the whole chain, listening."""

    def __init__(self, args, folder, summary, hints):
        self.port = free_port()
        command = measure.bitcoind(args.build, folder, summary["height"], *trust(summary))
        if not (folder / "regtest/blocks/index").exists():
            print("  indexing ...", flush=True)
            measure.timed([*command, "-reindex", f"-ibdboosterfile={hints}"])
        self.process = subprocess.Popen(
            [str(part) for part in (
                args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}", "-server=0",
                "-connect=0", "-listen=1", f"-bind=127.0.0.1:{self.port}", "-printtoconsole=0",
                "-maxuploadtarget=0", *trust(summary))])
        self.wait()

    def wait(self):
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.1)

    def cpu(self):
        """Seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def trust(summary):
    return [f"-assumevalid={summary['hints_hash']}", "-minimumchainwork=0"]


def sync(args, name, program, server, summary, *options):
    """A fresh node of `program` syncs from the server; the server's CPU seconds are told, too."""
    datadir = args.work / "fresh"
    shutil.rmtree(datadir, ignore_errors=True)
    datadir.mkdir()
    served = server.cpu()
    _, result = measure.timed([
        program, "-regtest", f"-datadir={datadir}", "-dbcache=450", "-server=0", "-listen=0",
        "-dnsseed=0", "-fixedseeds=0", f"-connect=127.0.0.1:{server.port}", "-printtoconsole=0",
        f"-stopatheight={summary['height']}", "-v2transport=0", *trust(summary), *options])
    result["served"] = server.cpu() - served
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
    """The block files as they are, over a line of their own."""
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
    _, result = measure.timed([
        *measure.bitcoind(args.build, datadir, summary["height"], *trust(summary)), "-reindex",
        f"-ibdboosterfile={hints}"])
    shutil.rmtree(datadir)
    measure.say("-reindex with hints", result)
    return result


def wtxids(args, folder):
    text, _ = measure.timed([args.build / "bin/ibd-sync-bench", "wtxids", "--blocks",
                             folder / "regtest/blocks"])
    result = {"seconds": 0.0, **json.loads(text.strip().splitlines()[-1])}
    measure.say("one pass of wtxids", result)
    return result


def verdicts(results):
    parts = sum(results[name]["cpu"] for name in ("reindex", "receive", "wtxids"))
    rows = [("CPU of the sync with hints / its parts", results["boosted"]["cpu"] / parts, "<=",
             MAX_RATIO_TO_PARTS),
            ("our sync in order / with hints", results["in order"]["seconds"]
             / results["boosted"]["seconds"], ">=", MIN_SPEEDUP_OVER_IN_ORDER)]
    return rows


def report(args, summary, results):
    rows = [(name, f"{r['seconds']:.2f}" if r["seconds"] else "", f"{r['cpu']:.2f}",
             f"{r['served']:.2f}" if "served" in r else "") for name, r in results.items()]
    lines = [f"Chain: {summary['outputs']:,} outputs, {summary['bytes'] / 1e9:.2f} GB in "
             f"{summary['height']:,} blocks, from one peer over loopback, v1. {args.repeat} run(s) "
             "each, median.", "",
             *measure.table(("", "seconds", "CPU s", "CPU s of who served"), *rows), "",
             *measure.verdict_table(verdicts(results)), ""]
    if "Core" in results:
        ratio = results["Core"]["seconds"] / results["boosted"]["seconds"]
        lines += [f"Core's sync from the same peer takes {ratio:.1f} times as long.", ""]
    return "\n".join(lines)


def main():
    if sys.argv[1:2] == ["--receive"]:
        receive(int(sys.argv[2]), Path(sys.argv[3]))
        return 0
    parser = measure.arguments(__doc__, outputs=33_000_000, repeat=1)
    parser.add_argument("--core", type=Path, help="Bitcoin Core's bitcoind")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder = args.work / f"served-{args.outputs}"
    hints = folder / "chain.hints"
    summary = measure.chain(args.build, folder, args.outputs, "--tail", TAIL, "--container", hints)
    server = Server(args, folder, summary, hints)
    ours = args.build / "bin/bitcoind"
    runs = {}

    def add(name, result):
        runs.setdefault(name, []).append(result)

    try:
        for _ in range(args.repeat):
            add("boosted", sync(args, "with hints", ours, server, summary,
                                f"-ibdboosterfile={hints}"))
            add("in order", sync(args, "in order", ours, server, summary,
                                 f"-assumevalid={summary['tip']}"))
            if args.core:
                add("Core", sync(args, "Core", args.core, server, summary,
                                 f"-assumevalid={summary['tip']}"))
            add("reindex", reindex(args, folder, summary, hints))
            add("receive", receive_and_write(args, folder / "regtest/blocks"))
            add("wtxids", wtxids(args, folder))
    finally:
        server.stop()
    results = {name: measure.median_run(many) for name, many in runs.items()}
    measure.write(args.work, "network", report(args, summary, results),
                  {"summary": summary, "runs": runs, "results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
