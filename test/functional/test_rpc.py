"""JSON-RPC over HTTP: versions, batches, codes, logins, rights of users."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import threading

from framework import ROOT, FunctionalTest, loads, wait_until

GENESIS = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
USAGE = -1
WRONG_TYPE, NOT_FOUND, BAD_VALUE = -3, -5, -8
INVALID_REQUEST, NO_METHOD, NO_JSON = -32600, -32601, -32700
# Calls that help must list, and explain.
CALLS = """getblockchaininfo getblockcount getbestblockhash getblockhash getblockheader getblock
getchaintips getchainstates gettxout gettxoutsetinfo getblockstats dumptxoutset
dumptxouthints getrawtransaction
decoderawtransaction verifychain invalidateblock reconsiderblock submitblock submitheader
getmemoryinfo logging uptime help stop getboosterinfo""".split()

HIDDEN = ("invalidateblock", "reconsiderblock")  # as in Core: for developers


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def served_by(answer):
    """A server that answers {"result": "7"} with the status that answer(path, login, request)
    gives."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = b'{"result": "7"}'
            self.send_response(answer(self.path, self.headers["Authorization"], request))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *unused):
            pass
    return http.server.HTTPServer(("127.0.0.1", 0), Handler)


class Protocol(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.main = self.node().start()

    def ask(self, body, **more):
        status, text = self.main.post(body if isinstance(body, str) else json.dumps(body), **more)
        return status, loads(text) if text else None

    def test_versions(self):
        for version in (None, "1.0"):
            call = {"id": "x", "method": "getblockcount"}
            if version:
                call["jsonrpc"] = version
            self.assertEqual(self.ask(call), (200, {"result": 0, "error": None, "id": "x"}))
            call["method"] = "nothing"
            status, answer = self.ask(call)
            self.assertEqual((status, answer["error"]["code"]), (404, NO_METHOD))
            self.assertIsNone(answer["result"])
            call.update(method="getblockhash", params=[5])
            status, answer = self.ask(call)
            self.assertEqual((status, answer["error"]["code"]), (500, BAD_VALUE))
        call = {"jsonrpc": "2.0", "id": 7, "method": "getblockcount"}
        self.assertEqual(self.ask(call), (200, {"jsonrpc": "2.0", "result": 0, "id": 7}))
        call["method"] = "nothing"
        status, answer = self.ask(call)
        self.assertEqual((status, answer["error"]["code"]), (200, NO_METHOD))
        self.assertNotIn("result", answer)
        status, answer = self.ask({"jsonrpc": "3.0", "id": 1, "method": "getblockcount"})
        self.assertEqual((status, answer["error"]["code"]), (400, INVALID_REQUEST))

    def test_notifications(self):
        self.assertEqual(self.ask({"jsonrpc": "2.0", "method": "getblockcount"}), (204, None))
        # Without a version there are none: null is an id.
        status, answer = self.ask({"method": "getblockcount"})
        self.assertEqual((status, answer["result"]), (200, 0))

    def test_batches(self):
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "getblockcount"},
                 {"id": 2, "method": "getblockhash", "params": [0]},
                 {"jsonrpc": "2.0", "method": "getblockcount"},
                 {"jsonrpc": "2.0", "id": 3, "method": "getblockhash", "params": [9]},
                 17]
        status, answers = self.ask(batch)
        self.assertEqual(status, 200)
        self.assertEqual([answer.get("id") for answer in answers[:3]], [1, 2, 3])
        self.assertEqual(answers[0]["result"], 0)
        self.assertEqual(answers[1], {"result": GENESIS, "error": None, "id": 2})
        self.assertEqual(answers[2]["error"]["code"], BAD_VALUE)
        self.assertEqual(answers[3]["error"]["code"], INVALID_REQUEST)
        self.assertEqual(len(answers), 4)
        self.assertEqual(self.ask([]), (200, []))
        self.assertEqual(self.ask([{"jsonrpc": "2.0", "method": "getblockcount"}]), (204, None))

    def test_malformed(self):
        for body, wanted in (("", NO_JSON), ("{", NO_JSON), ("17", NO_JSON), ("[1", NO_JSON)):
            status, answer = self.ask(body)
            self.assertEqual((status, answer["error"]["code"]), (500, wanted), body)
        for body in ({"id": 1}, {"id": 1, "method": 5},
                     {"id": 1, "method": "getblockcount", "params": 5},
                     {"id": 1, "jsonrpc": 2, "method": "getblockcount"}):
            status, answer = self.ask(body)
            self.assertEqual((status, answer["error"]["code"]), (400, INVALID_REQUEST), body)

    def test_arguments(self):
        rpc = self.main.rpc
        self.assertEqual(rpc("getblockhash", height=0), GENESIS)
        self.assertEqual(rpc("getblock", blockhash=GENESIS, verbosity=0),
                         rpc("getblock", GENESIS, 0))
        self.assertEqual(rpc("getblock", GENESIS, True), rpc("getblock", GENESIS, 1))
        self.assertEqual(rpc("getblock", args=[GENESIS], verbosity=0), rpc("getblock", GENESIS, 0))
        self.assert_rpc_error(BAD_VALUE, "Unknown named parameter", rpc, "getblockhash", depth=0)
        self.assert_rpc_error(USAGE, "getblockhash", rpc, "getblockhash")
        self.assert_rpc_error(USAGE, "getblockcount", rpc, "getblockcount", 1)
        self.assert_rpc_error(WRONG_TYPE, "", rpc, "getblockhash", "zero")
        self.assert_rpc_error(WRONG_TYPE, "", rpc, "getblock", 5)
        self.assert_rpc_error(WRONG_TYPE, "expected type string", rpc, "getblockstats", 0, [5])
        self.assert_rpc_error(WRONG_TYPE, "expected type string", rpc, "logging", [5])
        self.assert_rpc_error(BAD_VALUE, "none/x", rpc, "dumptxoutset", str(self.dir / "none/x"),
                              "latest")
        present = str(self.dir)  # type and options are judged before the path, as in Core
        for more, wanted in (((), "Invalid snapshot type \"\" specified"),
                             ((None, None), "Invalid snapshot type \"\" specified"),
                             (("latest", {"rollback": 0}), "\"latest\" specified with rollback"),
                             (("latest",), "already exists")):
            self.assert_rpc_error(BAD_VALUE, wanted, rpc, "dumptxoutset", present, *more)
        self.assert_rpc_error(BAD_VALUE, "out of range", rpc, "getblockhash", -1)
        self.assert_rpc_error(NOT_FOUND, "Block not found", rpc, "getblock", "00" * 32)
        self.assert_rpc_error(BAD_VALUE, "must be of length 64", rpc, "getblock", "00")
        self.assert_rpc_error(BAD_VALUE, "must be hexadecimal", rpc, "getblock", "zz" * 32)

    def test_help(self):
        listed = self.main.rpc("help")
        for call in CALLS:
            if call not in HIDDEN:
                self.assertIn(f"\n{call}", "\n" + listed)
            self.assertTrue(self.main.rpc("help", call).startswith(call))
        for line in listed.splitlines():
            if line and not line.startswith("=="):
                text = self.main.rpc("help", line.split()[0])
                self.assertTrue(text.startswith(line), line)
                for part in ("Result", "Examples" if "Examples" in text else "Result"):
                    self.assertIn(part, text, line)
        self.assertEqual(self.main.rpc("help", "nothing"), "help: unknown command: nothing")
        self.assertFalse(listed.endswith("\n"))
        lines = listed.splitlines()
        for line in ("stop", "help ( \"command\" )", "getblockstats hash_or_height ( stats )",
                     "logging ( [\"include_category\",...] [\"exclude_category\",...] )",
                     "dumptxoutset \"path\" ( \"type\" {\"rollback\":n,\"in_memory\":bool,...} )",
                     "getblock \"blockhash\" ( verbosity )", "preciousblock \"blockhash\""):
            self.assertIn(line, lines)
        text = self.main.rpc("help", "getblock")
        self.assertIn("\n> bitcoin-cli getblock \"blockhash\" 2\n> curl --user myusername "
                      "--data-binary '{\"jsonrpc\": \"2.0\", \"id\": \"curltest\", \"method\": "
                      "\"getblock\", \"params\": [\"blockhash\", 2]}' -H 'content-type: "
                      "application/json' http://127.0.0.1:8332/\n", text)

    def test_conversions(self):
        table = self.main.rpc("help", "dump_all_command_conversions")
        for row in (["getblock", 0, "blockhash", True], ["getblock", 1, "verbosity", False],
                    ["getblock", 1, "verbose", False], ["stop", 0, "wait", False],
                    ["dumptxoutset", 2, "options", False], ["dumptxoutset", 2, "rollback", False],
                    ["echojson", 9, "arg9", True]):
            self.assertIn(row, table)

    def test_arguments_by_name(self):
        rpc = self.main.rpc
        self.assertEqual(rpc("echo", arg2="c", args=["a"]), ["a", None, "c"])
        self.assertEqual(rpc("echo", args=["a", 5, {}]), ["a", 5, {}])
        for message, named in (
                ("Parameter arg0 specified twice both as positional and named argument",
                 {"arg0": 1, "args": ["a"]}),
                ("Parameter arg1 specified twice both as positional and named argument",
                 {"arg1": 1, "args": ["a", None]}),
                ("Unknown named parameter none", {"none": 1})):
            self.assert_rpc_error(BAD_VALUE, message, rpc, "echo", **named)
        self.assert_rpc_error(BAD_VALUE, "Unknown named parameter verbose", rpc, "getblock",
                              blockhash=GENESIS, verbosity=1, verbose=True)
        self.assert_rpc_error(BAD_VALUE, "Parameter options conflicts with parameter rollback", rpc,
                              "dumptxoutset", path="x", options={}, rollback=1)
        self.assert_rpc_error(USAGE, "Internal bug detected", rpc, "echo",
                              arg9="trigger_internal_bug")

    def test_numbers_out_of_range(self):
        rpc = self.main.rpc
        for call in (("getblockhash", 2**31), ("getblock", GENESIS, 2**31),
                     ("getblockstats", 2**31), ("gettxout", GENESIS, 2**32),
                     ("gettxout", GENESIS, -1), ("waitforblockheight", 2**31),
                     ("getchaintxstats", -2**31 - 1), ("verifychain", 2**63),
                     ("getrawtransaction", GENESIS, 1.5)):
            self.assert_rpc_error(USAGE, "JSON integer out of range", rpc, *call)
        for name in ("none", "0", "nothing"):
            self.assert_rpc_error(BAD_VALUE, f"unknown logging category {name}", rpc, "logging",
                                  [name])

    def test_the_empty_pool(self):
        rpc = self.main.rpc
        wait_until(lambda: rpc("getmempoolinfo")["loaded"], "the end of imports")
        self.assertEqual(rpc("getmempoolinfo")["size"], 0)
        self.assertEqual(rpc("getrawmempool"), [])
        self.assertEqual(rpc("getrawmempool", True), {})
        self.assertEqual(rpc("getrawmempool", False, True), {"txids": [], "mempool_sequence": 1})
        self.assert_rpc_error(BAD_VALUE, "Verbose results cannot", rpc, "getrawmempool", True, True)
        self.assertIsNone(rpc("syncwithvalidationinterfacequeue"))

    def test_a_block_without_its_undo_data(self):
        """It is shown, unless what it spends is asked for."""
        rpc = self.main.rpc
        block, = rpc("generatetodescriptor", 1, "raw(51)")
        coinbase = rpc("getblock", block)["tx"][0]
        undo = self.main.datadir / "regtest" / "blocks" / "rev00000.dat"
        undo.rename(undo.with_name("elsewhere"))
        for call in (("getblock", block, 0), ("getblock", block, 1),
                     ("getrawtransaction", coinbase, 1, block), ("gettxoutproof", [coinbase])):
            self.assertTrue(rpc(*call))
        for call in (("getblock", block, 2), ("getblock", block, 3)):
            self.assert_rpc_error(-32603, "Undo data expected but can't be read.", rpc, *call)
        self.assert_rpc_error(USAGE, "Can't read undo data from disk.", rpc, "getblockstats", block)
        undo.with_name("elsewhere").rename(undo)
        self.assertTrue(rpc("getblock", block, 2))

    def test_amounts_have_eight_decimals(self):
        _, text = self.main.post(json.dumps({"id": 1, "method": "gettxoutsetinfo"}))
        self.assertIn('"total_amount":0.00000000', text)

    def check_locked_memory(self, memory):
        """The login is a secret that every node has."""
        self.assertEqual(list(memory), ["used", "free", "total", "locked", "chunks_used",
                                        "chunks_free"])
        for name in ("used", "free", "total", "chunks_used", "chunks_free"):
            self.assertGreater(memory[name], 0, name)
        self.assertEqual(memory["used"] + memory["free"], memory["total"])
        self.assertIn(memory["locked"], (0, memory["total"]))
        self.assertLessEqual(16 * memory["chunks_used"], memory["used"])

    def test_without_memory_that_may_be_locked(self):
        """ulimit -l 0: the node continues, and logs that no memory is locked."""
        node = self.node("regtest")
        node.start(prefix=["prlimit", "--memlock=0"])
        memory = node.rpc("getmemoryinfo")["locked"]
        self.check_locked_memory(memory)
        if os.geteuid() != 0:  # which may lock all it wants
            self.assertEqual(memory["locked"], 0)

    def test_simple_calls(self):
        rpc = self.main.rpc
        self.assertGreaterEqual(rpc("uptime"), 0)
        self.check_locked_memory(rpc("getmemoryinfo")["locked"])
        before = rpc("logging")
        self.assertIs(rpc("logging", ["rpc"])["rpc"], True)
        self.assertIs(rpc("logging", [], ["rpc"])["rpc"], before["rpc"])
        states = rpc("getchainstates")
        self.assertEqual(states["headers"], 0)
        self.assertEqual(states["chainstates"][0]["bestblockhash"], GENESIS)
        self.assertEqual(rpc("getchaintips"), [{"height": 0, "hash": GENESIS, "branchlen": 0,
                                                "status": "active"}])
        self.assertIsNone(rpc("gettxout", "ab" * 32, 0))
        raw = rpc("getblock", GENESIS, 2)["tx"][0]
        decoded = rpc("decoderawtransaction", raw["hex"])
        self.assertEqual(decoded["txid"], raw["txid"])
        self.assert_rpc_error(-22, "TX decode failed", rpc, "decoderawtransaction", "00")

    def test_places_and_verbs(self):
        self.assertEqual(self.main.post("{}", path="/elsewhere")[0], 404)
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", self.main.port)
        connection.request("GET", "/", headers={"Authorization": "Basic " + self.main.login()})
        self.assertEqual(connection.getresponse().status, 405)
        connection.close()


    def test_the_version_is_that_of_the_calls(self):
        info = self.main.rpc("getnetworkinfo")
        self.assertEqual((info["version"], info["protocolversion"]), (310000, 70017))
        self.assertRegex(info["subversion"], r"^/Satoshi:31\.0\.0/ibd-booster:0\.\d+\.\d+/$")
        self.assertEqual([network["name"] for network in info["networks"]],
                         ["ipv4", "ipv6", "onion", "i2p", "cjdns"])
        done = subprocess.run([self.main.command()[0], "-version"], capture_output=True, text=True,
                              check=True)
        self.assertRegex(done.stdout.splitlines()[0], "^ibd-booster version v0[.][0-9.]+$")

    def test_the_log_names_the_call(self):
        self.main.rpc("logging", ["rpc"])
        self.main.rpc("getblockcount")
        self.assertIn("ThreadRPCServer method=getblockcount user=__cookie__ id=1",
                      self.main.log_text)


class Logins(FunctionalTest):
    def salted(self, user, password, salt="8a6f"):
        digest = hmac.new(salt.encode(), password.encode(), hashlib.sha256).hexdigest()
        return f"-rpcauth={user}:{salt}${digest}"

    def status(self, node, method="getblockcount", **more):
        return node.post(json.dumps({"id": 1, "method": method}), **more)[0]

    def test_cookie(self):
        node = self.node().start()
        cookie = node.net_dir / ".cookie"
        self.assertEqual(cookie.stat().st_mode & 0o777, 0o600)
        user, secret = cookie.read_text().split(":")
        self.assertEqual(user, "__cookie__")
        self.assertEqual(self.status(node, authorization=basic(user, secret)), 200)
        for wrong in (basic(user, secret[:-1]), basic(user, ""), basic("", secret), "", "Basic",
                      "Basic !!!!", "Bearer " + secret):
            self.assertEqual(self.status(node, authorization=wrong), 401, wrong)
        node.stop()
        self.assertFalse(cookie.exists())

    def test_password(self):
        node = self.node("regtest", "-rpcuser=anna", "-rpcpassword=pa:ss").launch()
        wait_until(lambda: (node.net_dir / "debug.log").exists(), "the log")
        good = basic("anna", "pa:ss")

        def ready():
            try:
                return self.status(node, authorization=good) == 200
            except OSError:
                return False
        wait_until(ready, "an answer to the password")
        self.assertFalse((node.net_dir / ".cookie").exists())
        self.assertEqual(self.status(node, authorization=basic("anna", "pass")), 401)
        answer = node.cli("-rpcuser=anna", "-rpcpassword=pa:ss", "getblockcount")
        self.assertEqual(answer.stdout.strip(), "0")
        secret = subprocess.run([node.cli("-version").args[0], f"-datadir={node.datadir}",
                                 "-regtest", f"-rpcport={node.port}", "-rpcuser=anna",
                                 "-stdinrpcpass", "getblockcount"], input="pa:ss\n", text=True,
                                capture_output=True, check=False)
        self.assertEqual(secret.stdout.strip(), "0", secret.stderr)

    def test_salted_and_whitelists(self):
        node = self.node("regtest", self.salted("ben", "one"), self.salted("cleo", "two", "ff"),
                         "-rpcwhitelist=ben:getblockcount, getblockhash",
                         "-rpcwhitelistdefault=0").start()
        ben, cleo = basic("ben", "one"), basic("cleo", "two")
        self.assertEqual(self.status(node, authorization=ben), 200)
        self.assertEqual(self.status(node, "uptime", authorization=ben), 403)
        self.assertEqual(self.status(node, "uptime", authorization=cleo), 200)
        self.assertEqual(self.status(node, authorization=basic("ben", "two")), 401)
        batch = json.dumps([{"id": 1, "method": "getblockcount"}, {"id": 2, "method": "uptime"}])
        self.assertEqual(node.post(batch, authorization=ben)[0], 403)

    def test_addresses(self):
        node = self.node("regtest", "-rpcbind=127.0.0.1", "-rpcallowip=192.0.2.0/24").start()
        self.assertEqual(self.status(node), 200)
        not_started = "Error: Unable to start HTTP server. See debug log for details.\n"
        status, errors = self.node().run("-rpcallowip=no-address")
        self.assertEqual(status, 1)
        self.assertTrue(errors.startswith(
            "Error: Invalid -rpcallowip subnet specification: no-address. Valid values"), errors)
        self.assertTrue(errors.endswith("\n" + not_started), errors)
        for option, why in (("-rpcauth=nosalt", "Invalid -rpcauth argument."),
                            ("-rpccookiefile=none/x", "Unable to open cookie authentication")):
            node = self.node()
            self.assertEqual(self.assert_refused(node, option), not_started)
            self.assertIn(why, node.log_text)
        for option in ("-rpcport=0", "-rpcport=x"):
            self.assert_refused(self.node(), option, saying="Invalid port specified in -rpcport: ")

    def test_the_server_can_be_switched_off(self):
        node = self.node().launch("-server=0")
        wait_until(lambda: "init message" in node.log_text, "the start")
        self.assertFalse((node.net_dir / ".cookie").exists())
        node.process.terminate()
        self.assertEqual(node.wait()[0], 0)


class CommandLine(FunctionalTest):
    """bitcoin-cli."""

    def test_calls(self):
        node = self.node().start()
        done = node.cli("getblockhash", 0)
        self.assertEqual((done.returncode, done.stdout), (0, GENESIS + "\n"))
        done = node.cli("-named", "getblock", f"blockhash={GENESIS}", "verbosity=1")
        self.assertEqual(json.loads(done.stdout)["hash"], GENESIS)
        done = node.cli("getblockhash", 9)
        self.assertEqual(done.returncode, 8)
        self.assertEqual(done.stderr, "error code: -8\nerror message:\nBlock height out of range\n")
        done = node.cli("nothing")
        self.assertEqual((done.returncode, done.stdout), (-NO_METHOD & 0xff, ""))
        self.assertIn("Method not found", done.stderr)
        done = node.cli("getblockhash", "five")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("JSON", done.stderr)

    def asked_by(self, *calls):
        """Paths and requests that bitcoin-cli sends to a server that always answers 7, and its
        output for each call; a call is its options and words, and how many requests it makes."""
        asked, printed = [], []

        def answer(path, _login, request):
            asked.append((path, request))
            return 200
        with served_by(answer) as server:
            node = self.node()
            node.port = server.server_port
            for words, requests in calls:
                thread = threading.Thread(
                    target=lambda n=requests: [server.handle_request() for _ in range(n)])
                thread.start()
                done = node.cli("-rpcpassword=x", *words)
                thread.join()
                self.assertEqual(done.returncode, 0, done.stderr)
                printed.append(done.stdout)
        return asked, printed

    def test_the_id_of_a_request(self):
        asked, printed = self.asked_by((("getblockcount",), 1),
                                       (("-rpcid=mine", "getblockcount"), 1))
        self.assertEqual([(path, request["id"]) for path, request in asked],
                         [("/", "1"), ("/", "mine")])
        self.assertEqual(printed, ["7\n", "7\n"])

    def test_wallets_and_mining(self):
        asked, printed = self.asked_by((("-rpcwallet=a b/\u00e9", "getbalance"), 1),
                                       (("-rpcwallet=", "getbalance"), 1),
                                       (("-rpcwallet=w", "-norpcwallet", "getbalance"), 1),
                                       (("-rpcwallet=w", "-generate", "3"), 2))
        self.assertEqual([path for path, _ in asked],
                         ["/wallet/a%20b%2F%C3%A9", "/wallet/", "/", "/wallet/w", "/wallet/w"])
        self.assertEqual([(request["method"], request["params"]) for _, request in asked[3:]],
                         [("getnewaddress", []), ("generatetoaddress", [3, "7"])])
        self.assertEqual(json.loads(printed[3]), {"address": "7", "blocks": "7"})
        node = self.node().start()
        done = node.cli("-generate")
        self.assertEqual((done.returncode, done.stderr),
                         (-NO_METHOD & 0xff, f"error code: {NO_METHOD}\nerror message:\n"
                                             "Method not found\n"))
        done = node.cli("-rpcwallet=w", "getblockcount")
        self.assertEqual((done.returncode, done.stderr), (1, "error: no response from server\n"))

    def test_getinfo(self):
        node = self.node().start()
        done = node.cli("-getinfo")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("Chain: regtest", "Blocks: 0", "Headers: 0"):
            self.assertIn(part, done.stdout)

    def test_nobody_there(self):
        node = self.node()
        done = node.cli("getblockcount")
        self.assertEqual(done.returncode, 1)
        self.assertIn("(Could not connect to the server)\n\nMake sure", done.stderr)
        self.assertEqual(node.cli().returncode, 1)
        done = node.cli("-rpcwait", "-rpcwaittimeout=1", "getblockcount")
        self.assertEqual(done.returncode, 1)

    def test_rpcwait(self):
        node = self.node()
        waiting = subprocess.Popen([*node.cli("-version").args[:-1], "-rpcwait", "getblockcount"],
                                   stdout=subprocess.PIPE, text=True)
        node.start()
        out, _ = waiting.communicate(timeout=600)
        self.assertEqual((waiting.returncode, out), (0, "0\n"))

    def test_rpcwait_while_the_cookie_is_written(self):
        """A node may listen by the time of the call and not yet when the cookie was looked for."""
        for before in (None, "old:login"):
            node, logins = self.node(), []
            cookie = node.net_dir / ".cookie"
            if before:
                cookie.parent.mkdir(parents=True)
                cookie.write_text(before)

            def answer(_path, login, _request, cookie=cookie, logins=logins):
                logins.append(login)
                cookie.parent.mkdir(parents=True, exist_ok=True)
                cookie.write_text("new:login")
                return 200 if login == basic("new", "login") else 401
            with served_by(answer) as server:
                thread = threading.Thread(target=server.serve_forever)
                thread.start()
                node.port = server.server_port
                once = node.cli("getblockcount")
                self.assertEqual(once.returncode, 1)
                cookie.write_text(before) if before else cookie.unlink()
                done = node.cli("-rpcwait", "getblockcount")
                self.assertEqual((done.returncode, done.stdout), (0, "7\n"), done.stderr)
                self.assertEqual(len(logins), 3)
                # A login that stays wrong is not tried again.
                wrong = node.cli("-rpcwait", "-rpcuser=x", "-rpcpassword=y", "getblockcount")
                self.assertEqual(wrong.returncode, 1)
                server.shutdown()
                thread.join()

    def test_client_timeout(self):
        node = self.node().start()
        done = node.cli("-rpcclienttimeout=1", "waitfornewblock", "30000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("(timeout)\n\nMake sure", done.stderr)

    def test_wrong_login(self):
        node = self.node().start()
        done = node.cli("-rpcuser=x", "-rpcpassword=y", "getblockcount")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: Authorization failed: Incorrect rpcuser or rpcpassword were "
                      "specified. Configuration file: (", done.stderr)
        done = node.cli("-norpccookiefile", "getblockcount")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Cookie file was disabled via -norpccookiefile", done.stderr)
        done = node.cli("-rpccookiefile=none", "getblockcount")
        self.assertIn("Failed to read cookie file and no rpcpassword", done.stderr)

    def test_stdin(self):
        node = self.node().start()
        done = subprocess.run([*node.cli("-version").args[:-1], "-stdin", "getblock"], text=True,
                              input=f"{GENESIS}\n0\n", capture_output=True, check=False)
        self.assertEqual(done.stdout.strip(), node.rpc("getblock", GENESIS, 0))


class Readme(FunctionalTest):
    def test_scripts_are_valid(self):
        for script in ("contrib/quickstart.sh", "test/run.sh", ".ci/run", "depends/install.sh"):
            done = subprocess.run(["bash", "-n", str(ROOT / script)], check=False)
            self.assertEqual(done.returncode, 0, script)
        done = subprocess.run([str(ROOT / "contrib/quickstart.sh"), "--help"], check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--outputs", done.stdout)
