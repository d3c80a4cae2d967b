"""Output descriptors, good and bad, that both programs are asked about (regtest keys)."""

XPUB = ("tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUG"
        "LnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B")
XPRV = ("tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5e"
        "cvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m")
X = "a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
KEY = "03" + X
OTHER = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"  # the curve's generator


def many(count):
    return ("," + KEY) * count


DESCRIPTORS = [
    f"pk({KEY})", f"pkh({KEY})", f"combo({KEY})", f"wpkh({XPUB}/0/*)", f"wpkh({XPRV}/0h/*h)",
    f"wpkh({XPRV}/0'/*')", f"sh(wpkh([d34db33f/44'/0h]{XPUB}/1/*))", f"multi(1,{KEY},{XPUB}/3)",
    f"wsh(sortedmulti(2,{XPUB}/0/*,{XPUB}/1/*,{KEY}))", f"sh(wsh(multi(2,{XPRV}/0/*,{KEY})))",
    f"tr({X})", f"tr({XPUB}/*,pk({OTHER}))", f"rawtr({X})", f"unused({KEY})", "raw(deadbeef)",
    f"tr({KEY},{{pk({OTHER}),{{multi_a(1,{OTHER},{XPUB}/0),sortedmulti_a(2,{OTHER},{XPUB}/*)}}}})",
    "addr(bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202)", f"wpkh({XPUB}/<0;1>/*)",
    f"multi(1,{XPUB}/<0;1;2>,{KEY})", f"tr({XPUB}/<0;1>/*,pk({XPUB}/<2;3>))",
    "pk(5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss)",
    "wpkh(cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA)", f"wsh(multi(20{many(20)}))",
    # text after the bracket is refused
    "", "foo(1)", "pk(", "raw()", "addr()", f"pk({KEY}))", f"pk({KEY})x", f"sh({KEY})",
    f"wsh(pk({KEY}),a)", f"multi(3,{KEY})", f"multi(x,{KEY})", f"pkh([00]{KEY})", f"tr({X},)",
    f"tr({X},{{pk({OTHER})}})", f"sh(multi(16{many(16)}))", f"multi(4{many(4)})", f"pk({KEY})#",
    f"pk({XPUB}/4294967296)", f"pk({XPUB}/<>)", f"pk({XPUB}/<1;1>)", f"unused({XPUB}/*)",
]
RANGES = [[0, -1], [-1, 2], 2147483648, [0, 1000001], [2, 1], "x"]
SCANS = [("start", ["raw(51)"]), ("start", [{"desc": f"combo({KEY})"}]),
         ("start", [f"pkh({XPUB}/0/*)"]), ("start", [{"range": 1}]), ("start", [1]), ("start",),
         ("status",), ("abort",), ("x",)]
