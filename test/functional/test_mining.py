"""What miners ask for."""

from framework import FunctionalTest
from regtest_chain import FIRST_BLOCK_TIME, Chain

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
        # Genesis lies nine years back.
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
