#!/usr/bin/env python3
"""The demonstration of the quick start, after the programs are built: one generated chain, its
chainstate rebuilt by serial validation, by the booster from the blocks alone, by the booster with
hints and, where it can be built, by Bitcoin Core; all watched, all drawn.

    demo.py --bin DIR_OF_BITCOIND --dir DIR [--outputs N] [--no-core]

Watching is done as a user would: getboosterinfo while the booster is at work, and the tips in
debug.log while blocks are connected.
"""

import argparse
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import chart

BUILD_CORE = Path(__file__).resolve().parents[2] / "test/interop/build_core.sh"
RPC_PORT = 28443
# Blocks above the hints' end: the booster, like -assumevalid, asks for two weeks' worth of them.
TAIL = 2100
CORE, SERIAL = "Bitcoin Core", "serial validation"
POLL_SECONDS = 0.1


class Failed(Exception):
    """A step that went wrong; the message is for the user."""


class Steps:
    """Numbered steps with their time; the output of the programs goes to the log."""

    def __init__(self, log, first):
        self.log = log
        self.number = first - 1
        self.live = sys.stdout.isatty()

    def show(self, title, begin, share=None):
        bar = ""
        if share is not None:
            filled = int(share * 20 / 100)
            bar = f" [{'#' * filled}{'.' * (20 - filled)}] {share:3.0f} %"
        print(f"\r{self.number:2d}  {title:<46}{time.monotonic() - begin:6.0f} s{bar}", end="",
              flush=True)

    def run(self, title, command, watch=None, output=None):
        """Runs a command to its end; `watch(seconds)` gives the share done, in per cent. Returns
        the seconds it took."""
        self.number += 1
        print(f"\n== {title}: {' '.join(map(str, command))}", file=self.log, flush=True)
        begin = time.monotonic()
        with subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                              stdout=output or self.log, stderr=self.log,
                              start_new_session=True) as process:
            ended = threading.Thread(target=process.wait)
            ended.start()
            try:
                while ended.is_alive():
                    share = watch(time.monotonic() - begin) if watch else None
                    if self.live and time.monotonic() - begin > 1:
                        self.show(title, begin, share)
                    ended.join(POLL_SECONDS)
            except BaseException:  # asked to stop, with its compilers
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                raise
        took = time.monotonic() - begin
        start = "\r" if self.live else ""
        print(f"{start}{self.number:2d}  {title:<46}{took:8.1f} s" + " " * 28 * self.live)
        if process.returncode != 0:
            raise Failed(f"'{title}' ended with status {process.returncode}")
        return took


class Node:
    """bitcoind on the generated chain."""

    def __init__(self, binaries, data, summary):
        self.cli = [binaries / "bitcoin-cli", f"-datadir={data}", "-regtest",
                    f"-rpcport={RPC_PORT}", "-rpcclienttimeout=0"]
        self.command = [binaries / "bitcoind", f"-datadir={data}", "-regtest",
                        f"-rpcport={RPC_PORT}", "-printtoconsole=0", "-listen=0", "-connect=0",
                        f"-assumevalid={summary['hints_hash']}", "-minimumchainwork=0",
                        "-checkblockindex=0"]  # a check of Core that is on on regtest alone
        self.net = data / "regtest"
        self.tip = summary["height"]
        self.full = summary["hints_height"]  # blocks above have nothing but a coinbase

    def rebuild(self, *options):
        return [*self.command, "-reindex-chainstate", f"-stopatheight={self.tip}", *options]

    def index(self):
        return [*self.command, "-reindex", "-ibdbooster=0", "-stopatheight=1"]

    def call(self, *arguments):
        done = subprocess.run([*map(str, self.cli), *map(str, arguments)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return done.stdout

    def up(self):
        done = subprocess.run([*map(str, self.command), "-daemonwait"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())

    def down(self):
        if not (self.net / "bitcoind.pid").exists():
            return
        self.call("stop")
        while (self.net / "bitcoind.pid").exists():
            time.sleep(0.05)

    @contextlib.contextmanager
    def at_work(self):
        """It is a daemon, which nothing else would end."""
        try:
            self.up()
            yield
        finally:
            self.down()

    def coins_hash(self):
        return json.loads(self.call("gettxoutsetinfo", "muhash"))["muhash"]


class Watcher:
    """The progress of a run of the node; keeps the curve for the plot."""

    def __init__(self, node, booster_height=0, joins=False):
        self.node = node
        self.booster_height = booster_height  # up to here blocks are folded, not connected
        self.joins = joins  # before that they are read for hints: half of the work
        self.log = node.net / "debug.log"
        self.at = self.log.stat().st_size if self.log.exists() else 0
        self.height = 0
        self.curve = []

    def __call__(self, seconds):
        self.height = max(self.height, self._boosted(), self._connected())
        share = 100 * min(self.height, self.node.full) / self.node.full
        self.curve.append((seconds, share))
        return share

    def _boosted(self):
        """Height that the booster is at, or would be at if it only folded."""
        if not self.booster_height or self.height >= self.booster_height:
            return 0
        info = self._info()
        if not self.joins:
            return info.get("folded", 0)
        join = info.get("join", {})
        read = join.get("bytes", 0) / max(1, join.get("totalbytes", 0)) * self.booster_height
        return int(max(min(read, self.booster_height),
                       self.booster_height + info["folded"] if info.get("folded") else 0) / 2)

    def _info(self):
        try:
            cookie = (self.node.net / ".cookie").read_bytes()
            request = urllib.request.Request(
                f"http://127.0.0.1:{RPC_PORT}/", b'{"method":"getboosterinfo"}',
                {"Authorization": "Basic " + base64.b64encode(cookie).decode()})
            with urllib.request.urlopen(request, timeout=1) as answer:
                return json.load(answer)["result"]
        except (OSError, ValueError):
            return {}  # not up yet, or gone already

    def _connected(self):
        if not self.log.exists():
            return 0
        with open(self.log, "rb") as log:
            log.seek(self.at)
            fresh = log.read()
        whole = fresh[:fresh.rfind(b"\n") + 1]
        self.at += len(whole)
        heights = re.findall(rb"UpdateTip: new best=\w+ height=(\d+)", whole)
        return int(heights[-1]) if heights else 0


def success_lines(node):
    return re.findall(r"\*\*\* IBD Booster: .*succeeded\. \*\*\*",
                      (node.net / "debug.log").read_text(errors="replace"))


def measure(steps, title, node, options, watcher):
    """One sync to the tip, with or without the booster as the watcher is set. Returns its progress
    curve, which ends at 100 %."""
    before = len(success_lines(node))
    took = steps.run(title, node.rebuild(*options), watcher)
    if len(success_lines(node)) - before != bool(watcher.booster_height):
        raise Failed(f"'{title}' was not what it says")
    return [point for point in watcher.curve if point[0] < took] + [(took, 100.0)]


def make_chain(args, steps):
    """The chain's summary; its block files are in DIR/data."""
    data = args.dir / "data"
    if data.is_symlink():
        raise Failed(f"{data} is a link: what it leads to is not removed")
    if data.exists():
        shutil.rmtree(data)
    summary = args.dir / "chain.json"
    with open(summary, "w", encoding="ascii") as out:
        steps.run(f"generate a chain of {args.outputs:,} outputs",
                  [args.bin / "ibd-chaingen", "--out", data, "--outputs", args.outputs, "--tail",
                   TAIL, "--shuffle", 20, "--xor"], output=out)
    return json.loads(summary.read_text())


def make_hints(args, steps, node, summary):
    """Done once by the owner of a synced node, never by users of the file."""
    hints = args.dir / "chain.hints"
    hints.unlink(missing_ok=True)
    with node.at_work():
        steps.run("hints for others: bitcoin-cli dumptxouthints",
                  [*node.cli, "dumptxouthints", hints, summary["hints_height"]])
    return hints


def coins_of(node):
    with node.at_work():
        return node.coins_hash()


def find_core(args, steps):
    """The folder of Core's programs; building them the first time may take minutes. Returns None
    and prints the reason if they cannot be built."""
    if args.no_core:
        return None
    answer = args.dir / "core.txt"
    try:
        with open(answer, "w", encoding="utf-8") as out:
            steps.run("build Bitcoin Core, to compare (once)", [BUILD_CORE], output=out)
    except Failed as error:
        reasons = re.findall(r"^SKIP core: (.*)", Path(steps.log.name).read_text(errors="replace"),
                             re.M)
        print(f"    no comparison with Bitcoin Core: {reasons[-1] if reasons else error}")
        return None
    return Path(answer.read_text(encoding="utf-8").strip())


def rebuild_all(args, steps, node, summary, core):
    """Builds the same chainstate with each engine, Core's last. Returns the curves by their names,
    with Core's first, and the hints file."""
    runs, coins = {}, []

    def rebuild(name, title, options, watcher, by=node):
        runs[name] = measure(steps, title, by, options, watcher)
        coins.append(coins_of(node))

    end = summary["hints_height"]
    rebuild(SERIAL, "serial: -reindex-chainstate -ibdbooster=0", ["-ibdbooster=0"],
            Watcher(node))
    rebuild("booster, blocks alone", "booster: the same, -ibdbooster", ["-ibdbooster"],
            Watcher(node, end, joins=True))
    hints = make_hints(args, steps, node, summary)
    rebuild("booster, hints", "booster: the same, -ibdboosterfile=chain.hints",
            [f"-ibdboosterfile={hints}"], Watcher(node, end))
    if core:
        rebuild(CORE, "Bitcoin Core: -reindex-chainstate", [], Watcher(core), core)
        runs = {CORE: runs.pop(CORE), **runs}
    if len(set(coins)) != 1:
        raise Failed("the coins of these runs are not the same")
    return runs, hints


def show(args, runs, summary, hints):
    picture = args.dir / "runs.svg"
    title = (f"Rebuilding the chainstate: {summary['outputs']:,} outputs, "
             f"{summary['height']:,} blocks")
    picture.write_text(chart.svg(title, runs))
    print("\n" + "\n".join(chart.text(runs)))
    took = {name: curve[-1][0] for name, curve in runs.items()}
    other = CORE if CORE in runs else SERIAL
    ratio = took[other] / took["booster, blocks alone"]
    size = hints.stat().st_size
    print(f"\nThe booster was {ratio:.1f} times as fast as {other}, and made the same coins.\n"
          f"The hints file takes {size:,} bytes, {8 * size / summary['outputs']:.2f} bits for "
          f"each output, and a run with it {took['booster, hints']:.1f} s.")
    print("Whole runs of bitcoind at its defaults, start and shutdown included, scripts skipped\n"
          "in all as below an assumed-valid block. The chain is made up, and its coins fit in the\n"
          "default cache, which is the best case of block after block: mainnet's do not.\n"
          f"The picture: {picture}")


def stop(*_):
    """The handler of SIGTERM and SIGHUP: ends the children before the exit."""
    raise KeyboardInterrupt


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--outputs", type=int, default=8_000_000)
    parser.add_argument("--no-core", action="store_true")
    parser.add_argument("--first-step", type=int, default=1)
    args = parser.parse_args()
    with open(args.dir / "quickstart.log", "a", encoding="utf-8") as log:
        steps = Steps(log, args.first_step)
        try:
            summary = make_chain(args, steps)
            node = Node(args.bin, args.dir / "data", summary)
            steps.run("index the block files: bitcoind -reindex", node.index())
            programs = find_core(args, steps)
            core = Node(programs, args.dir / "data", summary) if programs else None
            runs, hints = rebuild_all(args, steps, node, summary, core)
            print("\n" + success_lines(node)[-1])
        except Failed as error:
            print(f"\nquickstart: {error}; the end of {log.name}:", file=sys.stderr)
            log.flush()
            print("\n".join(Path(log.name).read_text(errors="replace").splitlines()[-15:]),
                  file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nquickstart: stopped", file=sys.stderr)
            return 130
    show(args, runs, summary, hints)
    print(f"\nEverything is in {args.dir}; look around with:\n"
          f"    {args.bin / 'bitcoind'} -datadir={args.dir / 'data'} -regtest -daemonwait\n"
          f"    {args.bin / 'bitcoin-cli'} -datadir={args.dir / 'data'} -regtest getblockchaininfo")
    return 0


if __name__ == "__main__":
    sys.exit(main())
