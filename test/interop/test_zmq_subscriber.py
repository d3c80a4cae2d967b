"""A subscriber in another language and over another library (Go, zmq4) hears of blocks and
transactions over TCP and a Unix socket: the bodies that Core's interface names, and numbers without
a gap. Its messages agree with the node's answers by RPC."""

import contextlib
import queue

from framework import FunctionalTest, free_port, wait_until
from regtest_chain import COIN, Chain, child_of, redeem
from zmq_subscriber import GoSubscriber

TOPICS = ("hashblock", "hashtx", "rawblock", "rawtx", "sequence")
VALUE, FEE = COIN // 10, 10_000
LARGE = 20_000  # outputs of a block of 0.6 MB, which takes many packets


class ZmqSubscriber(FunctionalTest):
    def begin(self, url, others_url=None):
        self.chain = Chain().grow(101)
        self.coins = self.chain.split(3, VALUE)
        self.node_ = self.node("regtest", *(f"-zmqpub{topic}={url}" for topic in TOPICS)).start()
        for block in self.chain.blocks:
            self.assertIsNone(self.node_.rpc("submitblock", block.raw().hex()))
        self.node_.rpc("setmocktime", self.chain.blocks[-1].time + 600)
        self.subscriber = GoSubscriber(others_url or url, *TOPICS)
        self.addCleanup(self.subscriber.close)
        self.numbers = {}
        self.synchronise()

    def submit(self, txs=(), fees=0):
        block = self.chain.candidate(txs, fees)
        self.chain.add(block)
        self.assertIsNone(self.node_.rpc("submitblock", block.raw().hex()))
        return block

    def heard(self, timeout=60):
        topic, body, number = self.subscriber.receive(timeout)
        self.assertEqual(self.numbers.get(topic, number), number, topic)
        self.numbers[topic] = number + 1
        return topic, body

    def synchronise(self):
        """Its subscription has reached the node, and no message is on its way."""
        def hears():
            self.submit()
            with contextlib.suppress(queue.Empty):
                return bool(self.heard(timeout=0.5))
            return False

        wait_until(hears, "the first message")
        last = self.submit()
        while self.heard() != ("rawblock", last.raw().hex()):
            pass

    def check_block(self, txs, fees=0):
        block = self.submit(txs, fees)
        wanted = [said for tx in block.txs
                  for said in (("hashtx", tx.txid()), ("rawtx", tx.raw().hex()))]
        wanted += [("sequence", block.hash() + "C".encode().hex()), ("hashblock", block.hash()),
                   ("rawblock", block.raw().hex())]
        self.assertEqual([self.heard() for _ in wanted], wanted)
        self.assertEqual(self.node_.rpc("getbestblockhash"), block.hash())

    def check_all(self):
        txs = [redeem(*self.coins[0], VALUE, FEE)]
        txs.append(child_of(txs[0], FEE))
        for tx in txs:
            number = self.node_.rpc("getrawmempool", False, True)["mempool_sequence"]
            self.node_.rpc("sendrawtransaction", tx.raw().hex())
            added = tx.txid() + "A".encode().hex() + number.to_bytes(8, "little").hex()
            self.assertEqual([self.heard() for _ in range(3)],
                             [("hashtx", tx.txid()), ("rawtx", tx.raw().hex()),
                              ("sequence", added)])
        self.check_block(txs, 2 * FEE)
        many = redeem(*self.coins[1], VALUE, FEE)
        many.outputs = [(0, b"\x6a" + b"\x14" + bytes(20))] * LARGE
        self.check_block([many], VALUE)

    def test_over_tcp(self):
        self.begin(f"tcp://127.0.0.1:{free_port()}")
        self.check_all()

    def test_over_a_unix_socket(self):
        path = self.dir / "zmq"
        self.begin(f"unix:{path}", f"ipc://{path}")
        self.check_all()
