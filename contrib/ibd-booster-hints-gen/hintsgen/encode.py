"""Encodes 256 blocks at a time into part files; runs in worker processes.

A part file is all or nothing (written aside, then renamed), so a killed run takes up after the
parts that exist. Layout: magic, u32 CRC-32 of the rest; u32 blocks, u64 outputs parsed, u32
unspent; per block the coinbase's txid; per block u32 outputs, u32 unspent, u32 record
length; the records.
"""

import os
import signal
import struct
import threading
import time
import zlib

from .blockparse import BadBlock, match_outputs
from .common import ToolError, hash_hex, write_atomic
from .hintsfile import BITMAP_MAX_OUTPUTS, encode_bitmap, encode_record
from .partition import load_coins

_MAGIC = b"ibdpart1"
_HEAD = struct.Struct("<8sI")
_COUNTS = struct.Struct("<IQI")
_ROW = struct.Struct("<III")


class Job:
    """One part: `places` are the block positions by height from `first`, see HeaderChain.places."""

    def __init__(self, first, places, coins_file, output, bitmap, top):
        self.first, self.places = first, places
        self.coins_path, self.coins_size, self.coins_crc = coins_file
        self.output, self.bitmap, self.top = output, bitmap, top


_blocks = None


def start_worker(blocks, parent):
    """Set up a worker. It ignores Ctrl-C, which the parent handles, and ends with the parent."""
    global _blocks
    _blocks = blocks
    if parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def scan_file(name, magic):
    return name, _blocks.scan(name, magic)


def load_block(blocks, places, parse):
    """Parse the first whole copy of a block; `parse` raises BadBlock for others."""
    problem = None
    for name, offset, size in places:
        data = blocks.read(name, offset, size)
        try:
            if len(data) != size:
                raise BadBlock("cut off")
            return parse(data)
        except BadBlock as error:
            problem = problem or ToolError(f"{os.path.join(blocks.path, name)}: offset {offset}: "
                                           f"bad block: {error}")
    raise problem


def run_job(job):
    """Encode one part; returns (blocks, outputs parsed)."""
    coins_by_height = load_coins(job.coins_path, job.coins_size, job.coins_crc)
    height, coins = next(coins_by_height, (None, {}))
    if height is not None and height < job.first:
        _not_found(height, coins)
    rows, records, coinbases, parsed, unspent = [], [], [], 0, 0
    for at, places in enumerate(job.places, job.first):
        here = coins if height == at else {}
        result = _match(places, here, job.bitmap)
        if result.left:
            _not_found(at, result.left)
        if at == job.top and result.coinbase_missing:
            raise ToolError(f"the snapshot lacks coinbase outputs of block {at}, which cannot be "
                            "spent yet: it was not made at this height")
        outputs = result.outputs if job.bitmap else result.spendable
        if job.bitmap and outputs > BITMAP_MAX_OUTPUTS:
            raise ToolError(f"block at height {at} has {outputs} outputs; the bitmap format holds "
                            f"{BITMAP_MAX_OUTPUTS}, use --format=container")
        record = (encode_bitmap if job.bitmap else encode_record)(outputs, result.unspent)
        rows.append(_ROW.pack(outputs, len(result.unspent), len(record)))
        records.append(record)
        coinbases.append(result.coinbase)
        parsed += result.outputs
        unspent += len(result.unspent)
        if height == at:
            height, coins = next(coins_by_height, (None, {}))
    if height is not None:
        _not_found(height, coins)
    counts = _COUNTS.pack(len(rows), parsed, unspent)
    body = b"".join([counts, *coinbases, *rows, *records])
    write_atomic(job.output, _HEAD.pack(_MAGIC, zlib.crc32(body)), body)
    return len(rows), parsed


def _match(places, coins, bitmap):
    # Matching consumes the coins, so a second copy of a block needs them fresh.
    if len(places) == 1:
        return load_block(_blocks, places, lambda data: match_outputs(data, coins, bitmap))
    return load_block(_blocks, places, lambda data: match_outputs(
        data, {key: list(vouts) for key, vouts in coins.items()}, bitmap))


def _not_found(height, coins):
    key, vouts = next(iter(coins.items()))
    more = sum(map(len, coins.values())) - 1
    raise ToolError(f"coin ...{hash_hex(key)}:{vouts[0]} of the snapshot is no spendable output of "
                    f"the block at height {height}" + (f" (and {more} more)" if more else ""))


class Part:
    """A part file read back; None from `read_part` if it is missing or damaged."""

    def __init__(self, body):
        count, self.parsed, self.unspent = _COUNTS.unpack_from(body)
        start = _COUNTS.size
        self.coinbases = [body[start + 32 * i:start + 32 * i + 32] for i in range(count)]
        start += 32 * count
        self.rows = list(_ROW.iter_unpack(body[start:start + _ROW.size * count]))
        self._records, self._body = start + _ROW.size * count, body

    def blocks(self):
        """Yields (outputs, unspent, record) by height."""
        at = self._records
        for outputs, unspent, length in self.rows:
            yield outputs, unspent, self._body[at:at + length]
            at += length


def read_part(path):
    try:
        with open(path, "rb") as file:
            head, body = file.read(_HEAD.size), file.read()
    except FileNotFoundError:
        return None
    if len(head) != _HEAD.size or _HEAD.unpack(head) != (_MAGIC, zlib.crc32(body)):
        return None
    return Part(body)
