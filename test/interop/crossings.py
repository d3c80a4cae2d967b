"""Blocks that keep or break each rule that begins at a height, for both sides of it.

A Wallet holds coins for every way to break a rule; `offers` gives, for the next block of a chain,
one block for each way. Which of them is valid depends on the height alone, and is left to the
nodes to say.
"""

import dataclasses

from regtest_chain import (COIN, OP_TRUE, coinbase, commit_to_witness, merkle_root, spend, subsidy)
from wire import Tx, sized

# Some point of the curve: a public key for signatures that are malformed anyway.
A_KEY = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
NOT_DER = bytes.fromhex("300602010102010101")[:-1] + b"\x00\x01"
HIGH_LOCK = (1_000_000).to_bytes(3, "little")

# Scripts whose spend is valid only before a rule begins, with the input script that spends them.
SCRIPTS = {
    "dersig": (sized(A_KEY) + b"\xac\x91", sized(NOT_DER)),  # CHECKSIG NOT
    "cltv": (sized(HIGH_LOCK) + b"\xb1\x75\x51", b""),
    "csv": (b"\x02\xe8\x03\xb2\x75\x51", b""),  # 1,000 blocks, by an input that is final
    "nulldummy": (b"\x00" + sized(A_KEY) + b"\x51\xae", b"\x51"),  # 0 of 1, dummy not empty
    "p2wsh": (b"\x00" + sized(b"\x07" * 32), b""),
    "p2wpkh": (b"\x00" + sized(b"\x07" * 20), b""),
    "taproot": (b"\x51" + sized(b"\x07" * 32), b""),
    "p2sh": (b"\xa9" + sized(b"\x07" * 20) + b"\x87", sized(b"\x51")),
    "true": (OP_TRUE, b""),
}
VALUE = COIN // 1000


@dataclasses.dataclass(frozen=True)
class Coin:
    kind: str
    txid: str
    vout: int


class Wallet:
    """Unspent coins by kind."""

    def __init__(self):
        self.coins = {kind: [] for kind in SCRIPTS}

    def funding(self, txid, amount, each):
        """A transaction that turns an OP_TRUE coin into `each` coins of every kind."""
        kinds = [kind for kind in SCRIPTS for _ in range(each)]
        outputs = [(VALUE, SCRIPTS[kind][0]) for kind in kinds]
        tx = Tx([(txid, 0, b"", 0xffffffff)], outputs)
        for vout, kind in enumerate(kinds):
            self.coins[kind].append(Coin(kind, tx.txid(), vout))
        return tx

    def spending(self, kind):
        """A transaction that spends one of the kind; it is still held until spent()."""
        coin = self.coins[kind][0]
        return Tx([(coin.txid, coin.vout, SCRIPTS[kind][1], 0xffffffff)], [(VALUE, OP_TRUE)])

    def spent(self, block):
        """Forgets what a block that was taken spends."""
        gone = {entry[:2] for tx in block.txs[1:] for entry in tx.inputs}
        for kind, held in self.coins.items():
            self.coins[kind] = [coin for coin in held if (coin.txid, coin.vout) not in gone]


def with_txs(chain, *txs):
    return chain.candidate(list(txs))


def wrong_height(chain, _):
    block, height = chain.candidate(), chain.height + 1
    block.txs[0] = coinbase(height + 1000, subsidy(height))
    return block.mine()


def with_version(version):
    def make(chain, _):
        block = chain.candidate()
        block.version = version
        return block.mine()
    return make


def with_script(kind):
    return lambda chain, wallet: with_txs(chain, wallet.spending(kind))


def young_coin(chain, wallet):
    """BIP68: the coin is younger than the input asks for."""
    tx = wallet.spending("true")
    tx.inputs[0] = (*tx.inputs[0][:3], 1000)
    return with_txs(chain, tx)


def young_coin_version_1(chain, wallet):
    """The same in a transaction that BIP68 leaves alone."""
    block = young_coin(chain, wallet)
    tx = block.txs[1]
    tx.version = 1
    return with_txs(chain, tx)


def late_lock_time(chain, wallet):
    """BIP113: final by the block's time, not by the median of those before it."""
    tx = wallet.spending("true")
    tx.inputs[0] = (*tx.inputs[0][:3], 0)
    tx.lock_time = chain.candidate().time - 1
    return with_txs(chain, tx)


def unasked_witness(chain, wallet):
    tx = wallet.spending("true")
    tx.witness = [[b"\x01"]]
    return with_txs(chain, tx)


def witness_spend(chain, wallet):
    """A witness for a program that it does not fit."""
    tx = wallet.spending("p2wsh")
    tx.witness = [[b"\x51"]]
    return with_txs(chain, tx)


def uncommitted_witness(chain, wallet):
    block = witness_spend(chain, wallet)
    block.txs[0].outputs.pop()
    block.txs[0].witness = []
    return block.mine()


def wrong_commitment(chain, wallet):
    block = with_txs(chain, wallet.spending("true"))
    commit_to_witness(block.txs)
    amount, script = block.txs[0].outputs[-1]
    block.txs[0].outputs[-1] = (amount, script[:-1] + bytes([script[-1] ^ 1]))
    return block.mine()


def long_nonce(chain, wallet):
    block = with_txs(chain, wallet.spending("true"))
    commit_to_witness(block.txs)
    block.txs[0].witness = [[bytes(33)]]
    return block.mine()


def early_time(chain, _):
    block = chain.candidate()
    block.time = chain.blocks[-6].time
    return block.mine()


def wrong_root(chain, _):
    block = chain.candidate()
    block.root = merkle_root([bytes(32)])
    return block.mine()


def premature(chain, _):
    txid, amount = chain.coinbase_of(chain.height - 98)
    return with_txs(chain, spend(txid, 0, amount))


OFFERS = {
    "wrong height": wrong_height, "wrong root": wrong_root, "early time": early_time,
    "premature": premature,
    **{f"version {n}": with_version(n) for n in (0, 1, 2, 3, 4, 0x7fffffff)},
    **{f"spend of {kind}": with_script(kind) for kind in SCRIPTS},
    "young coin": young_coin, "young coin, version 1": young_coin_version_1,
    "late lock time": late_lock_time, "unasked witness": unasked_witness,
    "witness spend": witness_spend, "uncommitted witness": uncommitted_witness,
    "wrong commitment": wrong_commitment, "long nonce": long_nonce,
}
