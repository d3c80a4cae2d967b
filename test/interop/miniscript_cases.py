"""Random miniscripts (BIP379) as witness scripts: expressions by type, most of which fit, and
scripts near them. Whether they are sane is left to chance."""

import random


HASHES = {0xa8: 32, 0xaa: 32, 0xa6: 20, 0xa9: 20}  # SHA256, HASH256, RIPEMD160, HASH160
G = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
SIZE, EQUAL, EQUALVERIFY, VERIFY = 0x82, 0x87, 0x88, 0x69
CHECKSIG, CHECKMULTISIG = 0xac, 0xae
IF, NOTIF, ELSE, ENDIF, IFDUP, DUP = 0x63, 0x64, 0x67, 0x68, 0x73, 0x76
SWAP, TOALTSTACK, FROMALTSTACK, ADD = 0x7c, 0x6b, 0x6c, 0x93
BOOLAND, BOOLOR, ZERONOTEQUAL, CLTV, CSV = 0x9a, 0x9b, 0x92, 0xb1, 0xb2
WITH_VERIFY = {EQUAL: EQUALVERIFY, CHECKSIG: 0xad, CHECKMULTISIG: 0xaf}


def push(data):
    return bytes([len(data)]) + data


def number(value):
    if value <= 16:
        return bytes([0x50 + value]) if value else b"\x00"
    return push(value.to_bytes(value.bit_length() // 8 + 1, "little"))


class Cases:
    def __init__(self, seed):
        self.chance = random.Random(seed)

    def key(self):
        """Seldom one that occurred before."""
        if self.chance.random() < 0.02:
            return push(bytes.fromhex("02" + G))
        return push(bytes([self.chance.choice((2, 3))]) + self.chance.randbytes(32))

    def lock(self):
        return number(self.chance.choice((1, 16, 17, 144, 0x400001, 499_999_999, 500_000_001,
                                          0x7fffffff)))

    def verified(self, script):
        """v: of a B; a last push may look like an opcode, which is a case too."""
        if script[-1] in WITH_VERIFY:
            return script[:-1] + bytes([WITH_VERIFY[script[-1]]])
        return script + bytes([VERIFY])

    def leaf(self):
        which = self.chance.randrange(7)
        if which < 2:
            return self.key() + bytes([CHECKSIG])
        if which == 2:
            function, size = self.chance.choice(list(HASHES.items()))
            return (bytes([SIZE]) + number(32) + bytes([EQUALVERIFY, function])
                    + push(self.chance.randbytes(size)) + bytes([EQUAL]))
        if which == 3:
            keys = self.chance.randint(1, 4)
            wanted = self.chance.randint(1, keys)
            return (number(wanted) + b"".join(self.key() for _ in range(keys)) + number(keys)
                    + bytes([CHECKMULTISIG]))
        if which == 4:
            return self.lock() + bytes([self.chance.choice((CSV, CLTV))])
        return number(self.chance.randrange(2)) if which == 5 else self.leaf()

    def b(self, depth):
        if depth <= 0:
            return self.leaf()
        b, v, w = (lambda one=one: one(depth - 1) for one in (self.b, self.v, self.w))
        return self.chance.choice((
            self.leaf, self.leaf,
            lambda: self.k(depth - 1) + bytes([CHECKSIG]),
            lambda: bytes([DUP, IF]) + v() + bytes([ENDIF]),
            lambda: bytes([SIZE, ZERONOTEQUAL, IF]) + b() + bytes([ENDIF]),
            lambda: b() + bytes([ZERONOTEQUAL]),
            lambda: v() + b(), lambda: v() + b(), lambda: v() + number(1),
            lambda: b() + w() + bytes([BOOLAND]),
            lambda: b() + w() + bytes([BOOLOR]),
            lambda: b() + bytes([IFDUP, NOTIF]) + b() + bytes([ENDIF]),
            lambda: self.either(b(), b()), lambda: self.either(b(), number(0)),
            lambda: b() + bytes([NOTIF]) + b() + bytes([ELSE]) + b() + bytes([ENDIF]),
            lambda: b() + bytes([NOTIF]) + number(0) + bytes([ELSE]) + b() + bytes([ENDIF]),
            lambda: self.thresh(depth)))()

    @staticmethod
    def either(one, other):
        return bytes([IF]) + one + bytes([ELSE]) + other + bytes([ENDIF])

    def thresh(self, depth):
        rest = [self.w(depth - 1) + bytes([ADD]) for _ in range(self.chance.randrange(4))]
        return (self.b(depth - 1) + b"".join(rest)
                + number(self.chance.randint(1, len(rest) + 1)) + bytes([EQUAL]))

    def v(self, depth):
        if depth <= 0:
            return self.verified(self.leaf())
        b, v = (lambda one=one: one(depth - 1) for one in (self.b, self.v))
        return self.chance.choice((
            lambda: self.verified(b()), lambda: self.verified(b()),
            lambda: v() + v(),
            lambda: b() + bytes([NOTIF]) + v() + bytes([ENDIF]),
            lambda: self.either(v(), v()),
            lambda: b() + bytes([NOTIF]) + v() + bytes([ELSE]) + v() + bytes([ENDIF])))()

    def k(self, depth):
        if depth <= 0:
            return self.key()
        return self.chance.choice((
            self.key, self.key, lambda: self.v(depth - 1) + self.k(depth - 1),
            lambda: self.either(self.k(depth - 1), self.k(depth - 1)),
            lambda: (self.b(depth - 1) + bytes([NOTIF]) + self.k(depth - 1) + bytes([ELSE])
                     + self.k(depth - 1) + bytes([ENDIF]))))()

    def w(self, depth):
        if self.chance.random() < 0.5:
            return bytes([SWAP]) + self.b(depth)
        return bytes([TOALTSTACK]) + self.b(depth) + bytes([FROMALTSTACK])

    def script(self):
        return self.b(self.chance.randint(0, 4))

    def near(self, script):
        """A script with a byte changed, left out or put in."""
        at = self.chance.randrange(len(script))
        byte = bytes([self.chance.choice((VERIFY, IF, ENDIF, EQUAL, 0x51, 0x00, SWAP, ADD,
                                          self.chance.randrange(256)))])
        return self.chance.choice((script[:at] + byte + script[at + 1:],
                                   script[:at] + script[at + 1:], script[:at] + byte + script[at:]))
