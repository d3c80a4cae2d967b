#!/usr/bin/env python3
"""Measures how fast a fresh node gets hints from three nodes of ours over loopback, against a
program that only receives as many bytes over three connections, writes them to a file and syncs it.
The target is relative to the bare bytes, sent straight from the file. A second reference adds the
protocol's message checksum, made by the sender and compared by the receiver.

    bench/ibd/fetch_hints.py --build build --work /somewhere [--megabytes 80] [--repeat 9]

The file is as large as mainnet's and as many groups; the content of its groups is random, because
nothing is synced with it. The node's time goes from its first request to the file that is whole,
synced, and of which each group was checked (two lines of its log); its CPU seconds are those from
its start. Runs are taken in turn."""

import hashlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

import measure
from network import trust

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "contrib/ibd-booster-hints-gen"))

from hintsgen import container2  # noqa: E402 (needs the path above)

MAX_RATIO_TO_COPY = 1.2
PEERS = 3
GROUP_BYTES = 14_000  # about what mainnet's have
PIECE = 1 << 18
REGTEST = bytes.fromhex("fabfb5da")
BEGUN = "sending gethints "
WHOLE = "IBD Booster: the hints from peers are complete"


def large_hints(megabytes, terminal_hash):
    """A container with a block for each group, and the block's number of them."""
    groups = megabytes * 1_000_000 // GROUP_BYTES
    _, tables = container2.make_model([[0] * container2.BUCKETS] * container2.CONTEXTS)
    coded = [os.urandom(GROUP_BYTES) for _ in range(groups)]
    index = b"".join(container2.INDEX_ENTRY.pack(1, GROUP_BYTES, 1, hashlib.sha256(c).digest()[:8])
                     for c in coded)
    index_at = container2.HEADER.size + len(tables) + groups * GROUP_BYTES
    head = container2.HEADER.pack(container2.MAGIC, 2, 2, REGTEST, groups, groups, terminal_hash,
                                  groups, index_at, index_at + len(index), len(tables), 0,
                                  bytes(8))[:-8]
    check = hashlib.sha256(head + tables + index).digest()[:8]
    return head + check + tables + b"".join(coded) + index


class Server:
    """A node that has the headers' blocks and offers the hints."""

    def __init__(self, args, number, chain, summary, hints):
        self.port = measure.free_port()
        folder = args.work / f"server{number}"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(chain / "regtest", folder / "regtest")
        (folder / "regtest/hints").mkdir()
        os.link(hints, folder / "regtest/hints/kept-1.hints")
        measure.timed([*measure.bitcoind(args.build, folder, summary["height"]), "-reindex"])
        self.process = subprocess.Popen(
            [str(part) for part in (
                args.build / "bin/bitcoind", "-regtest", f"-datadir={folder}", "-server=0",
                "-connect=0", "-listen=1", f"-bind=127.0.0.1:{self.port}", "-printtoconsole=0",
                *trust(summary))])
        measure.wait_for_port(self.port)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def cpu_of(servers):
    return sum(measure.cpu_of(server.process.pid) for server in servers)


def own_cpu():
    times = os.times()
    return times.user + times.system


def seconds_of(line):
    return datetime.fromisoformat(line.split("Z ", 1)[0]).timestamp()


def fetch(args, servers, summary, v2):
    """Seconds from the first request to the line that the file is whole."""
    datadir = args.work / "fresh"
    shutil.rmtree(datadir, ignore_errors=True)
    datadir.mkdir()
    process = subprocess.Popen([str(part) for part in (
        args.build / "bin/bitcoind", "-regtest", f"-datadir={datadir}", "-server=0", "-listen=0",
        "-dnsseed=0", "-fixedseeds=0", "-printtoconsole=0", "-logtimemicros",
        "-debug=net", "-ibdboosterfile=auto", f"-v2transport={int(v2)}",
        *(f"-connect=127.0.0.1:{server.port}" for server in servers), *trust(summary))])
    log = datadir / "regtest/debug.log"
    before = cpu_of(servers)
    begin, deadline = None, time.monotonic() + 120
    try:
        while time.monotonic() < deadline:
            lines = log.read_text().splitlines() if log.exists() else []
            begin = next((line for line in lines if BEGUN in line), None)
            end = next((line for line in lines if WHOLE in line), None)
            if begin and end:
                return {"seconds": seconds_of(end) - seconds_of(begin),
                        "cpu": measure.cpu_of(process.pid), "sent": cpu_of(servers) - before}
            time.sleep(0.02)
        sys.exit(f"no hints came: {log}")
    finally:
        process.kill()
        process.wait()


def checksum(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]


def receive(checked, size, path, ports):
    """The reference program: it receives a third from each peer, writes it at its offset and syncs.
    """
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    share = size // len(ports)

    def take(number, port):
        buffer, at, end = memoryview(bytearray(PIECE)), number * share, (number + 1) * share
        with socket.create_connection(("127.0.0.1", port)) as line:
            while at < end:
                if checked:
                    wanted = line.recv(4, socket.MSG_WAITALL)
                got = line.recv_into(buffer, min(PIECE, end - at), socket.MSG_WAITALL)
                if checked and checksum(buffer[:got]) != wanted:
                    sys.exit("wrong checksum")
                os.pwrite(file, buffer[:got], at)
                at += got

    start = time.monotonic()
    threads = [threading.Thread(target=take, args=item) for item in enumerate(ports)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.fdatasync(file)
    print(time.monotonic() - start)


def send(checked, path, number, listener):
    with open(path, "rb") as file, listener.accept()[0] as line:
        share = os.fstat(file.fileno()).st_size // PEERS
        if not checked:
            line.sendfile(file, number * share, share)
            return
        for at in range(0, share, PIECE):
            data = os.pread(file.fileno(), min(PIECE, share - at), number * share + at)
            line.sendall(checksum(data))
            line.sendall(data)


def copy(args, hints, checked):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(PEERS)]
    senders = [threading.Thread(target=send, args=(checked, hints, number, listener))
               for number, listener in enumerate(listeners)]
    for sender in senders:
        sender.start()
    target = args.work / "copied"
    before = own_cpu()
    out, result = measure.timed([sys.executable, __file__, "--receive", int(checked),
                                 hints.stat().st_size, target,
                                 *(listener.getsockname()[1] for listener in listeners)])
    for sender in senders:
        sender.join()
    for listener in listeners:
        listener.close()
    target.unlink()
    return {"seconds": float(out), "cpu": result["cpu"], "sent": own_cpu() - before}


def report(args, runs):
    results = {name: measure.median_run(many) for name, many in runs.items()}
    rows = [(name, f"{r['seconds']:.3f}", f"{min(run['seconds'] for run in runs[name]):.3f}",
             f"{args.megabytes / r['seconds']:.0f}", f"{r['cpu']:.2f}",
             f"{statistics.mean(run['sent'] for run in runs[name]):.2f}")
            for name, r in results.items()]
    seconds = {name: r["seconds"] for name, r in results.items()}
    fetched = seconds["hints from peers"]
    verdicts = [("hints from peers / bare copy", fetched / seconds["bare copy"], "<=",
                 MAX_RATIO_TO_COPY)]
    return "\n".join([
        f"{args.megabytes} MB of hints from {PEERS} peers over loopback, {args.repeat} runs each.",
        "",
        *measure.table(("", "seconds, median", "least", "MB/s", "CPU s", "CPU s of the senders"),
                       *rows), "",
        *measure.verdict_table(verdicts), "",
        f"Of the copy with checksums: {fetched / seconds['copy with checksums']:.2f} times.", ""])


def main():
    if sys.argv[1:2] == ["--receive"]:
        receive(sys.argv[2] == "1", int(sys.argv[3]), sys.argv[4],
                [int(port) for port in sys.argv[5:]])
        return
    parser = measure.arguments(__doc__, outputs=200, repeat=9)
    parser.add_argument("--megabytes", type=int, default=80)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    height = args.megabytes * 1_000_000 // GROUP_BYTES
    chain = args.work / f"chain-{height}"
    summary = measure.chain(args.build, chain, args.outputs, "--blocks", 110, "--tail",
                            height - 110 + measure.TAIL, "--hints-height", height)
    hints = args.work / "large.hints"
    hints.write_bytes(large_hints(args.megabytes, bytes.fromhex(summary["hints_hash"])[::-1]))
    servers = [Server(args, number, chain, summary, hints) for number in range(PEERS)]
    runs = {}
    try:
        for _ in range(args.repeat):
            for name, run in (("hints from peers", lambda: fetch(args, servers, summary, False)),
                              ("copy with checksums", lambda: copy(args, hints, True)),
                              ("bare copy", lambda: copy(args, hints, False)),
                              ("hints from peers, v2",
                               lambda: fetch(args, servers, summary, True))):
                runs.setdefault(name, []).append(run())
                measure.say(name, runs[name][-1])
    finally:
        for server in servers:
            server.stop()
    measure.write(args.work, "fetch-hints", report(args, runs), {"runs": runs})


if __name__ == "__main__":
    main()
