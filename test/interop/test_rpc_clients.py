"""Published clients of Core's RPC talk to our node: python-bitcoinrpc, with Core's answers beside
ours, and Rust's corepc-client, whose types take no field that Core 31 does not have."""

import importlib
import subprocess
import sys
import time

from core_node import CoreNode
from framework import FunctionalTest, Node, free_port
from interop_env import built_program
from regtest_chain import COIN, Chain, child_of, redeem

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
KEY = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"  # of the secret 1
MATURITY = 100
START = 1_800_000_000  # seconds since 1970
FEE_TARGET = 6  # blocks
UNKNOWN = "00" * 31 + "01"



class PythonBitcoinRpc(FunctionalTest):
    """The calls of one program, through the package only, against either node."""

    def proxy(self, node):
        folder = str(built_program("build_python_clients.sh", "IBD_PYTHON_CLIENTS"))
        if folder not in sys.path:
            sys.path.append(folder)
        package = importlib.import_module("bitcoinrpc.authproxy")
        self.error = package.JSONRPCException
        login = (node.net_dir / ".cookie").read_text()
        return package.AuthServiceProxy(f"http://{login}@127.0.0.1:{node.port}", timeout=60)

    def chain_with_coin(self, rpc):
        """The first coin of the key, mature."""
        rpc.setmocktime(START)
        descriptor = rpc.getdescriptorinfo(f"wpkh({KEY})")["descriptor"]
        address, = rpc.deriveaddresses(descriptor)
        first = rpc.generatetoaddress(1, address)[0]
        rpc.generatetoaddress(MATURITY, address)
        coinbase = rpc.getblock(first, 2)["tx"][0]
        return address, coinbase

    @staticmethod
    def pool(rpc):
        """The memory in use is that of each implementation."""
        info = rpc.getmempoolinfo()
        assert info.pop("usage") > 0
        return info

    def sends(self, rpc):
        """A signed transaction, from its inputs to the block."""
        address, coinbase = self.chain_with_coin(rpc)
        coin = {"txid": coinbase["txid"], "vout": 0}
        amount = coinbase["vout"][0]["value"] / 4
        raw = rpc.createrawtransaction([coin], [{address: amount}, {"data": "6962642d62"}])
        signed = rpc.signrawtransactionwithkey(raw, [KEY])
        self.assertTrue(signed["complete"])
        said = [rpc.testmempoolaccept([signed["hex"]], 0)]
        with self.assertRaises(self.error) as caught:
            rpc.sendrawtransaction(signed["hex"])  # the fee is absurd
        said.append((caught.exception.code, caught.exception.message))
        txid = rpc.sendrawtransaction(signed["hex"], 0)
        said += [txid, rpc.getrawmempool(), rpc.getrawmempool(True), rpc.getmempoolentry(txid),
                 self.pool(rpc), rpc.getrawtransaction(txid, True),
                 rpc.gettxout(txid, 0), rpc.gettxout(txid, 0, False)]
        block, = rpc.generatetoaddress(1, address)
        said += [block, rpc.getrawtransaction(txid, 1, block), rpc.getrawmempool(),
                 rpc.gettxout(txid, 0)]
        return said

    def reads(self, rpc):
        """Fees, and the errors that such a program sees."""
        said = [rpc.estimatesmartfee(FEE_TARGET), rpc.estimatesmartfee(FEE_TARGET, "ECONOMICAL"),
                rpc.getblockcount(), rpc.getbestblockhash(),
                rpc.getblockheader(rpc.getblockhash(3)),
                rpc.validateaddress("x"), rpc.decodescript("51"), rpc.getdifficulty(),
                rpc.gettxoutsetinfo("muhash")["muhash"], rpc.getchaintips()]
        for call in (lambda: rpc.getblock(UNKNOWN), lambda: rpc.getrawtransaction(UNKNOWN),
                     lambda: rpc.nosuchcall(), lambda: rpc.getblockhash(1_000_000),
                     lambda: rpc.sendrawtransaction("00"), lambda: rpc.estimatesmartfee(0)):
            with self.assertRaises(self.error) as caught:
                call()
            said.append((caught.exception.code, caught.exception.message))
        return said

    def batch(self, rpc):
        """The package sends JSON-RPC 2.0 requests and expects a member that 2.0 omits from a
        successful response. It fails with Core since 28, and with our node too."""
        with self.assertRaises(KeyError) as caught:
            rpc.batch_([["getblockcount"], ["getblockhash", 1]])
        return [str(caught.exception)]

    def test_as_with_core(self):
        said = []
        for kind in (CoreNode, Node):
            node = kind(self.dir / kind.__name__, "regtest")
            self.nodes.append(node)
            node.start()
            rpc = self.proxy(node)
            said.append([step(rpc) for step in (self.sends, self.reads, self.batch)])
        for theirs, ours in zip(*said):
            self.assertEqual(len(ours), len(theirs))
            for theirs_one, ours_one in zip(theirs, ours):
                self.assertEqual(ours_one, theirs_one)


class CorepcClient(FunctionalTest):
    VALUE = COIN // 10
    FEE = 1_000  # satoshis
    # The types of the crate know no category "booster".
    KNOWN = {"logging"}

    def node_with_peer(self):
        port = free_port()
        node = self.node("regtest", "-dnsseed=0", "-listen=1", f"-bind=127.0.0.1:{port}",
                         "-noconnect").start()
        self.node("regtest", f"-connect=127.0.0.1:{port}", "-dnsseed=0").start()
        node.wait_for_peers(1)
        return node

    def test_calls(self):
        program = built_program("build_corepc.sh", "IBD_COREPC")
        node = self.node_with_peer()
        chain = Chain(first_time=int(time.time()) - 600 * 110).grow(101)
        coin, = chain.split(1, self.VALUE)
        for block in chain.blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        parent = redeem(*coin, self.VALUE, self.FEE)
        child = child_of(parent, self.FEE)
        done = subprocess.run(
            [program, f"http://127.0.0.1:{node.port}", node.net_dir / ".cookie", ADDRESS,
             parent.raw().hex(), child.raw().hex()], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        for call, answer in said.items():
            with self.subTest(call):
                self.assertEqual(answer == "ok", call not in self.KNOWN, answer)
        self.assertGreater(len(said), 100)
        self.assertEqual(node.rpc("getrawmempool"), [])
        mined = node.rpc("getblockhash", chain.height + 1)
        self.assertIn(child.txid(), node.rpc("getblock", mined)["tx"])
