"""Runs lnd, a Lightning node with a wallet on the chain, as a client of a bitcoind on regtest: it
polls RPC, as where there is no ZMQ.

    with LndNode(node) as lnd:
        lnd.create_wallet()
        lnd.get("/v1/getinfo")
"""

import base64
import contextlib
import http.client
import json
import pathlib
import subprocess
import tempfile

from btcd_peer import LOG_TAIL, end_process, free_ports, wait_until
from interop_env import built_program

START_SECONDS = 60
SYNC_SECONDS = 120
STOP_SECONDS = 30
POLL = "200ms"
PASSWORD = base64.b64encode(b"interop test").decode()


class LndError(Exception):
    """An answer other than 200."""


class LndNode:
    def __init__(self, node):
        self.node, self.process = node, None

    def __enter__(self):
        self.program = built_program("build_lnd.sh", "IBD_LND")
        self._folder = tempfile.TemporaryDirectory(prefix="ibd-lnd-")
        self.dir = pathlib.Path(self._folder.name)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        rpc_port, self.rest_port = free_ports(2)
        command = [str(self.program), f"--lnddir={self.dir}", "--bitcoin.regtest",
                   "--bitcoin.node=bitcoind", f"--bitcoind.rpchost=127.0.0.1:{self.node.port}",
                   f"--bitcoind.rpccookie={self.node.net_dir / '.cookie'}",
                   "--bitcoind.rpcpolling", f"--bitcoind.blockpollinginterval={POLL}",
                   f"--bitcoind.txpollinginterval={POLL}", "--nolisten",
                   f"--rpclisten=127.0.0.1:{rpc_port}", "--no-rest-tls", "--no-macaroons",
                   f"--restlisten=127.0.0.1:{self.rest_port}"]
        self._log = open(self.dir / "output", "ab")
        self.process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT,
                                        cwd=self.dir)
        self._wait(lambda: self._state() not in (None, "WAITING_TO_START"), START_SECONDS,
                   "lnd's REST server")

    def _state(self):
        if self.process.poll() is not None:
            raise AssertionError(f"lnd ended with {self.process.returncode}")
        try:
            return self.get("/v1/state")["state"]
        except (OSError, http.client.HTTPException):
            return None

    def _wait(self, condition, seconds, what):
        try:
            return wait_until(condition, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}, lnd printed:\n{self.output()}") from None

    def output(self):
        """The end of what it printed."""
        return (self.dir / "output").read_text(errors="replace")[-LOG_TAIL:]

    def get(self, path):
        return self._request("GET", path)

    def post(self, path, **members):
        return self._request("POST", path, json.dumps(members))

    def _request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.rest_port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body)
            answer = connection.getresponse()
            text = answer.read()
        if answer.status != http.client.OK:
            raise LndError(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text)

    def create_wallet(self):
        words = self.get("/v1/genseed")["cipher_seed_mnemonic"]
        self.post("/v1/initwallet", wallet_password=PASSWORD, cipher_seed_mnemonic=words)
        self._wait_for_server()

    def unlock_wallet(self):
        self.post("/v1/unlockwallet", wallet_password=PASSWORD)
        self._wait_for_server()

    def _wait_for_server(self):
        self._wait(lambda: self._state() == "SERVER_ACTIVE", SYNC_SECONDS, "lnd with a wallet")

    def wait_for_tip(self):
        """Until it has followed to the node's best block."""
        best = self.node.rpc("getbestblockhash")

        def there():
            info = self.get("/v1/getinfo")
            return info["synced_to_chain"] and info["block_hash"] == best
        self._wait(there, SYNC_SECONDS, f"lnd at {best}")

    def wait_for_balance(self, accepts):
        """The confirmed satoshis of the wallet, once they are what accepts() wants."""
        def balance():
            confirmed = int(self.get("/v1/balance/blockchain")["confirmed_balance"])
            return (confirmed,) if accepts(confirmed) else None
        return self._wait(balance, SYNC_SECONDS, "lnd's balance")[0]

    def stop(self):
        end_process(self.process, STOP_SECONDS)
        self._log.close()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.stop()
        self._folder.cleanup()
