"""Our node and Core's bitcoind find the same witnesses for random miniscripts, in P2WSH and in
leaves of taproot outputs, with some of the keys, preimages and times that they need. A witness
script may be an insane miniscript, which has no descriptor."""

import base64
import collections
import hashlib
import os

from core_node import PairTest
from descriptor_cases import KEY, XPRV
from miniscript_cases import Cases, push
from miniscript_texts import Texts

SPENDS = 500
KEYS = 12
TXID = "11" * 32
ADDRESS = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
HASHES = {  # its function, and its type in a PSBT
    "ripemd160": (lambda data: hashlib.new("ripemd160", data).digest(), 0x0a),
    "sha256": (lambda data: hashlib.sha256(data).digest(), 0x0b),
    "hash160": (lambda data: hashlib.new("ripemd160", hashlib.sha256(data).digest()).digest(),
                0x0c),
    "hash256": (lambda data: hashlib.sha256(hashlib.sha256(data).digest()).digest(), 0x0d),
}
SEQUENCES, LOCK_TIMES = (0, 1, 17, 144, 0x400001, 0x40ffff), (0, 1, 144, 499_999_999, 500_000_001)
PLACES = ("wsh({})", "wsh({})", "sh(wsh({}))", f"tr({KEY},{{}})",
          f"tr({KEY},{{{{pk(@99@),{{}}}}}})", f"tr({KEY},{{{{pkh(@0@),{{}}}}}})")


DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def secret_text(number):
    """A secret key of regtest in base58."""
    raw = b"\xef" + number.to_bytes(32, "big") + b"\x01"
    value = int.from_bytes(raw + HASHES["hash256"][0](raw)[:4], "big")
    out = ""
    while value:
        value, digit = divmod(value, 58)
        out = DIGITS[digit] + out
    return out


def spent_output(script):
    amount = (100_000_000).to_bytes(8, "little")
    return field(b"\x01", amount + bytes([len(script)]) + script)


def field(key, value):
    return bytes([len(key)]) + key + bytes([len(value)]) + value


class KnownTexts(Texts):
    """Keys are @0@, @1@ and so on, and preimages are known."""

    def __init__(self, seed, tapscript):
        super().__init__(seed, [f"@{i}@" for i in range(KEYS)], tapscript)
        self.preimages = {}

    def hash(self):
        name = self.chance.choice(list(HASHES))
        function, kind = HASHES[name]
        preimage = self.chance.randbytes(32)
        digest = function(preimage)
        self.preimages[bytes([kind]) + digest] = preimage
        return f"{name}({digest.hex()})"


class KnownCases(Cases):
    """Scripts with a few keys, which often occur twice."""

    def __init__(self, seed, keys):
        super().__init__(seed)
        self.keys = keys

    def key(self):
        return push(self.chance.choice(self.keys))


class MiniscriptSpends(PairTest):
    def setUp(self):
        super().setUp()
        self.told = collections.Counter()
        described = self.ask("getdescriptorinfo", f"pk({XPRV})")["descriptor"]
        self.xpub = described[len("pk("):described.index(")")]

    def psbt(self, chance, script, preimages):
        """Spends an output with this script, and has some of the preimages."""
        spends = {"txid": TXID, "vout": 0, "sequence": chance.choice(SEQUENCES)}
        made = self.ask("createpsbt", [spends], {ADDRESS: 0.5}, chance.choice(LOCK_TIMES), False, 2,
                        0)
        raw = base64.b64decode(made)
        self.assertEqual(raw[-2:], b"\0\0")  # no fields of the input and of the output
        fields = spent_output(script)
        for key, preimage in sorted(preimages.items()):
            if chance.random() < 0.8:
                fields += field(key, preimage)
        return base64.b64encode(raw[:-2] + fields + b"\0\0").decode()

    def filled(self, text, secret):
        """The text with its keys, of which those in `secret` are secret ones."""
        for i in (*range(KEYS), 99):
            text = text.replace(f"@{i}@", f"{XPRV if i in secret else self.xpub}/{i}")
        return text

    def spend(self, texts, place):
        texts.preimages = {}
        chance = texts.chance
        text = place.format(texts.likely_sane())
        info = self.ask("getdescriptorinfo", self.filled(text, ()))
        if not isinstance(info, dict):
            return
        address = self.ask("deriveaddresses", info["descriptor"])[0]
        script = bytes.fromhex(self.ask("validateaddress", address)["scriptPubKey"])
        psbt = self.psbt(chance, script, texts.preimages)
        self.told["asked"] += 1
        for share in (0.3, 0.5, 1):  # one signer after the other
            secret = [i for i in range(KEYS) if chance.random() < share]
            signer = [self.filled(text, secret)]
            if share > 0.3 and chance.random() < 0.4:  # knows its keys only
                signer = [f"pk({XPRV}/{i})" for i in secret]
            signed = self.ask("descriptorprocesspsbt", psbt, signer, None, chance.random() < 0.7,
                              chance.random() < 0.5)
            if not isinstance(signed, dict):
                continue
            self.told["complete"] += signed["complete"]
            psbt = signed["psbt"]
            self.ask("analyzepsbt", psbt)
            done = self.ask("finalizepsbt", psbt)
            self.told["final"] += isinstance(done, dict) and done["complete"]

    def witness_script(self, texts, keys):
        """The script of a descriptor with these keys; None if the expression is insane."""
        text = "wsh({})".format(texts.likely_sane())
        for i, key in enumerate(keys):
            text = text.replace(f"@{i}@", key)
        info = self.ask("getdescriptorinfo", text)
        if not isinstance(info, dict):
            return None
        address = self.ask("deriveaddresses", info["descriptor"])[0]
        script = self.ask("validateaddress", address)["scriptPubKey"]
        psbt = self.psbt(texts.chance, bytes.fromhex(script), {})
        decoded = self.ask("decodepsbt", self.ask("utxoupdatepsbt", psbt, [text]))["inputs"][0]
        return bytes.fromhex(decoded["witness_script"]["hex"])

    def sign_raw(self, chance, script, secrets):
        """signrawtransactionwithkey, which tells what is missing, and keeps parts of a witness."""
        program = b"\0" + push(hashlib.sha256(script).digest())
        spent = {"txid": TXID, "vout": 0, "scriptPubKey": program.hex(), "amount": 1,
                 "witnessScript": script.hex()}
        inputs = [{"txid": TXID, "vout": 0, "sequence": chance.choice(SEQUENCES)}]
        raw = self.ask("createrawtransaction", inputs, {ADDRESS: 0.5}, chance.choice(LOCK_TIMES))
        for share in (0, 0.5, 1):
            known = [secret for secret in secrets if chance.random() < share]
            signed = self.ask("signrawtransactionwithkey", raw, known, [spent])
            self.told["complete"] += signed["complete"]
            self.told["partial"] += not signed["complete"] and signed["hex"] != raw

    def known_keys(self):
        """Secret keys, and the public ones in hex."""
        secrets = [secret_text(1000 + i) for i in range(KEYS)]
        return secrets, [self.ask("getdescriptorinfo", f"pk({secret})")["descriptor"][3:3 + 66]
                         for secret in secrets]

    def test_raw_transactions(self):
        secrets, keys = self.known_keys()
        texts = KnownTexts(os.environ.get("IBD_TEST_SEED", "1"), False)
        for _ in range(SPENDS // 2):
            if script := self.witness_script(texts, keys):
                self.sign_raw(texts.chance, script, secrets)
        for what in ("complete", "partial"):
            self.assertGreater(self.told[what], SPENDS // 20)

    def test_scripts(self):
        secrets, keys = self.known_keys()
        cases = KnownCases(os.environ.get("IBD_TEST_SEED", "1"), list(map(bytes.fromhex, keys)))
        for _ in range(SPENDS):
            self.sign_raw(cases.chance, cases.script(), secrets)
        for what in ("complete", "partial"):
            self.assertGreater(self.told[what], SPENDS // 50)

    def test_signers(self):
        seed = os.environ.get("IBD_TEST_SEED", "1")
        by_place = {False: KnownTexts(seed, False), True: KnownTexts(seed, True)}
        for i in range(SPENDS):
            place = PLACES[i % len(PLACES)]
            self.spend(by_place[place.startswith("tr")], place)
        self.assertGreater(self.told["asked"], SPENDS // 4)
        self.assertGreater(self.told["complete"], SPENDS // 10)
        self.assertGreater(self.told["final"], SPENDS // 10)
        self.assertGreater(3 * self.told["asked"], self.told["final"])  # some lack items
