"""decodescript of our node and of Core's bitcoind gives the same result for witness scripts that
are miniscripts, insane ones, and scripts near them."""

import collections
import os

from core_node import PairTest
from miniscript_cases import Cases

SCRIPTS = 3000
MOST = 3600  # bytes of a standard witness script; some are longer
KINDS = ("and_v", "and_b", "or_b", "or_c", "or_d", "or_i", "andor", "and_n", "thresh", "multi",
         "hash256", "after", "j:", "n:", "t:", "u:")


class Miniscript(PairTest):
    def test_decodescript(self):
        cases, told = Cases(os.environ.get("IBD_TEST_SEED", "1")), collections.Counter()
        for _ in range(SCRIPTS):
            script = cases.script()
            if cases.chance.random() < 0.3:
                script = cases.near(script)
            if not 0 < len(script) <= 2 * MOST:
                continue
            answer = self.ask("decodescript", script.hex())
            if not isinstance(answer, dict) or "segwit" not in answer:
                continue
            text = answer["segwit"]["desc"]
            told[text.partition("(")[0]] += 1
            if text.startswith("wsh("):
                told.update(kind for kind in KINDS if kind in text)
        self.assertGreater(told["wsh"], SCRIPTS // 20)
        self.assertGreater(told["addr"], SCRIPTS // 20)
        self.assertEqual([kind for kind in KINDS if not told[kind]], [])
