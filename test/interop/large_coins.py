"""A chain whose last block has much undo data: it spends coins with the largest scripts that can be
spent, of 10,000 bytes, which anyone can."""

from regtest_chain import COINBASE_MATURITY, Chain
from wire import Tx

LARGEST_SCRIPT = 19 * (b"\x4d\x08\x02" + bytes([1] * 520)) + b"\x3e" + bytes([1] * 62)
OUTPUTS_PER_BLOCK = 99  # what fits into one without witnesses
SEQUENCE = 0xffffffff


def chain_of_large_coins(outputs):
    """The chain, and the block to come that spends `outputs` of them: 24,380 fill it."""
    assert len(LARGEST_SCRIPT) == 10_000
    chain, coins = Chain().grow(COINBASE_MATURITY), []
    while len(coins) < outputs:
        txid, amount = chain.coinbase_of(chain.height + 1 - COINBASE_MATURITY)
        count = min(OUTPUTS_PER_BLOCK, outputs - len(coins))
        value = amount // count
        tx = Tx([(txid, 0, b"", SEQUENCE)], [(value, LARGEST_SCRIPT)] * count)
        chain.add(chain.candidate([tx], amount - count * value))
        tx_id = tx.txid()
        coins += [(tx_id, n, b"", SEQUENCE) for n in range(count)]
    return chain, chain.candidate([Tx(coins, [(0, b"\x6a")])])
