"""The header chain, built from the block files alone.

Headers may be in any order and form any number of branches; the only assumption is that a block
names its predecessor. Proof of work is not checked, because the files are the user's own; work is
computed from nBits.
"""

from .blockfiles import header_fields
from .common import ToolError, hash_hex, sha256d

_NO_BLOCK = bytes(32)
_ORPHAN = -1


def block_work(bits):
    """Expected hashes for a block of this compact difficulty."""
    size, word = bits >> 24, bits & 0x7FFFFF
    target = word << 8 * (size - 3) if size > 3 else word >> 8 * (3 - size)
    return (1 << 256) // (target + 1)


class HeaderChain:
    """All blocks of a directory by hash, with height and work of those connected to a genesis."""

    def __init__(self):
        self._ids = {}        # hash -> number
        self._previous = []   # hash of the previous block
        self._bits = []
        self._places = []     # (file name, offset, size) or a list of them
        self._heights = []    # None until connected
        self._work = []

    def __len__(self):
        return len(self._ids)

    def add(self, name, offset, size, header):
        block = sha256d(header)
        place = (name, offset, size)
        number = self._ids.setdefault(block, len(self._previous))
        if number < len(self._previous):
            known = self._places[number]
            self._places[number] = (known if isinstance(known, list) else [known]) + [place]
            return
        previous, bits = header_fields(header)
        self._previous.append(previous)
        self._bits.append(bits)
        self._places.append(place)

    def connect(self):
        """Give every block that reaches a genesis its height and total work."""
        count = len(self._previous)
        self._heights, self._work, works = [None] * count, [0] * count, {}
        for number in range(count):
            path = []
            while number is not None and self._heights[number] is None:
                path.append(number)
                if self._previous[number] == _NO_BLOCK:
                    break
                number = self._ids.get(self._previous[number])
            if number is None or self._heights[number] == _ORPHAN:
                for orphan in path:
                    self._heights[orphan] = _ORPHAN
                continue
            for number in reversed(path):
                bits = self._bits[number]
                if bits not in works:
                    works[bits] = block_work(bits)
                parent = self._ids.get(self._previous[number])
                base = (-1, 0) if parent is None else (self._heights[parent], self._work[parent])
                self._heights[number] = base[0] + 1
                self._work[number] = base[1] + works[bits]
        self._heights = [None if height == _ORPHAN else height for height in self._heights]

    def best_tip(self):
        """Hash of the connected block with the most work, or None."""
        best = max((work for work, height in zip(self._work, self._heights)
                    if height is not None), default=None)
        if best is None:
            return None
        return next(block for block, number in self._ids.items()
                    if self._heights[number] is not None and self._work[number] == best)

    def height(self, block):
        """Height of a block, None if it is not here or not connected to a genesis."""
        number = self._ids.get(block)
        return None if number is None else self._heights[number]

    def work(self, block):
        return self._work[self._ids[block]]

    def __contains__(self, block):
        return block in self._ids

    def ancestor(self, block, height):
        for _ in range(self.height(block) - height):
            block = self._previous[self._ids[block]]
        return block

    def on_a_best_branch(self, block):
        """Is the block an ancestor of a tip with the most work (two tips may tie)?"""
        best = self.work(self.best_tip())
        tips = [tip for tip, number in self._ids.items() if self._work[number] == best]
        height = self.height(block)
        return any(self.ancestor(tip, height) == block for tip in tips
                   if self.height(tip) >= height)

    def places(self, tip):
        """Where blocks 0..height(tip) lie: by height, lists of (file, offset, size)."""
        found = []
        block = tip
        while block != _NO_BLOCK:
            number = self._ids[block]
            places = self._places[number]
            found.append(places if isinstance(places, list) else [places])
            block = self._previous[number]
        found.reverse()
        return found

    def first_gap(self, block):
        """The nearest missing ancestor of a block that is not connected."""
        while block in self._ids:
            block = self._previous[self._ids[block]]
        return block


def choose_base(chain, where, base_hash, height, explicit, source):
    """The terminal block: the snapshot's base, or the best chain's block at `height`.

    `explicit`: the user named the block himself, so it may be off the best chain.
    """
    tip = chain.best_tip()
    if tip is None:
        raise ToolError(f"{where}: no block here is connected to a genesis block; is the "
                        "directory pruned?")
    tip_height = chain.height(tip)
    best = f"{hash_hex(tip)} at height {tip_height}"
    if base_hash is None:
        if height > tip_height:
            raise ToolError(f"{where}: the chain ends with {best}, below height {height}")
        return chain.ancestor(tip, height)
    base = hash_hex(base_hash)
    if base_hash not in chain:
        raise ToolError(f"{source}: base block {base} is not among the blocks of {where}, whose "
                        f"chain ends with {best}")
    base_height = chain.height(base_hash)
    if base_height is None:
        raise ToolError(f"{where}: block {hash_hex(chain.first_gap(base_hash))} is missing below "
                        f"the base block {base}; is the directory pruned?")
    if height is not None and height != base_height:
        raise ToolError(f"{source}: base block {base} has height {base_height}, not {height}")
    if not explicit and not chain.on_a_best_branch(base_hash):
        other = f"ends with {best}"
        if tip_height >= base_height:
            other = f"has {hash_hex(chain.ancestor(tip, base_height))} there and {other}"
        raise ToolError(f"{source}: base block {base} at height {base_height} is on a branch; the "
                        f"chain with the most work in {where} {other}")
    return base_hash
