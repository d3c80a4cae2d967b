"""Helpers of the hints tool tests: golden data, a small chain builder, running the tools."""

import hashlib
import lzma
import os
import random
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "contrib", "ibd-booster-hints-gen")
sys.path.insert(0, TOOLS)
sys.path.append(os.path.join(ROOT, "test", "support"))

from testdata import find as testdata  # noqa: E402 (needs the path above)

MAGIC = {"main": bytes.fromhex("f9beb4d9"), "regtest": bytes.fromhex("fabfb5da")}


def unpack(name, target):
    with lzma.open(testdata(name)) as packed, open(target, "wb") as out:
        out.write(packed.read())


def command(tool, *arguments):
    return [sys.executable, os.path.join(TOOLS, tool), *map(str, arguments)]


def run_tool(tool, *arguments):
    """(exit code, stdout, stderr)"""
    done = subprocess.run(command(tool, *arguments), capture_output=True, text=True, check=False,
                          timeout=300)
    return done.returncode, done.stdout, done.stderr


def sha256d(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


def compact(n):
    if n < 253:
        return bytes((n,))
    return b"\xfd" + struct.pack("<H", n) if n < 65536 else b"\xfe" + struct.pack("<I", n)


def varint(n):
    out = [n & 127]
    while n > 127:
        n = (n >> 7) - 1
        out.append(n & 127 | 128)
    return bytes(reversed(out))


def compress_amount(n):
    if n == 0:
        return 0
    exponent = 0
    while n % 10 == 0 and exponent < 9:
        n //= 10
        exponent += 1
    if exponent < 9:
        n, digit = divmod(n, 10)
        return 1 + (n * 9 + digit - 1) * 10 + exponent
    return 1 + (n - 1) * 10 + 9


class Tx:
    """A transaction; `inputs` are outpoints, or one tag (bytes) for a coinbase."""

    def __init__(self, inputs, outputs, witness=None):
        if isinstance(inputs, bytes):
            encoded = bytes(32) + b"\xff" * 4 + compact(len(inputs)) + inputs + b"\xff" * 4
            count = 1
        else:
            encoded = b"".join(txid + struct.pack("<I", vout) + b"\0" + b"\xff" * 4
                               for txid, vout in inputs)
            count = len(inputs)
        body = compact(count) + encoded + compact(len(outputs)) + b"".join(
            struct.pack("<q", value) + compact(len(script)) + script for value, script in outputs)
        version, lock_time = struct.pack("<i", 2), bytes(4)
        self.inputs, self.outputs = inputs, outputs
        self.txid = sha256d(version + body + lock_time)
        self.raw = version + body + lock_time
        if witness is not None:
            stack = compact(len(witness)) + b"".join(compact(len(i)) + i for i in witness)
            self.raw = version + b"\0\1" + body + stack * count + lock_time


def merkle(txids):
    while len(txids) > 1:
        if len(txids) % 2:
            txids = txids + txids[-1:]
        txids = [sha256d(txids[i] + txids[i + 1]) for i in range(0, len(txids), 2)]
    return txids[0]


def make_block(previous, txs, time, bits=0x207FFFFF):
    header = (struct.pack("<i", 4) + previous + merkle([tx.txid for tx in txs])
              + struct.pack("<III", time, bits, 0))
    return header + compact(len(txs)) + b"".join(tx.raw for tx in txs)


def unspendable(script):
    return script[:1] == b"\x6a" or len(script) > 10_000


class Chain:
    """A chain with its UTXO set and, worked out naively, the hints that belong to it."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.blocks, self.hashes = [], []
        self.coins = {}      # (txid, vout) -> (height, coinbase, value, script)
        self.created = []    # by height: ids (txid, vout, height), None for unspendable outputs
        self.overwritten = set()
        self.add([Tx(b"genesis", [(50, b"\x51")])])
        self.coins.clear()

    @property
    def top(self):
        return len(self.blocks) - 1

    def add(self, txs):
        height = len(self.blocks)
        previous = self.hashes[-1] if self.hashes else bytes(32)
        block = make_block(previous, txs, 1_300_000_000 + height)
        created = []
        for tx in txs:
            if not isinstance(tx.inputs, bytes):
                for outpoint in tx.inputs:
                    del self.coins[outpoint]
            for vout, (value, script) in enumerate(tx.outputs):
                if unspendable(script):
                    created.append(None)
                    continue
                old = self.coins.get((tx.txid, vout))
                if old:
                    self.overwritten.add((tx.txid, vout, old[0]))
                created.append((tx.txid, vout, height))
                self.coins[tx.txid, vout] = (height, isinstance(tx.inputs, bytes), value, script)
        self.blocks.append(block)
        self.hashes.append(sha256d(block[:80]))
        self.created.append(created)

    def random_script(self):
        kind = self.rng.randrange(12)
        if kind == 0:
            return b"\x6a" + self.rng.randbytes(self.rng.randrange(80))
        if kind == 1 and self.rng.randrange(8) == 0:
            return self.rng.randbytes(10_001)
        if kind == 2:
            return b""
        if kind == 3:
            return b"\x51" * self.rng.randrange(1, 600)
        return b"\x00\x14" + self.rng.randbytes(20)

    def random_tx(self, spend):
        outputs = [(self.rng.randrange(10**6), self.random_script())
                   for _ in range(self.rng.choice((1, 1, 2, 2, 2, 3, 9, 300)))]
        witness = [self.rng.randbytes(self.rng.choice((0, 72, 300))), b"\x02" * 33]
        return Tx(spend, outputs, self.rng.choice((None, witness)))

    def grow(self, count, txs_per_block=4):
        """Random blocks: spends of old coins and of the block's own, all kinds of outputs."""
        for _ in range(count):
            height = len(self.blocks)
            outputs = [(50, self.random_script())] + [(0, b"\x6a\x24")] * self.rng.randrange(2)
            txs = [Tx(b"h" + struct.pack("<I", height), outputs)]
            pool = list(self.coins)
            for _ in range(self.rng.randrange(txs_per_block)):
                self.rng.shuffle(pool)
                spend, pool = pool[:self.rng.randrange(1, 4)], pool[3:]
                if spend:
                    tx = self.random_tx(spend)
                    txs.append(tx)
                    pool += [(tx.txid, vout) for vout, (_, script) in enumerate(tx.outputs)
                             if not unspendable(script)]
            self.add(txs)

    def hints(self, count_all=False):
        """By height from 1: (outputs, unspent indices), by comparing with the final UTXO set."""
        result = []
        for created in self.created[1:]:
            ids = created if count_all else [i for i in created if i and i not in self.overwritten]
            alive = [at for at, i in enumerate(ids)
                     if i and self.coins.get(i[:2], (None,))[0] == i[2]]
            result.append((len(ids), alive))
        return result

    def write_snapshot(self, path, magic=MAGIC["regtest"], base=None):
        by_txid = {}
        for (txid, vout), coin in sorted(self.coins.items()):
            by_txid.setdefault(txid, []).append((vout, coin))
        with open(path, "wb") as out:
            out.write(b"utxo\xff\x02\x00" + magic + (base or self.hashes[-1])
                      + struct.pack("<Q", len(self.coins)))
            for txid, coins in by_txid.items():
                out.write(txid + compact(len(coins)))
                for vout, (height, coinbase, value, script) in coins:
                    out.write(compact(vout) + varint(height * 2 + coinbase)
                              + varint(compress_amount(value)) + varint(len(script) + 6) + script)


def record(block, magic=MAGIC["regtest"]):
    return magic + struct.pack("<I", len(block)) + block


def write_blocks(folder, files, key=None):
    """Write blk files (each the concatenation of its records), obfuscated if a key is given."""
    os.makedirs(folder, exist_ok=True)
    if key:
        with open(os.path.join(folder, "xor.dat"), "wb") as out:
            out.write(key)
    for number, records in enumerate(files):
        data = b"".join(records)
        if key:
            data = bytes(byte ^ key[at % 8] for at, byte in enumerate(data))
        with open(os.path.join(folder, f"blk{number:05}.dat"), "wb") as out:
            out.write(data)


def read_hints(path):
    """By height from 1: (outputs, unspent indices)."""
    from hintsgen.hintsfile import HintsReader
    reader = HintsReader(path)
    try:
        return [(count, indices) for height, count, indices in reader.blocks() if height]
    finally:
        reader.close()
