#!/usr/bin/env python3
"""Floods of messages that are free or cheap for their senders: bitcoind beside Bitcoin Core's.

    bench/ibd/relay_attacks.py --build build --core BITCOIND --work /somewhere [--repeat 1]
        [--only WORD] [--full]

The messages of each attack (attack_streams.py) are made once and kept in the folder. Each program
in turn gets them over TCP, from a process that only sends (attack_feeder.py), on a chain whose
coins are on disk, with a pool that the attack may want to be filled before. Measured, of each:

* CPU seconds of the process from the first message until all peers' pings are answered;
* the most memory of the process, and of the pool by its own count;
* seconds until a transaction that an honest peer announces in the middle is in the pool, and until
  another honest peer has its announcement;
* seconds until a compact block whose transactions are known is relayed to a peer that wants compact
  blocks at once, and connected, as a call that waits for it tells: before the attack, and in it.
  Where the system allows it, peer and caller have real-time priority, as if on machines of their
  own.

--full takes attacks five times as large, and a pool of 300 MB too.
"""
import copy
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for folder in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / folder))

import attack_streams  # noqa: E402 (needs the path above)
import full_pool  # noqa: E402
from attack_feeder import shaken  # noqa: E402
from attack_streams import HONEST_FEE, NEWS_FEE, VALUE, inv_message, paying  # noqa: E402
from scripted_peer import NONCE, message  # noqa: E402
from wire import hash_hex, sha256d  # noqa: E402

QUIET_BLOCKS, BUSY_BLOCKS = 5, 5
BLOCK_TXS = 400
LEAST_POOL_TXS = 100  # of a block, where the pool is small
SMALL_POOL = 20  # MB
PAUSE = 0.3  # seconds between blocks
HEAD_START = 0.05  # seconds for a call, before what it waits for
PATIENCE = 120  # seconds
SETTLE = 2.0  # seconds before the attack, for the time after the last block
IN_POOL = "honest transaction in the pool, seconds"
TOLD = "honest transaction announced, seconds"
QUIET, BUSY = "block in peace, seconds", "block in the attack, seconds"
POOL, LIMIT = "pool, MB", "pool's limit, MB"
CPU, RSS = "CPU, seconds", "most memory, MB"
MAX_CPU_RATIO, MAX_BLOCK_RATIO, MAX_HONEST_SECONDS = 1.2, 1.2, 10


class Program(full_pool.Program):
    def __init__(self, bitcoind, folder, *options):
        super().__init__(bitcoind, folder, "-maxconnections=250", *options)

    def most_memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e3


class Watcher(threading.Thread):
    """An honest peer that records when a block or a transaction was announced to it."""

    def __init__(self, port, tip):
        super().__init__(daemon=True)
        self.line = shaken(port)
        self.told, self.news = {}, threading.Condition()
        self.line.send(message("sendcmpct", b"\1" + (2).to_bytes(8, "little")))
        self.line.send(message("headers", b"\1" + tip.header() + b"\0"))  # it has this block
        self.start()

    def run(self):
        measure.as_another_machine()
        try:
            while received := self.line.receive():
                self.take(*received)
        except OSError:
            pass

    def take(self, kind, payload):
        if kind == "ping":
            self.line.send(message("pong", payload))
        elif kind == "cmpctblock":
            self.note([sha256d(payload[:80])])
        elif kind == "inv":
            entries = payload[-(len(payload) // 36 * 36):]
            self.note(entries[at + 4:at + 36] for at in range(0, len(entries), 36))

    def note(self, ids):
        now = time.monotonic()
        with self.news:
            for one in ids:
                self.told.setdefault(hash_hex(one), now)
            self.news.notify_all()

    def time_of(self, name):
        """The time of the announcement; None: not in time."""
        with self.news:
            self.news.wait_for(lambda: name in self.told, PATIENCE)
            return self.told.get(name)


class News:
    """Blocks for one run, of transactions that the pool knows: the first makes its sender a peer
    that may announce compact blocks."""

    def __init__(self, ground, each):
        coins = iter(reversed(ground.coins))
        self.honest = paying([next(coins)], VALUE, HONEST_FEE)
        self.known, self.blocks = [], []
        chain = copy.copy(ground.chain)
        chain.blocks = list(ground.chain.blocks)
        for _ in range(1 + QUIET_BLOCKS + BUSY_BLOCKS):
            txs = [paying([next(coins)], VALUE, NEWS_FEE) for _ in range(each)]
            self.known += txs
            self.blocks.append(chain.add(chain.candidate(txs, each * NEWS_FEE)))
        self.compact = [full_pool.compact_block(block) for block in self.blocks]


def answer_times(node, pipe):
    """Sends the time of the answer to a call that waits for each block that it is told."""
    measure.as_another_machine()
    while name := pipe.recv():
        node.rpc("waitforblock", name, int(1e3 * PATIENCE))
        pipe.send(time.monotonic())


class Honest:
    """The actions of honest peers and of a caller, and their durations."""

    def __init__(self, node, ground, news):
        self.node, self.news, self.next = node, news, 1
        # A process of its own: a thread would wait for the one that reads announcements.
        fork = multiprocessing.get_context("fork")
        self.caller, end = fork.Pipe()
        self.calling = fork.Process(target=answer_times, args=(node, end), daemon=True)
        self.calling.start()
        self.watcher = Watcher(node.p2p_port, ground.chain.blocks[-1])
        self.miner, self.sender = shaken(node.p2p_port), shaken(node.p2p_port)
        self.miner.send(message("sendcmpct", b"\0" + (2).to_bytes(8, "little")))
        self.miner.send(message("block", news.blocks[0].raw()))
        assert self.miner.wait_for("sendcmpct", b"\1" + (2).to_bytes(8, "little"))
        node.wait_for_tip(news.blocks[0].hash())

    def answered(self, line, first):
        line.send(first + message("ping", NONCE))  # in one packet: a second one might wait
        assert line.wait_for("pong", NONCE), "disconnected"

    def block_seconds(self):
        block, compact = self.news.blocks[self.next], self.news.compact[self.next]
        self.next += 1
        self.caller.send(block.hash())
        time.sleep(HEAD_START)
        begin = time.monotonic()
        self.miner.send(message("cmpctblock", compact))
        relayed = self.watcher.time_of(block.hash())
        assert relayed, "a block was not relayed"
        return max(self.caller.recv(), relayed) - begin

    def end(self):
        self.caller.send(None)
        self.calling.join()

    def transaction_seconds(self):
        """(in the pool, announced)."""
        tx = self.news.honest
        begin = time.monotonic()
        self.sender.send(inv_message([sha256d(tx.raw())]))
        assert self.sender.wait_for("getdata"), "disconnected"
        self.answered(self.sender, message("tx", tx.raw()))
        in_pool = time.monotonic()
        self.node.rpc("getmempoolentry", tx.txid())
        told = self.watcher.time_of(tx.txid())
        return in_pool - begin, (told or float("inf")) - begin


class Feeder:
    def __init__(self, node, streams):
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "attack_feeder.py"), str(node.p2p_port),
             str(streams)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.open, self.ended = None, None

    def start(self):
        self.tell()
        self.waiting = threading.Thread(target=self._wait, daemon=True)
        self.waiting.start()

    def tell(self):
        """Lets it start, or end."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def _wait(self):
        self.open = int(self.process.stdout.readline().split()[1])

    @property
    def running(self):
        return self.waiting.is_alive()

    def end(self):
        self.tell()
        self.process.wait()


def blocks_in_attack(honest, feeder):
    """Seconds of the blocks received before its end."""
    taken = []
    while len(taken) < BUSY_BLOCKS:
        time.sleep(PAUSE)
        seconds = honest.block_seconds()
        if taken and not feeder.running:
            break
        taken.append(seconds)
    return taken


def attacked(node, honest, streams):
    feeder = Feeder(node, streams)
    time.sleep(SETTLE)
    before, begin = node.cpu(), time.monotonic()
    feeder.start()
    answers = []
    asking = threading.Thread(target=lambda: answers.append(honest.transaction_seconds()))
    asking.start()
    busy = blocks_in_attack(honest, feeder)
    feeder.waiting.join()
    out = {CPU: node.cpu() - before, "attack, seconds": time.monotonic() - begin,
           "peers left": feeder.open}
    asking.join()
    feeder.end()
    in_pool, told = answers[0]
    return out | {IN_POOL: in_pool, TOLD: told, BUSY: statistics.median(busy)}


def run(bitcoind, base, folder, ground, streams, attack):
    """One attack on one program."""
    shutil.copytree(base, folder)
    node = Program(bitcoind, folder, f"-maxmempool={attack.pool_megabytes}").start()
    try:
        each = LEAST_POOL_TXS if attack.pool_megabytes < SMALL_POOL else BLOCK_TXS
        news = News(ground, each)
        txs = [tx.raw() for tx in news.known] + attack.before
        node.rpc("importmempool", full_pool.pool_file(folder / "given.dat", txs))
        honest = Honest(node, ground, news)
        quiet = []
        for _ in range(QUIET_BLOCKS):
            time.sleep(PAUSE)
            quiet.append(honest.block_seconds())
        out = attacked(node, honest, streams) | {QUIET: statistics.median(quiet)}
        info = node.rpc("getmempoolinfo")
        out |= {POOL: info["usage"] / 1e6, LIMIT: info["maxmempool"] / 1e6,
                "pool, transactions": info["size"], RSS: node.most_memory()}
        honest.end()
        node.stop()
    finally:
        node.kill()
        shutil.rmtree(folder)
    return out


def based(bitcoind, folder, ground):
    """A data directory with the chain, whose coins are on disk."""
    shutil.rmtree(folder, ignore_errors=True)
    node = Program(bitcoind, folder).start()
    for block in ground.chain.blocks:
        node.rpc("submitblock", block.raw().hex())
    assert node.rpc("getbestblockhash") == ground.chain.tip
    node.stop()
    return folder


def middle_of(runs):
    return {key: statistics.median(one[key] for one in runs) for key in runs[0]}


def verdicts_of(name, core, ours, cpu_ratio):
    return [(f"{name}: CPU / Core's", cpu_ratio, "<=", MAX_CPU_RATIO),
            (f"{name}: pool / limit", ours[POOL] / ours[LIMIT], "<=", 1),
            (f"{name}: {IN_POOL}", ours[IN_POOL], "<=", MAX_HONEST_SECONDS),
            (f"{name}: block in the attack / in peace", ours[BUSY] / ours[QUIET], "<=",
             MAX_BLOCK_RATIO)]


def report(results):
    rows, verdicts = [], []
    for name, runs in results.items():
        core, ours = (middle_of(runs[program]) for program in ("core", "ours"))
        cpu = statistics.median(measure.ratio(b[CPU], a[CPU])
                                for a, b in zip(runs["core"], runs["ours"]))
        rows.append((name, f"{core[CPU]:.2f} / {ours[CPU]:.2f}", f"{cpu:.2f}",
                     f"{core[RSS]:.0f} / {ours[RSS]:.0f}", f"{core[POOL]:.1f} / {ours[POOL]:.1f}",
                     f"{core[IN_POOL]:.1f} / {ours[IN_POOL]:.1f}",
                     f"{core[TOLD]:.1f} / {ours[TOLD]:.1f}",
                     *(f"{1e3 * one[QUIET]:.0f} > {1e3 * one[BUSY]:.0f}" for one in (core, ours))))
        verdicts += verdicts_of(name, core, ours, cpu)
    head = ("attack", "CPU s, Core / ours", "ratio", "memory, MB", "pool, MB", "in pool, s",
            "announced, s", "block, Core, ms", "block, ours, ms")
    return "\n".join([*measure.table(head, *rows), "", *measure.verdict_table(verdicts), ""])


def main():
    parser = measure.arguments(__doc__, 0, 1)
    parser.add_argument("--core", type=Path, required=True, help="Core's bitcoind")
    parser.add_argument("--only", default="", help="attacks with this word")
    parser.add_argument("--scale", type=float, default=0.2, help="of the attacks")
    parser.add_argument("--full", action="store_true", help="scale 1, all attacks")
    args = parser.parse_args()
    if args.full:
        args.scale = 1
    os.environ.setdefault("IBD_BINDIR", str(args.build / "bin"))
    chosen = attack_streams.ATTACKS | (attack_streams.FULL_ATTACKS if args.full else {})
    names = [name for name in chosen if args.only in name]
    ground = attack_streams.Ground(attack_streams.coins_of(names) + 10_000,
                                   1 + QUIET_BLOCKS + BUSY_BLOCKS)
    programs = {"core": args.core, "ours": args.build / "bin/bitcoind"}
    bases = {name: based(program, args.work / f"base-{name}", ground)
             for name, program in programs.items()}
    results = {}
    for name in names:
        streams, attack = attack_streams.recorded(name, ground, args.scale, args.work)
        runs = results[name] = {"core": [], "ours": []}
        for _ in range(args.repeat):
            for program, bitcoind in programs.items():
                runs[program].append(run(bitcoind, bases[program], args.work / program, ground,
                                         streams, attack))
                print(f"  {name}, {program}: {runs[program][-1]}", flush=True)
    measure.write(args.work, "relay_attacks", report(results), results)


if __name__ == "__main__":
    main()
