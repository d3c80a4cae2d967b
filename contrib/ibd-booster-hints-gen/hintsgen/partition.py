"""Splits the coins by height into one file per run of 256 blocks, in bounded memory.

A record has 24 bytes: height u32 and the first 16 bytes of the txid and vout u32, integers
big-endian, so that sorting records as bytes sorts them by height and transaction. 16 bytes of a
txid identify it within a block. The state file names what is complete, so a killed pass continues
from there; the checksums in it also expose files that a power cut left behind incomplete.
"""

import json
import os
import re
import struct
import zlib

from .common import ToolError, hash_hex, write_atomic
from .progress import Progress

_NAME = re.compile(r"\d{6}\.coins\Z")
_SHIFT = 8
BLOCKS_PER_FILE = 1 << _SHIFT
RECORD = 24
FLUSH_BYTES = 192 << 20
_pack = struct.Struct(">I16sI").pack
_REPORT = 50_000


class Partition:
    """The partition files in `folder`; memory is bounded by FLUSH_BYTES."""

    def __init__(self, folder, flush_bytes=FLUSH_BYTES):
        self.folder = folder
        self._flush_bytes = flush_bytes
        self._state_path = os.path.join(folder, "state.json")
        self._new_state()
        try:
            with open(self._state_path, encoding="utf-8") as file:
                self.state = json.load(file)
        except (FileNotFoundError, ValueError):
            pass

    def _new_state(self):
        self.state = {"done": 0, "complete": False, "mark": None, "files": {}}

    def path(self, part):
        return os.path.join(self.folder, f"{part:06}.coins")

    def size_and_crc(self, part):
        return self.state["files"].get(str(part), [0, 0])

    def build(self, coins, top_height):
        """Read all coins, or the rest after a killed pass; returns the number of all coins."""
        if self.state["complete"]:
            return self.state["done"]
        os.makedirs(self.folder, exist_ok=True)
        if not self._rewind():
            self._new_state()
        progress = Progress("coins", coins.count, "coins", self.state["done"])
        buffers, done, limit = {}, self.state["done"], self._flush_bytes // RECORD
        held = 0
        for txid, vout, height in coins.coins(self.state["mark"], done):
            if height > top_height:
                raise ToolError(f"{coins.path}: coin {hash_hex(txid)}:{vout} has height {height}, "
                                f"above the base block's {top_height}")
            record = _pack(height, txid[:16], vout)
            try:
                buffers[height >> _SHIFT] += record
            except KeyError:
                buffers[height >> _SHIFT] = bytearray(record)
            held += 1
            if held % _REPORT == 0:
                progress.add(_REPORT)
                if held >= limit:
                    done += held
                    self._flush(buffers, done, coins.mark())
                    held = 0
        progress.add(held % _REPORT)
        self.state["complete"] = True
        self._flush(buffers, done + held, coins.mark())
        progress.close()
        return self.state["done"]

    def _flush(self, buffers, done, mark):
        files = self.state["files"]
        for part, data in buffers.items():
            size, crc = files.get(str(part), [0, 0])
            with open(self.path(part), "ab") as file:
                file.write(data)
            files[str(part)] = [size + len(data), zlib.crc32(data, crc)]
        buffers.clear()
        self.state.update(done=done, mark=mark)
        write_atomic(self._state_path, json.dumps(self.state).encode())

    def _rewind(self):
        """Cut what a killed pass wrote after its last state. If a file is missing or too short,
        remove all files and return False."""
        known = {f"{int(part):06}.coins": entry[0] for part, entry in self.state["files"].items()}
        for name in os.listdir(self.folder):
            if _NAME.match(name) and name not in known:
                os.remove(os.path.join(self.folder, name))
        whole = True
        for name, size in known.items():
            path = os.path.join(self.folder, name)
            whole = whole and os.path.exists(path) and os.path.getsize(path) >= size
            if os.path.exists(path):
                os.truncate(path, size)
        if not whole:
            for name in known:
                path = os.path.join(self.folder, name)
                if os.path.exists(path):
                    os.remove(path)
        return whole


class DamagedPartition(Exception):
    """A partition file is not what was written; the partition must be made again."""


def load_coins(path, size, crc):
    """Yields (height, {first 16 bytes of txid: [vout, ...]}), ascending, of one partition file."""
    if not size:
        return
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise DamagedPartition(path) from None
    if len(data) != size or zlib.crc32(data) != crc:
        raise DamagedPartition(path)
    records = sorted([data[i:i + RECORD] for i in range(0, size, RECORD)])
    del data
    height, coins, last = None, {}, None
    for record in records:
        if record == last:
            raise ToolError(f"coin ...{hash_hex(record[4:20])}:"
                            f"{int.from_bytes(record[20:], 'big')} is in the snapshot twice")
        last = record
        if record[:4] != height:
            if height is not None:
                yield int.from_bytes(height, "big"), coins
            height, coins = record[:4], {}
        coins.setdefault(record[4:20], []).append(int.from_bytes(record[20:], "big"))
    yield int.from_bytes(height, "big"), coins
