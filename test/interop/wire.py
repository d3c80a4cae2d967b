"""Bitcoin's wire format, as much as the tests need: transactions both ways, blocks split."""

import dataclasses
import hashlib


def sha256d(data):
    return hashlib.sha256(hashlib.sha256(data).digest()).digest()


def hash_hex(raw):
    return raw[::-1].hex()


def compact_size(n):
    if n < 253:
        return bytes([n])
    if n <= 0xffff:
        return b"\xfd" + n.to_bytes(2, "little")
    if n <= 0xffffffff:
        return b"\xfe" + n.to_bytes(4, "little")
    return b"\xff" + n.to_bytes(8, "little")


def sized(data):
    return compact_size(len(data)) + data


def serialized_output(output):
    amount, script = output
    return amount.to_bytes(8, "little", signed=True) + sized(script)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        out = self.data[self.at:self.at + n]
        assert len(out) == n, f"data ends at {self.at}"
        self.at += n
        return out

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def compact_size(self):
        first = self.number(1)
        return first if first < 253 else self.number(1 << (first - 252))

    def sized(self):
        return self.take(self.compact_size())

    def output(self):
        amount = int.from_bytes(self.take(8), "little", signed=True)
        return amount, self.sized()

    def end(self):
        return self.at == len(self.data)


@dataclasses.dataclass
class Tx:
    """inputs: [(txid hex, vout, script_sig, sequence)], outputs: [(amount, script)],
    witness: one list of items per input, or empty."""
    inputs: list
    outputs: list
    witness: list = dataclasses.field(default_factory=list)
    version: int = 2
    lock_time: int = 0

    def _body(self, marker, witness):
        out = self.version.to_bytes(4, "little") + marker + compact_size(len(self.inputs))
        for txid, vout, script, sequence in self.inputs:
            out += bytes.fromhex(txid)[::-1] + vout.to_bytes(4, "little")
            out += sized(script) + sequence.to_bytes(4, "little")
        out += compact_size(len(self.outputs))
        out += b"".join(map(serialized_output, self.outputs))
        return out + witness + self.lock_time.to_bytes(4, "little")

    def raw_without_witness(self):
        return self._body(b"", b"")

    def raw(self):
        if not any(self.witness):
            return self.raw_without_witness()
        witness = b"".join(compact_size(len(items)) + b"".join(map(sized, items))
                           for items in self.witness)
        return self._body(b"\x00\x01", witness)

    def txid(self):
        return hash_hex(sha256d(self.raw_without_witness()))


def read_tx(reader):
    """One transaction, with or without witness."""
    tx = Tx([], [], version=reader.number(4))
    count = reader.compact_size()
    has_witness = count == 0
    if has_witness:
        assert reader.number(1) == 1
        count = reader.compact_size()
    for _ in range(count):
        txid, vout = hash_hex(reader.take(32)), reader.number(4)
        tx.inputs.append((txid, vout, reader.sized(), reader.number(4)))
    tx.outputs = [reader.output() for _ in range(reader.compact_size())]
    if has_witness:
        tx.witness = [[reader.sized() for _ in range(reader.compact_size())] for _ in range(count)]
    tx.lock_time = reader.number(4)
    return tx


def parse_tx(raw):
    reader = Reader(raw)
    tx = read_tx(reader)
    assert reader.end(), "bytes after the transaction"
    return tx


def block_transactions(block):
    """[(raw transaction, number of inputs)]."""
    reader = Reader(block)
    reader.take(80)
    out = []
    for _ in range(reader.compact_size()):
        start = reader.at
        tx = read_tx(reader)
        out.append((block[start:reader.at], len(tx.inputs)))
    assert reader.end(), "bytes after the block"
    return out
