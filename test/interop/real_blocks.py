"""Real blocks with the coins they spend, from the test data."""

import dataclasses
import json

from interop_env import read_testdata
from wire import Reader, block_transactions

SEGWIT_FLAGS = "P2SH,DERSIG,NULLDUMMY,CHECKLOCKTIMEVERIFY,CHECKSEQUENCEVERIFY,WITNESS"


@dataclasses.dataclass(frozen=True)
class RealBlock:
    name: str
    block: str
    spent: str
    flags: str


# name, block, spent coins, flags in force at that height
REAL_BLOCKS = (
    RealBlock("mainnet 300025", "bcoin/block300025.raw.xz", "bcoin/block300025-undo.raw.xz",
              "P2SH"),
    RealBlock("testnet3 1087400", "bcoin/block1087400.raw", "bcoin/block1087400-undo.raw",
              SEGWIT_FLAGS),
    *(RealBlock(f"testnet3 {n}", f"bcoin/block{n}.raw.xz", f"bcoin/block{n}-undo.raw.xz",
                SEGWIT_FLAGS) for n in (928816, 928828, 928831, 928848, 928849, 928927)),
    RealBlock("mainnet 367891", "floresta/block_367891/raw.zst",
              "floresta/block_367891/spent_utxos.zst", "P2SH,DERSIG"),
    RealBlock("mainnet 866342", "floresta/block_866342/raw.zst",
              "floresta/block_866342/spent_utxos.zst", "MANDATORY"),
)


def spent_coins(name):
    """[(amount, script)] in input order, from either project's format."""
    data = read_testdata(name)
    if data[:1] == b"[":
        return [_json_coin(item) for item in json.loads(data)]
    reader, out = Reader(data), []
    while not reader.end():
        out.append(reader.output())
    return out


def _json_coin(item):
    output = item.get("txout", item)
    return output["value"], bytes.fromhex(output.get("script_pubkey", output.get("script")))


def load(real):
    """(block, [(raw tx, spent coins)] without the coinbase, all spent coins)."""
    block, coins = read_testdata(real.block), spent_coins(real.spent)
    out, at = [], 0
    for raw, inputs in block_transactions(block)[1:]:
        out.append((raw, tuple(coins[at:at + inputs])))
        at += inputs
    assert at == len(coins), f"{real.name}: {len(coins)} coins for {at} inputs"
    return block, out, coins
