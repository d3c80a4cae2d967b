"""Parses serialized blocks: the hot loop of the generator.

Plain integer positions over one bytes object; an index past the end raises IndexError, which means
a cut-off block. Slices never raise, so transactions() checks at its end that the block ends there
too; the other parsers rely on that check.
"""

from hashlib import sha256

MAX_SCRIPT = 10_000
OP_RETURN = 0x6A


class BadBlock(Exception):
    """The bytes are not one whole block, or not the one its header commits to."""


class BlockOutputs:
    """The data of a block that the hints need.

    outputs, spendable: number of outputs; unspent: block-wide indices, ascending, over all outputs
    or over the spendable ones; left: coins of the block that no output matched; coinbase: its txid;
    coinbase_missing: number of its spendable outputs without a coin.
    """

    __slots__ = ("coinbase", "outputs", "spendable", "unspent", "left", "coinbase_missing")

    def __init__(self):
        self.unspent = []


def compact_size(data, pos):
    first = data[pos]
    if first < 253:
        return first, pos + 1
    size = 2 << (first - 253)
    return int.from_bytes(data[pos + 1:pos + 1 + size], "little"), pos + 1 + size


def transactions(data):
    """Yields (txid, outputs, spendable outputs, position of the first output) in block order."""
    count, pos = compact_size(data, 80)
    for _ in range(count):
        start = pos
        segwit = data[pos + 4] == 0
        pos += 6 if segwit else 4
        body = pos
        inputs = data[pos]
        pos += 1
        if inputs > 252:
            inputs, pos = compact_size(data, pos - 1)
        for _ in range(inputs):
            size = data[pos + 36]
            if size < 253:
                pos += size + 41
            else:
                size, pos = compact_size(data, pos + 36)
                pos += size + 4
        outputs = spendable = data[pos]
        pos += 1
        if outputs > 252:
            outputs, pos = compact_size(data, pos - 1)
            spendable = outputs
        first_output = pos
        for _ in range(outputs):
            size = data[pos + 8]
            if size < 253:
                pos += 9
                if size and data[pos] == OP_RETURN:
                    spendable -= 1
            else:
                size, pos = compact_size(data, pos + 8)
                if size > MAX_SCRIPT or data[pos] == OP_RETURN:
                    spendable -= 1
            pos += size
        if segwit:
            end = pos
            for _ in range(inputs):
                items = data[pos]
                pos += 1
                if items > 252:
                    items, pos = compact_size(data, pos - 1)
                for _ in range(items):
                    size = data[pos]
                    if size < 253:
                        pos += size + 1
                    else:
                        size, pos = compact_size(data, pos)
                        pos += size
            stripped = data[start:start + 4] + data[body:end] + data[pos:pos + 4]
            pos += 4
        else:
            pos += 4
            stripped = data[start:pos]
        txid = sha256(sha256(stripped).digest()).digest()
        yield txid, outputs, spendable, first_output
    if pos != len(data):
        raise BadBlock(f"{len(data)} bytes, but its transactions end at {pos}")


def output_flags(data, pos, count):
    """For each output of a transaction: is it spendable."""
    flags = []
    for _ in range(count):
        size, pos = compact_size(data, pos + 8)
        flags.append(size <= MAX_SCRIPT and not (size and data[pos] == OP_RETURN))
        pos += size
    return flags


def merkle_root(txids):
    level = txids
    while len(level) > 1:
        if len(level) & 1:
            level.append(level[-1])
        level = [sha256(sha256(level[i] + level[i + 1]).digest()).digest()
                 for i in range(0, len(level), 2)]
    return level[0] if level else b""


def check_block(data):
    """Raises BadBlock unless `data` is one whole block that matches its header."""
    try:
        root = merkle_root([item[0] for item in transactions(data)])
    except IndexError:
        raise BadBlock("cut off") from None
    if root != data[36:68]:
        raise BadBlock("transactions do not match the header")


def match_outputs(data, coins, count_all):
    """Match a block with its coins ({first 16 bytes of txid: [vout, ...]}), which are consumed.

    Indices count all outputs if `count_all`, spendable ones otherwise.
    """
    result = BlockOutputs()
    unspent, txids = result.unspent, []
    total = total_spendable = 0
    pop, append = coins.pop, txids.append
    result.coinbase_missing = None
    try:
        for txid, outputs, spendable, first_output in transactions(data):
            append(txid)
            vouts = pop(txid[:16], None)
            if vouts:
                base = total if count_all else total_spendable
                if outputs == spendable:
                    vouts.sort()
                    if vouts[-1] < outputs:
                        unspent.extend([base + vout for vout in vouts])
                    else:
                        coins[txid[:16]] = vouts
                else:
                    flags = output_flags(data, first_output, outputs)
                    left = _match_mixed(flags, vouts, base, count_all, unspent)
                    if left:
                        coins[txid[:16]] = left
            if result.coinbase_missing is None:
                result.coinbase_missing = spendable - (len(vouts) if vouts else 0)
            total += outputs
            total_spendable += spendable
    except IndexError:
        raise BadBlock("cut off") from None
    result.coinbase = txids[0] if txids else b""
    if merkle_root(txids) != data[36:68]:
        raise BadBlock("transactions do not match the header")
    result.outputs, result.spendable, result.left = total, total_spendable, coins
    return result


def _match_mixed(flags, vouts, base, count_all, unspent):
    """A transaction with unspendable outputs; returns the coins that are none of its outputs."""
    wanted, index = set(vouts), base
    for vout, spendable in enumerate(flags):
        if spendable and vout in wanted:
            unspent.append(index)
            wanted.discard(vout)
        index += 1 if count_all or spendable else 0
    return sorted(wanted)


def spent_outpoints(data):
    """Yields (txid, vout) of every input; for the few ranges where BIP30 history is checked."""
    count, pos = compact_size(data, 80)
    for _ in range(count):
        segwit = data[pos + 4] == 0
        inputs, pos = compact_size(data, pos + (6 if segwit else 4))
        for _ in range(inputs):
            yield data[pos:pos + 32], int.from_bytes(data[pos + 32:pos + 36], "little")
            size, pos = compact_size(data, pos + 36)
            pos += size + 4
        outputs, pos = compact_size(data, pos)
        for _ in range(outputs):
            size, pos = compact_size(data, pos + 8)
            pos += size
        if segwit:
            for _ in range(inputs):
                items, pos = compact_size(data, pos)
                for _ in range(items):
                    size, pos = compact_size(data, pos)
                    pos += size
        pos += 4
