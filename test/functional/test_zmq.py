"""Notifications by ZeroMQ (-zmqpub...): messages about blocks and transactions, their order and
their sequence numbers; and that a slow subscriber delays nothing.

The messages are those of Bitcoin Core's published interface: topic, body, and a number of four
bytes, the first being the lowest."""

import collections
import socket

from framework import FunctionalTest, free_port, wait_until
from regtest_chain import COIN, OP_TRUE, Chain, child_of, redeem
from wire import hash_hex, sha256d
from zmtp import Subscriber

TOPICS = ("hashblock", "hashtx", "rawblock", "rawtx", "sequence")
ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
VALUE, FEE = COIN // 10, 10_000
OUTPUTS_OF_A_BLOCK = 90_000  # 0.9 MB
DATA = b"\x6a\x4e" + (90_000).to_bytes(4, "little") + bytes(90_000)  # an output's script
FULL_POOL = 52  # transactions with DATA in 5 MB
HOUR = 60 * 60


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def block_of(said):
    """The hash of the block in a message."""
    if not isinstance(said, str):
        return said[1]
    return said if len(said) == 64 else hash_hex(sha256d(bytes.fromhex(said)[:80]))


class Listener:
    """A subscriber that decodes messages and checks their numbers."""

    def __init__(self, address, *topics, **options):
        self.subscriber = Subscriber(address, *(topic.encode() for topic in topics), **options)
        self.next = {}

    def __call__(self):
        """(topic, contents): hashes as hex; of a change of the pool, label, hash, number."""
        topic, body, number = self.subscriber.receive()
        topic, number = topic.decode(), int.from_bytes(number, "little")
        assert self.next.get(topic, number) == number, (topic, number, self.next)
        self.next[topic] = number + 1
        if topic != "sequence":
            return topic, body.hex()
        label, count = body[32:33].decode(), body[33:]
        assert len(count) == (8 if label in "AR" else 0), body
        told = (label, body[:32].hex())
        return topic, told + (int.from_bytes(count, "little"),) if count else told

    def take(self, count):
        return [self() for _ in range(count)]


class Zmq(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain().grow(101)
        self.coins = self.chain.split(FULL_POOL + 10, VALUE)
        self.address = ("127.0.0.1", free_port())

    def options(self, *topics, url=None):
        return [f"-zmqpub{topic}={url or 'tcp://%s:%d' % self.address}" for topic in topics]

    def start(self, *options):
        node = self.node("regtest", *options).start()
        for block in self.chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        node.rpc("setmocktime", self.chain.blocks[-1].time + 600)
        return node

    def submit(self, node, block):
        self.chain.add(block)
        self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return block

    def listen(self, node, *topics, address=None, **options):
        """A listener whose subscription has reached the publisher. Then nothing is on its way."""
        listener = Listener(address or self.address, *topics, **options)
        block = None

        def told():
            nonlocal block
            block = self.submit(node, self.chain.candidate())
            listener.subscriber.socket.settimeout(0.5)
            try:
                listener.subscriber.socket.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                return False
            return True

        wait_until(told, "the first message")
        listener.subscriber.socket.settimeout(30)
        node.rpc("syncwithvalidationinterfacequeue")
        end = self.submit(node, self.chain.candidate())
        last = next(topic for topic in ("rawblock", "hashblock", "sequence")
                    if topic in (topics or TOPICS))
        while True:
            topic, said = listener()
            if topic == last and block_of(said) == end.hash():
                return listener

    def test_blocks_and_transactions(self):
        node = self.start(*self.options(*TOPICS))
        listener = self.listen(node)
        block = self.submit(node, self.chain.candidate())
        coinbase = block.txs[0]
        self.assertEqual(listener.take(5), [
            ("hashtx", coinbase.txid()), ("rawtx", coinbase.raw().hex()),
            ("sequence", ("C", block.hash())),
            ("hashblock", block.hash()), ("rawblock", block.raw().hex())])
        tx = redeem(*self.coins[0], VALUE, FEE)
        first = node.rpc("getrawmempool", False, True)["mempool_sequence"]
        node.rpc("sendrawtransaction", tx.raw().hex())
        self.assertEqual(listener.take(3), [
            ("hashtx", tx.txid()), ("rawtx", tx.raw().hex()),
            ("sequence", ("A", tx.txid(), first))])
        self.assertEqual(node.rpc("getrawmempool", False, True)["mempool_sequence"], first + 1)
        block = self.submit(node, self.chain.candidate([tx], FEE))
        told = listener.take(7)
        self.assertEqual([one for one in told if one[0] == "hashtx"],
                         [("hashtx", one.txid()) for one in block.txs])
        self.assertEqual(told[-3:], [("sequence", ("C", block.hash())),
                                     ("hashblock", block.hash()),
                                     ("rawblock", block.raw().hex())])
        self.assertEqual(set(listener.next), set(TOPICS))

    def test_replacement_and_conflict(self):
        node = self.start(*self.options("sequence"))
        listener = self.listen(node, "sequence")
        number = node.rpc("getrawmempool", False, True)["mempool_sequence"]
        old = redeem(*self.coins[0], VALUE, FEE)
        child = child_of(old, FEE)
        new = redeem(*self.coins[0], VALUE, 5 * FEE)
        for tx in (old, child, new):
            node.rpc("sendrawtransaction", tx.raw().hex())
        told = [one for _, one in listener.take(5)]
        self.assertEqual(told[:2], [("A", old.txid(), number), ("A", child.txid(), number + 1)])
        self.assertEqual({one[:2] for one in told[2:4]}, {("R", old.txid()), ("R", child.txid())})
        self.assertEqual([one[2] for one in told[2:]], [number + 2, number + 3, number + 4])
        self.assertEqual(told[4], ("A", new.txid(), number + 4))
        winner = redeem(*self.coins[0], VALUE, 2 * FEE)
        block = self.submit(node, self.chain.candidate([winner], 2 * FEE))
        self.assertEqual([one for _, one in listener.take(2)],
                         [("R", new.txid(), number + 5), ("C", block.hash())])

    def test_reorganisation(self):
        """Blocks taken back, then what returns to the pool, then new blocks; one new tip."""
        node = self.start(*self.options("hashblock", "hashtx", "sequence"))
        listener = self.listen(node, "hashblock", "hashtx", "sequence")
        txs = [redeem(*name, VALUE, FEE) for name in self.coins[:2]]
        lost = [self.submit(node, self.chain.candidate([txs[0]], FEE)),
                self.submit(node, self.chain.candidate([txs[1]], FEE))]
        listener.take(2 * 4)
        number = node.rpc("getrawmempool", False, True)["mempool_sequence"]
        self.chain.blocks, self.chain.extra = self.chain.blocks[:-2], b"\x07"
        won = [self.chain.add(self.chain.candidate([txs[1]], FEE))]
        won += [self.chain.add(self.chain.candidate()) for _ in range(2)]
        for block in won:
            self.assertIn(node.rpc("submitblock", block.raw().hex()), (None, "inconclusive"))
        told = listener.take(2 * 3 + 2 + 3 + 2 * 2 + 1)
        changes = [said for topic, said in told if topic == "sequence"]
        self.assertEqual(changes, [
            ("D", lost[1].hash()), ("D", lost[0].hash()), ("A", txs[0].txid(), number),
            *(("C", block.hash()) for block in won)])
        hashes = collections.Counter(said for topic, said in told if topic == "hashtx")
        self.assertEqual(hashes[txs[0].txid()], 2)  # of the block that is left, and in the pool
        self.assertEqual(hashes[txs[1].txid()], 2)  # of both blocks
        self.assertEqual([said for topic, said in told if topic == "hashblock"],
                         [won[-1].hash()])

    def test_invalidation_is_no_new_tip(self):
        node = self.start(*self.options("hashblock", "sequence"))
        listener = self.listen(node, "hashblock", "sequence")
        tip = self.chain.tip
        node.rpc("invalidateblock", tip)
        node.rpc("reconsiderblock", tip)
        self.assertEqual(listener.take(3), [("sequence", ("D", tip)), ("sequence", ("C", tip)),
                                            ("hashblock", tip)])

    def test_expiry(self):
        node = self.start(*self.options("sequence"), "-mempoolexpiry=1")
        listener = self.listen(node, "sequence")
        txs = [redeem(*name, VALUE, FEE) for name in self.coins[:2]]
        node.rpc("sendrawtransaction", txs[0].raw().hex())
        node.rpc("setmocktime", self.chain.blocks[-1].time + 2 * HOUR)
        node.rpc("sendrawtransaction", txs[1].raw().hex())
        told = [one[:2] for _, one in listener.take(3)]
        self.assertEqual(told[0], ("A", txs[0].txid()))
        self.assertEqual(set(told[1:]), {("R", txs[0].txid()), ("A", txs[1].txid())})

    def test_eviction_by_size(self):
        """From a full pool the cheapest leave, after the message of the newcomer."""
        node = self.start(*self.options("sequence"), "-maxmempool=5")
        listener = self.listen(node, "sequence")
        number = node.rpc("getrawmempool", False, True)["mempool_sequence"]
        pool, evicted = [], 0
        for place, coin in enumerate(self.coins):
            tx = redeem(*coin, VALUE, (1 + 2 * place) * FEE)
            tx.outputs.append((0, DATA))
            node.rpc("sendrawtransaction", tx.raw().hex())
            gone = [txid for txid in pool if txid not in node.rpc("getrawmempool")]
            self.assertEqual(gone, pool[:len(gone)])
            changes = [("A", tx.txid()), *(("R", txid) for txid in gone)]
            self.assertEqual([said for _, said in listener.take(len(changes))],
                             [(*said, number + i) for i, said in enumerate(changes)])
            pool = [*pool[len(gone):], tx.txid()]
            evicted, number = evicted + len(gone), number + len(changes)
        self.assertGreater(evicted, 3)
        self.assertEqual(set(node.rpc("getrawmempool")), set(pool))

    def test_addresses(self):
        """Several for a topic, of every kind, each with numbers of its own."""
        path = str(self.dir / "zmq.socket")
        urls = {f"unix:{path}": path}
        for host in ("127.0.0.1", *(["[::1]"] if has_ipv6() else [])):
            port = free_port()
            urls[f"tcp://{host}:{port}"] = (host.strip("[]"), port)
        options = [option for url in urls for option in self.options("hashblock", url=url)]
        node = self.start(*options, "-zmqpubhashblockhwm=7", *self.options("rawtx"))
        shown = [{"type": "pubhashblock", "address": url.replace("unix:", "ipc://"), "hwm": 7}
                 for url in urls]
        shown.append({"type": "pubrawtx", "address": "tcp://%s:%d" % self.address, "hwm": 1000})
        self.assertEqual(node.rpc("getzmqnotifications"), shown)
        listeners = [self.listen(node, "hashblock", address=address)
                     for address in urls.values()]
        block = self.submit(node, self.chain.candidate())
        for listener in listeners:
            while listener() != ("hashblock", block.hash()):
                pass

    def test_taken_address(self):
        """As Core, the node runs without notifications; the log says why."""
        with socket.socket() as taken:
            taken.bind(self.address)
            taken.listen()
            node = self.start(*self.options("hashblock"))
            self.assertEqual(node.rpc("getzmqnotifications"), [])
            self.assertIn("[error] zmq: Failed to bind address tcp://127.0.0.1:", node.log_text)
        self.assert_refused(self.node("regtest", "-zmqpubhashtx=127.0.0.1:99999"),
                            saying="Invalid port specified in -zmqpubhashtx: '127.0.0.1:99999'")

    def test_nothing_without_options(self):
        node = self.node("regtest").start()
        self.assertEqual(node.rpc("getzmqnotifications"), [])

    def test_slow_subscriber(self):
        """One that takes nothing misses messages, as it can tell from the numbers."""
        node = self.start(*self.options("rawblock"), "-zmqpubrawblockhwm=2")
        node.rpc("setmocktime", self.chain.blocks[-1].time + 12 * HOUR)
        listener = self.listen(node, "rawblock", receive_buffer=65536)
        for _ in range(20):
            block = self.chain.candidate()
            block.txs[0].outputs += [(0, OP_TRUE)] * OUTPUTS_OF_A_BLOCK
            self.submit(node, block.mine())
        self.assertEqual(node.rpc("getbestblockhash"), self.chain.tip)
        node.rpc("syncwithvalidationinterfacequeue")
        expected = listener.next["rawblock"]
        numbers = [int.from_bytes(listener.subscriber.receive()[2], "little")]
        # The publisher continues once there is room again.
        while numbers[-1] < expected + 20:
            self.submit(node, self.chain.candidate())
            numbers.append(int.from_bytes(listener.subscriber.receive()[2], "little"))
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertLess(len(numbers), numbers[-1] - expected + 1)
