"""Random miniscripts (BIP379) as text: expressions by type, most of which fit, and texts near them.
Whether they are sane is left to chance."""

import random

HASHES = {"sha256": 64, "hash256": 64, "ripemd160": 40, "hash160": 40}  # hex digits


class Texts:
    """`keys` are key expressions; `tapscript`: multi_a in place of multi."""

    def __init__(self, seed, keys, tapscript=False):
        self.chance = random.Random(seed)
        self.keys, self.left = keys, []
        self.multi_name = "multi_a" if tapscript else "multi"

    def key(self):
        """Seldom one that occurred before."""
        if not self.left or self.chance.random() < 0.01:
            self.left = self.chance.sample(self.keys, len(self.keys))
        return self.left.pop()

    def lock(self):
        number = self.chance.choice((1, 16, 17, 127, 128, 144, 0x400001, 499_999_999, 500_000_001,
                                     0x7fffffff))
        return f"{self.chance.choice(('older', 'after'))}({number})"

    def hash(self):
        name, digits = self.chance.choice(list(HASHES.items()))
        return f"{name}({self.chance.randbytes(digits // 2).hex()})"

    def multi(self):
        keys = [self.key() for _ in range(self.chance.randint(1, 4))]
        return f"{self.multi_name}({self.chance.randint(1, len(keys))},{','.join(keys)})"

    def leaf(self):
        return self.chance.choice((
            lambda: f"pk({self.key()})", lambda: f"pk({self.key()})",
            lambda: f"pkh({self.key()})", self.hash, self.multi, self.lock,
            lambda: self.chance.choice("01")))()

    @staticmethod
    def wrapped(letter, text):
        """Letters stand together before one colon."""
        head = text.split("(")[0]
        return letter + text if ":" in head else f"{letter}:{text}"

    def b(self, depth):
        if depth <= 0:
            return self.leaf()
        b, v, w = (lambda one=one: one(depth - 1) for one in (self.b, self.v, self.w))
        return self.chance.choice((
            self.leaf, self.leaf,
            lambda: self.wrapped("c", self.k(depth - 1)),
            lambda: self.wrapped("d", v()), lambda: self.wrapped("j", b()),
            lambda: self.wrapped("n", b()), lambda: self.wrapped("l", b()),
            lambda: self.wrapped("u", b()), lambda: self.wrapped("t", v()),
            lambda: f"and_v({v()},{b()})", lambda: f"and_v({v()},{b()})",
            lambda: f"and_b({b()},{w()})", lambda: f"or_b({b()},{w()})",
            lambda: f"or_d({b()},{b()})", lambda: f"or_d({b()},{b()})",
            lambda: f"or_i({b()},{b()})", lambda: f"andor({b()},{b()},{b()})",
            lambda: f"and_n({b()},{b()})", lambda: self.thresh(depth)))()

    def thresh(self, depth):
        subs = [self.b(depth - 1)] + [self.w(depth - 1) for _ in range(self.chance.randrange(4))]
        return f"thresh({self.chance.randint(1, len(subs))},{','.join(subs)})"

    def v(self, depth):
        if depth <= 0 or self.chance.random() < 0.5:
            return self.wrapped("v", self.b(depth - 1))
        b, v = (lambda one=one: one(depth - 1) for one in (self.b, self.v))
        return self.chance.choice((
            lambda: f"and_v({v()},{v()})", lambda: f"or_c({b()},{v()})",
            lambda: f"or_i({v()},{v()})", lambda: f"andor({b()},{v()},{v()})"))()

    def k(self, depth):
        if depth <= 0:
            return self.chance.choice((f"pk_k({self.key()})", f"pk_h({self.key()})"))
        k = lambda: self.k(depth - 1)
        return self.chance.choice((
            lambda: self.k(0), lambda: f"and_v({self.v(depth - 1)},{k()})",
            lambda: f"or_i({k()},{k()})", lambda: f"andor({self.b(depth - 1)},{k()},{k()})"))()

    def w(self, depth):
        return self.wrapped(self.chance.choice("sa"), self.b(depth))

    def text(self):
        return self.b(self.chance.randint(1, 4))

    def likely_sane(self):
        """Where a signature is needed, and little is malleable."""
        one, two = (f"pk({self.key()})" for _ in range(2))
        return self.chance.choice((
            f"and_v(v:{one},{self.text()})", f"or_d({one},and_v(v:{two},{self.text()}))",
            f"andor({one},{self.text()},{two})", f"or_i(and_v(v:{one},{self.text()}),{two})",
            f"thresh(2,{one},s:{two},{self.w(1)})", f"and_b({one},{self.w(2)})"))

    def near(self, text):
        """A text with something changed, left out or put in."""
        at = self.chance.randrange(len(text))
        piece = self.chance.choice((",", "(", ")", ":", "v", "vv", "t:", "0", "1", "x", "a:", "{",
                                    "pk(", "older(", "thresh(", "after(0)", "-1", " "))
        return self.chance.choice((text[:at] + piece + text[at + 1:], text[:at] + text[at + 1:],
                                   text[:at] + piece + text[at:]))
