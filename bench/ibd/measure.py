"""Shared code of the benches of whole programs: making a chain once, timing a command, tables."""

import argparse
import base64
import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "test" / "support"))

# Needs the path above; for the benches.
from ports import free_port  # noqa: E402, pylint: disable=unused-import

CLOCK_TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds
REGTEST_MAGIC = bytes.fromhex("fabfb5da")
TAIL = 2100  # blocks above the hints, because bitcoind accepts only buried hints


def paths(description, work="folder for chain and results"):
    """Parser with the paths of every bench. `work`: the help of --work."""
    parser = argparse.ArgumentParser(description=description.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--work", type=Path, required=True, help=work)
    return parser


def arguments(description, outputs, repeat):
    """The parser of paths(), with --outputs and --repeat too."""
    parser = paths(description)
    parser.add_argument("--outputs", type=int, default=outputs)
    parser.add_argument("--repeat", type=int, default=repeat)
    return parser


def timed(command, watch=None):
    """Runs a command to its end. Returns its output and its seconds on the clock, CPU seconds and
    peak memory in bytes. `watch`, if given, runs on its own thread and gets the process id."""
    command, start = [str(c) for c in command], time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        if watch:
            threading.Thread(target=watch, args=(process.pid,), daemon=True).start()
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, text)
    return text, {"seconds": time.monotonic() - start, "cpu": usage.ru_utime + usage.ru_stime,
                  "peak_rss": usage.ru_maxrss << 10}


def ratio(value, base):
    """value / base. A base below one tick of the CPU clock counts as one tick, so that the ratio is
    defined for very short runs."""
    return value / max(base, CLOCK_TICK)


def say(name, result):
    print(f"  {name}: {result['seconds']:.2f} s, {result['cpu']:.2f} s of CPU", flush=True)


def chain(build, folder, outputs, *options):
    """Summary of the chain of ibd-chaingen in `folder`, which is made if it is not there."""
    summary = folder / "summary.json"
    if not summary.exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"generating {outputs} outputs ...", flush=True)
        made, _ = timed([build / "bin/ibd-chaingen", "--out", folder, "--outputs", outputs,
                         *options])
        summary.write_text(made)
    return json.loads(summary.read_text())


def write_blocks(path, blocks):
    """Writes blocks of regtest in the form of block files, for -loadblock."""
    with open(path, "wb") as file:
        for block in blocks:
            raw = block.raw()
            file.write(REGTEST_MAGIC + len(raw).to_bytes(4, "little") + raw)


def warm(blocks):
    """Reads the block files once, so that every program meets the same page cache."""
    for path in sorted(blocks.glob("blk*.dat")):
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass


def wait_for_port(port):
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)


def cpu_of(pid):
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * CLOCK_TICK


def cpu_of_threads(pid, name=None):
    """CPU seconds of the living threads of a process, or of those with this name; finer than
    cpu_of() tells."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in Path(f"/proc/{pid}/task").iterdir()
               if name in (None, (task / "comm").read_text().strip())) / 1e9


def as_another_machine():
    """For the calling thread, whose delays are not the node's: real-time priority where the system
    allows it, on processors that it has to share with the node."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def rpc(datadir, port, method):
    """The answer of a regtest node; None while it does not answer."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        login = base64.b64encode((datadir / "regtest/.cookie").read_bytes()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}", json.dumps({"id": 1, "method": method}).encode(),
            {"Authorization": "Basic " + login})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read())["result"]
    return None


def until(who, command, datadir, port, method, done, look_every=0.05, looked=lambda pid: None):
    """Runs a node until `done` holds for the answer of this call; returns the seconds on the clock
    and of CPU until then. `looked(pid)` is called after each look."""
    start = time.monotonic()
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL) as process:
        while not done(rpc(datadir, port, method)):
            if process.poll() is not None:
                sys.exit(f"{who}: ended with status {process.returncode}")
            time.sleep(look_every)
            looked(process.pid)
        result = {"seconds": time.monotonic() - start, "cpu": cpu_of(process.pid)}
        looked(process.pid)
        rpc(datadir, port, "stop")
    return result


# Core's checks of its own state, which are on by default on regtest alone; of the block index after
# each block of a -reindex.
NO_CHECKS = ("-checkmempool=0", "-checkblockindex=0", "-checkaddrman=0")


def local_sync(program, datadir, height, *options):
    """The command by which our program or Core's syncs a regtest directory up to `height` from
    local files."""
    return [program, "-regtest", f"-datadir={datadir}", "-dbcache=450", "-server=0", "-listen=0",
            "-connect=0", f"-stopatheight={height}", *NO_CHECKS, *options]


def bitcoind(build, datadir, height, *options):
    """The same by our program, without undo data of blocks that the booster folds."""
    return local_sync(build / "bin/bitcoind", datadir, height, "-ibdboosterundo=0", *options)


def about_signed(summary, repeat):
    """First line of a report on a signed chain."""
    return (f"Signed chain: {summary['outputs']:,} outputs, {summary['inputs']:,} inputs, "
            f"{summary['bytes'] / 1e6:.0f} MB in {summary['height']:,} blocks. {repeat} run(s) "
            "each, median.")


def median_run(runs):
    middle = statistics.median_low([run["seconds"] for run in runs])
    return next(run for run in runs if run["seconds"] == middle)


def table(*rows):
    """Lines of a Markdown table; the first row is its head."""
    head, *body = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return [head, "|" + "---|" * len(rows[0]), *body]


def verdict_table(verdicts):
    """One line for each (what, value, sign, target): whether `value sign target` holds."""
    rows = [(name, f"{value:.2f}", f"{sign} {target:g}",
             "yes" if holds(value, sign, target) else "NO")
            for name, value, sign, target in verdicts]
    return table(("measure", "value", "target", "met"), *rows)


def holds(value, sign, target):
    return value <= target if sign == "<=" else value >= target


def write(work, name, text, numbers):
    """Prints a report and leaves it and its numbers beside the chain."""
    print(text)
    (work / f"{name}.md").write_text(text)
    (work / f"{name}.json").write_text(json.dumps(numbers, indent=1))
