"""Mines blocks of a custom signet: BIP325 solutions, and the proof of work that signets ask for."""

import hashlib
import hmac
import subprocess

from interop_env import own_program
from regtest_chain import (FIRST_BLOCK_TIME, OP_TRUE, Block, coinbase, commit_to_witness,
                           merkle_root)
from wire import Tx, compact_size, hash_hex, sha256d, sized

SIGNET_GENESIS = "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"
SIGNET_BITS = 0x1e0377ae
SIGNET_HALVING = 210_000
SOLUTION_HEADER = bytes.fromhex("ecc7daa2")
COIN = 100_000_000

# The curve secp256k1 (SEC 2): field, order, generator.
P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % P == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(point, factor):
    out = None
    while factor:
        if factor & 1:
            out = add(out, point)
        point, factor = add(point, point), factor >> 1
    return out


def public_key(secret):
    x, y = multiply(G, secret)
    return bytes([2 + y % 2]) + x.to_bytes(32, "big")


def der_integer(value):
    raw = value.to_bytes(value.bit_length() // 8 + 1, "big")
    return b"\x02" + bytes([len(raw)]) + raw


def sign(secret, digest):
    """ECDSA, low s, as DER; good enough for keys of a test."""
    nonce = int.from_bytes(hmac.new(secret.to_bytes(32, "big"), digest, hashlib.sha256).digest(),
                           "big") % (N - 1) + 1
    r = multiply(G, nonce)[0] % N
    s = pow(nonce, -1, N) * (int.from_bytes(digest, "big") + r * secret) % N
    s = min(s, N - s)
    body = der_integer(r) + der_integer(s)
    return b"\x30" + bytes([len(body)]) + body


def mine(block):
    done = subprocess.run([own_program("ibd-header-tool"), "mine"], text=True,
                          input=block.header().hex() + "\n", capture_output=True, check=True)
    block.nonce = int(done.stdout)
    return block


def push(data):
    return sized(data) if len(data) < 0x4c else b"\x4c" + bytes([len(data)]) + data


class SignetChain:
    """A chain from signet's genesis. Its challenge is a key's, or OP_TRUE without `secret`."""

    def __init__(self, secret=None):
        self.secret, self.blocks = secret, []

    @property
    def challenge(self):
        return OP_TRUE if self.secret is None else sized(public_key(self.secret)) + b"\xac"

    @property
    def height(self):
        return len(self.blocks)

    def template(self):
        """The next block without solution and work, with the commitment that BIP325 needs."""
        height = self.height + 1
        txs = [coinbase(height, 50 * COIN >> height // SIGNET_HALVING)]
        commit_to_witness(txs)
        prev = self.blocks[-1].hash() if self.blocks else SIGNET_GENESIS
        return Block(prev, txs, FIRST_BLOCK_TIME + 600 * height, bits=SIGNET_BITS)

    def message(self, block):
        """The hash that the solution signs: of to_sign, which spends to_spend's challenge. The
        block's commitment must end in a push of only the solution's header."""
        root = merkle_root(sha256d(tx.raw_without_witness()) for tx in block.txs)
        data = (block.version.to_bytes(4, "little") + bytes.fromhex(block.prev)[::-1] + root
                + block.time.to_bytes(4, "little"))
        to_spend = Tx([("00" * 32, 0xffffffff, b"\x00" + sized(data), 0)], [(0, self.challenge)],
                      version=0)
        # The original signature hash of SIGHASH_ALL: the script spent stands in for the input's.
        to_sign = Tx([(to_spend.txid(), 0, self.challenge, 0)], [(0, b"\x6a")], version=0)
        return sha256d(to_sign.raw() + (1).to_bytes(4, "little"))

    def solve(self, block, secret=None, extra_witness=(), tail=b""):
        """Puts the solution into the coinbase's commitment."""
        amount, commitment = block.txs[0].outputs[-1]
        block.txs[0].outputs[-1] = (amount, commitment + push(SOLUTION_HEADER))
        script = b""
        if secret is not None:
            script = push(sign(secret, self.message(block)) + b"\x01")
        solution = sized(script) + compact_size(len(extra_witness))
        solution += b"".join(map(sized, extra_witness)) + tail
        block.txs[0].outputs[-1] = (amount, commitment + push(SOLUTION_HEADER + solution))
        return block

    def solved(self):
        return self.solve(self.template(), self.secret)

    def add(self, block):
        self.blocks.append(block)
        return block


__all__ = ["SignetChain", "mine", "hash_hex"]
