"""Finds coinbase outputs that a later coinbase with the same txid overwrote (BIP30).

Mainnet has two such pairs. The rule is applied to any chain: an output is overwritten if nothing
spent it between the two blocks. Such outputs are not counted in the container format.
"""

from .blockparse import check_block, output_flags, spent_outpoints, transactions
from .common import ToolError, hash_hex
from .encode import load_block
from .hintsfile import decode_record, encode_record


def repeated_coinbases(coinbases):
    """[(height, next height with the same coinbase txid)]; `coinbases` is the list from height 1.

    Sorting keeps memory at one list; a dictionary of a million txids would take several times that.
    """
    order = sorted(range(len(coinbases)), key=coinbases.__getitem__)
    return [(a + 1, b + 1) for a, b in zip(order, order[1:]) if coinbases[a] == coinbases[b]]


def find_overwritten(coinbases, blocks, places):
    """{height: positions among the block's spendable outputs that were overwritten}."""
    pairs = repeated_coinbases(coinbases)
    open_pairs, ends, spent = {}, {}, {}
    for first, second in pairs:
        open_pairs[first] = ends.setdefault(second, first)
    watched = {}  # txid -> height of the coinbase that spends now refer to
    for height in range(min(open_pairs, default=1), max(ends, default=0) + 1):
        if height in ends:
            watched.pop(coinbases[height - 1], None)
        if watched:
            for txid, vout in load_block(blocks, places[height], _inputs):
                if txid in watched:
                    spent.setdefault(watched[txid], set()).add(vout)
        if height in open_pairs:
            watched[coinbases[height - 1]] = height
    result = {}
    for height in open_pairs:
        flags = load_block(blocks, places[height], _coinbase_flags)
        gone, position = set(), 0
        for vout, spendable in enumerate(flags):
            if spendable:
                if vout not in spent.get(height, ()):
                    gone.add(position)
                position += 1
        if gone:
            result[height] = gone
    return result


def _inputs(data):
    check_block(data)
    return list(spent_outpoints(data))


def _coinbase_flags(data):
    check_block(data)
    _, outputs, _, first_output = next(transactions(data))
    return output_flags(data, first_output, outputs)


def without_overwritten(height, coinbase, record, gone):
    """(outputs, record) of a container record with the overwritten outputs taken out."""
    outputs, indices = decode_record(record)
    if gone & set(indices):
        raise ToolError(f"the snapshot has outputs of coinbase {hash_hex(coinbase)} of height "
                        f"{height}, but a later block overwrote them (BIP30)")
    ordered = sorted(gone)
    shifted = [index - sum(1 for position in ordered if position < index) for index in indices]
    return outputs - len(gone), encode_record(outputs - len(gone), shifted)
