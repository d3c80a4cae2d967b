#!/usr/bin/env python3
"""The cost of a full pool: bitcoind beside Bitcoin Core's on the same regtest chain and the same
transactions.

    bench/ibd/full_pool.py --build build --core BITCOIND --work /somewhere [--outputs 260000]
        [--maxmempool 300] [--signed 4000] [--blocks 20] [--compact 5] [--repeat 3]

Each program in turn takes the chain over RPC, so that all coins are in its cache, and then

* accepts transactions with real signatures from a file: transactions for a second of CPU;
* fills its pool from a file, and makes templates: seconds of getblocktemplate when the pool has
  changed, without those of the answer itself, which the next call repeats;
* connects --compact blocks of its pool's best transactions that a peer sends as compact blocks:
  medians of the time until the peer's ping is answered, and of the CPU of all threads meanwhile;
* mines --blocks from the full pool, fills it again and is given a longer branch of empty blocks:
  longest answers of gettxout (which needs the coins) and getmempoolinfo (which needs the pool)
  while it reorganises.
"""
import hashlib
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path

import measure

ROOT = Path(__file__).resolve().parents[2]
for folder in ("functional", "interop", "support"):
    sys.path.insert(0, str(ROOT / "test" / folder))

import framework  # noqa: E402 (needs the path above)
import scripted_peer  # noqa: E402
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain, next_block  # noqa: E402
from wire import Tx, compact_size, parse_tx, sha256d  # noqa: E402

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
KEY = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"  # the number one
KEY_SCRIPT = bytes.fromhex("0014751e76e8199196d454941c45d1b3a323f1433bd6")
COINS_OF_A_TX = 2_000
SPLITS_OF_A_BLOCK = 12
VALUE = 50 * COIN // COINS_OF_A_TX // 8  # rewards have halved three times at most
PADDING = 150  # bytes of data in an output, so that transactions are as large as usual
FEES = (500, 20_000)
TARGETS = (("template, seconds", "<=", 0.020), ("compact block, seconds", "<=", 0.020),
           ("longest gettxout, seconds", "<=", 0.050))


class Work:
    """The chain and the transactions that all programs are given."""

    def __init__(self, args):
        signed = -(-args.signed // COINS_OF_A_TX)
        splits = signed - (-args.outputs * 3 // 2 // COINS_OF_A_TX)
        blocks = 101 + splits
        spare = blocks + splits // SPLITS_OF_A_BLOCK + 2 * args.blocks
        self.chain = Chain(first_time=int(time.time()) - 600 * spare).grow(blocks)
        made = [self.split(i + 1, KEY_SCRIPT if i < signed else REDEEMED) for i in range(splits)]
        for at in range(0, splits, SPLITS_OF_A_BLOCK):
            self.chain.add(self.chain.candidate(made[at:at + SPLITS_OF_A_BLOCK]))
        self.blocks = [block.raw().hex() for block in self.chain.blocks]
        names = [(txid, i) for txid in [tx.txid() for tx in made] for i in range(COINS_OF_A_TX)]
        self.keyed, free = names[:args.signed], names[signed * COINS_OF_A_TX:]
        self.first = [self.spend(name, i) for i, name in enumerate(free[:args.outputs])]
        self.second = [self.spend(name, i) for i, name in enumerate(free[args.outputs:])]
        self.spare = [self.second.pop() for _ in range(10 + 4 * args.repeat)]
        other = Chain(b"\x01", self.chain.first_time)
        other.blocks = list(self.chain.blocks)
        self.branch = other.grow(args.blocks + 1).blocks[-args.blocks - 1:]
        self.signed = []

    def split(self, height, script):
        txid, _ = self.chain.coinbase_of(height)
        return Tx([(txid, 0, b"", FINAL)], [(VALUE, script)] * COINS_OF_A_TX)

    @staticmethod
    def spend(name, number):
        fee = FEES[0] + number * 7_919 % (FEES[1] - FEES[0])
        data = b"\x6a\x4c" + bytes([PADDING]) + number.to_bytes(4, "little") * (PADDING // 4)
        data += bytes(PADDING % 4)
        return Tx([(*name, REDEEM, FINAL)], [(VALUE - fee, REDEEMED), (0, data)]).raw()

    def sign(self, node):
        """By the node's own call, once."""
        for name in self.keyed:
            tx = Tx([(*name, b"", FINAL)], [(VALUE - FEES[1], KEY_SCRIPT)])
            done = node.rpc("signrawtransactionwithkey", tx.raw().hex(), [KEY])
            assert done["complete"], done
            self.signed.append(bytes.fromhex(done["hex"]))


def pool_file(path, txs):
    """mempool.dat, version 1."""
    now = int(time.time()).to_bytes(8, "little")
    with open(path, "wb") as file:
        file.write((1).to_bytes(8, "little") + len(txs).to_bytes(8, "little"))
        for raw in txs:
            file.write(raw + now + bytes(8))
        file.write(bytes(2))
    return str(path)


class Program(framework.Node):
    """bitcoind, ours or Core's, with a port for peers."""

    def __init__(self, bitcoind, folder, *options):
        super().__init__(folder, "regtest", [
            "-listen=1", "-noconnect", "-dnsseed=0", "-persistmempool=0", "-checkblocks=1",
            *measure.NO_CHECKS, *options])
        self.binary = bitcoind
        self.p2p_port = framework.free_port()

    def command(self, *args):
        return super().command(f"-bind=127.0.0.1:{self.p2p_port}", *args)

    def cpu(self):
        return measure.cpu_of(self.process.pid)

    def take(self, path, txs):
        """Seconds of CPU for the transactions of a file."""
        begin = self.cpu()
        self.rpc("importmempool", pool_file(path, txs))
        return self.cpu() - begin

    def template(self):
        return self.rpc("getblocktemplate", {"rules": ["segwit"]})


def seconds_of(work):
    begin = time.monotonic()
    result = work()
    return result, time.monotonic() - begin


def template_seconds(node, work, repeat):
    """Each time the pool has changed and the template is too old."""
    taken = []
    for i, raw in enumerate(work.spare[:max(3, repeat)]):
        node.rpc("setmocktime", int(time.time()) + 60 * (i + 1))
        node.rpc("sendrawtransaction", raw.hex())
        _, fresh = seconds_of(node.template)
        _, kept = seconds_of(node.template)
        taken.append(max(0, fresh - kept))
    return statistics.median(taken)


def siphash(k0, k1, data):
    """SipHash-2-4."""
    mask = (1 << 64) - 1
    v0, v1 = k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d
    v2, v3 = k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573

    def turned(value, bits):
        return (value << bits | value >> 64 - bits) & mask

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0, v2 = v0 + v1 & mask, v2 + v3 & mask
            v1, v3 = turned(v1, 13) ^ v0, turned(v3, 16) ^ v2
            v0, v2 = turned(v0, 32) + v3 & mask, v2 + v1 & mask
            v3, v1 = turned(v3, 21) ^ v0, turned(v1, 17) ^ v2
            v2 = turned(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xff])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at:at + 8], "little")
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xff
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def compact_block(block, nonce=1):
    """A compact block (BIP152, version 2) that prefills only the coinbase. Its transactions have no
    witness, so that wtxid and txid are equal."""
    head = block.header() + nonce.to_bytes(8, "little")
    key = hashlib.sha256(head).digest()
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    out = head + compact_size(len(block.txs) - 1)
    for tx in block.txs[1:]:
        out += siphash(k0, k1, sha256d(tx.raw())).to_bytes(8, "little")[:6]
    return out + compact_size(1) + compact_size(0) + block.txs[0].raw()


def joined(node):
    """A peer that may announce by compact blocks, because it was the first with a block."""
    line = scripted_peer.Line(node.p2p_port)
    line.send(scripted_peer.message("version", scripted_peer.version()))
    assert line.wait_for("verack")
    tip = node.rpc("getblockheader", node.rpc("getbestblockhash"))
    block = next_block(tip["hash"], tip["height"] + 1, node.template()["curtime"])
    for kind, payload in (("verack", b""), ("sendcmpct", b"\0" + (2).to_bytes(8, "little")),
                          ("block", block.raw())):
        line.send(scripted_peer.message(kind, payload))
    assert line.wait_for("sendcmpct", b"\1" + (2).to_bytes(8, "little"))
    node.wait_for_tip(block.hash())
    return line


def compact_block_seconds(node, line, pause):
    """A peer sends a block with the transactions that the pool would mine."""
    template = node.template()
    txs = [parse_tx(bytes.fromhex(tx["data"])) for tx in template["transactions"]]
    fees = sum(tx["fee"] for tx in template["transactions"])
    block = next_block(template["previousblockhash"], template["height"], template["curtime"], txs,
                       fees)
    message = scripted_peer.message("cmpctblock", compact_block(block))
    ping = scripted_peer.message("ping", scripted_peer.NONCE)
    time.sleep(pause)  # for the time after the last block
    before, begin = measure.cpu_of_threads(node.process.pid), time.monotonic()
    line.send(message + ping)
    assert line.wait_for("pong", scripted_peer.NONCE)
    seconds = time.monotonic() - begin
    cpu = measure.cpu_of_threads(node.process.pid) - before
    assert node.rpc("getbestblockhash") == block.hash(), "the pong was no sign of the block"
    return {"compact block, seconds": seconds, "compact block, CPU": cpu,
            "its transactions": len(txs)}


def compact_blocks(node, args):
    line = joined(node)
    each = [compact_block_seconds(node, line, args.pause) for _ in range(args.compact)]
    line.close()
    return {key: statistics.median(one[key] for one in each) for key in each[0]}


def ask(node, call, end, answers):
    """The longest answer until the end."""
    longest = 0.0
    while not end.is_set():
        _, seconds = seconds_of(lambda: node.rpc(*call))
        longest = max(longest, seconds)
    answers.put((call[0], longest))


def reorganisation(node, work):
    fork = multiprocessing.get_context("fork")
    end, answers = fork.Event(), fork.Queue()
    calls = (("gettxout", *work.keyed[0], False), ("getmempoolinfo",))
    *blocks, last = [block.raw().hex() for block in work.branch]
    for raw in blocks:
        assert node.rpc("submitblock", raw) == "inconclusive"
    askers = [fork.Process(target=ask, args=(node, call, end, answers)) for call in calls]
    for asker in askers:
        asker.start()
    _, seconds = seconds_of(lambda: node.rpc("submitblock", last))
    while node.rpc("getbestblockhash") != work.branch[-1].hash():
        time.sleep(0.01)
    end.set()
    longest = dict(answers.get() for _ in askers)
    for asker in askers:
        asker.join()
    return {"reorganisation, seconds": seconds,
            **{f"longest {name}, seconds": most for name, most in longest.items()}}


def run(bitcoind, folder, args, work):
    node = Program(bitcoind, folder, "-whitelist=noban@127.0.0.1", "-dbcache=2000",
                   f"-maxmempool={args.maxmempool}").start()
    try:
        for raw in work.blocks:
            node.rpc("submitblock", raw)
        assert node.rpc("getbestblockhash") == work.chain.tip
        if not work.signed:
            work.sign(node)
        file = folder / "given.dat"
        out = {"signed, for a second of CPU":
               measure.ratio(len(work.signed), node.take(file, work.signed))}
        assert node.rpc("getmempoolinfo")["size"] == len(work.signed)
        out["unsigned, for a second of CPU"] = measure.ratio(len(work.first),
                                                             node.take(file, work.first))
        info = node.rpc("getmempoolinfo")
        out["pool, transactions"], out["pool, MB"] = info["size"], info["usage"] / 1e6
        out["template, seconds"] = template_seconds(node, work, args.repeat)
        out.update(compact_blocks(node, args))
        node.rpc("setmocktime", 0)
        node.rpc("generatetoaddress", args.blocks - 1 - args.compact, ADDRESS)
        node.take(file, work.second)
        out["pool before the reorganisation"] = node.rpc("getmempoolinfo")["size"]
        out.update(reorganisation(node, work))
        out["pool after it"] = node.rpc("getmempoolinfo")["size"]
        node.stop()
    finally:
        node.kill()
    return out


def main():
    parser = measure.arguments(__doc__, 260_000, 1)
    parser.add_argument("--core", type=Path, required=True, help="Core's bitcoind")
    parser.add_argument("--maxmempool", type=int, default=300)
    parser.add_argument("--signed", type=int, default=4_000)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--compact", type=int, default=5, help="compact blocks, below --blocks")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before the compact block")
    args = parser.parse_args()
    os.environ.setdefault("IBD_BINDIR", str(args.build / "bin"))
    work = Work(args)
    runs = {"core": [], "ours": []}
    for i in range(args.repeat):
        for name, bitcoind in (("core", args.core), ("ours", args.build / "bin/bitcoind")):
            folder = args.work / f"{name}{i}"
            folder.mkdir(parents=True)
            runs[name].append(run(bitcoind, folder, args, work))
            print(f"  {name}: {runs[name][-1]}", flush=True)
    middle = {name: {key: statistics.median(one[key] for one in taken) for key in taken[0]}
              for name, taken in runs.items()}
    rows = [(key, f"{middle['core'][key]:.4g}", f"{ours:.4g}",
             f"{measure.ratio(ours, middle['core'][key]):.2f}")
            for key, ours in middle["ours"].items()]
    verdicts = [(f"{key}", middle["ours"][key], sign, target) for key, sign, target in TARGETS]
    speed = "signed, for a second of CPU"
    verdicts.append((f"{speed}, ours / Core's", middle["ours"][speed] / middle["core"][speed],
                     ">=", 1.2))
    text = "\n".join([*measure.table(("measure", "Core", "ours", "ours / Core's"), *rows), "",
                      *measure.verdict_table(verdicts), ""])
    measure.write(args.work, "full_pool", text, runs)


if __name__ == "__main__":
    main()
