"""-testactivationheight sets the exact height at which a rule begins; -vbparams sets the parameters
of a version-bits deployment; getdeploymentinfo reports both."""

import re

from framework import FunctionalTest
from regtest_chain import (COINBASE_MATURITY, FIRST_BLOCK_TIME, REGTEST_GENESIS, Chain, coinbase,
                           spend, subsidy)

HEIGHT = COINBASE_MATURITY + 5
PERIOD, THRESHOLD = 144, 108
PLAIN, SIGNAL = 0x20000000, 0x30000000  # bit 28
NO_TIMEOUT = 2**63 - 1
ADDRESS = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"
ALL_FLAGS = ["CHECKLOCKTIMEVERIFY", "CHECKSEQUENCEVERIFY", "DERSIG", "NULLDUMMY", "P2SH",
             "TAPROOT", "WITNESS"]
TAPROOT = {"type": "bip9", "height": 0, "active": True,
           "bip9": {"start_time": -1, "timeout": NO_TIMEOUT, "min_activation_height": 0,
                    "status": "active", "since": 0, "status_next": "active"}}


class Deployments(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.chain = Chain()

    def start(self, *options):
        node = self.node("regtest", *options).start()
        for block in self.chain.grow(HEIGHT - 2 - self.chain.height).blocks:
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
        return node

    def refused_from(self, node, candidate, reason):
        """The blocks made by `candidate` are valid right below HEIGHT and refused at it."""
        self.assertEqual(self.chain.height, HEIGHT - 2)
        early = candidate().mine()
        self.assertIsNone(node.rpc("submitblock", early.raw().hex()))
        self.chain.add(early)
        self.assertEqual(node.rpc("submitblock", candidate().mine().raw().hex()), reason)
        self.assertEqual(node.rpc("getblockcount"), HEIGHT - 1)
        good = self.chain.candidate()
        self.assertIsNone(node.rpc("submitblock", good.raw().hex()))

    def wrong_height(self):
        block, height = self.chain.candidate(), self.chain.height + 1
        block.txs[0] = coinbase(height + 1000, subsidy(height))
        return block

    def with_version(self, version):
        block = self.chain.candidate()
        block.version = version
        return block

    def test_bip34(self):
        node = self.start(f"-testactivationheight=bip34@{HEIGHT}")
        self.refused_from(node, self.wrong_height, "bad-cb-height")

    def test_blocks_stored_before_segwit(self):
        """Their witnesses were not checked. With segwit active from an earlier height they must be
        read again; the blocks of this chain have no witness."""
        node = self.node("regtest", "-testactivationheight=segwit@20").start()
        hashes = node.rpc("generatetoaddress", 8, ADDRESS)
        status, text = node.stop().run("-testactivationheight=segwit@5")
        self.assertEqual((status, text.strip()), (
            1, "Witness data for blocks after height 5 requires validation. Please restart with "
               "-reindex..\nPlease restart with -reindex or -reindex-chainstate to recover."))
        node.start("-testactivationheight=segwit@9").stop()
        node.start("-testactivationheight=segwit@5", "-reindex").wait_for_tip(hashes[3])

    def test_versions(self):
        for name, version in (("bip34", 1), ("dersig", 2), ("cltv", 3)):
            # Other deployments, which the version may also signal, begin later.
            later = [f"-testactivationheight={other}@{HEIGHT + 100}"
                     for other in ("bip34", "dersig", "cltv") if other != name]
            self.chain = Chain()
            node = self.start(f"-testactivationheight={name}@{HEIGHT}", *later,
                              "-debug=validation")
            reason = f"bad-version(0x{version:08x})"
            self.refused_from(node, lambda v=version: self.with_version(v), reason)
            self.assertRegex(node.log_text, "AcceptBlockHeader: Consensus::"
                             "ContextualCheckBlockHeader: [0-9a-f]{64}, " + re.escape(reason))
            node.stop()

    def test_csv(self):
        def too_young():
            """Spends a coin one block old that asks for more (BIP68)."""
            txid, amount = self.chain.coinbase_of(1 if self.chain.height < HEIGHT - 1 else 2)
            tx = spend(txid, 0, amount)
            age = self.chain.height + 10
            tx.inputs[0] = (*tx.inputs[0][:3], age)
            return self.chain.candidate([tx])
        node = self.start(f"-testactivationheight=csv@{HEIGHT}")
        self.refused_from(node, too_young, "bad-txns-nonfinal")

    def test_segwit(self):
        def witness():
            txid, amount = self.chain.coinbase_of(1)
            tx = spend(txid, 0, amount)
            tx.witness = [[b"\x01"]]
            return self.chain.candidate([tx])
        node = self.start(f"-testactivationheight=segwit@{HEIGHT}")
        self.assertEqual(self.chain.height, HEIGHT - 2)
        self.assertEqual(node.rpc("submitblock", witness().raw().hex()), "unexpected-witness")
        for _ in range(2):
            block = self.chain.candidate()
            self.assertIsNone(node.rpc("submitblock", block.raw().hex()))
            self.chain.add(block)
        # Now the commitment is right; a spend of an output without witness must have none.
        reason = node.rpc("submitblock", witness().raw().hex())
        self.assertIn("Witness provided for non-witness script", reason)


class VersionBits(FunctionalTest):
    """Every state of a deployment, as blocks vote on it."""

    def start(self, *options):
        self.chain = Chain()
        self.main = self.node("regtest", *options).start()

    def grow(self, count, version=PLAIN):
        for _ in range(count):
            block = self.chain.candidate()
            block.version = version
            self.assertIsNone(self.main.rpc("submitblock", block.mine().raw().hex()))
            self.chain.add(block)

    def info(self, *block):
        return self.main.rpc("getdeploymentinfo", *block)

    def dummy(self, *block):
        return self.info(*block)["deployments"]["testdummy"]

    def assert_dummy(self, status, since, status_next, height=None):
        """Fields that every state has; returns those of the signalling."""
        dummy = self.dummy()
        bip9 = dummy["bip9"]
        self.assertEqual((bip9["status"], bip9["since"], bip9["status_next"]),
                         (status, since, status_next))
        self.assertEqual(dummy.get("height"), height)
        self.assertEqual(dummy["active"], height is not None)
        voting = status in ("started", "locked_in")
        for field in ("bit", "statistics", "signalling"):
            self.assertEqual(field in bip9, voting)
        return bip9.get("statistics"), bip9.get("signalling")

    def test_field_by_field(self):
        """Core's own example, of its rpc_blockchain.py."""
        options = [f"-testactivationheight={name}@{height}" for name, height in
                   (("bip34", 2), ("dersig", 3), ("cltv", 4), ("csv", 5), ("segwit", 6))]
        self.start(*options)
        self.grow(143)
        self.grow(64, SIGNAL)
        dummy = {"type": "bip9", "active": False,
                 "bip9": {"bit": 28, "start_time": 0, "timeout": NO_TIMEOUT,
                          "min_activation_height": 0, "status": "started", "since": 144,
                          "status_next": "started",
                          "statistics": {"period": PERIOD, "elapsed": 64, "count": 64,
                                         "threshold": THRESHOLD, "possible": True},
                          "signalling": "#" * 64}}
        buried = {name: {"type": "buried", "active": True, "height": height} for name, height in
                  (("bip34", 2), ("bip66", 3), ("bip65", 4), ("csv", 5), ("segwit", 6))}
        wanted = {"hash": self.chain.tip, "height": 207, "script_flags": ALL_FLAGS,
                  "deployments": {**buried, "testdummy": dummy, "taproot": TAPROOT}}
        self.assertEqual(self.info(), wanted)
        self.assertEqual(list(self.info()["deployments"]), list(wanted["deployments"]))
        self.assertEqual(self.info(self.chain.tip), wanted)

        # For an earlier block: a rule is active from the block before the first.
        third = self.info(self.chain.blocks[2].hash())
        self.assertEqual(third["script_flags"], ["DERSIG", "P2SH", "TAPROOT", "WITNESS"])
        self.assertEqual([third["deployments"][name]["active"] for name in buried],
                         [True, True, True, False, False])
        genesis = self.info(REGTEST_GENESIS)
        self.assertEqual(genesis["script_flags"], ["P2SH", "TAPROOT", "WITNESS"])
        self.assertEqual(genesis["deployments"]["testdummy"]["bip9"]["status_next"], "defined")
        self.assert_rpc_error(-5, "Block not found", self.info, "ab" * 32)

    def test_activation_waits_for_its_height(self):
        start = FIRST_BLOCK_TIME + 600 * 100
        self.start(f"-vbparams=testdummy:{start}:{NO_TIMEOUT}:{4 * PERIOD + 1}")
        self.assertEqual(self.dummy()["bip9"]["start_time"], start)
        self.assertEqual(self.dummy()["bip9"]["min_activation_height"], 4 * PERIOD + 1)
        self.grow(PERIOD - 2, SIGNAL)  # too early to count
        self.assert_dummy("defined", 0, "defined")
        self.grow(1)
        self.assert_dummy("defined", 0, "started")
        # One vote less than it takes: from the 37th block without one there is no hope.
        self.grow(36)
        statistics, signalling = self.assert_dummy("started", PERIOD, "started")
        self.assertEqual((statistics["possible"], signalling), (True, "-" * 36))
        self.grow(1)
        statistics, _ = self.assert_dummy("started", PERIOD, "started")
        self.assertEqual(statistics, {"period": PERIOD, "elapsed": 37, "count": 0,
                                      "threshold": THRESHOLD, "possible": False})
        self.grow(THRESHOLD - 1, SIGNAL)
        statistics, signalling = self.assert_dummy("started", PERIOD, "started")
        self.assertEqual((statistics["elapsed"], statistics["count"]), (PERIOD, THRESHOLD - 1))
        self.assertEqual(signalling, "-" * 37 + "#" * (THRESHOLD - 1))
        # As many as it takes, first.
        self.grow(THRESHOLD, SIGNAL)
        self.grow(PERIOD - THRESHOLD)
        self.assert_dummy("started", PERIOD, "locked_in")
        self.grow(1)
        statistics, signalling = self.assert_dummy("locked_in", 3 * PERIOD, "locked_in")
        self.assertEqual(statistics, {"period": PERIOD, "elapsed": 1, "count": 0})
        self.assertEqual(signalling, "-")
        self.grow(PERIOD - 1)  # the next block is one below the height that was asked for
        self.assert_dummy("locked_in", 3 * PERIOD, "locked_in")
        self.grow(PERIOD)
        active = 5 * PERIOD
        self.assert_dummy("locked_in", 3 * PERIOD, "active", active)
        self.grow(1)
        self.assert_dummy("active", active, "active", active)
        # A branch that does not vote has its own state; and it is found again after a restart.
        self.main.stop()
        self.main.start()
        self.assert_dummy("active", active, "active", active)
        self.assertEqual(self.dummy(self.chain.blocks[3 * PERIOD - 2].hash())["bip9"]["status"],
                         "started")
        self.main.rpc("invalidateblock", self.chain.blocks[2 * PERIOD].hash())
        self.assert_dummy("started", PERIOD, "started")

    def test_timeout(self):
        start = FIRST_BLOCK_TIME + 600 * 10
        end = FIRST_BLOCK_TIME + 600 * 200
        self.start(f"-vbparams=testdummy:{start}:{end}")
        self.grow(PERIOD)
        self.assert_dummy("started", PERIOD, "started")
        self.grow(PERIOD - 1)
        self.assert_dummy("started", PERIOD, "failed")
        self.grow(PERIOD, SIGNAL)  # signals no longer count
        self.assert_dummy("failed", 2 * PERIOD, "failed")

    def test_votes_win_over_the_timeout(self):
        start = FIRST_BLOCK_TIME + 600 * 10
        self.start(f"-vbparams=testdummy:{start}:{start + 1}")
        self.grow(PERIOD - 1)
        self.grow(PERIOD, SIGNAL)
        self.assert_dummy("started", PERIOD, "locked_in")

    def test_fixed(self):
        self.start("-vbparams=testdummy:-1:0", "-vbparams=taproot:-2:0")
        deployments = self.info()["deployments"]
        self.assertNotIn("taproot", deployments)
        self.assertEqual(deployments["testdummy"]["bip9"],
                         {"start_time": -1, "timeout": 0, "min_activation_height": 0,
                          "status": "active", "since": 0, "status_next": "active"})
        # The rules themselves hold from genesis on, regardless of the vote.
        self.assertIn("TAPROOT", self.info()["script_flags"])

    def test_bad_parameters(self):
        for value, reason in (
                ("testdummy:0", "Version bits parameters malformed, expecting "
                                "deployment:start:end[:min_activation_height]"),
                ("testdummy:x:0", "Invalid nStartTime (x)"),
                ("testdummy:0:", "Invalid nTimeout ()"),
                ("testdummy:0:1:two", "Invalid min_activation_height (two)"),
                ("segwit:0:1", "Invalid deployment (segwit)")):
            status, errors = self.node("regtest").run(f"-vbparams={value}")
            self.assertEqual((status, reason in errors), (1, True), errors)

    def test_mainnet(self):
        """Heights in the past are known; the result of mainnet's votes is not, at genesis."""
        self.main = self.node("main").start()
        deployments = self.info()["deployments"]
        self.assertEqual({name: item.get("height") for name, item in deployments.items()},
                         {"bip34": 227931, "bip66": 363725, "bip65": 388381, "csv": 419328,
                          "segwit": 481824, "taproot": None})
        self.assertEqual(deployments["taproot"]["bip9"],
                         {"start_time": 1619222400, "timeout": 1628640000,
                          "min_activation_height": 709632, "status": "defined", "since": 0,
                          "status_next": "defined"})
