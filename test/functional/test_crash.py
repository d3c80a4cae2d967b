"""kill -9 at any moment of reindex, booster, serial connection and flush: the next start goes on
and ends in the right chainstate. --kills says how often each test kills."""

import os
import random
import time

from framework import FunctionalTest, coins
from generated import chain

KILLS = int(os.environ.get("IBD_KILLS", "6"))
OUTPUTS = "250000"


class Crash(FunctionalTest):
    """Times are drawn over what an undisturbed run took, so that all phases are hit in the end."""

    @classmethod
    def setUpClass(cls):
        cls.made = chain("--outputs", OUTPUTS, "--tail", "2100", "--seed", "5", "--shuffle", "10",
                         "--stale")
        cls.chance = random.Random(os.environ.get("IBD_SEED", "1"))

    def undisturbed(self, *args):
        node = self.made.place(self.node())
        begin = time.monotonic()
        status, errors = node.run(*args, self.made.to_tip)
        self.assertEqual(status, 0, errors)
        seconds = time.monotonic() - begin
        node.start()
        out = coins(node)
        node.stop()
        return out, seconds

    def killed_often(self, first, again):
        """Starts with `first`, then with `again` until the end, each start killed at some time."""
        wanted, seconds = self.undisturbed(*first)
        node = self.made.place(self.node())
        args = first
        for _ in range(KILLS):
            node.launch(*args, self.made.to_tip)
            time.sleep(self.chance.uniform(0, seconds / 2))
            node.kill()
            if (node.blocks_dir / "index" / "CURRENT").exists():
                args = again  # what was begun goes on by itself
        status, errors = node.run(*args, self.made.to_tip)
        self.assertEqual(status, 0, errors)
        node.start("-checklevel=3", "-checkblocks=20")
        self.assertEqual(coins(node), wanted)
        self.assertEqual(node.rpc("getbestblockhash"), self.made.tip)
        node.stop()
        self.assertEqual([path.name for path in node.net_dir.glob("ibdbooster/*")], [])

    def test_serial(self):
        self.killed_often(["-reindex"], [])

    def test_serial_with_many_flushes(self):
        small = ["-dbcache=4", "-dbbatchsize=20000"]
        self.killed_often(["-reindex", *small], small)

    def booster(self, *more):
        hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust, *more]
        self.killed_often(["-reindex", *hints], hints)

    def test_booster(self):
        self.booster()

    def test_booster_spilling_and_batches(self):
        self.booster("-ibdboostermem=1", "-ibdboosterloader=batch", "-ibdboosteraggregate=muhash")

    def test_booster_over_a_chainstate(self):
        """-reindex-chainstate each time: the old chainstate counts for nothing once it began."""
        wanted, seconds = self.undisturbed("-reindex")
        node = self.made.place(self.node())
        node.run("-reindex", self.made.to_tip)
        args = ["-reindex-chainstate", f"-ibdboosterfile={self.made.container}", *self.made.trust,
                self.made.to_tip]
        for _ in range(KILLS):
            node.launch(*args)
            time.sleep(self.chance.uniform(0, seconds / 2))
            node.kill()
        self.assertEqual(node.run(*args)[0], 0)
        node.start()
        self.assertEqual(coins(node), wanted)

    def test_booster_changes_its_mind(self):
        """Killed in the middle, then started without hints, with other ones, with other options."""
        wanted, seconds = self.undisturbed("-reindex")
        node = self.made.place(self.node())
        hints = [f"-ibdboosterfile={self.made.container}", *self.made.trust]
        other = [f"-ibdboosterfile={self.made.bitmap}", *self.made.trust,
                 "-ibdboosteraggregate=muhash"]
        for args in (hints, other, hints + ["-ibdboostermem=2"], other, []):
            node.launch("-reindex", *args, self.made.to_tip)
            time.sleep(self.chance.uniform(0.1, seconds / 2))
            node.kill()
        self.assertEqual(node.run("-reindex", self.made.to_tip)[0], 0)
        node.start()
        self.assertEqual(coins(node), wanted)


class Interrupt(FunctionalTest):
    def test_terminate_and_go_on(self):
        """SIGTERM in the middle is a clean end, from which it goes on."""
        made = chain("--outputs", OUTPUTS, "--tail", "2100", "--seed", "5", "--shuffle", "10",
                     "--stale")
        node = made.place(self.node())
        hints = [f"-ibdboosterfile={made.container}", *made.trust]
        chance = random.Random(2)
        args = ["-reindex", *hints]
        for _ in range(KILLS):
            node.launch(*args)
            time.sleep(chance.uniform(0.05, 1.0))
            node.process.terminate()
            status, errors = node.wait()
            if status == -15:  # before it had set up its signals
                continue
            self.assertEqual((status, "Error" in errors), (0, False), errors)
            self.assertIn("Shutdown done", node.log_text.splitlines()[-1])
            if (node.blocks_dir / "index" / "CURRENT").exists():
                args = hints
        node.start(*args)
        node.wait_for_tip(made.tip)
        got = coins(node)
        node.stop()
        serial = made.place(self.node())
        serial.start("-reindex")
        serial.wait_for_tip(made.tip)
        self.assertEqual(coins(serial), got)
