"""Addresses and connections beside Bitcoin Core: peers.dat both ways, and our transports and codecs
in a handshake with its bitcoind. Core is built by build_core.sh; IBD_CORE names a folder of its
programs instead."""

import contextlib
import random
import subprocess
import time

from core_node import CoreNode
from framework import FunctionalTest, free_port
from interop_env import own_program

MAGIC = "fabfb5da"  # of regtest
ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"
I2P = "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p"


def peer_tool():
    return own_program("ibd-peer-tool")


def ours(folder, what, lines=""):
    """Our reading of the peers.dat in a folder, or of one that is made of these lines."""
    done = subprocess.run([peer_tool(), what, str(folder), MAGIC], input=lines, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return table(done.stdout)


def table(text):
    out = {"new": {}, "tried": {}}
    for line in text.splitlines():
        name, place, address, services, seen, source = line.split()
        out[name][place] = (address, int(services), int(seen), source)
    return out


def cores(node):
    """The same, as Core says it."""
    def entry(e):
        host = f"[{e['address']}]" if ":" in e["address"] else e["address"]
        return f"{host}:{e['port']}", e["services"], e["time"], e["source"]
    return {name: {place: entry(e) for place, e in entries.items()}
            for name, entries in node.rpc("getrawaddrman").items()}


def random_address(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return f"[2a0{rng.randrange(10)}:{rng.randrange(1, 0xffff):x}::{rng.randrange(9)}]:8333"
    first = rng.choice([5, 8, 23, 46, 91, 151, 203])
    rest = ".".join(str(rng.randrange(1, 250)) for _ in range(3))
    return f"{first}.{rest}:{rng.choice([8333, 8334])}"


class PeersTest(FunctionalTest):
    def core(self, *args):
        node = CoreNode(self.dir / f"core{len(self.nodes)}", "regtest",
                        ["-listen=0", "-connect=0", "-checkaddrman=1", *args])
        self.nodes.append(node)
        return node

    def test_ours_reads_what_core_wrote(self):
        rng = random.Random(1)
        core = self.core().start()
        for i in range(300):
            host, port = random_address(rng).rsplit(":", 1)
            core.rpc("addpeeraddress", host.strip("[]"), int(port), i % 5 == 0)
        core.rpc("addpeeraddress", ONION, 8333, True)
        core.rpc("addpeeraddress", I2P, 0, False)
        expected = cores(core)
        self.assertGreater(len(expected["new"]), 150)
        self.assertGreater(len(expected["tried"]), 40)
        core.stop()
        self.assertEqual(ours(core.net_dir, "read"), expected)

    def test_core_reads_what_ours_wrote(self):
        rng = random.Random(2)
        core = self.core()
        core.net_dir.mkdir(parents=True)
        now = int(time.time())
        lines, known = [], []
        for _ in range(2000):
            address, source = random_address(rng), random_address(rng)
            known.append(address)
            lines.append(f"add {address} {source} {rng.choice([1, 9, 1033])} "
                         f"{now - rng.randrange(86400)}")
            if rng.randrange(4) == 0:
                lines.append(f"good {rng.choice(known)} {now}")
        lines += [f"add {ONION}:8333 1.1.1.1 9 {now}", f"add {I2P}:0 {ONION}:1 9 {now}",
                  f"add [fc12::1]:8333 9.9.9.9 9 {now}", f"good {ONION}:8333 {now}"]
        expected = ours(core.net_dir, "write", "\n".join(lines))
        self.assertGreater(len(expected["new"]), 1000)
        self.assertGreater(len(expected["tried"]), 200)
        core.start()  # with -checkaddrman=1 it verifies each place itself
        self.assertEqual(cores(core), expected)
        core.stop()
        self.assertEqual(ours(core.net_dir, "read"), expected)

    @contextlib.contextmanager
    def call(self, port, version):
        """Our tool, connected; its lines by their first word."""
        with subprocess.Popen([peer_tool(), "call", str(port), MAGIC, version], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as caller:
            lines = {}
            for line in caller.stdout:
                word, _, rest = line.strip().partition(" ")
                lines.setdefault(word, []).append(rest)
                if word == "transport":
                    break
            try:
                yield lines
            finally:
                caller.stdin.close()

    def test_handshakes_with_core(self):
        port = free_port()
        core = CoreNode(self.dir / "core", "regtest",
                        ["-connect=0", "-listen=1", f"-bind=127.0.0.1:{port}", "-debug=net"])
        self.nodes.append(core)
        core.start()
        core.rpc("generatetodescriptor", 50, "raw(51)")
        for version in "v1", "v2":
            with self.call(port, version) as lines:
                self.assertNotIn("error", lines, core.log_text[-3000:])
                self.assertTrue(lines["version"][0].startswith("70017 "), lines)
                self.assertEqual(lines["pong"], ["1"])
                self.assertEqual(lines["headers"], ["50"])
                types = [line.split()[0] for line in lines["got"]]
                for needed in "version", "wtxidrelay", "sendaddrv2", "verack", "sendcmpct":
                    self.assertIn(needed, types)
                peer = core.rpc("getpeerinfo")[0]
                self.assertEqual(peer["transport_protocol_type"], version)
                self.assertEqual(lines["transport"], [f"{version} {peer['session_id']}".strip()])
                self.assertEqual(peer["subver"], "/ibd-peer-tool/")
                self.assertEqual(peer["version"], 70017)
            while core.rpc("getconnectioncount"):
                time.sleep(0.1)
        self.assertIn("unknown feature advertised: BIP-TEST", core.log_text)
