"""Runs electrs, an Electrum server over our node, and asks it.

    with ElectrsServer(node, folder) as server:
        server.wait_for_height(101)
        server.balance(script)
        server.call("blockchain.transaction.get", txid)
"""

import contextlib
import hashlib
import json
import socket
import subprocess

from btcd_peer import end_process, wait_until
from framework import free_port
from interop_env import built_program

SECONDS = 60


class NoIndexYet(AssertionError):
    """electrs knows a block's header before it has indexed the block."""


class ElectrsServer:
    def __init__(self, node, folder):
        """A running node that can be called at `p2p_port`; a folder for the index and the log."""
        self.node, self.folder, self.port = node, folder, free_port()
        self._line, self._stream = None, None

    def __enter__(self):
        program = built_program("build_electrs.sh", "IBD_ELECTRS")
        self.folder.mkdir(exist_ok=True)
        self._log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            [program, "--skip-default-conf-files", "--network=regtest", "--log-filters=INFO",
             f"--db-dir={self.folder}", f"--cookie-file={self.node.net_dir / '.cookie'}",
             f"--daemon-rpc-addr=127.0.0.1:{self.node.port}", *self._p2p(program),
             f"--electrum-rpc-addr=127.0.0.1:{self.port}"],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        try:
            wait_until(self._connect, SECONDS, "electrs")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _p2p(self, program):
        """Later versions read blocks over REST."""
        usage = subprocess.run([program, "--help"], stdout=subprocess.PIPE, check=True, text=True)
        known = "--daemon-p2p-addr" in usage.stdout
        return [f"--daemon-p2p-addr=127.0.0.1:{self.node.p2p_port}"] if known else []

    def _connect(self):
        if self.process.poll() is not None:
            raise AssertionError(f"electrs ended with {self.process.returncode}:\n{self.log()}")
        with contextlib.suppress(ConnectionRefusedError):
            self._line = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
            self._stream = self._line.makefile("rw")
            return True
        return False

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def call(self, method, *params):
        self._stream.write(json.dumps({"id": 0, "method": method, "params": params}) + "\n")
        self._stream.flush()
        answer = json.loads(self._stream.readline())
        if answer.get("error"):
            early = answer["error"].get("message") == "unavailable index"
            raise (NoIndexYet if early else AssertionError)(f"{method}: {answer['error']}")
        return answer["result"]

    def wait_for_height(self, height):
        """An empty list of headers above the tip ends the waiting."""
        wait_until(lambda: self.call("blockchain.block.headers", height, 1)["count"] == 1, SECONDS,
                   f"electrs at {height}")
        wait_until(self._has_index, SECONDS, f"electrs' index at {height}")

    def _has_index(self):
        try:
            self.balance(b"")
        except NoIndexYet:
            return False
        return True

    def _of_script(self, method, script):
        return self.call(f"blockchain.scripthash.{method}",
                         hashlib.sha256(script).digest()[::-1].hex())

    def balance(self, script):
        """(satoshis in blocks, satoshis in the pool) of an output script."""
        found = self._of_script("get_balance", script)
        return found["confirmed"], found["unconfirmed"]

    def wait_for_balance(self, script, confirmed, unconfirmed):
        wait_until(lambda: self.balance(script) == (confirmed, unconfirmed), SECONDS,
                   f"a balance of {confirmed} and {unconfirmed}")

    def history(self, script):
        """(height, txid) of the transactions; height 0: in the pool."""
        found = self._of_script("get_history", script)
        return [(item["height"], item["tx_hash"]) for item in found]

    def wait_for_history(self, script, *wanted):
        """electrs may look at a new block before it looks at the pool again."""
        wait_until(lambda: self.history(script) == list(wanted), SECONDS, f"a history of {wanted}")

    def __exit__(self, *_):
        if self._line:
            self._stream.close()
            self._line.close()
        end_process(self.process, SECONDS)
        self._log.close()
