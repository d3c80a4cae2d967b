"""Random key expressions with musig() (BIP390), good and bad, in places for them and in others."""

import random

from descriptor_cases import KEY, OTHER, XPRV, XPUB

PARTICIPANTS = [KEY, f"02{OTHER}", XPUB, f"{XPUB}/1", f"{XPUB}/2/*", f"[d34db33f/44h]{XPUB}/1/*",
                f"{XPRV}/7", f"{XPRV}/8h/*", f"{XPUB}/<2;3>/*", f"{XPUB}/<2;3;4>",
                "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"]
BAD = ["", "x", OTHER, "04" + "11" * 64, f"musig({KEY})"]
TAILS = ["", "", "", "/0", "/*", "/0/*", "/<0;1>", "/<0;1>/*", "/1h", "/*h", "x", "/", "/x",
         "/0/1/2", "/<0;1;2>/*", "/<0;1>/<2;3>", "/**", " "]
PLACES = ["tr({})", "rawtr({})", f"tr({{}},pk({KEY}))", f"tr({KEY},pk({{}}))",
          f"tr({KEY},multi_a(1,{{}},{XPUB}/9))", f"tr({KEY},and_v(v:pk({{}}),pk({XPUB}/9)))",
          f"tr({KEY},and_v(v:pkh({{}}),pk({XPUB}/9)))",
          f"tr({KEY},and_v(v:multi_a(1,{XPUB}/8,{{}}),pk({XPUB}/9)))"]
REFUSED = ["wpkh({})", "pk({})", "wsh(pk({}))", "wsh(and_v(v:pk({}),older(1)))", "combo({})",
           "unused({})", "sh(pk({}))"]


class MusigTexts:
    def __init__(self, seed):
        self.chance = random.Random(seed)

    def key(self):
        chance = self.chance
        count = chance.choice((0, 1, 2, 2, 3, 3, 4))
        keys = [chance.choice(PARTICIPANTS) for _ in range(count)]
        if chance.random() < 0.1:
            keys.append(chance.choice(BAD))
        between = "," if chance.random() < 0.8 else chance.choice((",,", ", ", ";"))
        end = ")" if chance.random() < 0.9 else chance.choice(("", "))"))
        before = "" if chance.random() < 0.95 else chance.choice(("[d34db33f]", "x"))
        return f"{before}musig({between.join(keys)}{end}{chance.choice(TAILS)}"

    def text(self):
        places = PLACES if self.chance.random() < 0.8 else REFUSED
        return self.chance.choice(places).format(self.key())
