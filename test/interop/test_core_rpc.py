"""RPC, HTTP and bitcoin-cli beside Bitcoin Core's own: the same bytes go to both nodes, and status,
headers, bodies, texts and exit codes must be the same. Core is built by build_core.sh; the variable
IBD_CORE names a folder of its programs instead."""

import base64
import json
import re
import socket
import subprocess

import address_cases
import descriptor_cases
import interop_env
from core_node import MEMBERS_OF_31
from framework import FunctionalTest, Node, program

GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
COINBASE = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"  # of genesis
COINBASE = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"  # of genesis
NONE = "00" * 31 + "01"
LOGIN = "Authorization: Basic " + base64.b64encode(b"u:p").decode() + "\r\n"
# Calls of the booster and of ZeroMQ; the available build of Core has no ZeroMQ.
OURS_ALONE = ("getboosterinfo", "dumptxouthints", "getopenrpcinfo", "getzmqnotifications",
              "rpc.discover")
TITLE_ALONE = "== Zmq =="


class CoreNode(Node):
    def command(self, *args):
        folder = interop_env.built_program("build_core.sh", "IBD_CORE")
        ours = super().command(*args)
        return [str(folder / "bitcoind"), *ours[1:], "-listen=0", "-connect=0", *MEMBERS_OF_31]

    def login(self):
        return base64.b64encode(b"u:p").decode()


class OurNode(Node):
    def login(self):
        return base64.b64encode(b"u:p").decode()


def post(body, headers=LOGIN, path="/", version="1.1"):
    return (f"POST {path} HTTP/{version}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
            f"{body}").encode()


def close(request):
    """With the wish to close behind the request line."""
    return request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)


def raw_requests():
    """Name and bytes. A persistent connection has no end, so each request closes it."""
    ping = '{"id":1,"method":"getblockcount"}'
    for method in "GET HEAD PUT OPTIONS PATCH TRACE DELETE CONNECT BREW".split():
        yield method, close(f"{method} / HTTP/1.1\r\n{LOGIN}\r\n".encode())
    yield "no login", close(post(ping, ""))
    yield "wrong login", close(post(ping, LOGIN.replace("Basic ", "Basic eA")))
    yield "no Basic", close(post(ping, "Authorization: Bearer x\r\n"))
    yield "elsewhere", close(post(ping, path="/x"))
    yield "query", close(post(ping, path="/?x"))
    yield "1.0", post(ping, version="1.0")
    yield "1.0 kept", post(ping, LOGIN + "Connection: keep-alive\r\n", version="1.0") + \
        post(ping, version="1.0")
    yield "1.9", close(post(ping, version="1.9"))
    yield "pipelined", post(ping) + post('{"id":2,"method":"uptim"}') + close(post(ping))
    yield "bare line ends", close(post(ping)).replace(b"\r\n", b"\n")
    yield "chunked", close(b"POST / HTTP/1.1\r\n" + LOGIN.encode() +
                           b"Transfer-Encoding: chunked\r\n\r\n5;x\r\n" + ping[:5].encode() +
                           f"\r\n{len(ping) - 5:x}\r\n{ping[5:]}\r\n0\r\nT: x\r\n\r\n".encode())
    for bad in ("hello", "POST / HTTP/2.0", "POST / HTTP/1.10", "POST  / HTTP/1.1",
                "POST / FTP/1.1", "x", "", "POST / HTTP/1.1\r\nno colon",
                "POST / HTTP/1.1\r\na b: c",
                "POST / HTTP/1.1\r\n: c", "POST / HTTP/1.1\r\nContent-Length: x",
                "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
                "POST / HTTP/1.1\r\nContent-Length: 33554433",
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx",
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2000001",
                "POST / HTTP/1.1\r\nX: " + "x" * 8192, "POST / HTTP/1.1\r\n" + "X: x\r\n" * 1400):
        yield f"bad: {bad[:60]!r}", f"{bad}\r\n\r\n".encode()


def json_bodies():
    yield from ("", "{", "17", "null", "[", "[]", "{}", "[1]", "[{}]", '"x"', "[[]]")
    for version in ("", '"jsonrpc":"1.0",', '"jsonrpc":"2.0",', '"jsonrpc":"3.0",', '"jsonrpc":2,',
                    '"jsonrpc":null,'):
        for rest in ('"id":1,"method":"getblockcount"', '"method":"getblockcount"',
                     '"id":"x","method":"none"', '"id":null,"method":"getblockhash","params":[9]',
                     '"id":1', '"id":1,"method":5', '"id":1,"method":"getblockcount","params":5',
                     '"method":"none"'):
            yield "{" + version + rest + "}"
    one = '{"jsonrpc":"2.0","id":1,"method":"getblockcount"}'
    yield f"[{one},{one}]"
    yield f"[{one},17]"
    yield '[{"jsonrpc":"2.0","method":"getblockcount"}]'
    yield '[{"jsonrpc":"2.0","method":"getblockcount"},17]'
    yield '[{"id":1,"method":"none"},{"id":2,"method":"getblockhash","params":{"height":0}}]'


# Calls of which result or error must be the same to the letter.
CALLS = [
    ("getblockcount",), ("getbestblockhash",), ("getblockhash", 0), ("getblockhash", 1),
    ("getblockhash", -1), ("getblockhash", 2**31), ("getblockhash", 1.5), ("getblockhash", "0"),
    ("getblock", GENESIS), ("getblock", GENESIS, 0), ("getblock", GENESIS, True),
    ("getblock", GENESIS, 2), ("getblock", GENESIS, 3), ("getblock", GENESIS, 2**31),
    ("getblock", GENESIS, "x"), ("getblock", NONE), ("getblock", "00"), ("getblock", "zz" * 32),
    ("getblock", 5), ("getblockheader", GENESIS), ("getblockheader", GENESIS, False),
    ("getblockheader", NONE), ("getblockstats", 0), ("getblockstats", 1), ("getblockstats", -1),
    ("getblockstats", 0, ["txs"]), ("getblockstats", 0, ["none"]), ("getblockstats", 0, [5]),
    ("getblockstats", 2**31), ("getchaintips",), ("getchaintxstats",), ("getchaintxstats", 1),
    ("getchaintxstats", 2**31), ("getdifficulty",), ("getdeploymentinfo",), ("getconnectioncount",),
    ("getpeerinfo",), ("gettxout", NONE, 0), ("gettxout", NONE, -1), ("gettxout", NONE, 2**32),
    ("gettxout", "x", 0), ("getrawtransaction", NONE), ("getrawtransaction", NONE, 1, GENESIS),
    ("getrawtransaction", NONE, 1, NONE), ("decoderawtransaction", "00"),
    ("decoderawtransaction", "x"), ("submitblock", "00"), ("submitheader", "00"),
    ("getnetworkhashps",), ("getnetworkhashps", 0), ("getnetworkhashps", 1, 5), ("verifychain",),
    ("verifychain", 2**31), ("waitforblockheight", 0), ("waitforblockheight", 0, -1),
    ("waitfornewblock", -1), ("waitforblock", GENESIS), ("logging", ["none"]), ("logging", [5]),
    ("logging", ["x"]), ("logging", "rpc"), ("echoipc",), ("echoipc", "x"), ("echoipc", 1),
    ("gettxspendingprevout", [{"txid": NONE, "vout": 0}], {"x": True}),
    ("gettxspendingprevout", [{"txid": NONE, "vout": 0}], {"mempool_only": None}),
    ("gettxspendingprevout", [{"txid": NONE, "vout": 0}], {"mempool_only": 1}),
    ("gettxspendingprevout", [{"txid": NONE, "vout": 0}], {"mempool_only": True}),
    ("dumptxoutset", "x", "rollback"), ("dumptxoutset", "x", "", {"rollback": None}),
    ("gettxoutsetinfo", "hash_serialized_3", 0), ("dumptxoutset", "/none/x", "latest"),
    ("loadtxoutset", ""),
    ("getrawtransaction", COINBASE, "1"),
    ("scanblocks", "start", [], 0, 0, "basic", {"filter_false_positives": 1}),
    ("getmemoryinfo", "x"), ("setmocktime", -1),
    ("setmocktime", 0), ("preciousblock", NONE), ("invalidateblock", NONE),
    ("reconsiderblock", NONE), ("echo",), ("echo", 1, "a", None), ("echojson", {"a": [1]}),
    ("getmempoolinfo",), ("getrawmempool",), ("getrawmempool", True),
    ("getrawmempool", False, True), ("getrawmempool", True, True),
    ("syncwithvalidationinterfacequeue",), ("help", "none"), ("none",), ("getindexinfo",),
    ("gettxoutproof", []), ("gettxoutproof", [NONE]), ("gettxoutproof", [NONE, NONE]),
    ("gettxoutproof", ["x"]), ("gettxoutproof", [5]), ("gettxoutproof", NONE),
    ("gettxoutproof", [NONE], NONE), ("gettxoutproof", [NONE], GENESIS),
    ("gettxoutproof", [NONE], "x"), ("verifytxoutproof", ""), ("verifytxoutproof", "x"),
    ("verifytxoutproof", "00" * 84), ("verifytxoutproof", "00" * 90),
    ("estimatesmartfee",), ("estimatesmartfee", "x"), ("estimatesmartfee", 0, "x"),
    ("estimatesmartfee", 1009), ("estimatesmartfee", 2**31), ("estimatesmartfee", 1, "x"),
    ("estimatesmartfee", 1, 1), ("estimatesmartfee", 1, "Economical"), ("estimatesmartfee", 1008),
    ("estimatesmartfee", 6, "CONSERVATIVE"), ("estimatesmartfee", 6, "unset"),
    ("estimatesmartfee", 6, None), ("estimatesmartfee", 6, "unset", 1), ("estimaterawfee",),
    ("estimaterawfee", "x"), ("estimaterawfee", 0), ("estimaterawfee", 1009),
    ("estimaterawfee", 1, "x"), ("estimaterawfee", 1, -0.1), ("estimaterawfee", 1, 1.1),
    ("estimaterawfee", 1, 0), ("estimaterawfee", 12, 1), ("estimaterawfee", 13, None),
    ("estimaterawfee", 48), ("estimaterawfee", 49), ("estimaterawfee", 1008, 0.5),
    ("getindexinfo", "x"), ("getindexinfo", 5), ("help", "generate"),
]
NAMED = [
    ("getblock", {"blockhash": GENESIS, "verbosity": 0}),
    ("getblock", {"blockhash": GENESIS, "verbose": False}),
    ("getblock", {"blockhash": GENESIS, "verbosity": 0, "verbose": False}),
    ("getblock", {"args": [GENESIS], "verbosity": 0}),
    ("getblock", {"args": [GENESIS], "blockhash": GENESIS}),
    ("getblock", {"args": [GENESIS, 1], "verbosity": 0}),
    ("getblockhash", {"depth": 0}), ("getblockhash", {"height": "0"}),
    ("echo", {"arg3": 1}), ("echo", {"args": [1, 2], "arg5": 3}), ("echo", {"args": 5}),
    ("dumptxoutset", {"path": "x", "options": {}, "rollback": 1}),
]
CLI = [
    (), ("getblockcount",), ("getblockhash", "0"), ("getblockhash", "9"), ("getblockhash", "x"),
    ("getblock", GENESIS, "0"), ("-named", "getblock", f"blockhash={GENESIS}", "verbosity=0"),
    ("-named", "getblock", GENESIS, "verbosity=0"), ("-named", "getblockhash", "height=x"),
    ("none",), ("echo", "a", "1"), ("echojson", "1", "{}"), ("echojson", "a"), ("getinfo",),
    ("-getinfo", "x"), ("-color=red", "-getinfo"), ("-rpcport=0", "uptime"),
    ("-rpcport=1", "uptime"), ("-rpcconnect=127.0.0.1:x", "uptime"),
    ("-rpcconnect=host.invalid", "uptime"), ("-rpcpassword=x", "uptime"),
    ("-rpcpassword=", "-norpccookiefile", "uptime"), ("-rpcpassword=", "uptime"),
    ("-rpcwallet=w", "getblockcount"), ("-generate",), ("-generate", "1"),
    ("-datadir=/nonexistent", "uptime"), ("-stdinrpcpass", "uptime"),
    ("-stdinwalletpassphrase", "uptime"), ("-getinfo", "-netinfo"), ("-getinfo", "-nonetinfo"),
    ("-generate", "-addrinfo=0", "-getinfo"), ("-ipcconnect=auto", "getblockcount"),
    ("-ipcconnect=0", "getblockcount"), ("-noipcconnect", "getblockcount"),
    ("-ipcconnect=unix", "getblockcount"), ("-ipcconnect", "getblockcount"),
    ("-ipcconnect=", "getblockcount"), ("-rpcconnect=127.0.0.1", "-ipcconnect=unix", "uptime"),
    ("-rpcconnect=127.0.0.1", "-ipcconnect=auto", "getblockcount"), ("-chain=foo", "uptime"),
    ("-conf=/nonexistent", "uptime"), ("-conf=/tmp", "uptime"), ("-regtest", "-testnet4", "uptime"),
    ("-rpcport=1", "-rpcwait", "-rpcwaittimeout=1", "uptime"),
]


class SideBySide(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.ours = OurNode(self.dir / "ours", args=("-rpcuser=u", "-rpcpassword=p"))
        self.core = CoreNode(self.dir / "core", args=("-rpcuser=u", "-rpcpassword=p"))
        self.nodes += [self.ours, self.core]
        for node in self.nodes:
            node.start()

    def exchange(self, node, request):
        """All that comes until the server closes, with dates masked."""
        with socket.create_connection(("127.0.0.1", node.port), timeout=60) as connection:
            connection.sendall(request)
            answer = b""
            try:
                while more := connection.recv(65536):
                    answer += more
            except ConnectionResetError:
                pass  # closed with some of the request unread
        return re.sub(r"Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [0-9:]{8} GMT", "Date: X",
                      answer.decode("latin1"))

    def assert_same(self, requests):
        for name, request in requests:
            with self.subTest(name):
                self.assertEqual(self.exchange(self.ours, request),
                                 self.exchange(self.core, request))

    def test_http(self):
        self.assert_same(raw_requests())

    def test_json_rpc(self):
        self.assert_same((body, close(post(body))) for body in json_bodies())

    def answer(self, node, method, params):
        """For a usage error only the first line is compared, because descriptions differ."""
        _, text = node.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                                        "params": params}))
        answer = json.loads(text)
        error = answer.get("error")
        if error and error["code"] == -1 and "\n\n" in error["message"]:
            error["message"] = error["message"].split("\n")[0]
        if method == "getdeploymentinfo" and not error:
            # Returned by this node and by Core up to version 31, not by 32 (doc/rpc.md).
            answer["result"]["deployments"].pop("taproot", None)
        return answer

    def test_calls(self):
        calls = [(method, list(params)) for method, *params in CALLS] + NAMED
        for method, params in calls:
            with self.subTest(f"{method} {params}"):
                self.assertEqual(self.answer(self.ours, method, params),
                                 self.answer(self.core, method, params))

    def assert_same_answer(self, method, *params):
        """The answer of both."""
        with self.subTest(f"{method} {params}"):
            answer = self.answer(self.core, method, list(params))
            self.assertEqual(self.answer(self.ours, method, list(params)), answer)
            return answer

    def test_descriptors(self):
        for text in descriptor_cases.DESCRIPTORS:
            info = self.assert_same_answer("getdescriptorinfo", text).get("result")
            if info:
                where = [[0, 3]] if info["isrange"] else []
                self.assert_same_answer("deriveaddresses", f"{text}#{info['checksum']}", *where)
        ranged = f"wpkh({descriptor_cases.XPUB}/0/*)"
        ranged += "#" + self.core.rpc("getdescriptorinfo", ranged)["checksum"]
        for where in descriptor_cases.RANGES:
            self.assert_same_answer("deriveaddresses", ranged, where)
        self.assert_same_answer("deriveaddresses", ranged)
        for scan in descriptor_cases.SCANS:
            self.assert_same_answer("scantxoutset", *scan)

    def test_addresses(self):
        for address in address_cases.ADDRESSES:
            self.assert_same_answer("validateaddress", address)
        for multisig in address_cases.MULTISIGS:
            self.assert_same_answer("createmultisig", *multisig)

    def test_messages(self):
        for signed in address_cases.SIGNED:
            signature = self.assert_same_answer("signmessagewithprivkey", *signed).get("result")
            for address in (address_cases.SIGNER, address_cases.LONG_SIGNER, address_cases.WITNESS,
                            "2N2JD6wb56AfK4tfmM6PwdVmoYk2dCKf4Br", "x"):
                for given in (signature or "", "x", "AAAA", "A" * 88):
                    answer = self.assert_same_answer("verifymessage", address, given, signed[-1])
                    if signature and address == address_cases.WITNESS:
                        self.assertEqual(answer["error"]["code"], -3)
        first = self.core.rpc("signmessagewithprivkey", address_cases.SECRET, "message")
        self.assertTrue(self.ours.rpc("verifymessage", address_cases.SIGNER, first, "message"))

    def test_usage_and_conversions(self):
        listed = {line.split()[0]: line for line in self.core.rpc("help").splitlines() if line}
        for line in self.ours.rpc("help").splitlines():
            name = line.split()[0] if line else ""
            if name and name != "==" and name not in OURS_ALONE:
                with self.subTest(name):
                    self.assertEqual(line, listed.get(name))
        titles = [line for line in self.ours.rpc("help").splitlines() if line.startswith("==")]
        self.assertIn(TITLE_ALONE, titles)
        titles.remove(TITLE_ALONE)
        for title in titles:
            self.assertIn(title, self.core.rpc("help").splitlines())
        ours, core = ([tuple(row) for row in node.rpc("help", "dump_all_command_conversions")]
                      for node in (self.ours, self.core))
        names = {row[0] for row in ours} & {row[0] for row in core}
        self.assertGreater(len(names), 25)
        self.assertEqual([row for row in ours if row[0] in names],
                         [row for row in core if row[0] in names])

    def test_command_line(self):
        """Both clients ask our node."""
        core_cli = str(interop_env.built_program("build_core.sh", "IBD_CORE") / "bitcoin-cli")
        for words in CLI:
            with self.subTest(" ".join(words)):
                done = []
                for client in (program("bitcoin-cli"), core_cli):
                    options = [f"-datadir={self.ours.datadir}", "-regtest",
                               f"-rpcport={self.ours.port}", "-rpcuser=u", "-rpcpassword=p"]
                    run = subprocess.run([client, *options, *words], capture_output=True, text=True,
                                         stdin=subprocess.DEVNULL, check=False, timeout=120)
                    done.append((run.returncode, run.stdout, run.stderr))
                self.assertEqual(*done)

    def test_cores_client_shows_ours(self):
        core_cli = str(interop_env.built_program("build_core.sh", "IBD_CORE") / "bitcoin-cli")
        for words in (("-getinfo",), ("-netinfo",), ("-netinfo", "4")):
            done = subprocess.run([core_cli, f"-datadir={self.ours.datadir}", "-regtest",
                                   f"-rpcport={self.ours.port}", "-rpcuser=u", "-rpcpassword=p",
                                   *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            if words[0] == "-netinfo":
                self.assertIn("70017/Satoshi:31.0.0/ibd-booster:", done.stdout)
