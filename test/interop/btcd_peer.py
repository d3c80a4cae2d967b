"""Runs btcd on loopback as a peer for interop tests: an independent node, in another language.

    with BtcdPeer(network="regtest") as peer:
        peer.rpc("getblockcount")
        peer.p2p_address                    # "127.0.0.1:PORT", to connect our node to
    with BtcdPeer(connect=["127.0.0.1:18444"]) as peer:   # or let it connect to ours
"""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import time

from interop_env import built_program
from ports import free_port

NETWORK_OPTIONS = {"main": [], "testnet3": ["--testnet"], "testnet4": ["--testnet4"],
                   "signet": ["--signet"], "regtest": ["--regtest"], "simnet": ["--simnet"]}
# Pay-to-pubkey-hash of twenty zero bytes, for blocks it mines on regtest.
REGTEST_ADDRESS = "mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8"
START_SECONDS = 60
STOP_SECONDS = 30
LOG_TAIL = 3000


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")


def wait_until(condition, seconds, what):
    """Polls until condition() is true; its last value is returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def end_process(process, seconds):
    """Asks a process to end, and kills it if it has not after that time."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class BtcdPeer:
    def __init__(self, network="regtest", connect=(), extra=()):
        self.network, self.connect, self.extra = network, list(connect), list(extra)
        self.process = None

    def __enter__(self):
        program = built_program("build_btcd.sh", "IBD_BTCD")
        self._folder = tempfile.TemporaryDirectory(prefix="ibd-btcd-")
        self.dir = pathlib.Path(self._folder.name)
        p2p_port, self.rpc_port = free_port(), free_port()
        self.p2p_address = f"127.0.0.1:{p2p_port}"
        try:
            self._start(program)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, program):
        (self.dir / "btcd.conf").touch()
        command = [str(program), *NETWORK_OPTIONS[self.network],
                   f"--configfile={self.dir}/btcd.conf", f"--datadir={self.dir}/data",
                   f"--logdir={self.dir}/logs", f"--listen={self.p2p_address}",
                   f"--rpclisten=127.0.0.1:{self.rpc_port}", "--rpcuser=interop",
                   "--rpcpass=interop", "--notls", "--nodnsseed", "--nobanning",
                   *(f"--connect={address}" for address in self.connect), *self.extra]
        if self.network == "regtest":
            command.append(f"--miningaddr={REGTEST_ADDRESS}")
        self._log = open(self.dir / "output", "w+b")
        # HOME: it makes its default folder there with any options.
        self.process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT,
                                        cwd=self.dir, env={**os.environ, "HOME": str(self.dir)})
        wait_until(self._ready, START_SECONDS, "btcd's RPC server")

    def _ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"btcd ended with {self.process.returncode}:\n{self.output()}")
        try:
            return self.rpc("getblockcount") is not None
        except OSError:
            return False

    def output(self):
        """The end of its output."""
        return (self.dir / "output").read_text(errors="replace")[-LOG_TAIL:]

    def rpc(self, method, *params):
        connection = http.client.HTTPConnection("127.0.0.1", self.rpc_port, timeout=60)
        with contextlib.closing(connection):
            token = base64.b64encode(b"interop:interop").decode()
            body = json.dumps({"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
            connection.request("POST", "/", body, {"Authorization": f"Basic {token}",
                                                   "Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        if answer.get("error"):
            raise RpcError(answer["error"])
        return answer["result"]

    def block(self, height):
        return bytes.fromhex(self.rpc("getblock", self.rpc("getblockhash", height), 0))

    def wait_for_tip(self, block_hash, seconds=60):
        try:
            wait_until(lambda: self.rpc("getbestblockhash") == block_hash, seconds,
                       f"btcd at {block_hash}")
        except AssertionError as error:
            raise AssertionError(f"{error}, it printed:\n{self.output()}") from None

    def __exit__(self, *_):
        if self.process:
            end_process(self.process, STOP_SECONDS)
            self._log.close()
        self._folder.cleanup()
