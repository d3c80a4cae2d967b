"""Addresses, keys and messages, good and bad, that both programs are asked about (regtest)."""

from descriptor_cases import KEY, X

WITNESS = "bcrt1qft5p2uhsdcdc3l2ua4ap5qqfg4pjaqlp250x7us7a8qqhrxrxfsqseac85"
LONG_KEY = ("0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4"
            "fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
SECRET = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
LONG_SECRET = "91avARGdfge8E4tZfYLoxeJ5sGBdNJQH4kvjJoQFacbgwmaKkrx"
SIGNER = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"  # of the two secrets, their number being 1
LONG_SIGNER = "mtoKs9V381UAhUia3d7Vb9GNak8Qvmcsme"


def changed(text, *places):
    """Another character of the alphabet of Bech32 at each of these."""
    out = list(text)
    for place in places:
        out[place] = "p" if out[place] == "q" else "q"
    return "".join(out)


ADDRESSES = [
    WITNESS, WITNESS.upper(), "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
    "2N2JD6wb56AfK4tfmM6PwdVmoYk2dCKf4Br", "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw",
    "bcrt1pswhd3fys9rhhq0wdyamw5hd6v0hw8tf0cdqzehsfqy7wkhtxm3fsgw7g8z", "bcrt1pfeesnyr2tx",
    "bcrt1zw508d6qejxtdg4y5r3zarvaryvqyzf3du", "bcrt1qtmp74ayg7p24uslctssvjm06q5phz4yrvy646e",
    *(changed(WITNESS, *places) for places in (
        (5,), (63,), (20,), (10, 30), (5, 63), (62, 63), (6, 7, 8), (4,), (3,), (1, 40),
        tuple(range(10, 20)))),
    *(changed("bcrt1pfeesnyr2tx", *places) for places in ((15,), (9, 12), (4, 14), (5,))),
    "", " ", "x", " mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn\t\n", "mipcBbFg9gMiCh81 Kj8tqqdgoZub1ZJRfn",
    "bcrt", "bcrt1", "bcrt1q", "bcrt1qqqqqq", "bcrt1qqqqqqq", "1bcrt", "bcrtt",
    "bcrt1" + "q" * 90, "bcrt1" + "q" * 85, WITNESS[:-1], WITNESS + "q", WITNESS[:20] + "b" +
    WITNESS[21:], WITNESS[:9] + "Q" + WITNESS[10:], WITNESS[:9] + " " + WITNESS[10:],
    WITNESS[:30] + "\u00e9" + WITNESS[31:], "BCRT1" + WITNESS[5:], WITNESS.replace("1", ""),
    "bcrt1q5n2k3frgpxces3dsw4qfpqk4kksv0cz96pldxdwxrrw0d5ud5hcqzzx7zt",
    "bcrt1rw5uspcuf", "bcrt10w508d6qejxtdg4y5r3zarvary0c5xw7k0a4h8s", "bcrt1gmk9yu",
    "bcrt130xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav2536a0m4",
    "bcrt1sqqpl9r5c", "bcrt1qr508d6qejxtdg4y5r3zarvaryvqyzf3du",
    "bcrt1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k2z60wx",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "17VZNX1SN5NtKa8UQFxwQbFeFc3iqRYhem",
    "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm",
    "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRf0", "2VKf7XKMrp4bVNVmuRbyCewkP8FhGLP2E54LHDPakr9Sq5mtU2",
    "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202", "z" * 200,
]
MULTISIGS = [
    (1, [KEY]), (2, [KEY, LONG_KEY]), (1, [LONG_KEY], "bech32"), (2, [KEY] * 3, "legacy"),
    (2, [KEY] * 3, "p2sh-segwit"), (2, [KEY] * 3, "bech32"), (1, [KEY], "bech32m"), (1, [KEY], "x"),
    (0, [KEY]), (2, [KEY]), (1, []), (-1, [KEY]), (1, [KEY] * 15), (1, [KEY] * 16),
    (1, [KEY] * 16, "bech32"), (17, [KEY] * 20, "bech32"), (1, [KEY] * 20, "p2sh-segwit"),
    (1, [KEY] * 21), (1, ["x"]), (1, [""]), (1, ["00"]), (1, [X]), (1, ["05" + X]), (1, [5]),
    (1, ["02" + "ff" * 32]), ("1", [KEY]), (1, KEY), (1, [KEY], 5), (2**31, [KEY]),
]
SIGNED = [(SECRET, "message"), (LONG_SECRET, ""), (SECRET, "x" * 300), (SECRET, "\u00e9"),
          ("x", "y"), ("KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn", "main"), (5, "x"),
          (SECRET,)]
