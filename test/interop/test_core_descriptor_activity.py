"""Our node and Core's bitcoind find the same activity of descriptors, in blocks and in the pool."""

from core_node import PairTest
from regtest_chain import Chain, OP_TRUE, REDEEMED, child_of, redeem

VALUE, FEE = 10_000_000, 1_000
UNKNOWN = "11" * 32
WATCHED = f"raw({REDEEMED.hex()})"
OBJECTS = [[WATCHED], [f"raw({OP_TRUE.hex()})"], [WATCHED, f"raw({OP_TRUE.hex()})", WATCHED], [],
           ["addr(2N7FLsfLXdsLvEPGNCvxGmQK6UBYzfcdHVV)"], ["x"], [""], [5], [None], [{}],
           [{"desc": WATCHED}], [{"desc": WATCHED, "range": 3}], "x", 5, None, {}]


class DescriptorActivity(PairTest):
    def setUp(self):
        super().setUp()
        chain = Chain().grow(101)
        self.spends = [redeem(*name, VALUE, FEE * (i + 1))
                       for i, name in enumerate(chain.split(8, VALUE))]
        chain.add(chain.candidate(self.spends[:3], 6 * FEE))
        stale = chain.candidate()
        chain.add(chain.candidate([child_of(self.spends[1], FEE)], FEE))
        chain.grow(2)
        for block in (*chain.blocks[:-1], stale, chain.blocks[-1]):
            self.pair.submit(block)
        self.hashes = [block.hash() for block in chain.blocks]
        self.stale = stale.hash()

    def test_blocks(self):
        middle = self.hashes[100:]
        for hashes in (middle, middle[::-1], middle + middle, self.hashes[:1], [], [self.stale],
                       [UNKNOWN], ["x"], [5], [None], "x", 5, None, {}):
            for objects in OBJECTS:
                for pool in ((), (False,), (True,), (None,), ("x",)):
                    self.ask("getdescriptoractivity", hashes, objects, *pool)
        found = self.ask("getdescriptoractivity", middle, [WATCHED])["activity"]
        self.assertEqual(sum(one["type"] == "spend" for one in found), 4)
        genesis = self.ask("getblockhash", 0)
        self.ask("getdescriptoractivity", [genesis], [WATCHED])
        self.ask("getdescriptoractivity")
        self.ask("getdescriptoractivity", [])

    def test_pool(self):
        for tx in (self.spends[5], child_of(self.spends[5], FEE), self.spends[6]):
            self.pair.ask("sendrawtransaction", tx.raw().hex(), 0)
        for objects in OBJECTS:
            for pool in ((), (False,), (True,)):
                self.ask("getdescriptoractivity", self.hashes[-4:], objects, *pool)
        found = self.ask("getdescriptoractivity", [], [WATCHED])["activity"]
        self.assertEqual(len(found), 6)
