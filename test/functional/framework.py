"""Drives real bitcoind and bitcoin-cli processes: data directories, RPC, logs, ends of any kind.

    class Something(FunctionalTest):
        def test_it(self):
            node = self.node("regtest").start()
            node.rpc("getblockcount")

A test owns a temporary folder that is removed when it passes; nodes still running are killed at
its end. Programs come from the folder named by IBD_BINDIR, which run.py sets from --bindir.
"""

import base64
import decimal
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import interop_env
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTRIB = ROOT / "contrib" / "ibd-booster-hints-gen"
RPC_IN_WARMUP = -28
NEEDS_COINS = ("gettxout", "00" * 32, 0)  # a call that waits for the chainstate
BURNT = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"  # where mined coins may go
NO_UNDO = "-ibdboosterundo=0"  # for what looks at the booster alone
SANITIZED = "IBD_SANITIZED" in os.environ  # the programs take more memory and addresses
TIMEOUT = 900  # seconds; generous for slow CI machines; no test passes only because of it
FOLDERS = {"main": "", "test": "testnet3", "testnet4": "testnet4", "signet": "signet",
           "regtest": "regtest"}


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.message = error["code"], error["message"]


class StartError(Exception):
    """bitcoind ended before it answered; the text is its output to stderr."""


def bindir():
    return pathlib.Path(os.environ.get("IBD_BINDIR", ROOT / "build" / "bin")).resolve()


def program(name):
    path = bindir() / name
    if not path.exists():
        interop_env.unavailable(f"no {path}")
    return str(path)


def loads(text):
    """JSON with amounts as they were written."""
    return json.loads(text, parse_float=decimal.Decimal)


def wait_until(condition, what, timeout=TIMEOUT):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.02)


def hints_tool(*args):
    """Runs bitcoin-hints, which has to succeed."""
    subprocess.run([program("bitcoin-hints"), *map(str, args)], check=True,
                   stdout=subprocess.DEVNULL)


def run_tool(name, *arguments):
    """One of the hints tools: (exit code, stdout, stderr)."""
    done = subprocess.run([sys.executable, str(CONTRIB / name), *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Node:
    """One bitcoind on one data directory; may be started again and again."""

    def __init__(self, datadir, chain="regtest", args=()):
        self.datadir, self.chain = pathlib.Path(datadir), chain
        self.datadir.mkdir(parents=True, exist_ok=True)
        self.args = list(args)
        self.port = free_port()
        self.process = None
        self.binary = None  # None: bitcoind of bindir()
        self._errors = None

    @property
    def net_dir(self):
        return self.datadir / FOLDERS[self.chain]

    @property
    def blocks_dir(self):
        elsewhere = [arg.partition("=")[2] for arg in self.args if arg.startswith("-blocksdir=")]
        above = pathlib.Path(elsewhere[-1]) / FOLDERS[self.chain] if elsewhere else self.net_dir
        return above / "blocks"

    @property
    def log_text(self):
        path = self.net_dir / "debug.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def command(self, *args):
        given = [*self.args, *map(str, args)]
        return [str(self.binary or program("bitcoind")), f"-datadir={self.datadir}",
                f"-chain={self.chain}", f"-rpcport={self.port}", "-printtoconsole=0",
                *self.no_peers(given), *given]

    @staticmethod
    def no_peers(args):
        """Options that isolate a node if its test has no options about connections."""
        names = {arg.lstrip("-").split("=")[0] for arg in args}
        return [] if names & {"connect", "noconnect", "listen", "bind"} else ["-connect=0"]

    def launch(self, *args, prefix=()):
        """Starts the process and does not wait for it."""
        assert not self.running, "runs already"
        self._errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*prefix, *self.command(*args)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self._errors)
        return self

    def start(self, *args, prefix=()):
        """Starts and waits until the chain can be asked for."""
        self.launch(*args, prefix=prefix)
        self.wait_for_rpc()
        return self

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def errors(self):
        """Its output to stderr so far."""
        self._errors.seek(0)
        return self._errors.read()

    def wait_for_rpc(self, *call):
        """Waits until a call is answered; without a call, until calls that need coins are."""
        def answers():
            if not self.running:
                raise StartError(f"status {self.process.returncode}: {self.errors}")
            try:
                self.rpc(*(call or NEEDS_COINS))
            except (OSError, http.client.HTTPException):
                return False
            except ValueError:  # refused without a word: the cookie was that of a node before
                return False
            except RpcError as error:
                if error.code != RPC_IN_WARMUP:
                    raise
                return False
            return True
        wait_until(answers, "an answer over RPC")

    def wait_for_tip(self, block_hash):
        """Blocks of a start option are connected while RPC answers."""
        wait_until(lambda: self.rpc("getbestblockhash") == block_hash, f"tip {block_hash}")
        return self

    def wait_for_height(self, height):
        wait_until(lambda: self.rpc("getblockcount") == height, f"height {height}")
        return self

    def wait_for_peers(self, count):
        """Waits until it has this many peers, all after the handshake; returns their getpeerinfo.
        """
        def established():
            peers = self.rpc("getpeerinfo")
            return len(peers) == count and all(peer["version"] for peer in peers)
        wait_until(established, f"{count} peers")
        return self.rpc("getpeerinfo")

    def run(self, *args, prefix=()):
        """Starts it and waits for its end, as with -stopatheight: (status, stderr)."""
        self.launch(*args, prefix=prefix)
        return self.wait()

    def wait(self):
        try:
            status = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            last = self.log_text.splitlines()[-20:]
            raise AssertionError("\n".join([f"still runs after {TIMEOUT} s:", *last])) from None
        return status, self.errors

    def stop(self):
        self.rpc("stop")
        status, errors = self.wait()
        assert status == 0, (status, errors)
        return self

    def kill(self):
        if self.running:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def login(self):
        cookie = (self.net_dir / ".cookie").read_text()
        return base64.b64encode(cookie.encode()).decode()

    def post(self, body, authorization=None, path="/", headers=None):
        """(HTTP status, text) of a request with any body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            if authorization is None:
                authorization = "Basic " + self.login()
            fields = {"Content-Type": "application/json", **(headers or {})}
            if authorization:
                fields["Authorization"] = authorization
            connection.request("POST", path, body, fields)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def rpc(self, method, *params, **named):
        call = {"id": 1, "method": method, "params": named or list(params)}
        _, text = self.post(json.dumps(call))
        answer = loads(text)
        if answer.get("error"):
            raise RpcError(answer["error"])
        return answer["result"]

    def cli(self, *args, options=()):
        """bitcoin-cli as a finished process."""
        return subprocess.run([program("bitcoin-cli"), f"-datadir={self.datadir}",
                               f"-chain={self.chain}", f"-rpcport={self.port}",
                               *options, *map(str, args)],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT)


class FunctionalTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ibd-functional-"))
        self.nodes = []
        self.addCleanup(self._clean)

    def _clean(self):
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def node(self, chain="regtest", *args, datadir=None):
        node = Node(datadir or self.dir / f"node{len(self.nodes)}", chain, args)
        self.nodes.append(node)
        return node

    def assert_rpc_error(self, code, part, call, *params, **named):
        with self.assertRaises(RpcError) as caught:
            call(*params, **named)
        self.assertEqual(caught.exception.code, code, caught.exception)
        self.assertIn(part, caught.exception.message)

    def assert_refused(self, node, *args, saying="", prefix=()):
        """bitcoind exits by itself with a non-zero status and one line with the reason; a list of
        details may follow."""
        status, errors = node.run(*args, prefix=prefix)
        self.assertEqual(status, 1, errors)
        lines = [line for line in errors.strip().splitlines() if not line.startswith("- ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertTrue(lines[0].startswith("Error: "), errors)
        self.assertIn(saying, errors)
        return errors


def besides_disk_warning(errors):
    """The output of a mainnet node to stderr, without the warning that this machine's disk cannot
    hold mainnet's chain."""
    lines = errors.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith('Warning: Disk space for "'))


def coins(node):
    """All that gettxoutsetinfo and getbestblockhash say about the coins, except their place."""
    out = dict(node.rpc("gettxoutsetinfo", "hash_serialized_3"))
    out["muhash"] = node.rpc("gettxoutsetinfo", "muhash")["muhash"]
    del out["disk_size"]
    return out


def building(node):
    """The folder in which the booster makes a chainstate and keeps the old one meanwhile."""
    return node.net_dir / "chainstate.ibdbooster"


def left_by_booster(node):
    """Names in the booster's folders except the lock, which remains like that of the datadir."""
    return [path.name for folder in (node.net_dir / "ibdbooster", building(node))
            for path in folder.glob("*") if path.name != ".lock"]


def tree_digest(folder, ignore=()):
    """Names, sizes and contents of everything below a folder, to see that nothing changed."""
    import hashlib
    out = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and path.name not in ignore:
            out[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return out
