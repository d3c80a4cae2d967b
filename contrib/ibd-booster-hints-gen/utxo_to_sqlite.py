#!/usr/bin/env python3
"""Turn a UTXO snapshot (`bitcoin-cli dumptxoutset`) into an SQLite database.

Table utxos: txid, vout, value (satoshi), coinbase (0 or 1), height, scriptpubkey; the columns of
Bitcoin Core's tool of the same name. A second table, snapshot, keeps what that one loses: network
and base block, which booster-gen.py needs.
"""

import argparse
import os
import sqlite3
import sys

from hintsgen.common import ToolError, hash_hex, network_name, publish, run_main
from hintsgen.progress import Progress
from hintsgen.snapshot import MAX_MONEY, Snapshot, decompress_amount, decompress_script
from hintsgen.workfolder import refuse_taken

BATCH = 20_000


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Turn a UTXO snapshot (dumptxoutset, version 2) into an SQLite database.")
    parser.add_argument("snapshot", help="file written by dumptxoutset, or a pipe that it writes")
    parser.add_argument("database", help="SQLite file to create; must not exist")
    parser.add_argument("--txid", choices=("hex", "raw", "rawle"), default="hex",
                        help="txid as hex text as users know it (default), as a blob in the byte "
                             "order of the wire (raw) or in that of the hex (rawle)")
    parser.add_argument("--spk", choices=("hex", "raw"), default="hex",
                        help="scriptpubkey as hex text (default) or as a blob")
    return parser.parse_args()


def rows(snapshot, txid_form, spk_form):
    """The table's rows; the txid is converted once per transaction."""
    last, shown = None, None
    for txid, vout, code, amount, kind, payload in snapshot.coins():
        if txid is not last:
            last = txid
            shown = txid if txid_form == "raw" else txid[::-1]
            if txid_form == "hex":
                shown = shown.hex()
        script = decompress_script(kind, payload)
        if script is None:
            snapshot.fail(snapshot.group_offset, f"coin {hash_hex(txid)}:{vout} has a public key "
                                                 "that is not on the curve")
        value = decompress_amount(amount)
        if value > MAX_MONEY:
            snapshot.fail(snapshot.group_offset, f"coin {hash_hex(txid)}:{vout} has more value "
                                                 "than there is money")
        yield (shown, vout, value, code & 1, code >> 1,
               script.hex() if spk_form == "hex" else script)


def create_tables(db, snapshot, args):
    txid_type = "TEXT" if args.txid == "hex" else "BLOB"
    spk_type = "TEXT" if args.spk == "hex" else "BLOB"
    db.execute(f"CREATE TABLE utxos(txid {txid_type}, vout INT, value INT, coinbase INT, "
               f"height INT, scriptpubkey {spk_type})")
    db.execute("CREATE TABLE snapshot(network TEXT, magic TEXT, base_hash TEXT, coins INT, "
               "txid_format TEXT)")
    db.execute("INSERT INTO snapshot VALUES(?,?,?,?,?)",
               (network_name(snapshot.magic), snapshot.magic.hex(), hash_hex(snapshot.base_hash),
                snapshot.count, args.txid))


def convert(snapshot, path, args):
    """Fill `path`; no journal, because the file gets its name only when complete."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=OFF")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("BEGIN")
        create_tables(db, snapshot, args)
        progress = Progress("coins", snapshot.count, "coins")
        batch = []
        for row in rows(snapshot, args.txid, args.spk):
            batch.append(row)
            if len(batch) == BATCH:
                db.executemany("INSERT INTO utxos VALUES(?,?,?,?,?,?)", batch)
                progress.add(BATCH)
                batch.clear()
        db.executemany("INSERT INTO utxos VALUES(?,?,?,?,?,?)", batch)
        progress.add(len(batch))
        db.execute("COMMIT")
        progress.close()
    except sqlite3.Error as error:
        raise ToolError(f"{path}: {error}") from None
    finally:
        db.close()


def main():
    args = parse_arguments()
    if os.path.lexists(args.database):
        raise ToolError(f"{args.database}: exists already, not overwritten")
    snapshot = Snapshot(args.snapshot, pipes=True)
    print(f"{args.snapshot}: {network_name(snapshot.magic)}, base block "
          f"{hash_hex(snapshot.base_hash)}, {snapshot.count:,} coins", file=sys.stderr)
    temporary = args.database + ".tmp"
    refuse_taken(temporary)
    open(temporary, "xb").close()
    try:
        convert(snapshot, temporary, args)
        publish(temporary, args.database)
    except BaseException:
        os.remove(temporary)
        raise
    return 0


if __name__ == "__main__":
    run_main(main)
