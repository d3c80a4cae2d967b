"""The coins of a snapshot or database as (txid, vout, height), in a restartable pass."""

import os
import sqlite3

from .common import ToolError, parse_hash
from .snapshot import MAGIC, Snapshot

_SQLITE = b"SQLite format 3\0"


def open_coins(path):
    if os.path.exists(path) and not os.path.isfile(path):
        raise ToolError(f"{path}: no regular file; the coins are read more than once")
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from None
    if head[:5] == MAGIC:
        return SnapshotCoins(path)
    if head == _SQLITE:
        return SqliteCoins(path)
    raise ToolError(f"{path}: offset 0: neither a dumptxoutset file nor an SQLite database")


class SnapshotCoins:
    """Coins of a dumptxoutset file; a mark is the place of a transaction and coins read before."""

    def __init__(self, path):
        self.path = path
        self._snapshot = Snapshot(path)
        self.magic = self._snapshot.magic
        self.base_hash = self._snapshot.base_hash
        self.count = self._snapshot.count
        self.count_is_exact = True
        self._start = self.mark()

    def prepare(self, txids_at):
        del txids_at

    def coins(self, mark, done):
        """Yields (txid, vout, height) from a mark on; `done` coins were read up to there."""
        self._snapshot.seek(*(mark or self._start))
        skip = done - self._snapshot.coins_before
        for txid, vout, code, _, _, _ in self._snapshot.coins():
            if skip:
                skip -= 1
                continue
            yield txid, vout, code >> 1

    def mark(self):
        return [self._snapshot.group_offset, self._snapshot.coins_before]


class SqliteCoins:
    """Coins of the table `utxos`; a mark is a rowid."""

    def __init__(self, path):
        self.path = path
        self.magic = self.base_hash = self.count = None
        self._rowid = 0
        self._reverse = None
        self.count_is_exact = False
        address = "file:" + os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace(
            "#", "%23")
        try:
            self._db = sqlite3.connect(address + "?mode=ro", uri=True)
            columns = {row[1] for row in self._db.execute("PRAGMA table_info(utxos)")}
            if not {"txid", "vout", "height"} <= columns:
                raise ToolError(f"{path}: no table utxos with columns txid, vout, height")
            self._read_origin()
            if self.count is None:
                self.count = self._db.execute("SELECT max(rowid) FROM utxos").fetchone()[0] or 0
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise ToolError(f"{path}: {error}") from None

    def _read_origin(self):
        """Network and base block, where utxo_to_sqlite.py of this folder wrote them."""
        columns = {row[1] for row in self._db.execute("PRAGMA table_info(snapshot)")}
        if not {"magic", "base_hash", "coins"} <= columns:
            return
        row = self._db.execute("SELECT magic, base_hash, coins FROM snapshot").fetchone()
        if row is not None:
            self.magic = bytes.fromhex(row[0])
            self.base_hash = parse_hash(row[1], f"{self.path}: table snapshot")
            self.count = row[2]
            self.count_is_exact = True
            if not isinstance(self.count, int) or self.count < 0:
                raise ToolError(f"{self.path}: table snapshot: {self.count!r} is no number of "
                                "coins")

    def prepare(self, txids_at):
        """Blobs are in one of two byte orders; a block shows which."""
        try:
            row = self._db.execute("SELECT txid, height FROM utxos LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise ToolError(f"{self.path}: {error}") from None
        if row is None:
            raise ToolError(f"{self.path}: table utxos is empty")
        txid, height = row
        if isinstance(txid, str):
            self._reverse = True
            return
        txids = txids_at(height)
        self._reverse = txid not in txids
        if self._reverse and txid[::-1] not in txids:
            raise ToolError(f"{self.path}: txid {txid.hex()} of the first row is in neither byte "
                            f"order in the block at height {height}")

    def coins(self, mark, done):
        del done
        self._rowid = mark or 0
        query = "SELECT rowid, txid, vout, height FROM utxos WHERE rowid > ? ORDER BY rowid"
        reverse = self._reverse
        try:
            for rowid, txid, vout, height in self._db.execute(query, (self._rowid,)):
                self._rowid = rowid
                if isinstance(txid, str):
                    txid = bytes.fromhex(txid)
                if len(txid) != 32 or not 0 <= vout < 1 << 32 or not 0 <= height < 1 << 31 or \
                        not isinstance(vout, int) or not isinstance(height, int):
                    raise ToolError(f"{self.path}: row {rowid} of table utxos is not a coin")
                yield (txid[::-1] if reverse else txid), vout, height
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise ToolError(f"{self.path}: after row {self._rowid}: {error}") from None

    def mark(self):
        return self._rowid
