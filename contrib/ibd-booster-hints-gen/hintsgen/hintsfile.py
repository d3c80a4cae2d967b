"""Containers and bitmaps read; bitmaps and version 1 of the container written too. Formats:
doc/formats/hints.md; version 2 is in container2.py."""

import hashlib
import os
import struct

from . import container2
from .common import ToolError

CONTAINER_MAGIC = b"ibdhints"
HEADER = struct.Struct("<8sHH4sII32sQQQQ32s8s")
INDEX_ENTRY = struct.Struct("<IIQII8s")
GROUP_UNSPENT = 32_768
GROUP_BLOCKS = 1_024
MAX_OUTPUTS = 500_000
MAX_RICE = 18
BITMAP_MAX_OUTPUTS = 65_535


def leb128(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def gaps_of(indices):
    """Zeros before each one: [3, 9, 10, 13] -> [3, 5, 0, 2]."""
    return [index - before - 1 for before, index in zip([-1] + indices[:-1], indices)]


def best_rice(gaps):
    """(r, bits) with the fewest bits, the smallest such r. Bits as a function of r are convex."""
    count = len(gaps)
    best, bits, quotients = 0, sum(gaps) + count, gaps
    for r in range(1, MAX_RICE + 1):
        quotients = [q >> 1 for q in quotients]
        next_bits = sum(quotients) + count * (r + 1)
        if next_bits >= bits:
            break
        best, bits = r, next_bits
    return best, bits


def encode_record(outputs, indices):
    """A block's record in the container: `indices` of its unspent ones, ascending."""
    head = leb128(outputs) + leb128(len(indices))
    if not indices:
        return head
    gaps = gaps_of(indices)
    r, bits = best_rice(gaps)
    codes, parts = {}, []
    for gap in gaps:
        code = codes.get(gap)
        if code is None:
            low = format(gap & (1 << r) - 1, f"0{r}b")[::-1] if r else ""
            code = codes[gap] = "1" * (gap >> r) + "0" + low
        parts.append(code)
    stream = int("".join(parts)[::-1], 2)
    return head + bytes((r,)) + stream.to_bytes((bits + 7) // 8, "little")


def encode_bitmap(outputs, indices):
    """A block in the original format: `indices` count all outputs."""
    bits = bytearray((outputs + 7) // 8)
    for index in indices:
        bits[index >> 3] |= 1 << (index & 7)
    return struct.pack("<H", outputs) + bits


class ContainerWriter:
    """Writes blocks 1..N in order; the header comes last, so an unfinished file has no magic."""

    def __init__(self, file, network_magic, base_hash, top):
        self._file, self._magic, self._base, self._top = file, network_magic, base_hash, top
        self._offset = HEADER.size
        self._index, self._records = [], []
        self._height, self._first = 0, 1
        self._group_unspent = self._outputs = self._unspent = 0
        file.write(bytes(HEADER.size))

    def add(self, outputs, unspent, record):
        if outputs > MAX_OUTPUTS:
            raise ToolError(f"block at height {self._height + 1} has {outputs} outputs, the format "
                            f"holds {MAX_OUTPUTS}")
        self._height += 1
        self._records.append(record)
        self._group_unspent += unspent
        self._outputs += outputs
        self._unspent += unspent
        if self._group_unspent >= GROUP_UNSPENT or len(self._records) == GROUP_BLOCKS:
            self._close_group()

    def _close_group(self):
        count = len(self._records)
        offset, offsets = 4 * count, []
        for record in self._records:
            offsets.append(offset)
            offset += len(record)
        group = struct.pack(f"<{count}I", *offsets) + b"".join(self._records)
        self._index.append(INDEX_ENTRY.pack(self._first, count, self._offset, len(group),
                                            self._group_unspent,
                                            hashlib.sha256(group).digest()[:8]))
        self._file.write(group)
        self._offset += len(group)
        self._first += count
        self._records, self._group_unspent = [], 0

    def finish(self):
        """Write index and header; returns the hints id in hex."""
        if self._records:
            self._close_group()
        if self._height != self._top:
            raise AssertionError(f"{self._height} blocks written, {self._top} expected")
        index = b"".join(self._index)
        size = self._offset + len(index)
        head = HEADER.pack(CONTAINER_MAGIC, 1, 1, self._magic, self._top, len(self._index),
                           self._base, self._outputs, self._unspent, self._offset, size, bytes(32),
                           bytes(8))[:-8]
        digest = hashlib.sha256(head + index).digest()
        self._file.write(index)
        self._file.seek(0)
        self._file.write(head + digest[:8])
        return digest.hex()


class BitmapWriter:
    """Writes blocks 0..N in order and the end mark."""

    def __init__(self, file):
        self._file = file
        self._height = 0
        file.write(encode_bitmap(1, []))  # genesis: one output, never a coin

    def add(self, outputs, unspent, record):
        del outputs, unspent
        self._height += 1
        self._file.write(record)

    def finish(self):
        self._file.write(b"\0\0")


class HintsReader:
    """Reads a container or a bitmap and refuses the files that its specification refuses.

    `blocks()` yields (height, outputs, unspent indices) for heights 1..N (container) or 0..N
    (bitmap). Version 2 of the container has no number of outputs: it is None. A container is read
    into memory as a whole.
    """

    def __init__(self, path):
        self.path = path
        self._file = open(path, "rb")
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            self.is_container = self._file.read(8) == CONTAINER_MAGIC
            self._second = None
            if self.is_container and self._file.read(2) == b"\2\0":
                self._read_second()
            elif self.is_container:
                self._read_header()
        except ToolError:
            self._file.close()
            raise

    def close(self):
        self._file.close()

    def fail(self, text):
        raise ToolError(f"{self.path}: {text}")

    def _at(self, offset, size):
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            self.fail(f"offset {offset + len(data)}: the file ends too early")
        return data

    def _read_header(self):
        head = self._at(0, HEADER.size)
        (_, version, coding, self.magic, self.top, groups, self.base_hash, self.outputs,
         self.unspent, index_at, size, zero, check) = HEADER.unpack(head)
        if version != 1 or coding != 1:
            self.fail(f"offset 8: version {version}, coding {coding}: made by a newer program")
        if size != self.size or any(zero) or index_at + groups * INDEX_ENTRY.size != size:
            self.fail(f"offset 80: header says {size} bytes and {groups} groups, the file has "
                      f"{self.size} bytes")
        index = self._at(index_at, size - index_at)
        digest = hashlib.sha256(head[:-8] + index).digest()
        if digest[:8] != check:
            self.fail("offset 120: checksum of header and index is wrong")
        self.id = digest.hex()
        self._entries = list(INDEX_ENTRY.iter_unpack(index))
        height, offset = 1, HEADER.size
        for number, (first, count, at, length, _, _) in enumerate(self._entries):
            if first != height or not 1 <= count <= GROUP_BLOCKS or at != offset:
                self.fail(f"offset {index_at + 32 * number}: index entries leave a gap")
            height, offset = height + count, offset + length
        if height != self.top + 1 or offset != index_at or self.top < 1:
            self.fail(f"offset {index_at}: the index does not cover blocks 1 to {self.top}")

    def _read_second(self):
        data = self._at(0, self.size)
        try:
            self._second = container2.blocks(data)
            fields = container2.HEADER.unpack_from(data)
        except (ValueError, IndexError, struct.error) as error:
            self.fail(str(error) or "malformed")
        self.magic, self.top, self.base_hash = fields[3], fields[4], fields[6]
        head = data[:container2.HEADER.size - 8]
        tables = data[len(head) + 8:len(head) + 8 + fields[10]]
        self.id = hashlib.sha256(head + tables + data[fields[8]:fields[9]]).hexdigest()

    def blocks(self):
        if self._second is not None:
            return ((height, None, indices) for height, indices in enumerate(self._second, 1))
        return self._container_blocks() if self.is_container else self._bitmap_blocks()

    def _container_blocks(self):
        outputs = unspent = 0
        for first, count, at, length, group_unspent, check in self._entries:
            group = self._at(at, length)
            if hashlib.sha256(group).digest()[:8] != check:
                self.fail(f"offset {at}: checksum of the group at height {first} is wrong")
            if length < 4 * count:
                self.fail(f"offset {at}: group of {length} bytes for {count} blocks")
            bounds = struct.unpack_from(f"<{count}I", group) + (length,)
            if bounds[0] != 4 * count or list(bounds) != sorted(bounds):
                self.fail(f"offset {at}: record offsets are wrong")
            found = 0
            for number in range(count):
                try:
                    n, indices = decode_record(group[bounds[number]:bounds[number + 1]])
                except (ValueError, IndexError) as error:
                    self.fail(f"height {first + number}: record at offset {at + bounds[number]}: "
                              f"{error}")
                found += len(indices)
                outputs += n
                yield first + number, n, indices
            if found != group_unspent:
                self.fail(f"offset {at}: {found} unspent outputs, the index says {group_unspent}")
            unspent += found
        if (outputs, unspent) != (self.outputs, self.unspent):
            self.fail(f"offset 56: header says {self.outputs} outputs and {self.unspent} unspent, "
                      f"the records have {outputs} and {unspent}")

    def _bitmap_blocks(self):
        offset = height = 0
        self._file.seek(0)
        while True:
            size = self._file.read(2)
            count = int.from_bytes(size, "little")
            if len(size) == 2 and count == 0:
                break
            bits = self._file.read((count + 7) // 8)
            if len(size) < 2 or len(bits) < (count + 7) // 8:
                self.fail(f"offset {self.size}: the file ends within height {height}")
            ones = int.from_bytes(bits, "little")
            if ones >> count:
                self.fail(f"offset {offset}: bits beyond the {count} outputs of height {height}")
            text = format(ones, "b")[::-1]
            yield height, count, [at for at, bit in enumerate(text) if bit == "1"]
            offset += 2 + len(bits)
            height += 1
        if offset + 2 != self.size or height == 0:
            self.fail(f"offset {offset}: the end mark is not the end of the file")


def _read_leb128(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if byte == 0 and shift:
                raise ValueError("number longer than needed")
            return value, pos
        shift += 7
        if shift > 28:
            raise ValueError("number too large")


def decode_record(data):
    """(outputs, unspent indices) of a container record; ValueError or IndexError if it is bad."""
    outputs, pos = _read_leb128(data, 0)
    count, pos = _read_leb128(data, pos)
    if outputs > MAX_OUTPUTS or count > outputs:
        raise ValueError(f"{count} unspent of {outputs} outputs")
    if count == 0:
        if pos != len(data):
            raise ValueError("bytes after the record")
        return outputs, []
    r = data[pos]
    if r > MAX_RICE:
        raise ValueError(f"Rice parameter {r}")
    stream = data[pos + 1:]
    bits = format(int.from_bytes(stream, "little"), f"0{8 * len(stream)}b")[::-1]
    indices, at, index = [], 0, -1
    for _ in range(count):
        zero = bits.find("0", at)
        if zero < 0 or zero + 1 + r > len(bits):
            raise ValueError("runs go past the end")
        low = int(bits[zero + 1:zero + 1 + r][::-1], 2) if r else 0
        index += (zero - at << r) + low + 1
        at = zero + 1 + r
        indices.append(index)
    if index >= outputs:
        raise ValueError(f"runs reach output {index} of {outputs}")
    if len(bits) - at >= 8 or "1" in bits[at:]:
        raise ValueError("padding is not zero or too long")
    return outputs, indices
