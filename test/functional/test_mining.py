"""The calls of miners."""

import threading

from framework import FunctionalTest, RpcError
from regtest_chain import FIRST_BLOCK_TIME, REGTEST_GENESIS, Chain

ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
TARGET = "7fffff" + "00" * 29
DIFFICULTY = 4.656542373906925e-10


class Mining(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.main = self.node().start()
        self.chain = Chain().grow(200)
        for block in self.chain.blocks:
            self.assertIsNone(self.main.rpc("submitblock", block.raw().hex()))

    def rate(self, *args):
        return float(self.main.rpc("getnetworkhashps", *args))

    def test_info(self):
        """With what Core answers for 200 such blocks, in its order."""
        info = self.main.rpc("getmininginfo")
        target = {"bits": "207fffff", "difficulty": DIFFICULTY, "target": TARGET}
        wanted = {"blocks": 200, **target, "networkhashps": 2 / 600, "pooledtx": 0,
                  "blockmintxfee": 1e-8, "chain": "regtest", "next": {"height": 201, **target},
                  "warnings": info["warnings"]}
        self.assertEqual(list(info), list(wanted))
        self.assertEqual(list(info["next"]), list(wanted["next"]))
        for field in ("blocks", "bits", "target", "pooledtx", "chain"):
            self.assertEqual(info[field], wanted[field])
        for field in ("difficulty", "networkhashps", "blockmintxfee"):
            self.assertAlmostEqual(float(info[field]), wanted[field], 12)
        self.assertEqual(info["next"]["target"], TARGET)

    def test_rate(self):
        self.assertAlmostEqual(self.rate(), 2 / 600)
        self.assertAlmostEqual(self.rate(1, 5), 2 / 600)
        self.assertEqual(self.rate(120, 0), 0)
        # Genesis is nine years old.
        since_genesis = self.chain.blocks[9].time - 1296688602
        self.assertAlmostEqual(self.rate(1000, 10) * since_genesis, 10 * 2)
        # 144 blocks are a period: block 150 is the seventh of the second.
        self.assertAlmostEqual(self.rate(-1, 150), 2 / 600)
        self.assertEqual(self.rate(-1, 144), self.rate(1, 144))
        # A block that goes back in time counts with the earliest and the latest.
        block = self.chain.candidate()
        block.time = FIRST_BLOCK_TIME + 600 * 196 + 1
        self.assertIsNone(self.main.rpc("submitblock", block.mine().raw().hex()))
        self.assertAlmostEqual(self.rate(2), 2 * 2 / (600 * 4 - 1))
        for args, message in (((0,), "Invalid nblocks"), ((-2,), "Invalid nblocks"),
                              ((1, 202), "does not exist at specified height"),
                              ((1, -2), "does not exist at specified height")):
            self.assert_rpc_error(-8, message, self.rate, *args)


class Making(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.main = self.node().start()

    def test_generated_blocks_stay(self):
        """Over a restart, and taken by a node that did not make them."""
        hashes = self.main.rpc("generatetoaddress", 20, ADDRESS)
        self.assertEqual(self.main.rpc("getbestblockhash"), hashes[-1])
        other = self.node().start()
        for one in hashes:
            self.assertIsNone(other.rpc("submitblock", self.main.rpc("getblock", one, 0)))
        self.main.stop().start()
        for node in (self.main, other):
            self.assertEqual(node.rpc("getblockcount"), 20)
        self.assertEqual(self.main.rpc("gettxoutsetinfo")["total_amount"], 20 * 50)

    def test_small_block_files(self):
        """-fastprune: files of 64 KiB, which a reindex reads again."""
        node = self.node("regtest", "-fastprune").start()
        tip = node.rpc("generatetodescriptor", 25, f"raw({'51' * 9000})")[-1]
        files = sorted(path.name for path in node.blocks_dir.glob("blk*.dat"))
        self.assertEqual(files, [f"blk{number:05}.dat" for number in range(4)])
        for path in node.blocks_dir.glob("blk*.dat"):
            self.assertLessEqual(path.stat().st_size, 65536)
        node.stop().start("-reindex").wait_for_tip(tip)

    def wait(self, longpollid):
        """The answers of a call that waits in the background."""
        answers = []

        def call():
            request = {"rules": ["segwit"], "longpollid": longpollid}
            try:
                answers.append(self.main.rpc("getblocktemplate", request))
            except RpcError as error:
                answers.append(error.code)
        thread = threading.Thread(target=call)
        thread.start()
        self.addCleanup(thread.join)
        return thread, answers

    def test_waiting_for_a_new_tip(self):
        template = self.main.rpc("getblocktemplate", {"rules": ["segwit"]})
        self.assertEqual(template["previousblockhash"], REGTEST_GENESIS)
        waiters = [self.wait(template["longpollid"]) for _ in range(2)]
        thread, answers = self.wait("00" * 32 + "0")  # that tip is old
        thread.join()
        self.assertEqual(answers[0]["height"], 1)
        self.assertTrue(all(thread.is_alive() for thread, _ in waiters))
        tip = self.main.rpc("generatetoaddress", 1, ADDRESS)[0]
        for thread, answers in waiters:
            thread.join()
            self.assertEqual((answers[0]["previousblockhash"], answers[0]["height"]), (tip, 2))

    def test_a_template_makes_a_block(self):
        """By the answer alone."""
        template = self.main.rpc("getblocktemplate", {"rules": ["segwit"]})
        chain = Chain()
        block = chain.candidate()
        block.time = template["curtime"]
        self.assertEqual(block.version, template["version"])
        self.assertEqual(block.txs[0].outputs[0][0], template["coinbasevalue"])
        proposal = {"mode": "proposal", "data": block.raw().hex(), "rules": ["segwit"]}
        self.assertIsNone(self.main.rpc("getblocktemplate", proposal))
        self.assertEqual(self.main.rpc("getblockcount"), 0)
        self.assertIsNone(self.main.rpc("submitblock", block.mine().raw().hex()))
        for answer in ("duplicate", "inconclusive-not-best-prevblk"):
            proposal["data"] = block.raw().hex()
            self.assertEqual(self.main.rpc("getblocktemplate", proposal), answer)
            block.time += 1
