"""Blocks whose scripts are chosen to cost time: for each case the transactions with the coins that
they spend. Every input is valid; where a signature has to be, it is by the secret key 1 with the
nonce 1, so that no curve arithmetic is needed but for taproot outputs."""

import dataclasses
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "interop"))

from wire import Tx, compact_size, serialized_output, sha256d, sized  # noqa: E402

P2SH = "P2SH"
ALL_RULES = "MANDATORY"

PRIME = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
             0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)

OP_0, OP_1, OP_16 = 0x00, 0x51, 0x60
OP_IF, OP_ENDIF, OP_DROP, OP_2DROP, OP_DUP = 0x63, 0x68, 0x75, 0x6d, 0x76
OP_2DUP, OP_3DUP, OP_ROLL, OP_NOT = 0x6e, 0x6f, 0x7a, 0x91
OP_RIPEMD160, OP_HASH256 = 0xa6, 0xaa
OP_CODESEPARATOR, OP_CHECKSIG, OP_CHECKSIGVERIFY, OP_CHECKMULTISIG = 0xab, 0xac, 0xad, 0xae

#: Looks like a key, but no point has this coordinate: the hash is made, the curve never used.
NO_POINT = b"\x02" + b"\xff" * 32
KEY = b"\x02" + GENERATOR[0].to_bytes(32, "big")
MOST_SCRIPT = 10_000
MOST_OPS = 201
ANYONE = bytes([OP_1])


@dataclasses.dataclass
class Case:
    name: str
    flags: str
    spends: list  # [(Tx, [(amount, script)])]


def push(data):
    size = len(data)
    if size < 0x4c:
        return bytes([size]) + data
    if size <= 0xff:
        return bytes([0x4c, size]) + data
    return b"\x4d" + size.to_bytes(2, "little") + data


def inputs(count, script_sig=b""):
    return [(hashlib.sha256(i.to_bytes(4, "little")).hexdigest(), i, script_sig, 0xffffffff)
            for i in range(count)]


def outputs(size):
    """So many bytes of P2PKH outputs."""
    return [(1000, b"\x76\xa9\x14" + b"\x14" * 20 + b"\x88\xac")] * (size // 34)


def der(r, s):
    def number(n):
        raw = n.to_bytes(n.bit_length() // 8 + 1, "big")
        return b"\x02" + bytes([len(raw)]) + raw
    body = number(r) + number(s)
    return b"\x30" + bytes([len(body)]) + body


def ecdsa(digest, hash_type=1):
    """By key 1 with nonce 1."""
    r = GENERATOR[0] % ORDER
    s = (int.from_bytes(digest, "big") + r) % ORDER
    return der(r, min(s, ORDER - s)) + bytes([hash_type])


def tagged(tag, data):
    prefix = hashlib.sha256(tag.encode()).digest()
    return hashlib.sha256(prefix * 2 + data).digest()


def schnorr(digest, hash_type):
    x = GENERATOR[0].to_bytes(32, "big")
    e = int.from_bytes(tagged("BIP0340/challenge", x + x + digest), "big") % ORDER
    return x + ((1 + e) % ORDER).to_bytes(32, "big") + bytes([hash_type])


def add(a, b):
    if a is None or b is None:
        return a or b
    if a == b:
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, PRIME) % PRIME
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, PRIME) % PRIME
    x = (slope * slope - a[0] - b[0]) % PRIME
    return x, (slope * (a[0] - x) - a[1]) % PRIME


def multiply(n):
    out, point = None, GENERATOR
    while n:
        out, point, n = (add(out, point) if n & 1 else out), add(point, point), n >> 1
    return out


def keys(count):
    """Points of the curve, as compressed keys."""
    out, x = [], 0
    while len(out) < count:
        x += 1
        square = (x**3 + 7) % PRIME
        if pow(square, (PRIME - 1) // 2, PRIME) == 1:
            out.append(b"\x02" + x.to_bytes(32, "big"))
    return out


# One leaf below the internal key 1: the output, and the end of the witness.

def leaf_hash(script):
    return tagged("TapLeaf", b"\xc0" + sized(script))


def taproot(script):
    internal = GENERATOR[0].to_bytes(32, "big")
    tweak = int.from_bytes(tagged("TapTweak", internal + leaf_hash(script)), "big")
    x, y = multiply((1 + tweak) % ORDER)
    return b"\x51\x20" + x.to_bytes(32, "big"), [script, bytes([0xc0 | (y & 1)]) + internal]


# Signature hashes, for the signatures that have to be right.

def legacy_hash(tx, index, code):
    copy = Tx([(txid, n, code if i == index else b"", sequence)
               for i, (txid, n, _, sequence) in enumerate(tx.inputs)], tx.outputs)
    return sha256d(copy.raw_without_witness() + b"\x01\0\0\0")


def prevout(tx_input):
    return bytes.fromhex(tx_input[0])[::-1] + tx_input[1].to_bytes(4, "little")


def v0_hash(tx, index, code, amount):
    prevouts = b"".join(map(prevout, tx.inputs))
    sequences = b"".join(i[3].to_bytes(4, "little") for i in tx.inputs)
    return sha256d(b"\x02\0\0\0" + sha256d(prevouts) + sha256d(sequences) +
                   prevout(tx.inputs[index]) + sized(code) + amount.to_bytes(8, "little") +
                   b"\xff" * 4 + sha256d(b"".join(map(serialized_output, tx.outputs))) +
                   b"\0" * 4 + b"\x01\0\0\0")


def tapscript_single_hash(tx, index, spent, script):
    """The message of SIGHASH_SINGLE | ANYONECANPAY."""
    own = hashlib.sha256(serialized_output(tx.outputs[index])).digest()
    return tagged("TapSighash", b"\0\x83\x02\0\0\0\0\0\0\0\x02" + prevout(tx.inputs[index]) +
                  serialized_output(spent) + b"\xff" * 4 + own + leaf_hash(script) +
                  b"\0\xff\xff\xff\xff")


def unrun(filling):
    """Bytes that are in the script code and never run."""
    return bytes([OP_0, OP_IF]) + filling + bytes([OP_ENDIF])


def checks(types=1, op=(OP_2DUP, OP_CHECKSIG, OP_DROP), spare=2):
    """As many signature checks as one script may have, over so many pairs of signature and key on
    the stack, and true at the end."""
    each = ((MOST_OPS - spare) // types - 1) // sum(1 for o in op if o > OP_16)
    return (bytes(op) * each + bytes([OP_2DROP])) * types + bytes([OP_1])


SEPARATED = (OP_2DUP, OP_CHECKSIG, OP_DROP, OP_CODESEPARATOR)
VERIFYING = bytes([OP_2DUP, OP_CHECKSIGVERIFY]) * 100 + bytes([OP_CHECKSIG])
SIX_TYPES = (1, 2, 3, 0x81, 0x82, 0x83)


def one_input(script, script_sig, count):
    """So many small transactions, each with one input."""
    return [(Tx([(*i[:2], script_sig, i[3])], [(1, ANYONE)]), [(5, script)])
            for i in inputs(count)]


def find_and_delete(name, signature, filling, count):
    room = MOST_SCRIPT - len(checks()) - 3
    script = unrun(filling * (room // len(filling))) + checks()
    return Case(name, P2SH, one_input(script, push(signature) + push(NO_POINT), count))


def legacy_large(name, script, types, scale, signers=40):
    """Inputs that check signatures of the given hash types over one large transaction."""
    script_sig = b"".join(push(der(1, 1) + bytes([t])) + push(NO_POINT) for t in types)
    tx = Tx(inputs(signers, script_sig), outputs(int(880_000 * scale)))
    return Case(name, P2SH, [(tx, [(5, script)] * signers)])


def legacy_valid(scale, signers=40):
    tx = Tx(inputs(signers), outputs(int(880_000 * scale)))
    tx.inputs = [(txid, n, push(ecdsa(legacy_hash(tx, i, VERIFYING))) + push(KEY), sequence)
                 for i, (txid, n, _, sequence) in enumerate(tx.inputs)]
    return Case("CHECKSIG, right, one large transaction", P2SH, [(tx, [(5, VERIFYING)] * signers)])


def legacy_many_inputs(scale, signers=40):
    """The large transaction is large by its inputs."""
    script = checks()
    others = int(18_000 * scale)
    tx = Tx(inputs(signers + others), [(1, ANYONE)])
    script_sig = push(der(1, 1) + b"\x01") + push(NO_POINT)
    tx.inputs[:signers] = [(txid, n, script_sig, s) for txid, n, _, s in tx.inputs[:signers]]
    return Case("CHECKSIG, 18,000 inputs", P2SH,
                [(tx, [(5, script)] * signers + [(5, ANYONE)] * others)])


def p2wsh(script):
    return b"\0\x20" + hashlib.sha256(script).digest()


def v0_large(name, body, types, scale, own_output=0):
    """As legacy_large under BIP143, where the script is hashed each time."""
    script = unrun(bytes([OP_1]) * (MOST_SCRIPT - len(body) - 3)) + body
    stack = [item for t in types for item in (der(1, 1) + bytes([t]), NO_POINT)]
    signers = 1 if own_output else max(1, int(300 * scale))
    tx = Tx(inputs(signers), [(1, b"\x6a" * own_output)] * signers)
    tx.witness = [[*stack, script]] * signers
    return Case(name, ALL_RULES, [(tx, [(5, p2wsh(script))] * signers)])


def v0_valid(scale):
    signers = max(1, int(40 * scale))
    tx = Tx(inputs(signers), outputs(int(880_000 * scale)))
    tx.witness = [[ecdsa(v0_hash(tx, i, VERIFYING, 5)), KEY, VERIFYING] for i in range(signers)]
    return Case("BIP143 CHECKSIG, right, one large transaction", ALL_RULES,
                [(tx, [(5, p2wsh(VERIFYING))] * signers)])


def taproot_single(scale):
    """Each signature commits to the input's own output, which is large."""
    count = int(2000 * scale) + 1
    padding = push(b"\0" * 500) + bytes([OP_DROP])  # weight that pays for the checks
    script = padding * (50 * count // len(padding) + 1) + \
        bytes([OP_2DUP, OP_CHECKSIGVERIFY]) * (count - 1) + bytes([OP_CHECKSIG])
    output, ending = taproot(script)
    tx = Tx(inputs(1), [(1, b"\x6a" * int(700_000 * scale))])
    digest = tapscript_single_hash(tx, 0, (5, output), script)
    tx.witness = [[schnorr(digest, 0x83), KEY[1:], *ending]]
    return Case("tapscript CHECKSIG of a large output", ALL_RULES, [(tx, [(5, output)])])


def multisig_verifies(scale):
    """One signature by none of twenty keys: each is tried."""
    small = push(der(1, 1) + b"\x01")
    group = bytes([OP_0]) + small + bytes([OP_1]) + b"".join(map(push, keys(20))) + \
        bytes([1, 20, OP_CHECKMULTISIG, OP_DROP])
    script = group * 9 + bytes([OP_1])
    return Case("CHECKMULTISIG 1 of 20, none matches", P2SH,
                one_input(script, b"", max(1, int(100 * scale))))


def twenty_of_twenty(key):
    """Twenty signatures, each looked for in the script, by twenty keys that `key` pushes."""
    sigs = b"".join(push(der(1, i + 1) + b"\x01") for i in range(20))
    return bytes([OP_0]) + sigs + bytes([1, 20]) + key * 20 + \
        bytes([1, 20, OP_CHECKMULTISIG, OP_DROP])


def multisig_deletes(scale):
    """Twenty signatures are looked for in a long script."""
    body = twenty_of_twenty(push(NO_POINT)) * 9 + bytes([OP_1])
    script = unrun(bytes([OP_1]) * (MOST_SCRIPT - len(body) - 3)) + body
    return Case("CHECKMULTISIG 20 of 20, long script", P2SH,
                one_input(script, b"", max(1, int(400 * scale))))


def sigop_heavy(scale):
    """All signature operations that a block may have, each with a key that is one."""
    count = max(1, int(20_000 / checks().count(OP_CHECKSIG) * scale))
    return Case("20,000 signatures, all wrong", P2SH,
                one_input(checks(), push(der(1, 1) + b"\x01") + push(KEY), count))


def expects_false(scale):
    """Each input is valid only if its signature is wrong, so work that assumes it right is wasted.
    """
    script = push(KEY) + bytes([OP_CHECKSIG, OP_NOT])
    return Case("CHECKSIG NOT", P2SH,
                one_input(script, push(der(1, 1) + b"\x01"), max(1, int(10_000 * scale))))


def decided_false(scale):
    """The same with an r that lanes decide: they leave those below 2^128 undecided."""
    script = push(KEY) + bytes([OP_CHECKSIG, OP_NOT])
    script_sig = push(der(GENERATOR[0], 1) + b"\x01")
    return Case("CHECKSIG NOT, large r", P2SH,
                one_input(script, script_sig, max(1, int(10_000 * scale))))


def searches_behind_one(scale):
    """Twenty signatures at a time are looked for in a long script, by keys that are none, behind
    one wrong signature."""
    body = push(KEY) + bytes([OP_CHECKSIG, OP_DROP]) + twenty_of_twenty(bytes([OP_1])) * 8 + ANYONE
    script = unrun(bytes([OP_1]) * (MOST_SCRIPT - len(body) - 3)) + body
    return Case("searches behind a signature", P2SH,
                one_input(script, push(der(1, 1) + b"\x01"), max(1, int(300 * scale))))


def hashing_false(count, size):
    """One transaction whose inputs expect wrong signatures, each over the whole of it."""
    script = push(NO_POINT) + bytes([OP_CHECKSIG, OP_NOT])
    tx = Tx(inputs(count, push(der(GENERATOR[0], 1) + b"\x01")), outputs(size))
    return tx, [(5, script)] * count


def valid_with_searches(number):
    """A right signature, then 190 empty ones that are looked for in a long script of few
    operations."""
    filling = bytes([OP_0, OP_IF]) + push(b"\1" * 519) * 18 + bytes([OP_ENDIF])
    script = filling + push(KEY) + bytes([OP_CHECKSIGVERIFY]) + bytes([OP_CHECKSIG]) * 190 + ANYONE
    tx = Tx([(hashlib.sha256(b"%d" % number).hexdigest(), 0, b"", 0xffffffff)], [(1, ANYONE)])
    script_sig = bytes(191) + push(ecdsa(legacy_hash(tx, 0, script)))
    tx.inputs = [(*tx.inputs[0][:2], script_sig, 0xffffffff)]
    return tx, [(5, script)]


def false_after_searches(scale):
    """Valid inputs whose work seems large, then wrong signatures over much data."""
    return Case("wrong signatures after valid ones with searches", P2SH,
                [*(valid_with_searches(i) for i in range(int(1000 * scale) + 1)),
                 hashing_false(int(1500 * scale) + 1, int(500_000 * scale))])


def false_after_constant(scale):
    """The same, where the valid signatures are of the constant message of a SIGHASH_SINGLE without
    an output, by one of four equal keys."""
    valid, false = int(1200 * scale) + 1, int(800 * scale) + 1
    tx, coins = hashing_false(1 + valid + false, int(650_000 * scale))
    tx.outputs = [(1, b"\x6a" * int(650_000 * scale))]
    signature = b"\0" + push(ecdsa(bytes([1]) + bytes(31), 3))
    script = bytes([OP_1]) + push(KEY) * 4 + bytes([OP_1 + 3, OP_CHECKMULTISIG])
    for i in range(1 + valid):
        tx.inputs[i] = (*tx.inputs[i][:2], signature if i else b"", 0xffffffff)
        coins[i] = (5, script if i else ANYONE)
    return Case("wrong signatures after valid ones of a constant", P2SH, [(tx, coins)])


def many_behind_one(scale, signers=40):
    """The same with many signatures in the branch that is not taken, over a large transaction."""
    branch = (push(der(1, 1) + b"\x01") + push(KEY) +
              bytes([OP_CODESEPARATOR, OP_CHECKSIG, OP_DROP])) * 60
    script = push(KEY) + bytes([OP_CHECKSIG, OP_IF]) + branch + bytes([OP_ENDIF, OP_1])
    tx = Tx(inputs(signers, push(der(1, 1) + b"\x01")), outputs(int(880_000 * scale)))
    return Case("CHECKSIG, many in the branch not taken", P2SH, [(tx, [(5, script)] * signers)])


def many_before_one(scale, signers=40):
    """Checks that are made at once, over a large transaction, before a wrong signature that batches
    assume to be right."""
    signature = push(der(1, 1) + b"\x01")
    at_once = (bytes([OP_CODESEPARATOR, OP_0]) + signature + bytes([OP_1]) + push(KEY) * 20 +
               push(b"\x14") + bytes([OP_CHECKMULTISIG, OP_DROP]))
    script = at_once * 8 + signature + push(KEY) + bytes([OP_CHECKSIG, OP_DROP, OP_1])
    tx = Tx(inputs(signers), outputs(int(880_000 * scale)))
    return Case("CHECKMULTISIG before a wrong signature", P2SH, [(tx, [(5, script)] * signers)])


def pushes(scale):
    """The most bytes that a bare script can copy."""
    start = push(b"\x01" * 520) * 3
    body = (bytes([OP_3DUP]) * 60 + bytes([OP_2DROP]) * 90) + bytes([OP_3DUP, OP_2DROP, OP_DROP])
    return Case("copies of 520 bytes", P2SH, one_input(start + body, b"", int(900 * scale) + 1))


def long_pushes(scale):
    script = (push(b"\x01" * 520) + bytes([OP_DROP])) * 19 + bytes([OP_1])
    return Case("pushes of 520 bytes", P2SH, one_input(script, b"", int(9000 * scale) + 1))


def hashing(scale):
    script = push(b"\x01" * 520) + bytes([OP_DUP, OP_HASH256, OP_DROP]) * 66
    return Case("HASH256 of 520 bytes", P2SH, one_input(script, b"", int(1500 * scale) + 1))


def hashing_behind_one(scale):
    """The same in each input whose signature is wrong, so that the hashing is wasted too."""
    script = (push(KEY) + bytes([OP_CHECKSIG, OP_DROP]) + push(b"\x01" * 520) +
              bytes([OP_DUP, OP_RIPEMD160, OP_DROP]) * 66)
    return Case("RIPEMD160 of 520 bytes behind a signature", P2SH,
                one_input(script, push(der(1, 1) + b"\x01"), int(300 * scale) + 1))


def tapscript(name, script):
    output, ending = taproot(script)
    tx = Tx(inputs(1), [(1, ANYONE)], [ending])
    return Case(name, ALL_RULES, [(tx, [(5, output)])])


def tapscript_rolls(scale):
    """Moves the deepest item of a full stack to the top, as often as fits into a block."""
    deep = push((996).to_bytes(2, "little"))
    script = bytes([OP_1]) * 997 + (deep + bytes([OP_ROLL])) * int(900_000 * scale) + \
        bytes([OP_2DROP]) * 498
    return tapscript("ROLL of a full stack", script)


def tapscript_small(scale):
    return tapscript("two million small operations",
                     bytes([OP_1]) + bytes([OP_1, OP_DROP]) * int(1_900_000 * scale))


def tapscript_branches(scale):
    count = int(1_200_000 * scale)
    return tapscript("branches, deeply nested",
                     bytes([OP_0, OP_IF]) + bytes([OP_IF]) * count + bytes([OP_ENDIF]) * count +
                     bytes([OP_ENDIF, OP_1]))


def tapscript_pushes(scale):
    return tapscript("four megabytes of pushes of 520 bytes",
                     (push(b"\x01" * 520) + bytes([OP_DROP])) * int(7500 * scale) + bytes([OP_1]))


def large_coins(scale):
    """A block that spends 244 MB of scripts, which take no part in any signature."""
    script = unrun(bytes([OP_1]) * (MOST_SCRIPT - 4)) + bytes([OP_1])
    count = max(1, int(24_000 * scale))
    return Case("24,000 spent scripts of 10 kB", ALL_RULES,
                [(Tx(inputs(count), [(1, ANYONE)]), [(5, script)] * count)])


def cases(scale):
    """All cases; `scale` 1 is a block full, or what takes about a second."""
    six = (1, 2, 3, 0x81, 0x82, 0x83)
    some = max(1, int(90 * scale))
    six, separated = checks(types=6), checks(op=SEPARATED)
    return [
        find_and_delete("FindAndDelete at every byte", der(1, 1) + b"\x01", bytes([OP_1]), some),
        find_and_delete("FindAndDelete, nearly found", b"\x4b" * 75, b"\x4b" * 75 + b"\0", some),
        find_and_delete("FindAndDelete, found", b"\x05" * 5, b"\x05" * 6 + bytes([OP_1]), some),
        legacy_large("CHECKSIG, one large transaction", checks(), (1,), scale),
        legacy_large("CHECKSIG, six hash types", six, SIX_TYPES, scale),
        legacy_large("CHECKSIG, code separators", separated, (1,), scale, signers=10),
        legacy_many_inputs(scale),
        legacy_valid(scale),
        v0_large("BIP143 CHECKSIG, long script", checks(), (1,), scale),
        v0_large("BIP143 CHECKSIG, six hash types", six, SIX_TYPES, scale),
        v0_large("BIP143 CHECKSIG, code separators", separated, (1,), scale),
        v0_large("BIP143 CHECKSIG of a large output", checks(), (3,), scale,
                 own_output=int(900_000 * scale)),
        v0_valid(scale),
        taproot_single(scale),
        multisig_verifies(scale),
        multisig_deletes(scale),
        sigop_heavy(scale),
        expects_false(scale),
        decided_false(scale),
        searches_behind_one(scale),
        false_after_searches(scale),
        false_after_constant(scale),
        many_behind_one(scale),
        many_before_one(scale),
        pushes(scale),
        long_pushes(scale),
        hashing(scale),
        hashing_behind_one(scale),
        tapscript_rolls(scale),
        tapscript_small(scale),
        tapscript_branches(scale),
        tapscript_pushes(scale),
        large_coins(scale),
    ]


def block_of(case):
    """(block, spent outputs) as the two programs read them."""
    coinbase = Tx([("00" * 32, 0xffffffff, b"\x51\x51", 0xffffffff)], [(1, ANYONE)])
    txs = [coinbase] + [tx for tx, _ in case.spends]
    block = bytes(80) + compact_size(len(txs)) + b"".join(tx.raw() for tx in txs)
    return block, b"".join(serialized_output(coin) for _, coins in case.spends for coin in coins)
