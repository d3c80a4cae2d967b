"""The one curve operation needed here: the full public key from its x coordinate."""

P = 2**256 - 2**32 - 977


def uncompressed_key(x_bytes, odd):
    """65-byte key (04 x y) of the point with this x and parity of y; None if x is off the curve."""
    x = int.from_bytes(x_bytes, "big")
    if x >= P:
        return None
    square = (x * x * x + 7) % P
    y = pow(square, (P + 1) // 4, P)  # a square root, if there is one, because P % 4 == 3
    if y * y % P != square:
        return None
    if y & 1 != odd:
        y = P - y
    return b"\x04" + x_bytes + y.to_bytes(32, "big")
