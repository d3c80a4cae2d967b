"""Finds and reads the blocks in blk*.dat, obfuscated by xor.dat or not.

A record is the network magic, a u32 length and the block. Records may be in any order, repeated,
cut off, or followed by zeros (space reserved by the node) or rubbish.
"""

import os
import re
import struct

from .blockparse import BadBlock, check_block
from .common import NETWORKS, ToolError, network_name

HEADER_SIZE = 80
MIN_BLOCK = HEADER_SIZE + 1 + 60
MAX_BLOCK = 4_000_000
_RESYNC_CHUNK = 4 << 20
_KEY_SPAN = MAX_BLOCK + 16
_NAME = re.compile(r"blk\d{5,}\.dat$")


class BlockDir:
    """The block files of one directory; cheap to send to worker processes."""

    def __init__(self, path):
        self.path = path
        self.key = _read_key(os.path.join(path, "xor.dat"))
        self._pads = {}
        self._open = {}

    def __getstate__(self):
        return {"path": self.path, "key": self.key, "_pads": {}, "_open": {}}

    def names(self):
        found = (name for name in os.listdir(self.path) if _NAME.match(name))
        return sorted(found, key=lambda name: (len(name), name))

    def read(self, name, offset, size):
        """Plain bytes; fewer than asked for at the end of the file."""
        fd = self._open.get(name)
        if fd is None:
            if len(self._open) >= 16:
                os.close(self._open.pop(next(iter(self._open))))
            fd = self._open[name] = os.open(os.path.join(self.path, name), os.O_RDONLY)
        raw = os.pread(fd, size, offset)
        return self._decode(raw, offset) if self.key else raw

    def _decode(self, raw, offset):
        size = len(raw)
        if size > _KEY_SPAN:
            half = size // 2
            return self._decode(raw[:half], offset) + self._decode(raw[half:], offset + half)
        shift = offset % 8
        if size <= HEADER_SIZE + 8:
            pad = (self.key * (size // 8 + 2))[shift:shift + size]
            number = int.from_bytes(pad, "little")
        else:
            number = self._pad(shift, size)
        return (int.from_bytes(raw, "little") ^ number).to_bytes(size, "little")

    def _pad(self, shift, size):
        """The repeated key as a number; one long pad is kept per alignment."""
        pad = self._pads.get(shift)
        if pad is None:
            pad = self._pads[shift] = (self.key * (_KEY_SPAN // 8 + 2))[shift:]
        return int.from_bytes(memoryview(pad)[:size], "little")

    def find_magic(self):
        """The network magic the files start with, or None if there is no record."""
        for name in self.names():
            head = self.read(name, 0, 8)
            if len(head) == 8 and MIN_BLOCK <= int.from_bytes(head[4:], "little") <= MAX_BLOCK:
                return head[:4]
        known = [magic for magic, _ in NETWORKS.values()]
        for name in self.names():
            start = self.read(name, 0, _RESYNC_CHUNK)
            hits = [(at, magic) for magic in known if (at := start.find(magic)) >= 0]
            if hits:
                return min(hits)[1]
        return None

    def scan(self, name, magic):
        """[(offset of the block, size, 80-byte header)] of one file, torn records left out."""
        size = os.path.getsize(os.path.join(self.path, name))
        records, pos, head = [], 0, self.read(name, 0, 8 + HEADER_SIZE)
        while pos + 8 + MIN_BLOCK <= size:
            length = int.from_bytes(head[4:8], "little")
            end = pos + 8 + length
            if head[:4] == magic and MIN_BLOCK <= length <= MAX_BLOCK and end <= size:
                # The size in a record's header is trusted if the record ends at the next record or
                # at the end of the file. Any other record may have been truncated by a crash and is
                # parsed in full.
                after = self.read(name, end, 8 + HEADER_SIZE)
                if end == size or after[:4] == magic or self._whole(name, pos + 8, length):
                    records.append((pos + 8, length, head[8:]))
                    pos, head = end, after
                    continue
            pos = self._next_magic(name, pos + 1, size, magic)
            head = self.read(name, pos, 8 + HEADER_SIZE)
        return records

    def _whole(self, name, offset, length):
        try:
            check_block(self.read(name, offset, length))
        except BadBlock:
            return False
        return True

    def _next_magic(self, name, pos, size, magic):
        while pos < size:
            at = self.read(name, pos, _RESYNC_CHUNK).find(magic)
            if at >= 0:
                return pos + at
            pos += _RESYNC_CHUNK - 3
        return size


def _read_key(path):
    try:
        with open(path, "rb") as file:
            key = file.read(9)
    except FileNotFoundError:
        return b""
    if len(key) != 8:
        raise ToolError(f"{path}: {len(key)} bytes, an obfuscation key has 8")
    return key if any(key) else b""


def find_block_dir(datadir, magic, network):
    """The directory of block files below `datadir`, and its magic.

    `magic` is the network the coins are of, if known; `network` is the user's choice, if any.
    """
    if not os.path.isdir(datadir):
        raise ToolError(f"{datadir}: no such directory")
    if network:
        wanted = NETWORKS[network][0] if network != "signet" else None
        folders = [NETWORKS[network][1], ""]
    else:
        wanted, folders = magic, [folder for _, folder in NETWORKS.values()]
    found = []
    for folder in dict.fromkeys(folders):
        for tail in ("blocks", ""):
            path = os.path.join(datadir, folder, tail).rstrip("/")
            if os.path.isdir(path):
                blocks = BlockDir(path)
                file_magic = blocks.find_magic() if blocks.names() else None
                if file_magic:
                    found.append((blocks, file_magic))
    fitting = [item for item in found if wanted in (None, item[1])]
    if not found or not network and not wanted and len(fitting) > 1:
        what = "blocks of several networks, choose one with --network" if found else \
            "no block files (blk*.dat) here, in blocks/ or in a network's folder"
        raise ToolError(f"{datadir}: {what}")
    if not fitting or magic and fitting[0][1] != magic:
        shown = " and ".join(sorted({network_name(item[1]) for item in fitting or found}))
        needed = network_name(magic or wanted)
        raise ToolError(f"{datadir}: blocks are of {shown}, but {needed} is needed")
    return fitting[0]


def header_fields(header):
    """(hash of the previous block, bits) of an 80-byte header."""
    return header[4:36], struct.unpack_from("<I", header, 72)[0]
