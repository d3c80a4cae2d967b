"""Null for optional arguments, beside Core's own bitcoind: of every call that both nodes have, with
one null after the other behind what it requires, and for each member of an object of options."""

import re

from core_node import PairTest
from descriptor_cases import XPUB
from framework import RpcError

GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
NONE = "00" * 31 + "01"
ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
KEY = "cTCPEMcqvLVaTrVHtN3ty66yH3Z5Hh4n2Yrf45Hq9vDWbDQPaQEs"
PUBKEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
SINGLE = f"raw({PUBKEY})"
RANGED = f"wpkh({XPUB}/*)"
TX = "020000000001000000000000000000000000"
PSBT = "cHNidP8BAAoCAAAAAAAAAAAAAA=="
OUTPUT = {"txid": NONE, "vout": 0}

# The values of required arguments; several lists if a call has several forms.
GIVEN = {
    "abortprivatebroadcast": [[NONE]], "addnode": [["127.0.0.1:9", "remove"]],
    "addpeeraddress": [["1.2.3.4", 8333]],
    "addconnection": [["127.0.0.1:9", "feeler", False]],
    "analyzepsbt": [[PSBT]], "combinepsbt": [[[PSBT]]], "combinerawtransaction": [[[TX, TX]]],
    "converttopsbt": [[TX]], "createmultisig": [[1, [PUBKEY]]], "createpsbt": [[[], []]],
    "createrawtransaction": [[[OUTPUT], []]], "decodepsbt": [[PSBT]],
    "decoderawtransaction": [[TX]], "decodescript": [["51"]],
    "deriveaddresses": [[f"addr({ADDRESS})"], [RANGED], [SINGLE]],
    "descriptorprocesspsbt": [[PSBT, [SINGLE]]], "dumptxoutset": [["dump"]],
    "estimatesmartfee": [[6]], "exportasmap": [["map"]], "finalizepsbt": [[PSBT]],
    "generateblock": [[ADDRESS, []]], "generatetoaddress": [[1, ADDRESS]],
    "generatetodescriptor": [[1, SINGLE]], "getblock": [[GENESIS]],
    "getblockfilter": [[GENESIS]], "getblockfrompeer": [[GENESIS, 0]], "getblockhash": [[0]],
    "getblockheader": [[GENESIS]],
    "getblocktemplate": [[{}], [{"rules": ["segwit"]}]],
    "getblockstats": [[0]], "getdescriptoractivity": [[[GENESIS], [SINGLE]], [[], []]],
    "getdescriptorinfo": [[SINGLE]],
    "getmempoolancestors": [[NONE]], "getmempoolcluster": [[NONE]],
    "getmempooldescendants": [[NONE]], "getmempoolentry": [[NONE]],
    "getrawtransaction": [[NONE]], "gettxout": [[NONE, 0]], "gettxoutproof": [[[NONE]]],
    "gettxspendingprevout": [[[OUTPUT]]], "importmempool": [["none"]],
    "invalidateblock": [[NONE]], "joinpsbts": [[[PSBT, PSBT]]], "loadtxoutset": [["none"]],
    "preciousblock": [[NONE]], "prioritisetransaction": [[NONE, None, 1]],
    "pruneblockchain": [[1]], "reconsiderblock": [[NONE]],
    "scanblocks": [["status"], ["start"]], "scantxoutset": [["status"], ["start"], ["abort"]],
    "sendmsgtopeer": [[0, "x", "00"]], "sendrawtransaction": [[TX]],
    "setban": [["1.2.3.4", "remove"]], "setmocktime": [[0]], "setnetworkactive": [[True]],
    "signmessagewithprivkey": [[KEY, "x"]], "signrawtransactionwithkey": [[TX, []]],
    "submitblock": [["00"]], "submitheader": [["00"]], "submitpackage": [[[TX]]],
    "testmempoolaccept": [[[TX]]], "utxoupdatepsbt": [[PSBT]], "validateaddress": [[ADDRESS]],
    "verifymessage": [[ADDRESS, "x", "x"]], "verifytxoutproof": [["00"]],
    "waitforblockheight": [[0]],
}
HIDDEN = ("addconnection", "addpeeraddress", "echo", "echojson", "generate",
          "generateblock", "generatetoaddress", "generatetodescriptor", "getrawaddrman",
          "invalidateblock", "reconsiderblock", "sendmsgtopeer",
          "setmocktime", "syncwithvalidationinterfacequeue", "waitforblockheight")
# Calls left out: one stops the node, the others wait without a timeout for a block that is never
# received.
LEFT_OUT = {"stop", "waitfornewblock", "waitforblock"}


class Argument:
    def __init__(self, line):
        self.required = ", required" in line
        self.members = []


def arguments_of(text):
    """The numbered arguments of a help text of Core's, with the optional members of objects."""
    section = re.search(r"^Arguments:\n(.*?)^Result", text, re.M | re.S)
    found = []
    for line in section[1].splitlines() if section else []:
        if re.match(r"\d+\. ", line):
            found.append(Argument(line))
        member = re.match(r' {7}"(\w+)": .*\((?!.*, required)', line)
        if member and found:
            found[-1].members.append(member[1])
    return found


class NullArguments(PairTest):
    options = ("-listen=0",)

    def said(self, node, call):
        """An error, or of what kind the answer is: times and counters differ between nodes."""
        try:
            answer = node.rpc(*call)
        except RpcError as error:
            text = error.message.replace(str(node.datadir), "DATADIR")
            return error.code, text.split("\n")[0] if error.code == -1 else text
        if not isinstance(answer, dict):
            return type(answer).__name__
        return sorted(answer.keys() - {"booster"})  # a category of logging that is ours

    def compare(self, *call):
        self.calls += 1
        for node in (self.pair.core, self.pair.ours):
            (node.net_dir / "dump").unlink(missing_ok=True)
        core, ours = self.said(self.pair.core, call), self.said(self.pair.ours, call)
        with self.subTest(call):
            self.assertEqual(ours, core)

    def compare_nulls_of(self, method, arguments):
        required = [i for i, argument in enumerate(arguments) if argument.required]
        least = required[-1] + 1 if required else 0
        self.compare(method, *[None] * len(arguments))
        if required and method not in GIVEN:
            self.fail(f"{method}: GIVEN does not say what it requires")
        for given in GIVEN[method] if required else [[]]:
            if method == "deriveaddresses":  # it asks for the checksum
                given = [self.pair.core.rpc("getdescriptorinfo", given[0])["descriptor"]]
            for count in range(len(arguments) - len(given) + 1):
                self.compare(method, *given, *[None] * count)
            for i in range(least, len(arguments)):
                for member in arguments[i].members:
                    filler = [None] * (i - len(given))
                    self.compare(method, *given, *filler, {member: None})

    def test_every_call_takes_null_as_core_does(self):
        both = [set(re.findall(r"^(\w+)", node.rpc("help"), re.M))
                for node in (self.pair.core, self.pair.ours)]
        methods = (both[0] & both[1] | set(HIDDEN)) - LEFT_OUT
        self.assertGreater(len(methods), 90)
        self.calls = 0
        for method in sorted(methods):
            with self.subTest(method):
                self.compare_nulls_of(method, arguments_of(self.pair.core.rpc("help",
                                                                                      method)))
        self.assertGreater(self.calls, 2 * len(methods))
