"""Mines regtest blocks in Python: valid ones for any chain, and tools to spoil them.

Coinbases pay to OP_TRUE, so that spending them needs no signature.
"""

import dataclasses
import unittest

from wire import Tx, compact_size, hash_hex, sha256d, sized

REGTEST_GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
# Well after April 2012, before which btcd does not check P2SH and so chokes on always-on segwit.
FIRST_BLOCK_TIME = 1_600_000_000
REGTEST_BITS = 0x207fffff
REGTEST_HALVING = 150
COINBASE_MATURITY = 100
COIN = 100_000_000
OP_TRUE = b"\x51"
REDEEMED = bytes.fromhex("a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87")  # P2SH of OP_TRUE
REDEEM = b"\x01\x51"  # its input script
FINAL = 0xffffffff
WITNESS_COMMITMENT_HEADER = bytes.fromhex("6a24aa21a9ed")


def subsidy(height):
    return 50 * COIN >> height // REGTEST_HALVING


def height_push(height):
    """The height as the coinbase must start with it (BIP34)."""
    if height <= 16:
        return bytes([0x50 + height]) if height else b"\x00"
    raw = height.to_bytes(height.bit_length() // 8 + 1, "little")
    return bytes([len(raw)]) + raw


def spend(txid, vout, amount, script=OP_TRUE, script_sig=b""):
    return Tx([(txid, vout, script_sig, 0xffffffff)], [(amount, script)])


def redeem(txid, vout, value, fee, version=2):
    """Spends a coin of REDEEMED into another."""
    return Tx([(txid, vout, REDEEM, FINAL)], [(value - fee, REDEEMED)], version=version)


def child_of(tx, fee, version=2):
    """Spends the first output of a transaction like those of redeem()."""
    return redeem(tx.txid(), 0, tx.outputs[0][0], fee, version)


def coinbase(height, reward, script=OP_TRUE, extra=b"\x00"):
    null_input = ("00" * 32, 0xffffffff, height_push(height) + sized(extra), 0xffffffff)
    return Tx([null_input], [(reward, script)])


def merkle_root(hashes):
    hashes = list(hashes)
    while len(hashes) > 1:
        if len(hashes) % 2:
            hashes.append(hashes[-1])
        hashes = [sha256d(a + b) for a, b in zip(hashes[::2], hashes[1::2])]
    return hashes[0]


def commit_to_witness(txs):
    """Adds the BIP141 commitment to the coinbase of a block that has witnesses."""
    reserved = bytes(32)
    leaves = [bytes(32)] + [sha256d(tx.raw()) for tx in txs[1:]]
    commitment = sha256d(merkle_root(leaves) + reserved)
    txs[0].outputs.append((0, WITNESS_COMMITMENT_HEADER + commitment))
    txs[0].witness = [[reserved]]


@dataclasses.dataclass
class Block:
    prev: str
    txs: list
    time: int
    version: int = 0x20000000
    bits: int = REGTEST_BITS
    nonce: int = 0
    root: bytes | None = None  # None: computed; else used as it is

    def header(self):
        root = self.root
        if root is None:
            root = merkle_root(sha256d(tx.raw_without_witness()) for tx in self.txs)
        return (self.version.to_bytes(4, "little") + bytes.fromhex(self.prev)[::-1] + root
                + self.time.to_bytes(4, "little") + self.bits.to_bytes(4, "little")
                + self.nonce.to_bytes(4, "little"))

    def hash(self):
        return hash_hex(sha256d(self.header()))

    def mine(self):
        """Finds a nonce; two tries on average on regtest."""
        target = (self.bits & 0xffffff) << 8 * ((self.bits >> 24) - 3)
        while int(self.hash(), 16) > target:
            self.nonce += 1
        return self

    def raw(self):
        return self.header() + compact_size(len(self.txs)) + b"".join(t.raw() for t in self.txs)


def next_block(prev, height, time, txs=(), fees=0, extra=b"\x00"):
    """A valid, mined block on `prev` (hash as hex) holding `txs`."""
    block_txs = [coinbase(height, subsidy(height) + fees, extra=extra), *txs]
    if any(any(tx.witness) for tx in txs):
        commit_to_witness(block_txs)
    return Block(prev, block_txs, time).mine()


class Chain:
    """A growing regtest chain from the genesis block; `extra` makes branches differ."""

    def __init__(self, extra=b"\x00", first_time=FIRST_BLOCK_TIME):
        self.blocks = []
        self.extra = extra
        self.first_time = first_time

    def branch(self, depth, count):
        """Another chain: the last `depth` blocks left, `count` new ones in their place."""
        other = Chain(bytes([self.extra[0] + 1]), self.first_time)
        other.blocks = self.blocks[:-depth]
        return other.grow(count)

    @property
    def height(self):
        return len(self.blocks)

    @property
    def tip(self):
        return self.blocks[-1].hash() if self.blocks else REGTEST_GENESIS

    def candidate(self, txs=(), fees=0):
        height = self.height + 1
        time = self.first_time + 600 * height
        return next_block(self.tip, height, time, txs, fees, self.extra)

    def grow(self, count=1):
        for _ in range(count):
            self.blocks.append(self.candidate())
        return self

    def split(self, count, value):
        """Adds a block that makes `count` coins of REDEEMED from the first coinbase: their names,
        (txid, vout)."""
        tx = Tx([(self.blocks[0].txs[0].txid(), 0, b"", FINAL)], [(value, REDEEMED)] * count)
        self.add(self.candidate([tx]))
        return [(tx.txid(), i) for i in range(count)]

    def add(self, block):
        self.blocks.append(block)
        return block

    def coinbase_of(self, height):
        """(txid, amount) of the first output of that height's coinbase."""
        tx = self.blocks[height - 1].txs[0]
        return tx.txid(), tx.outputs[0][0]


class SubmitsBlocks(unittest.TestCase):
    """For a test whose `chain` grows by blocks that it hands to a node."""

    chain = None

    def submit(self, node, count, bits=0):
        """`count` blocks whose version has `bits` set."""
        for _ in range(count):
            block = self.chain.candidate()
            block.version = 0x20000000 | bits
            self.assertIsNone(node.rpc("submitblock", block.mine().raw().hex()))
            self.chain.add(block)
