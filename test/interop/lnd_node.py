"""Runs lnd, a Lightning node with a wallet on the chain, as a client of a bitcoind on regtest: it
polls RPC, or learns of blocks and transactions by ZeroMQ alone.

    with LndNode(node) as lnd:
    with LndNode(node, zmq={"rawblock": "tcp://127.0.0.1:28332", "rawtx": ...}) as lnd:
        lnd.create_wallet()
        lnd.get("/v1/getinfo")
        lnd.open_channel(other_lnd, 1_000_000)
"""

import base64
import contextlib
import http.client
import json
import pathlib
import subprocess
import tempfile

from btcd_peer import LOG_TAIL, end_process, wait_until
from interop_env import built_program
from ports import free_port

START_SECONDS = 60
SYNC_SECONDS = 120
STOP_SECONDS = 30
PAYMENT_SECONDS = 60
POLL = "200ms"
SWEEP_WINDOW = "1s"  # outputs of closed channels are spent this long after they become spendable
REMOTE_DELAY = 10  # blocks that the other side waits for its coins after a force close
PASSWORD = base64.b64encode(b"interop test").decode()


class LndError(Exception):
    """An answer other than 200."""


class LndNode:
    def __init__(self, node, node_port=None, zmq=None):
        """Calls of the node's RPC go to node_port, where one is given. `zmq`: addresses of topics
        to subscribe to in place of polling."""
        self.node, self.process, self.zmq = node, None, zmq
        self.node_port = node_port or node.port

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
        rpc_port, self.rest_port, self.p2p_port = free_port(), free_port(), free_port()
        command = [str(self.program), f"--lnddir={self.dir}", "--bitcoin.regtest",
                   "--bitcoin.node=bitcoind", f"--bitcoind.rpchost=127.0.0.1:{self.node_port}",
                   f"--bitcoind.rpccookie={self.node.net_dir / '.cookie'}",
                   *self._news(), "--nobootstrap",
                   f"--listen=127.0.0.1:{self.p2p_port}",
                   f"--sweeper.batchwindowduration={SWEEP_WINDOW}",
                   f"--bitcoin.defaultremotedelay={REMOTE_DELAY}",
                   f"--rpclisten=127.0.0.1:{rpc_port}", "--no-rest-tls", "--no-macaroons",
                   f"--restlisten=127.0.0.1:{self.rest_port}"]
        self._log = open(self.dir / "output", "ab")
        self.process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT,
                                        cwd=self.dir)
        self._wait(lambda: self._state() not in (None, "WAITING_TO_START"), START_SECONDS,
                   "lnd's REST server")

    def _news(self):
        """Options that say how it learns of blocks and transactions."""
        if self.zmq:
            return [f"--bitcoind.zmqpub{topic}={url}" for topic, url in self.zmq.items()]
        return ["--bitcoind.rpcpolling", f"--bitcoind.blockpollinginterval={POLL}",
                f"--bitcoind.txpollinginterval={POLL}"]

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
        """The end of its output."""
        return (self.dir / "output").read_text(errors="replace")[-LOG_TAIL:]

    def get(self, path):
        return self._request("GET", path)

    def post(self, path, **members):
        return self._request("POST", path, json.dumps(members))

    def first_update(self, path):
        """The first of the messages that a DELETE answers over time."""
        return self._request("DELETE", path, read=lambda answer: answer.readline())

    def _request(self, method, path, body=None, read=lambda answer: answer.read()):
        connection = http.client.HTTPConnection("127.0.0.1", self.rest_port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, body)
            answer = connection.getresponse()
            text = read(answer)
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

    @property
    def key(self):
        return self.get("/v1/getinfo")["identity_pubkey"]

    def connect(self, other):
        """Becomes a peer of another lnd."""
        key = other.key
        self.post("/v1/peers", addr={"pubkey": key, "host": f"127.0.0.1:{other.p2p_port}"})
        for lnd, wanted in ((self, key), (other, self.key)):
            lnd._wait(lambda lnd=lnd, wanted=wanted: any(
                peer["pub_key"] == wanted for peer in lnd.get("/v1/peers")["peers"]),
                START_SECONDS, "lnd's peer")

    def open_channel(self, other, satoshis):
        """The transaction that funds it, (txid, output); it is in the pool of our node."""
        point = self.post("/v1/channels", node_pubkey_string=other.key,
                          local_funding_amount=str(satoshis), sat_per_vbyte="2")
        txid = base64.b64decode(point["funding_txid_bytes"])[::-1].hex()
        return txid, point.get("output_index", 0)

    def channels(self):
        return self.get("/v1/channels")["channels"]

    def pending(self):
        """Channels that open or close, by the awaited event."""
        lists = self.get("/v1/channels/pending")
        del lists["total_limbo_balance"]
        return {name: channels for name, channels in lists.items() if channels}

    def wait_for_channel(self):
        """The one channel, once it can be used and no payment is on its way."""
        return self._wait(lambda: [each for each in self.channels()
                                   if each["active"] and not each["pending_htlcs"]],
                          SYNC_SECONDS, "lnd's channel")[0]

    def close_channel(self, point, force=False):
        """The closing transaction's txid."""
        txid, output = point
        update = self.first_update(f"/v1/channels/{txid}/{output}?force={str(force).lower()}")
        closing = update["result"]["close_pending"]["txid"]
        return base64.b64decode(closing)[::-1].hex()

    def invoice(self, satoshis):
        return self.post("/v1/invoices", value=str(satoshis))["payment_request"]

    def pay(self, invoice):
        """Until it succeeds: lnd finds no route for some moments after a channel is active."""
        self._wait(lambda: not self.post("/v1/channels/transactions",
                                         payment_request=invoice)["payment_error"],
                   PAYMENT_SECONDS, "a payment")

    def stop(self):
        end_process(self.process, STOP_SECONDS)
        self._log.close()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.stop()
        self._folder.cleanup()
