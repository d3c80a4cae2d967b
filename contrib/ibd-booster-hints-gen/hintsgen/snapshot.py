"""Reads a version 2 `dumptxoutset` file.

Header: magic, u16 version, network magic, hash of the base block, u64 coins. Then per transaction:
txid, compact size of coins, and per coin: compact size of the output index, VARINT of
height * 2 + coinbase, VARINT of the compressed amount, compressed script.
"""

import os
import stat
import struct

from .common import ToolError
from .secp256k1 import uncompressed_key

MAGIC = b"utxo\xff"
HEADER_SIZE = 51
MAX_MONEY = 21_000_000 * 100_000_000
MAX_SCRIPT = 10_000
_CHUNK = 8 << 20
# A coin and a group header take at most 3 * 10 + 9 + 32 bytes and a script.
_MARGIN = MAX_SCRIPT + 128
_MOST_COINS = 1 << 40  # of a pipe, whose size says nothing; 250 times the outputs ever made
_LEAST_COIN = 4  # bytes: output index, height, amount and form of an empty script
# Payload bytes of the compressed script forms 0..5; form n >= 6 is a plain script of n - 6 bytes.
_SPECIAL = (20, 20, 32, 32, 32, 32)


def decompress_amount(x):
    """Inverse of Core's amount compression: exponent and last digit are split off zeros."""
    if x == 0:
        return 0
    x, exponent = divmod(x - 1, 10)
    if exponent < 9:
        x, digit = divmod(x, 9)
        n = x * 10 + digit + 1
    else:
        n = x + 1
    return n * 10**exponent


def decompress_script(kind, payload):
    """The script of a compressed form, or None if it names a key that does not exist."""
    if kind >= 6:
        return payload
    if kind == 0:
        return b"\x76\xa9\x14" + payload + b"\x88\xac"
    if kind == 1:
        return b"\xa9\x14" + payload + b"\x87"
    if kind < 4:
        return b"\x21" + bytes((kind,)) + payload + b"\xac"
    key = uncompressed_key(payload, kind & 1)
    return key and b"\x41" + key + b"\xac"


class Snapshot:
    """One pass over the coins; `group_offset`, `coins_before`: the position at which it can be
    resumed.

    With `pipes` the snapshot may be a pipe, which can be read only once and from its start.
    """

    def __init__(self, path, pipes=False):
        self.path = path
        mode = os.stat(path).st_mode
        self.is_pipe = pipes and stat.S_ISFIFO(mode)
        if not self.is_pipe and not stat.S_ISREG(mode):
            raise ToolError(f"{path}: no regular file{' and no pipe' if pipes else ''}")
        self._file = open(path, "rb")
        header = self._file.read(HEADER_SIZE)
        if len(header) < HEADER_SIZE or header[:5] != MAGIC:
            raise ToolError(f"{path}: offset 0: not a dumptxoutset file")
        version, = struct.unpack_from("<H", header, 5)
        if version != 2:
            raise ToolError(f"{path}: offset 5: snapshot version {version}, only 2 is supported")
        self.magic = header[7:11]
        self.base_hash = header[11:43]
        self.count, = struct.unpack_from("<Q", header, 43)
        self._check_count()
        self.group_offset = HEADER_SIZE
        self.coins_before = 0

    def _check_count(self):
        if self.is_pipe:
            if self.count > _MOST_COINS:
                self.fail(43, f"{self.count:,} coins, more than any chain can have")
            return
        size = self._size()
        if self.count > (size - HEADER_SIZE) // _LEAST_COIN:
            self.fail(43, f"{self.count:,} coins, more than a file of {size:,} bytes can hold")

    def seek(self, group_offset, coins_before):
        self.group_offset, self.coins_before = group_offset, coins_before

    def fail(self, offset, text):
        raise ToolError(f"{self.path}: offset {offset}: {text}")

    def coins(self):
        """Yields (txid, vout, height * 2 + coinbase, compressed amount, script form, payload)."""
        file, offset, before = self._file, self.group_offset, self.coins_before
        if not self.is_pipe:
            file.seek(offset)
        buf, pos, base = file.read(_CHUNK), 0, offset
        limit, more = len(buf) - _MARGIN, len(buf) == _CHUNK
        try:
            while before < self.count:
                if pos > limit and more:
                    new = file.read(_CHUNK)
                    base, buf, pos, more = base + pos, buf[pos:] + new, 0, len(new) == _CHUNK
                    limit = len(buf) - _MARGIN
                self.group_offset, self.coins_before = base + pos, before
                txid = buf[pos:pos + 32]
                n, pos = _compact_size(buf, pos + 32)
                if not 0 < n <= self.count - before:
                    self.fail(base + pos, f"{n} coins in one transaction")
                for _ in range(n):
                    if pos > limit and more:
                        new = file.read(_CHUNK)
                        base, buf, pos, more = base + pos, buf[pos:] + new, 0, len(new) == _CHUNK
                        limit = len(buf) - _MARGIN
                    start = pos
                    vout = buf[pos]
                    pos += 1
                    if vout > 252:
                        vout, pos = _compact_size(buf, pos - 1)
                    code, pos = _varint(buf, pos)
                    amount, pos = _varint(buf, pos)
                    kind = buf[pos]
                    pos += 1
                    if kind > 127:
                        kind, pos = _varint(buf, pos - 1)
                    end = pos + (_SPECIAL[kind] if kind < 6 else kind - 6)
                    if end > len(buf) or kind > MAX_SCRIPT + 6 or code >> 32 or vout >> 32:
                        self._bad_coin(base + start, base + len(buf),
                                       end > len(buf) and kind <= MAX_SCRIPT + 6)
                    yield txid, vout, code, amount, kind, buf[pos:end]
                    pos = end
                before += n
        except IndexError:
            self.fail(base + len(buf), f"the file ends within its {self.count:,} coins")
        self.group_offset, self.coins_before = base + pos, before
        if pos < len(buf) or file.read(1):
            left = "" if self.is_pipe else f"{self._size() - base - pos} "
            self.fail(base + pos, f"{left}bytes after the last coin")

    def _size(self):
        return os.fstat(self._file.fileno()).st_size

    def _bad_coin(self, offset, end, truncated):
        if truncated:
            self.fail(end, f"the file ends within its {self.count:,} coins")
        self.fail(offset, "coin with an impossible index, height or script size")


def _compact_size(buf, pos):
    first = buf[pos]
    if first < 253:
        return first, pos + 1
    size = 2 << (first - 253)
    end = pos + 1 + size
    buf[end - 1]  # raises IndexError if cut off
    return int.from_bytes(buf[pos + 1:end], "little"), end


def _varint(buf, pos):
    """Core's VARINT: base 128, most significant first, every continuation adds one."""
    n = 0
    while True:
        byte = buf[pos]
        pos += 1
        if byte < 128:
            return n << 7 | byte, pos
        n = (n << 7 | byte & 127) + 1
        if n >> 64:
            return n, pos  # too large for anything stored; the caller's range checks refuse it
