"""`verificationprogress` of our node and of Core's bitcoind at many times, with headers above the
tip and without."""

import random

from core_node import PairTest
from regtest_chain import Chain

HOUR = 3600
HEADERS_ABOVE = 3


class Progress(PairTest):
    def compare(self, tip_time):
        pick = random.Random(7)
        around = [2 * HOUR + step for step in (-1, 0, 1)]
        offsets = [sign * value for value in around for sign in (-1, 1)]
        offsets += [0, 1, -1, 600, 10**6, 10**9] + [pick.randrange(-3 * HOUR, 10**7)
                                                    for _ in range(30)]
        seen = set()
        for offset in offsets:
            shown = []
            for node in (self.pair.core, self.pair.ours):
                node.rpc("setmocktime", tip_time + offset)
                shown.append((node.rpc("getblockchaininfo")["verificationprogress"],
                              node.rpc("getchainstates")["chainstates"][0]["verificationprogress"]))
            self.assertEqual(shown[1], shown[0], offset)
            seen.add(shown[0][0])
        self.assertGreater(len(seen), 10)
        return seen

    def test_times(self):
        chain = Chain().grow(20)
        for block in chain.blocks:
            self.pair.submit(block)
        tip_time = chain.blocks[-1].time
        self.assertIn(1, self.compare(tip_time))
        headers = chain.grow(HEADERS_ABOVE).blocks[-HEADERS_ABOVE:]
        for node in (self.pair.core, self.pair.ours):
            node.rpc("setmocktime", tip_time + 600 * HEADERS_ABOVE)
            for block in headers:
                node.rpc("submitheader", block.header().hex())
        self.compare(tip_time)
