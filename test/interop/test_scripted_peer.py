"""Our node and Core's get the same from a scripted peer, and answer and disconnect alike: messages
that btcd and Core never send, and malformed messages of every type."""

import collections
import pathlib
import random
import subprocess
import sys

from core_node import CoreNode
from framework import FunctionalTest, Node, RpcError, free_port
from regtest_chain import REGTEST_GENESIS, Chain, spend
from wire import compact_size, sized

SCRIPT = pathlib.Path(__file__).parent / "scripted_peer.py"
CAUGHT_UP = "-maxtipage=10000000000"
GENESIS = bytes.fromhex(REGTEST_GENESIS)[::-1]
TYPES = ("version verack addr addrv2 sendaddrv2 inv getdata merkleblock getblocks getheaders tx "
         "headers block getaddr mempool ping pong notfound filterload filteradd filterclear "
         "sendheaders feefilter sendcmpct cmpctblock getblocktxn blocktxn getcfilters cfilter "
         "getcfheaders cfheaders getcfcheckpt cfcheckpt wtxidrelay sendtxrcncl feature "
         "other").split()
# Fields that depend on time or on the pool: not compared.
UNTIMED = {"ping", "feefilter", "addrv2", "getheaders", "sendcmpct", "inv", "sendheaders"}


def feature(name, data=b"", rest=b""):
    return (sized(name) + sized(data) + rest).hex()


BEFORE_VERACK = {
    "a feature": [f"feature {feature(b'some', b'thing')}"],
    "a feature of 80 letters": [f"feature {feature(b'x' * 80, bytes(512))}"],
    "a short name": [f"feature {feature(b'abc')}"],
    "a long name": [f"feature {feature(b'x' * 81)}"],
    "much data": [f"feature {feature(b'some', bytes(513))}"],
    "bytes behind": [f"feature {feature(b'some', b'', b'0')}"],
    "unknown": ["other 00"],
    "twice": ["wtxidrelay -", "wtxidrelay -", "sendaddrv2 -"],
    "a second version": ["version 00"],
    "too early": ["getheaders -", "getaddr -", "ping 0000000000000000"],
}
AFTER_VERACK = {
    "a feature": [f"feature {feature(b'some')}"],
    "wtxidrelay": ["wtxidrelay -"],
    "sendaddrv2": ["sendaddrv2 -"],
    "verack": ["verack -"],
    "too many in an inv": [f"inv {compact_size(50_001).hex()}{'01' * 36 * 50_001}"],
    "as many as may be": [f"inv {compact_size(50_000).hex()}{'07' * 36 * 50_000}"],
    "too many headers": [f"headers {compact_size(2001).hex()}{'00' * 81 * 2001}"],
    "headers without work": [f"headers 01{'11' * 80}00"],
    "a long locator": [f"getheaders {'00' * 4}66{'22' * 32 * 102}{'00' * 32}"],
    "a filter": ["filterload 0100000000000000000000"],
    "mempool": ["mempool -"],
    "sendcmpct 2": ["sendcmpct 020200000000000000"],
    "too many addresses": [f"addr {compact_size(1001).hex()}{'00' * 30 * 1001}"],
    "magic": ["raw " + "00" * 24],
    "5 MB": ["raw fabfb5da" + b"block".ljust(12, b"\0").hex() + "404b4c00" + "00000000"],
    "a checksum": ["raw fabfb5da" + b"ping".ljust(12, b"\0").hex() + "00000000" + "00000000"],
    "a type": ["raw fabfb5da" + b"pi\0g".ljust(12, b"\0").hex() + "00000000" + "5df6e0e2"],
    "genesis": [f"getdata 0102000040{GENESIS.hex()}"],
    "genesis, compact": [f"getdata 0104000000{GENESIS.hex()}"],
    "its transactions": [f"getblocktxn {GENESIS.hex()}0100"],
}


def filter_of(element, flags):
    """filterload with one element under one hash function, by the definition of MurmurHash3."""
    bits, size = 0, 64
    bits |= 1 << murmur3(0, element) % (size * 8)
    return (sized(bits.to_bytes(size, "little")) + (1).to_bytes(4, "little") + bytes(4)
            + bytes([flags])).hex()


def murmur3(seed, data):
    mask, state = 0xffffffff, seed

    def turned(value, by):
        return (value << by | value >> (32 - by)) & mask

    def mixed(chunk):
        value = int.from_bytes(chunk, "little") * 0xcc9e2d51 & mask
        return turned(value, 15) * 0x1b873593 & mask

    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        state = (turned(state ^ mixed(data[at:at + 4]), 13) * 5 + 0xe6546b64) & mask
    state ^= mixed(data[whole:]) ^ len(data)
    state = (state ^ state >> 16) * 0x85ebca6b & mask
    state = (state ^ state >> 13) * 0xc2b2ae35 & mask
    return state ^ state >> 16


def push(text):
    return sized(text.encode())


def spending_chain():
    """The last block has seven transactions, some of which spend others of it."""
    chain = Chain().grow(102)
    first, second = (spend(chain.coinbase_of(height)[0], 0, 10 ** 8, push(f"coin {height}"))
                     for height in (1, 2))
    third = spend(first.txid(), 0, 10 ** 8, sized(b"\x02" * 33) + b"\xac")  # pays to a key
    to_key = spend(second.txid(), 0, 5, sized(b"\x02" * 33) + b"\xac")
    to_key.outputs.append((10 ** 7, push("change")))
    fifth = spend(to_key.txid(), 1, 10 ** 6, push("fifth"))
    sixth = spend(fifth.txid(), 0, 10 ** 5, push("sixth"))
    chain.add(chain.candidate([first, second, third, to_key, fifth, sixth]))
    return chain


class Scripted(FunctionalTest):
    def both(self, chain=None, *options):
        """Both nodes, on the same blocks: three by default."""
        chain = chain or Chain().grow(3)
        nodes = []
        for kind in (CoreNode, Node):
            node = kind(self.dir / kind.__name__, "regtest", [CAUGHT_UP, "-debug=net"])
            self.nodes.append(node)
            node.p2p_port = free_port()
            node.start("-listen=1", f"-bind=127.0.0.1:{node.p2p_port}", "-noconnect",
                       "-v2transport=0", *options)
            for block in chain.blocks:
                node.rpc("submitblock", block.raw().hex())
            nodes.append(node)
        return chain, nodes

    @staticmethod
    def play(node, scripts):
        """The node's answer to each, and the end of the connection."""
        done = subprocess.run([sys.executable, SCRIPT, str(node.p2p_port)], text=True, check=True,
                              input="\n".join(",".join(script) for script in scripts),
                              stdout=subprocess.PIPE)
        for line in done.stdout.splitlines():
            *received, end = line.split()
            yield [kind for kind in received if kind not in UNTIMED], end

    def compare(self, nodes, scripts):
        """How each ended, of scripts by name."""
        theirs, ours = (list(self.play(node, scripts.values())) for node in nodes)
        self.assertEqual(len(ours), len(scripts))
        for name, their, our in zip(scripts, theirs, ours):
            with self.subTest(name):
                self.assertEqual(our, their)
        return [end for _, end in theirs]

    def test_what_nobody_says(self):
        _, nodes = self.both()
        ends = self.compare(nodes, {name: [*script, "shake"]
                                    for name, script in BEFORE_VERACK.items()})
        ends += self.compare(nodes, {name: ["shake", *script]
                                     for name, script in AFTER_VERACK.items()})
        self.assertGreater(ends.count("alive"), 8)
        self.assertGreater(ends.count("closed"), 12)

    def test_malformed_messages_of_every_type(self):
        chain, nodes = self.both()
        rng = random.Random(11)
        header = chain.blocks[-1].raw()[:80]
        payloads = [b"", b"\xff", bytes(40), b"\xff" * 40, rng.randbytes(100), header,
                    header + b"\xfd\xff\xff", header + bytes(8) + b"\x01" * 30,
                    compact_size(1) + rng.randbytes(60)]
        # Sizes that are not minimal, too large, and those of 64 bits, where messages have some.
        payloads += [bytes(before) + size for before in (0, 4, 8, 32, 80, 88)
                     for size in (b"\xfd\1\0", b"\xfe" + b"\xff" * 4, b"\xff" * 9)]
        # Each alone, as any of them may end the connection.
        self.compare(nodes, {f"{kind} {payload.hex()}":
                             ["shake", f"{kind} {payload.hex() or '-'}"]
                             for kind in TYPES for payload in payloads})
        self.compare_refusals(nodes, 200)

    def compare_refusals(self, nodes, least):
        """The log about messages that cannot be decoded."""
        theirs, ours = (collections.Counter(line[line.index("ProcessMessages("):]
                                            for line in node.log_text.splitlines()
                                            if "ProcessMessages(" in line) for node in nodes)
        self.assertGreater(sum(theirs.values()), least)
        self.assertEqual(sorted((ours - theirs).items()), sorted((theirs - ours).items()))

    def test_blocks_that_cannot_be_decoded(self):
        """Blocks that were asked for: the connection stays."""
        chain, nodes = self.both()
        block = chain.candidate()
        raw = block.raw()
        header, body = raw[:80], raw[81:]
        assert raw[80] == 1
        inputs_at = 4 if body[4] else 6
        payloads = {
            "count not minimal": header + b"\xfd\1\0" + body,
            "count too large": header + b"\xfe\1\0\0\2" + body,
            "count beyond its end": header + b"\2" + body,
            "header alone": header,
            "cut short": raw[:-1],
            "no witness": header + b"\1" + body[:4] + b"\0\1\0\0" + bytes(4),
            "unknown flag": header + b"\1" + body[:4] + b"\0\2\0\0" + bytes(4),
            "inputs not minimal": header + b"\1" + body[:inputs_at] + b"\xfd" + body[inputs_at:],
        }
        ask = f"headers 01{header.hex()}00"
        ends = self.compare(nodes, {name: ["shake", ask, f"block {payload.hex()}"]
                                    for name, payload in payloads.items()})
        self.assertEqual(ends, ["alive"] * len(payloads))
        self.compare_refusals(nodes, len(payloads) - 1)
        (line, _), = self.play(nodes[1], [["shake", ask]])
        self.assertIn("getdata", line)
        mutated = raw[:-5] + bytes([raw[-5] ^ 1]) + raw[-4:]
        for node in nodes:
            # Bytes in transit at the end of the connection may be lost.
            ends = [end for _, end in self.play(node, [["shake", ask, f"block {mutated.hex()}"],
                                                       ["shake", ask, f"block {raw.hex()}"]])]
            self.assertEqual(ends, ["closed", "alive"])
            self.assertEqual(node.rpc("getbestblockhash"), block.hash())

    def test_filtered_blocks(self):
        chain = spending_chain()
        _, nodes = self.both(chain, "-peerbloomfilters=1")
        block = chain.blocks[-1]
        ask = f"getdata 0103000000{bytes.fromhex(block.hash())[::-1].hex()}"
        txids = [bytes.fromhex(tx.txid())[::-1] for tx in block.txs]
        elements = [*txids, b"coin 1", b"coin 2", b"change", b"\x02" * 33, b"none",
                    txids[2] + bytes(4), txids[4] + (1).to_bytes(4, "little")]
        scripts = {f"{element.hex()} {flags}":
                   ["shake", f"filterload {filter_of(element, flags)}", ask]
                   for element in elements for flags in (0, 1, 2, 3)}
        nothing = filter_of(b"none", 0)
        scripts |= {
            "no filter": ["shake", ask],
            "an empty one": ["shake", "filterload 00000000000000000000", ask],
            "more is added": ["shake", f"filterload {nothing}",
                              f"filteradd {sized(b'fifth').hex()}", ask],
            "taken back": ["shake", f"filterload {nothing}", "filterclear -", ask],
            "nothing to add to": ["shake", f"filteradd {sized(b'fifth').hex()}", ask],
            "mempool": ["shake", "mempool -"],
            "too large": ["shake", f"filterload {(sized(bytes(36_001)) + bytes(9)).hex()}"],
            "too long": ["shake", f"filterload {nothing}", f"filteradd {sized(bytes(521)).hex()}"],
        }
        self.assertGreater(self.compare(nodes, scripts).count("alive"), 50)
        (line, _), = self.play(nodes[1], [scripts[f"{b'coin 2'.hex()} 1"]])
        self.assertIn("merkleblock", " ".join(line))
        self.assertEqual([kind.split(":")[0] for kind in line].count("tx"), 2)  # what spends it too

    def test_proofs(self):
        """gettxoutproof and verifytxoutproof."""
        chain = spending_chain()
        _, nodes = self.both(chain)
        block = chain.blocks[-1]
        txids = [tx.txid() for tx in block.txs]

        def ask(*call):
            answers = []
            for node in nodes:
                try:
                    answers.append(node.rpc(*call))
                except RpcError as error:
                    answers.append((error.code, error.message.split("\n")[0]))
            with self.subTest(call):
                self.assertEqual(answers[1], answers[0])
            return answers[0]

        rng = random.Random(5)
        for count in range(1, len(txids) + 1):
            wanted = rng.sample(txids, count)
            proof = ask("gettxoutproof", wanted, block.hash())
            self.assertEqual(set(ask("verifytxoutproof", proof)), set(wanted))
            ask("gettxoutproof", wanted)
            for _ in range(20):
                wrong = bytearray.fromhex(proof)
                wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
                ask("verifytxoutproof", bytes(wrong[:rng.choice((len(wrong), 84))]).hex())
        ask("gettxoutproof", [txids[0], chain.blocks[5].txs[0].txid()])
        ask("gettxoutproof", [txids[0]], chain.blocks[5].hash())
