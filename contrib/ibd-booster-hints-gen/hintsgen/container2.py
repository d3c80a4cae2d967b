"""Version 2 of the container, written and read slowly: the readable reference of src/hints.

doc/formats/hints.md, section 2, is its description. `write(...)` gives a whole file, `blocks(...)`
takes one apart.
"""

import hashlib
import struct

HEADER = struct.Struct("<8sHH4sII32sQQQII8s")
INDEX_ENTRY = struct.Struct("<HII8s")
MAGIC = b"ibdhints"
GROUP_UNSPENT, GROUP_BLOCKS = 32_768, 1_024
BUCKETS, GAP_CONTEXTS, CONTEXTS = 46, 128, 144
SCALE_BITS = 10
SCALE = 1 << SCALE_BITS
LEAST_STATE = 1 << 31


def bucket_of(value):
    """(bucket, extra bits, their value)"""
    if value < 16:
        return value, 0, 0
    top = value.bit_length() - 1
    return 16 + 2 * (top - 4) + (value >> top - 1 & 1), top - 1, value & (1 << top - 1) - 1


def bucket_start(bucket):
    """(smallest number, extra bits)"""
    if bucket < 16:
        return bucket, 0
    extra = (bucket - 16) // 2 + 3
    return (2 | bucket & 1) << extra, extra


class History:
    """The part of a group's history that determines the context."""

    def __init__(self):
        self.last = self.before = self.level = self.count = 0

    def of_gap(self):
        return min(self.level >> 8, 7) * 16 + self.last * 4 + self.before

    def of_count(self):
        return GAP_CONTEXTS + min(15, self.count.bit_length())

    def add_gap(self, gap):
        self.before = self.last
        self.last = gap if gap < 2 else 2 if gap < 8 else 3
        self.level += 16 * gap.bit_length() - (self.level >> 4)


def gaps_of(indices):
    return [index - before - 1 for before, index in zip([-1] + indices[:-1], indices)]


def numbers(group):
    """[(context, number)] of a group: a list of blocks' unspent indices."""
    history, out = History(), []
    for indices in group:
        out.append((history.of_count(), len(indices)))
        history.count = len(indices)
        for gap in gaps_of(indices):
            out.append((history.of_gap(), gap))
            history.add_gap(gap)
    return out


def log2(value):
    """65,536 times the binary logarithm, rounded down bit by bit."""
    whole = value.bit_length() - 1
    mantissa, result = value << 31 - whole, whole
    for _ in range(16):
        mantissa = mantissa * mantissa >> 31
        bit = mantissa >> 32
        mantissa >>= bit
        result = result << 1 | bit
    return result


def normalize(counts):
    total = sum(counts)
    if total == 0:
        return [SCALE] + [0] * (BUCKETS - 1)
    out = [max(1, (n * SCALE + total // 2) // total) if n else 0 for n in counts]
    while sum(out) > SCALE:
        out[out.index(max(out))] -= 1
    out[out.index(max(out))] += SCALE - sum(out)
    return out


def table_bits(table):
    """The table as a string of bits: gamma codes of frequency + 1 until they sum to 1024."""
    bits, total = "", 0
    for frequency in table:
        if total == SCALE:
            break
        value = frequency + 1
        width = value.bit_length()
        bits += "0" * (width - 1) + "1" + format(value, "b")[1:][::-1]
        total += frequency
    return bits


def cost(counts, table):
    return sum(n * ((SCALE_BITS << 16) - log2(f)) for n, f in zip(counts, table) if n)


def make_model(counts):
    """(tables by context, their bytes)"""
    first = normalize([sum(column) for column in zip(*counts)])
    own = [normalize(c) for c in counts]
    keeps = [(len(table_bits(o)) << 16) + cost(c, o) < cost(c, first) for c, o in zip(counts, own)]
    rest = [c for c, keep in zip(counts, keeps) if not keep]
    shared = normalize([sum(column) for column in zip(*rest)] if rest else [0] * BUCKETS)
    bits = table_bits(shared)
    for table, keep in zip(own, keeps):
        bits += "1" + table_bits(table) if keep else "0"
    data = int(bits[::-1], 2).to_bytes((len(bits) + 7) // 8, "little")
    return [o if keep else shared for o, keep in zip(own, keeps)], data


def read_model(data):
    bits = format(int.from_bytes(data, "little"), f"0{8 * len(data)}b")[::-1]
    at = 0

    def table():
        nonlocal at
        out = []
        while sum(out) < SCALE:
            zeros = bits.index("1", at) - at
            at += zeros + 1
            low = int("0" + bits[at:at + zeros][::-1], 2)
            at += zeros
            out.append((1 << zeros | low) - 1)
        if sum(out) != SCALE or len(out) > BUCKETS:
            raise ValueError("a table's frequencies do not sum to 1024")
        return out + [0] * (BUCKETS - len(out))

    shared, tables = table(), []
    for _ in range(CONTEXTS):
        at += 1
        tables.append(table() if bits[at - 1] == "1" else shared)
    if len(bits) - at >= 8 or "1" in bits[at:]:
        raise ValueError("bits follow the tables")
    return tables


def encode_group(group, tables):
    state, words = LEAST_STATE, []
    for context, number in reversed(numbers(group)):
        bucket, extra, low = bucket_of(number)
        frequency, start = tables[context][bucket], sum(tables[context][:bucket])
        if state >= frequency << 63 - SCALE_BITS - extra:
            words.append(state & 0xffffffff)
            state >>= 32
        state = state << extra | low
        state = (state // frequency << SCALE_BITS) + state % frequency + start
    return struct.pack(f"<Q{len(words)}I", state, *reversed(words))


def decode_group(data, blocks, tables):
    state, = struct.unpack_from("<Q", data)
    words = list(struct.unpack(f"<{len(data) // 4 - 2}I", data[8:]))[::-1]

    def take(table):
        nonlocal state
        slot, bucket, start = state % SCALE, 0, 0
        while start + table[bucket] <= slot:
            start += table[bucket]
            bucket += 1
        state = table[bucket] * (state >> SCALE_BITS) + slot - start
        first, extra = bucket_start(bucket)
        number = first + (state & (1 << extra) - 1)
        state >>= extra
        if state < LEAST_STATE:
            state = state << 32 | words.pop()
        return number

    history, group = History(), []
    for _ in range(blocks):
        history.count = take(tables[history.of_count()])
        indices, following = [], 0
        for _ in range(history.count):
            gap = take(tables[history.of_gap()])
            history.add_gap(gap)
            indices.append(following + gap)
            following += gap + 1
        group.append(indices)
    if state != LEAST_STATE or words:
        raise ValueError("a group does not end as it must")
    return group


def split_groups(hints):
    groups = [[]]
    for indices in hints:
        groups[-1].append(indices)
        if sum(map(len, groups[-1])) >= GROUP_UNSPENT or len(groups[-1]) == GROUP_BLOCKS:
            groups.append([])
    return [group for group in groups if group]


def write(hints, network_magic, terminal_hash):
    """The file of `hints`: for heights 1, 2, ... the unspent indices among spendable outputs."""
    groups = split_groups(hints)
    counts = [[0] * BUCKETS for _ in range(CONTEXTS)]
    for group in groups:
        for context, number in numbers(group):
            counts[context][bucket_of(number)[0]] += 1
    tables, table_data = make_model(counts)
    coded = [encode_group(group, tables) for group in groups]
    index = b"".join(INDEX_ENTRY.pack(len(group), len(data), sum(map(len, group)),
                                      hashlib.sha256(data).digest()[:8])
                     for group, data in zip(groups, coded))
    index_at = HEADER.size + len(table_data) + sum(map(len, coded))
    head = HEADER.pack(MAGIC, 2, 2, network_magic, len(hints), len(groups), terminal_hash,
                       sum(map(len, hints)), index_at, index_at + len(index), len(table_data), 0,
                       bytes(8))[:-8]
    check = hashlib.sha256(head + table_data + index).digest()[:8]
    return head + check + table_data + b"".join(coded) + index


def blocks(data):
    """[unspent indices] of heights 1, 2, ...; ValueError if a checksum is wrong."""
    (_, version, coding, _, top, groups, _, unspent, index_at, end, table_size, _,
     check) = HEADER.unpack_from(data)
    table_data = data[HEADER.size:HEADER.size + table_size]
    index = data[index_at:end]
    head = data[:HEADER.size - 8]
    if (version, coding) != (2, 2) or len(index) != groups * INDEX_ENTRY.size:
        raise ValueError("not a container of version 2")
    if hashlib.sha256(head + table_data + index).digest()[:8] != check:
        raise ValueError("checksum of header, tables and index is wrong")
    tables, hints, at = read_model(table_data), [], HEADER.size + table_size
    for count, length, ones, digest in INDEX_ENTRY.iter_unpack(index):
        coded = data[at:at + length]
        if hashlib.sha256(coded).digest()[:8] != digest:
            raise ValueError(f"checksum of the group at offset {at} is wrong")
        group = decode_group(coded, count, tables)
        if sum(map(len, group)) != ones:
            raise ValueError(f"the group at offset {at} has another number of unspent outputs")
        hints += group
        at += length
    if at != index_at or len(hints) != top or sum(map(len, hints)) != unspent:
        raise ValueError("the groups are not what the header says")
    return hints
