#!/usr/bin/env python3
"""Compares loadtxoutset with Bitcoin Core's, and the proof of the history below a snapshot with a
booster run of the same blocks.

    bench/ibd/snapshots.py --build build --work /somewhere [--coins 2000000] [--outputs 4000000]
        [--repeat 3] [--no-core]

Loading: both programs in turn load a snapshot of --coins coins after block 200 into a directory
that has only the headers. Core accepts only snapshots whose hashes are in its program, so in a copy
of it this chain's hashes replace those of regtest's block 200. The proof: a chain of --outputs
outputs, of which all blocks are stored, and a snapshot below its last blocks; the run ends when the
history is proven. The booster builds the chainstate up to the same block from the same files with
hints. Figures are CPU seconds of the processes.
"""
import os
import random
import shutil
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for folder in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / folder))

import framework  # noqa: E402 (needs the path above)
from interop_env import built_program  # noqa: E402
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain  # noqa: E402
from wire import Tx  # noqa: E402

BASE = 200
# Core's program has these hashes of regtest's snapshot after block 200. They are in display order
# here; knowing() reverses them to the order of the bytes in memory.
CORES_HASH = "17dcc016d188d16068907cdeb38b75691a118d43053b8cd6a25969419381d13a"
CORES_BLOCK = "385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9"
MATURE = 101  # the first block that spends a coinbase
FIRST_COINS = 2_000
COINS_OF_A_TX = 24
OURS, CORE = "ours", "Core"
PROOF, BOOSTER = "proof of the history", "booster"
MIN_LOADING, MAX_PROOF = 3, 1.3  # the targets
LOOK_EVERY = 0.1  # seconds
PROVEN = "the history below is proven"  # in the log
IMPORTED = "blocks from external file"  # in the log
AS_ALONE = ("-listen=0", "-connect=0", *measure.NO_CHECKS, "-checkblocks=1")


def scripts(count, chance):
    """Scripts of keys and hashes that nobody has: P2WPKH, P2PKH, P2SH, P2TR."""
    forms = ((b"\x00\x14", 20, b""), (b"\x76\xa9\x14", 20, b"\x88\xac"), (b"\xa9\x14", 20, b"\x87"),
             (b"\x51\x20", 32, b""))
    return [head + chance.randbytes(size) + tail
            for head, size, tail in chance.choices(forms, k=count)]


def make_chain(coins):
    """BASE blocks whose last 99 leave about `coins` coins: each of their transactions spends a coin
    and makes COINS_OF_A_TX."""
    chance, value = random.Random(1), 49 * COIN // FIRST_COINS
    chain = Chain().grow(MATURE - 1)
    spendable = [(*coin, value) for coin in chain.split(FIRST_COINS, value)]
    blocks = BASE - MATURE
    txs = max(1, coins // blocks // (COINS_OF_A_TX - 1))
    for _ in range(blocks):
        made, spent, spendable = [], spendable[:txs], spendable[txs:]
        for txid, vout, worth in spent:
            each = worth // COINS_OF_A_TX
            made.append(Tx([(txid, vout, REDEEM, FINAL)],
                           [(each, REDEEMED)] * 2 +
                           [(each, script) for script in scripts(COINS_OF_A_TX - 2, chance)]))
        chain.add(chain.candidate(made))
        spendable += [(tx.txid(), i, tx.outputs[0][0]) for tx in made for i in range(2)]
    return chain


class Program(framework.Node):
    def __init__(self, binary, folder, *options):
        super().__init__(folder, "regtest", [*AS_ALONE, *options])
        self.binary = binary

    def cpu(self):
        return measure.cpu_of(self.process.pid)


class Loading:
    """A snapshot after block 200, and both programs that may load it."""

    def __init__(self, args):
        self.work = args.work / f"loading-{args.coins}"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        print(f"making a chain of {args.coins} coins ...", flush=True)
        chain = make_chain(args.coins)
        self.headers = [block.header().hex() for block in chain.blocks]
        raw = self.work / "blocks.dat"
        measure.write_blocks(raw, chain.blocks)
        ours = args.build / "bin/bitcoind"
        source = Program(ours, self.work / "source", "-ibdbooster=0", f"-loadblock={raw}")
        source.start()
        source.wait_for_height(BASE)
        self.file = self.work / "utxo.dat"
        self.dump = source.rpc("dumptxoutset", str(self.file), "latest")
        source.stop()
        known = f"-assumeutxo={BASE}:{self.dump['txoutset_hash']}:{self.dump['nchaintx']}"
        self.programs = {OURS: (ours, ["-ibdbooster=0", "-assumevalid=0", known])}
        if not args.no_core:
            core = built_program("build_core.sh", "IBD_CORE") / "bitcoind"
            self.programs[CORE] = (self.knowing(core), [])

    def knowing(self, core):
        """A copy of Core's program that accepts the snapshot."""
        data, copy = core.read_bytes(), self.work / "bitcoind-core"
        for old, new in ((CORES_HASH, self.dump["txoutset_hash"]),
                         (CORES_BLOCK, self.dump["base_hash"])):
            old, new = (bytes.fromhex(text)[::-1] for text in (old, new))
            assert data.count(old) == 1, "Core's program has the hash in another form"
            data = data.replace(old, new)
        copy.write_bytes(data)
        copy.chmod(0o755)
        return copy

    def run(self, who):
        binary, options = self.programs[who]
        node = Program(binary, self.work / "node", *options)
        node.start()
        for header in self.headers:
            node.rpc("submitheader", header)
        cpu, start = node.cpu(), time.monotonic()
        answer = node.rpc("loadtxoutset", str(self.file))
        result = {"seconds": time.monotonic() - start, "cpu": node.cpu() - cpu}
        assert answer["coins_loaded"] == self.dump["coins_written"], answer
        node.kill()
        shutil.rmtree(node.datadir)
        measure.say(f"loadtxoutset, {who}", result)
        return result


class Proof:
    """A directory whose blocks are stored and whose coins are of a snapshot, and one with the same
    blocks for the booster."""

    def __init__(self, args):
        self.build = args.build
        self.folder = args.work / f"proof-{args.outputs}"
        hints = self.folder / "chain.hints"
        self.summary = measure.chain(args.build, self.folder, args.outputs, "--shuffle", "50",
                                     "--preallocate", "--tail", measure.TAIL, "--container", hints)
        self.base = self.summary["height"] - measure.TAIL
        self.trusted = ("-minimumchainwork=0", f"-assumevalid={self.summary['hints_hash']}")
        self.booster = [f"-ibdboosterfile={hints}", *self.trusted, "-ibdboosterundo=0"]
        self.make_snapshot()
        self.make_begun()

    def node(self, name, *options):
        return Program(self.build / "bin/bitcoind", self.folder / name, *options)

    def make_snapshot(self):
        """The coins at the hints' terminal block, made by the booster. The summary's directory
        then has blocks, block index and chainstate; run_booster() builds the chainstate again."""
        self.file = self.folder / "utxo.dat"
        self.file.unlink(missing_ok=True)
        print("building the chainstate ...", flush=True)
        node = self.node("", "-reindex", *self.booster)
        node.start()
        node.wait_for_height(self.summary["height"])
        self.dump = node.rpc("dumptxoutset", str(self.file), "", {"rollback": self.base})
        node.stop()

    def make_begun(self):
        """A directory that has loaded the snapshot, and stored all blocks."""
        target = self.folder / "begun"
        shutil.rmtree(target, ignore_errors=True)
        known = f"-assumeutxo={self.base}:{self.dump['txoutset_hash']}:{self.dump['nchaintx']}"
        self.options = ["-ibdbooster=0", "-ibdboosterundo=0", known]
        node = self.node("begun", *self.options, "-assumevalid=0", "-minimumchainwork=0")
        node.start()
        source = self.node("", "-ibdboosterundo=0").start()
        for height in range(1, self.summary["height"] + 1):
            node.rpc("submitheader", source.rpc("getblockheader",
                                                source.rpc("getblockhash", height), False))
        source.stop()
        node.rpc("loadtxoutset", str(self.file))
        node.stop()
        files = sorted((self.folder / "regtest/blocks").glob("blk*.dat"))
        node.start(*(f"-loadblock={path}" for path in files))
        framework.wait_until(lambda: node.log_text.count(IMPORTED) == len(files), "the import")
        node.wait_for_height(self.summary["height"])
        node.stop()
        self.begun = target

    def run_proof(self):
        copy = self.folder / "proving"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.begun, copy)
        measure.warm(copy / "regtest/blocks")
        node = self.node("proving", *self.options, *self.trusted)
        start = time.monotonic()
        node.start()
        while PROVEN not in node.log_text:  # a call would cost CPU
            if not node.running:
                raise SystemExit(f"the node ended: see {node.net_dir}/debug.log")
            time.sleep(LOOK_EVERY)
        result = {"seconds": time.monotonic() - start, "cpu": node.cpu()}
        node.stop()
        measure.say(PROOF, result)
        return result

    def run_booster(self):
        measure.warm(self.folder / "regtest/blocks")
        command = measure.bitcoind(self.build, self.folder, self.base, "-reindex-chainstate",
                                   *self.booster)
        _, result = measure.timed(command)
        measure.say(BOOSTER, result)
        return result


def medians(runs):
    return {who: measure.median_run(taken) for who, taken in runs.items()}


def report_loading(loading, results, repeat):
    coins = loading.dump["coins_written"]
    rows = [(who, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}", f"{coins / r['seconds'] / 1e6:.2f}")
            for who, r in results.items()]
    verdicts = []
    if CORE in results:
        verdicts = [(f"loading, Core / ours, {what}",
                     measure.ratio(results[CORE][key], results[OURS][key]), ">=", MIN_LOADING)
                    for what, key in (("time", "seconds"), ("CPU", "cpu"))]
    return [f"Snapshot of {coins:,} coins, {loading.file.stat().st_size / 1e6:.0f} MB, {repeat} "
            "run(s) each, median:", "",
            *measure.table(("loadtxoutset", "s", "CPU s", "M coins/s"), *rows), "",
            *measure.verdict_table(verdicts), ""]


def report_proof(proof, results, repeat):
    rows = [(who, f"{r['seconds']:.2f}", f"{r['cpu']:.2f}") for who, r in results.items()]
    return [f"{proof.summary['outputs']:,} outputs, {proof.dump['coins_written']:,} coins, "
            f"{repeat} run(s) each, median:", "", *measure.table(("run", "s", "CPU s"), *rows), "",
            *measure.verdict_table([("proof / booster, CPU",
                                     measure.ratio(results[PROOF]["cpu"], results[BOOSTER]["cpu"]),
                                     "<=", MAX_PROOF)]), ""]


def repeated(ways, repeat):
    runs = {}
    for _ in range(repeat):
        for who, run in ways.items():
            runs.setdefault(who, []).append(run())
    return runs


def main():
    parser = measure.arguments(__doc__, outputs=4_000_000, repeat=3)
    parser.add_argument("--coins", type=int, default=2_000_000)
    parser.add_argument("--no-core", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    os.environ["IBD_BINDIR"] = str(args.build / "bin")
    loading = Loading(args)
    loads = repeated({who: lambda who=who: loading.run(who) for who in loading.programs},
                     args.repeat)
    proof = Proof(args)
    proofs = repeated({PROOF: proof.run_proof, BOOSTER: proof.run_booster}, args.repeat)
    text = [*report_loading(loading, medians(loads), args.repeat),
            *report_proof(proof, medians(proofs), args.repeat)]
    measure.write(args.work, "snapshots", "\n".join(text),
                  {"loading": loads, "proof": proofs, "summary": proof.summary})
    return 0


if __name__ == "__main__":
    sys.exit(main())
