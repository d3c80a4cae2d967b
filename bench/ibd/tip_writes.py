#!/usr/bin/env python3
"""Bytes of tables that LevelDB writes while a node follows the tip for a day, beside Core's.

    bench/ibd/tip_writes.py --build build --core BITCOIND --work /somewhere [--outputs 50000000]
        [--hours 24] [--other BITCOIND]

This node connects a chain of so many coins, block after block. Each program continues from a copy
of that directory with blocks that spend 5,000 coins each, of any age, and make as many. In each
hour it starts, takes six blocks by submitblock, has a moment for compactions, and stops, which
writes its coins as the hourly flush does. Counted are the tables that LevelDB reports in debug.log:
those of its logs and those of its compactions. --other: one more build of this node, as with
another LevelDB.
"""
import os
import random
import re
import shutil
import statistics
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for each in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / each))

import framework  # noqa: E402 (needs the path above)
from regtest_chain import FINAL, REDEEM, REDEEMED, Chain  # noqa: E402
from wire import Tx  # noqa: E402

BLOCKS_OF_AN_HOUR = 6
COINS_OF_A_BLOCK = 5_000
INPUTS_OF_A_TX = 500
OUTPUTS_OF_A_TX = 2_000
TXS_OF_A_BLOCK = 15
VALUE = 10  # satoshis of each coin
QUIET = 1.0  # seconds without a new line of LevelDB's
MOST = 1.2  # times Core's
FLUSHED = re.compile(r"Level-0 table #\d+: (\d+) bytes")
COMPACTED = re.compile(r"Generated table #\d+@\d+: \d+ keys, (\d+) bytes")


def fan_out(chain, txs):
    """Adds blocks with so many transactions of OUTPUTS_OF_A_TX coins; returns their ids."""
    funds = VALUE * OUTPUTS_OF_A_TX
    root = Tx([(chain.coinbase_of(1)[0], 0, b"", FINAL)], [(funds, REDEEMED)] * txs)
    chain.add(chain.candidate([root]))
    coins, source, ids = [(VALUE, REDEEMED)] * OUTPUTS_OF_A_TX, root.txid(), []
    for at in range(0, txs, TXS_OF_A_BLOCK):
        made = [Tx([(source, vout, REDEEM, FINAL)], coins)
                for vout in range(at, min(txs, at + TXS_OF_A_BLOCK))]
        chain.add(chain.candidate(made))
        ids += [tx.txid() for tx in made]
    return ids


def spend_any(chain, ids, blocks):
    """Adds blocks that spend coins of any age."""
    picks = random.Random(1).sample(range(len(ids) * OUTPUTS_OF_A_TX), blocks * COINS_OF_A_BLOCK)
    made = [(VALUE, REDEEMED)] * INPUTS_OF_A_TX
    for at in range(0, len(picks), COINS_OF_A_BLOCK):
        chosen = picks[at:at + COINS_OF_A_BLOCK]
        chain.add(chain.candidate([
            Tx([(ids[pick // OUTPUTS_OF_A_TX], pick % OUTPUTS_OF_A_TX, REDEEM, FINAL)
                for pick in chosen[first:first + INPUTS_OF_A_TX]], made)
            for first in range(0, COINS_OF_A_BLOCK, INPUTS_OF_A_TX)]))


class Program(framework.Node):
    def __init__(self, binary, folder, *options):
        super().__init__(folder, "regtest", ["-listen=0", "-connect=0", "-debug=leveldb",
                                             "-minimumchainwork=0", *measure.NO_CHECKS, *options])
        self.binary = binary

    def tables(self):
        """Bytes of LevelDB's flushes and of its compactions so far."""
        log = self.log_text
        return [sum(map(int, kind.findall(log))) for kind in (FLUSHED, COMPACTED)]

    def wait_for_quiet(self):
        before = None
        while (now := self.tables()) != before:
            before = now
            time.sleep(QUIET)


def follow(node, blocks):
    """A day at the tip: bytes of flushes and compactions of each hour."""
    hours, before = [], [0, 0]
    for at in range(0, len(blocks), BLOCKS_OF_AN_HOUR):
        node.start()
        for block in blocks[at:at + BLOCKS_OF_AN_HOUR]:
            answer = node.rpc("submitblock", block.hex())
            assert answer is None, answer
        node.wait_for_quiet()
        node.stop()
        now = node.tables()
        hours.append([new - old for new, old in zip(now, before)])
        before = now
    return hours


def prepare(args):
    """A directory with all coins, and the blocks that come then."""
    chain = Chain().grow(100)
    ids = fan_out(chain, args.outputs // OUTPUTS_OF_A_TX)
    height = chain.height
    spend_any(chain, ids, args.hours * BLOCKS_OF_AN_HOUR)
    folder = args.work / f"tip-{args.outputs}"
    if not folder.exists():
        file = args.work / "blocks.dat"
        measure.write_blocks(file, chain.blocks[:height])
        print(f"connecting {height} blocks ...", flush=True)
        Program(args.build / "bin/bitcoind", folder).start(
            f"-loadblock={file}", "-ibdbooster=0").wait_for_height(height).stop()
        file.unlink()
    return folder, [block.raw() for block in chain.blocks[height:]]


def copy_of(folder, to):
    """Databases and undo data are copied; block files are shared, as both programs only read the
    full ones. The last is copied, too."""
    shutil.rmtree(to, ignore_errors=True)
    full = sorted((folder / "regtest/blocks").glob("blk*.dat"))[:-1]
    shutil.copytree(folder / "regtest", to / "regtest",
                    copy_function=lambda one, other: os.link(one, other)
                    if Path(one) in full else shutil.copy2(one, other))
    for name in ("debug.log", "mempool.dat"):
        (to / "regtest" / name).unlink(missing_ok=True)


def report(args, size, results):
    rows = [(who, f"{sum(h[0] for h in hours) / 1e6:.0f}", f"{sum(h[1] for h in hours) / 1e6:.0f}",
             f"{sum(map(sum, hours)) / 1e6:.0f}",
             f"{statistics.median(map(sum, hours)) / 1e6:.1f}", f"{max(map(sum, hours)) / 1e6:.0f}")
            for who, hours in results.items()]
    value = sum(map(sum, results["ours"])) / sum(map(sum, results["Core"]))
    return "\n".join([
        f"A chainstate of {size / 1e9:.2f} GB; {args.hours} hours of {BLOCKS_OF_AN_HOUR} blocks, "
        f"which spend {COINS_OF_A_BLOCK:,} coins each.", "",
        *measure.table(("program", "MB of logs", "MB of compactions", "MB in all",
                        "an hour, median", "most"), *rows), "",
        *measure.verdict_table([("bytes of tables, ours / Core's", value, "<=", MOST)]), ""])


def main():
    parser = measure.arguments(__doc__, outputs=50_000_000, repeat=1)
    parser.add_argument("--core", type=Path, required=True, help="Bitcoin Core's bitcoind")
    parser.add_argument("--other", type=Path, help="another build of this node")
    parser.add_argument("--hours", type=int, default=24)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder, blocks = prepare(args)
    size = sum(f.stat().st_size for f in (folder / "regtest/chainstate").iterdir())
    programs = {"ours": args.build / "bin/bitcoind", "Core": args.core}
    if args.other:
        programs["ours, --other"] = args.other
    results = {}
    for who, binary in programs.items():
        copy = args.work / "copy"
        copy_of(folder, copy)
        results[who] = follow(Program(binary, copy), blocks)
        print(f"  {who}: {sum(map(sum, results[who])) / 1e6:.0f} MB", flush=True)
        shutil.rmtree(copy)
    measure.write(args.work, "tip_writes", report(args, size, results), results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
