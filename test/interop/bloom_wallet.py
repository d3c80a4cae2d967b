"""Runs the wallet of bloom-wallet/, which speaks BIP 37 over the library bitcoinj, as a peer.

    with BloomWallet(node.p2p_port) as wallet:
        wallet.address
        wallet.wait_for_balance(5000, 5000)
        wallet.send(address, 1000)
"""

import contextlib
import queue
import subprocess
import threading

from btcd_peer import end_process, wait_until
from interop_env import built_program

SECONDS = 120
STOP_SECONDS = 20


class BloomWallet:
    def __init__(self, port):
        """The port at which a node takes connections."""
        self.port = port
        self.height, self.balance, self.confirmed = 0, 0, 0
        self.address = None
        self._sent = queue.Queue()

    def __enter__(self):
        folder = built_program("build_bloom_wallet.sh", "IBD_BLOOM_WALLET")
        self.process = subprocess.Popen(
            ["java", "-cp", f"{folder}:{folder}/lib/*", "BloomWallet", str(self.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self._wait(lambda: self.address, "an address")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _read(self):
        for line in self.process.stdout:
            kind, *words = line.split()
            if kind == "address":
                self.address = words[0]
            elif kind == "height":
                self.height = int(words[0])
            elif kind == "balance":
                self.balance, self.confirmed = map(int, words)
            elif kind == "sent":
                self._sent.put(words[0])

    def _wait(self, condition, what):
        def checked():
            if self.process.poll() is not None:
                raise AssertionError(f"the wallet ended with {self.process.returncode}")
            return condition()
        wait_until(checked, SECONDS, what)

    def wait_for_height(self, height):
        self._wait(lambda: self.height >= height, f"the wallet at {height}")

    def wait_for_balance(self, satoshis, confirmed):
        """All that it has, of which so much is confirmed."""
        self._wait(lambda: (self.balance, self.confirmed) == (satoshis, confirmed),
                   f"a balance of {satoshis}, {confirmed} confirmed")

    def send(self, address, satoshis):
        """The txid."""
        self.process.stdin.write(f"send {address} {satoshis}\n")
        self.process.stdin.flush()
        return self._sent.get(timeout=SECONDS)

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        end_process(self.process, STOP_SECONDS)
        self._reader.join()
        self.process.stdout.close()
