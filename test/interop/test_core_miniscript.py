"""decodescript of our node and of Core's bitcoind gives the same result for witness scripts that
are miniscripts, insane ones, and scripts near them; so do the calls about descriptors for texts
that are miniscripts, insane ones, and texts near them, and for musig()."""

import collections
import os

from core_node import PairTest
from descriptor_cases import X, XPRV, XPUB
from miniscript_cases import Cases
from miniscript_texts import Texts
from musig_texts import MusigTexts

SCRIPTS = 3000
TEXTS = 3000
MOST = 3600  # bytes of a standard witness script; some are longer
KINDS = ("and_v", "and_b", "or_b", "or_c", "or_d", "or_i", "andor", "and_n", "thresh", "multi",
         "hash256", "after", "j:", "n:", "t:", "u:")
FAULTS = (" is invalid", "malleable", "without signature", "mixes of timelocks", "duplicate",
          "is needed within", "not a valid descriptor function", "can only be used in")
KEYS = [*(f"{XPUB}/{i}" for i in range(20)), f"{XPUB}/0/*", f"[d34db33f/44h]{XPUB}/1/*",
        f"{XPRV}/7", f"{XPRV}/8h/*", f"{XPRV}/9h", f"{XPUB}/<2;3>/*",
        "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd",
        "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"]
HARDENED = [f"musig({XPRV}/{i}h,{XPUB}/1)" for i in (1, 2)]
X_KEYS = [*KEYS, *HARDENED, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"]
MUSIG = f"musig({XPUB}/1,{XPUB}/2)"
BAD_KEYS = ["", "x", "02" + "00" * 32, f"{XPUB}/x", "[00]" + KEYS[0], "04" + "11" * 64]
ONE, OTHER = KEYS[0], KEYS[-2]
TREES = (f"tr({ONE},{{}})", f"tr({ONE},{{{{{{}},pk({XPUB}/91)}}}})",
         f"tr({ONE},{{{{{{}},{{{{pk({XPUB}/91),multi_a(1,{XPUB}/92,{OTHER},{XPUB}/92)}}}}}}}})",
         f"tr({ONE},{{{{{{{{pk({XPUB}/93),{{}}}}}},{{{{pk({XPUB}/91),pk({XPUB}/92)}}}}}}}})",
         f"tr({ONE},{{{{{{{{pk({XPUB}/93),{{}}}}}},pk({XPUB}/93)}}}})",  # a leaf twice
         f"tr({ONE},{{{{{{{{pk({XPUB}/93),{{}}}}}},{{{{pk({XPUB}/93),pk({XPUB}/92)}}}}}}}})",
         f"tr({ONE},{{{{{{}},and_v(v:pk(02{X}),pk(03{X}))}}}})")  # a leaf that is insane
PLACES = ("wsh({})",) * 4 + ("sh(wsh({}))", "{}", "sh({})")


def balanced(parts):
    """All of them, one after the other."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return f"and_v({balanced(parts[:middle])},{balanced(parts[middle:])})"


class Miniscript(PairTest):
    def setUp(self):
        super().setUp()
        self.seed = os.environ.get("IBD_TEST_SEED", "1")
        self.told = collections.Counter()

    def test_decodescript(self):
        cases, told = Cases(self.seed), self.told
        for _ in range(SCRIPTS):
            script = cases.script()
            if cases.chance.random() < 0.3:
                script = cases.near(script)
            if not 0 < len(script) <= 2 * MOST:
                continue
            answer = self.ask("decodescript", script.hex())
            if not isinstance(answer, dict) or "segwit" not in answer:
                continue
            text = answer["segwit"]["desc"]
            told[text.partition("(")[0]] += 1
            if text.startswith("wsh("):
                told.update(kind for kind in KINDS if kind in text)
        self.assertGreater(told["wsh"], SCRIPTS // 20)
        self.assertGreater(told["addr"], SCRIPTS // 20)
        self.assertEqual([kind for kind in KINDS if not told[kind]], [])

    def test_musig(self):
        texts = MusigTexts(self.seed)
        for _ in range(TEXTS):
            self.look(texts.text())
        self.assertGreater(self.told["good"], TEXTS // 20)

    def limits(self):
        """Miniscripts at the limits of a script, one within and the next beyond."""
        lock = "v:older(33554432)"  # 7 bytes, by height
        keys = [f"v:pk({XPUB}/{i})" for i in range(100)]  # 35 bytes and an item of the witness
        for last in (1, 17, 128, 40000):  # 3, 4, 5 and 6 bytes; 3,600 with the third
            parts = keys[:99] + [lock] * 13 + ["v:older(17)", f"v:older({last})"]
            yield f"wsh(and_v({balanced(parts)},pk({XPUB}/999)))"
        yield f"wsh(and_v({balanced(keys)},pk({XPUB}/999)))"
        for depth in (200, 201):  # operations
            yield f"wsh({'n' * depth}:pk({ONE}))"
        for count in (997, 998, 999, 1000):  # items on the stack
            keys = ",".join(f"{XPUB}/{i}" for i in range(count))
            yield f"tr({ONE},and_v(v:multi_a(1,{keys}),pk({OTHER})))"
        for parts in ([lock] * 47064, [lock] * 47062 + ["v:older(17)"] * 3 + ["v:older(1)"]):
            yield f"tr({ONE},and_v({balanced(parts)},pk({OTHER})))"  # 329,482 bytes, and 329,483
        none = ",".join(["a:0"] * 2000)
        for wanted in (1, 2, 1000):
            yield f"tr({ONE},thresh({wanted},pk({OTHER}),{none}))"
        yield f"wsh(v:pk({ONE}))"

    def test_limits(self):
        for text in self.limits():
            answer = self.ask("getdescriptorinfo", text)
            self.told["good"] += isinstance(answer, dict)
            for fault in (" may exceed resource limits", " is not satisfiable"):
                self.told[fault] += fault in str(answer)
        self.assertEqual(self.told["good"], 8)
        self.assertGreater(min(self.told.values()), 0, self.told)

    def test_nested_sequences(self):
        """Scripts do not tell how and_v was nested: those of deep texts are read and shown too."""
        found = []
        for levels, parts in ((3, 300), (7, 490), (60, 16), (150, 3)):
            text = f"pk({XPUB}/5000)"
            for level in range(levels):
                ones = "and_v(v:1," * (parts - 1) + "1" + ")" * (parts - 1)
                text = f"and_v(v:or_i({text},pk({XPUB}/{level})),{ones})"
            found.append(self.ask("getdescriptorinfo", f"tr({ONE},{text})")["descriptor"])
        self.pair.ask("setmocktime", 1_700_000_000)
        for text in found:
            self.pair.ask("generatetodescriptor", 1, text)
        scanned = self.ask("scantxoutset", "start", found)
        self.assertEqual(str(scanned).count("'tr("), len(found))

    def test_scan(self):
        """Coins that pay to random miniscripts are found, and described from their scripts."""
        found = []
        for tapscript, keys in ((False, KEYS[:20]), (True, [*X_KEYS[3:20], MUSIG])):
            texts = Texts(self.seed, keys, tapscript)
            while len(found) < (75 if tapscript else 30):
                place = texts.chance.choice(TREES) if tapscript else "wsh({})"
                info = self.ask("getdescriptorinfo", place.format(texts.likely_sane()))
                if isinstance(info, dict):
                    found.append(info["descriptor"])
        self.pair.ask("setmocktime", 1_700_000_000)
        for text in found:
            self.pair.ask("generatetodescriptor", 1, text)
        scanned = self.ask("scantxoutset", "start", found)
        self.assertEqual(len(scanned["unspents"]), len(found))
        for kind in ("wsh(", "tr(", "rawtr("):
            self.assertGreater(str(scanned).count(f"'{kind}"), 2)

    def look(self, text):
        """Asks about the descriptor and for its addresses."""
        answer = self.ask("getdescriptorinfo", text)
        if not isinstance(answer, dict):
            self.told.update(fault for fault in FAULTS if fault in answer[1])
            return
        self.told["good"] += 1
        self.told.update(kind for kind in KINDS if kind in text)
        for one in answer.get("multipath_expansion", [answer["descriptor"]]):
            self.ask("deriveaddresses", one, *([[0, 2]] if answer["isrange"] else []))

    def ask_random(self, texts, place):
        chance = texts.chance
        for i in range(TEXTS):
            text = chance.choice((texts.text, texts.likely_sane))()
            if chance.random() < 0.3:
                text = texts.near(text)
            if i % 50 == 0:
                text = text.replace(chance.choice(KEYS), chance.choice(BAD_KEYS))
            self.look(place(text))

    def test_texts_in_wsh(self):
        texts = Texts(self.seed, KEYS)
        self.ask_random(texts, lambda text: texts.chance.choice(PLACES).format(text))
        self.assertGreater(self.told["good"], TEXTS // 10)
        self.assertEqual([kind for kind in (*KINDS, *FAULTS) if not self.told[kind]], [])

    def test_texts_in_taproot(self):
        texts = Texts(self.seed, X_KEYS, tapscript=True)
        self.ask_random(texts, lambda text: texts.chance.choice((
            f"tr({KEYS[0]},{text})", f"tr({KEYS[0]},{{{text},pk({XPUB}/99)}})")))
        self.assertGreater(self.told["good"], TEXTS // 10)
        self.assertEqual([kind for kind in KINDS if not self.told[kind]], [])
